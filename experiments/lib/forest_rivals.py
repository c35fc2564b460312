"""The methods of figure 3.3 of Nan's thesis: their settings in one table, and the curves that they give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from experiments.lib.forest_runs import Curve, Part, Size, Task, forest, growth, miser
from farthing.cascades import ASTCClassifier, CSTCClassifier
from farthing.costs import CostSheet

Setting: TypeAlias = dict[str, Any]

BUDGET_RF: Final = "BudgetRF"
# Section 3.5: thresholds drawn by the number of rows, majority vote, ten alphas.
THESIS: Final[Setting] = {
    "impurity": "pairs",
    "max_cuts": [(2000, 80), (500, 40), (0, 20)],
    "aggregation": "vote",
}
ALPHAS: Final = (0, 2, 4, 6, 8, 10, 15, 25, 35, 45)
RATES: Final = (0.03, 0.1, 0.3, 1.0)
MISER_TRADEOFFS: Final = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)  # shares of the first loss
# ASTC: number of nodes on a path, and the budget of the lists as a share of all prices.
DEPTHS: Final = (2, 3, 4, 5)
PARTS: Final = (0.3, 1.0)
# Its penalty: none as in the paper, or the default. Columns of MiniBooNE have outliers of -999, which make
# all else small after standardising, so that the default shrinks it.
PENALTIES: Final = (0.0, 1.0)
COLUMN_TRADEOFFS: Final = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4)
# CSTC over trees: depth of the trees, and the trade-off.
TREES: Final = ((1, 0.1), (2, 0.1), (2, 0.02))

SETTINGS: Final[dict[str, tuple[Setting, ...]]] = {
    BUDGET_RF: tuple({"alpha": float(alpha)} for alpha in ALPHAS),
    "Greedy Miser": tuple(
        {"learning_rate": rate, "tradeoff": tradeoff} for rate in RATES for tradeoff in MISER_TRADEOFFS
    ),
    "ASTC": tuple(
        {"depth": depth, "part": part, "l2_regularization": penalty}
        for depth in DEPTHS
        for part in PARTS
        for penalty in PENALTIES
    ),
    "CSTC": tuple({"tradeoff": tradeoff} for tradeoff in COLUMN_TRADEOFFS),
    "CSTC over trees": tuple(
        {"tradeoff": tradeoff, "learners": "trees", "n_estimators": 30, "max_depth": depth}
        for depth, tradeoff in TREES
    ),
}
"""What each method is fitted with; the model at a budget is chosen among all of them on validation rows."""


def settings_of(method: str, size: Size) -> tuple[Setting, ...]:
    """Return the settings of a method, or the first of them in a small run."""
    return SETTINGS[method][: size.n_settings]


def rival_curve(method: str, task: Task, seed: int, size: Size, setting: Setting) -> Curve:
    """Return the curve of a method at one setting.

    Parameters
    ----------
    method : str
        A key of `SETTINGS`.
    task : Task
        The table.
    seed : int
        Seed of the fit, where it draws.
    size : Size
        How large the models are.
    setting : dict
        One of its settings.

    Returns
    -------
    ndarray of float64, shape (n_points, 4)
        Mean cost and error on the validation rows, then on the test rows: after each tree of BudgetRF, every
        tenth round of the miser, at each share of ASTC's budget; one point for CSTC.
    """
    if method == BUDGET_RF:
        return growth(task, forest(task, seed, size.n_estimators, {**THESIS, **setting}))
    if method == "Greedy Miser":
        return miser(task, setting["tradeoff"], size.miser_trees, setting["learning_rate"])
    return np.array([_point(model, task) for model in _trees_of_scores(method, task, seed, setting)])


def _trees_of_scores(method: str, task: Task, seed: int, setting: Setting) -> Iterator[Any]:
    X, y = task.train.X, task.train.y
    if method == "ASTC":
        sheet = CostSheet.of(task.costs, [f"x{j}" for j in range(X.shape[1])])
        budget = setting["part"] * sheet.total(sheet.features)
        limits = {name: value for name, value in setting.items() if name != "part"}
        model = ASTCClassifier(task.costs, budget, **limits).fit(X, y)
        yield from (variant for _, variant in model.variants())
        return
    yield CSTCClassifier(task.costs, random_state=seed, **setting).fit(X, y)


def _point(model: Any, task: Task) -> tuple[float, float, float, float]:
    def measured(part: Part) -> tuple[float, float]:
        decided = model.decide(part.X)
        return float(decided.spent.mean()), float(np.mean(decided.prediction != part.y))

    return (*measured(task.validation), *measured(task.test))
