"""Figure 3.4 of Nan's thesis: single trees on small tables, threshold-Pairs against Powers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.datasets import load_pima_diabetes, load_table
from farthing.forests import BudgetForestClassifier

# pima_diabetes is bundled; the others come from FARTHING_DATA.
TABLES = ("house_votes_84", "sonar", "ionosphere", "dna", "boston_housing", "breast_cancer_wdbc")
PIMA = "pima_diabetes"
UNAVAILABLE = ("soybean", "mammography")  # of the nine tables of the figure


def small_tables(
    names: Sequence[str] = (*TABLES, PIMA),
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[Any]]]:
    """Yield tables of the figure, quantised to 10 levels, each distinct row once with its commonest label."""
    for name in names:
        if name == PIMA:
            pima = load_pima_diabetes()
            # The thesis has the table in its original form, in which what was not measured is 0.
            yield name, *distinct(np.nan_to_num(np.asarray(pima.X, dtype=float)), np.asarray(pima.y))
            continue
        table = load_table(name)
        X = np.column_stack(
            [
                table.X[c].cat.codes if table.X[c].dtype == "category" else table.X[c].astype(float)
                for c in table.X
            ]
        ).astype(float)
        y = np.asarray(table.y)
        if name == "boston_housing":
            y = np.searchsorted(np.quantile(y.astype(float), [0.25, 0.5, 0.75]), y.astype(float))
        yield name, *distinct(X, y)


def distinct(X: NDArray[np.float64], y: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Quantise to 10 levels and merge equal rows; a missing value is a level of its own, -1."""
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    levels = np.floor(np.clip((X - low) / np.where(high > low, high - low, 1), 0, 0.999) * 10)
    levels[np.isnan(X)] = -1.0
    rows, of = np.unique(levels, axis=0, return_inverse=True)
    labels, codes = np.unique(y, return_inverse=True)
    votes = np.zeros((len(rows), len(labels)))
    np.add.at(votes, (of.ravel(), codes), 1)
    return rows, labels[votes.argmax(axis=1)]


def tree_curves(X: NDArray[np.float64], y: NDArray[Any]) -> dict[str, list[tuple[float, float]]]:
    """Return max-cost and error of trees of growing depth, or of falling threshold."""

    def curve(settings: list[dict[str, Any]]) -> list[tuple[float, float]]:
        least: dict[float, float] = {}  # of the errors at a max-cost
        for given in settings:
            tree = BudgetForestClassifier(n_estimators=1, bootstrap=False, **given).fit(X, y)
            cost, error = float(tree.max_cost_[0]), float(np.mean(tree.predict(X) != y))
            least[cost] = min(error, least.get(cost, 1.0))
        return sorted(least.items())

    curves = {
        f"powers, l = {power}": curve(
            [{"impurity": "powers", "power": float(power), "max_depth": depth} for depth in range(1, 13)]
        )
        for power in (2, 3, 4, 5)
    }
    alphas = (0, 1, 2, 4, 8, 16, 32, 64)
    curves["threshold-pairs"] = curve([{"impurity": "pairs", "alpha": float(alpha)} for alpha in alphas])
    return curves
