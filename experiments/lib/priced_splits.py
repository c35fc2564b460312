"""Tables in which tests and errors have prices: those of Lomax and Vadera, and others to choose settings on.

Lomax and Vadera (2013) gave prices to UCI tables, in groups with a shared part, and to errors at three
levels. The others, `near_split`, are cut from larger tables in the same manner, with random prices of tests
and errors, so that settings can be chosen without a look at the first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.feature_selection import mutual_info_classif

from experiments.lib.data_folder import data_folder
from farthing.costs import CostSheet, Group
from farthing.typing import Floats

LOMAX: Final = ("breast", "car", "diabetes", "flare", "glass", "heart", "hepatitis", "wine")
LEVELS: Final = ("low", "middle", "high")
N_SPLITS: Final = 10
# Tables to choose settings on: the most frequent classes, features and training rows that are taken.
NEAR: Final[dict[str, tuple[int, int, int]]] = {
    "adult": (2, 12, 400),
    "satellite": (3, 10, 300),
    "covtype": (4, 11, 500),
    "physionet2012": (2, 12, 350),
    "letter": (5, 9, 400),
    "miniboone_tiny": (2, 9, 250),
    "thyroid_ann": (3, 12, 300),
    "splice": (3, 8, 250),
    "house_votes_84": (2, 16, 200),
    "breast_cancer_wdbc": (2, 12, 250),
    "ionosphere": (2, 10, 180),
    "ecoli": (4, 7, 170),
    "sonar": (2, 10, 110),
}
# Mean price of an error over that of all tests together; Lomax's levels are about these.
_LEVELS: Final = {"low": 0.2, "middle": 0.4, "high": 1.2}
_MOST_ROWS: Final = 20_000
_TEST_ROWS: Final = 3000


@dataclass(frozen=True)
class PricedSplit:
    """Training and test rows, prices of tests, and prices of errors.

    Attributes
    ----------
    train, test : tuple of (frame, ndarray of int64)
        Features, one code an attribute, and classes 0, 1, and so on.
    costs : CostSheet
        Prices of the attributes, with groups.
    errors : ndarray of float64, shape (n_classes, n_classes)
        Row: the true class; column: the predicted one.
    """

    train: tuple[pd.DataFrame, NDArray[np.int64]]
    test: tuple[pd.DataFrame, NDArray[np.int64]]
    costs: CostSheet
    errors: Floats

    def total_cost(self, labels: NDArray[np.int64], spend: Floats) -> float:
        """Return the mean total cost of the test rows, errors and tests."""
        return float((self.errors[self.test[1], labels] + spend).mean())


# The tables of Lomax and Vadera.


def lomax_split(name: str, number: int, level: str) -> PricedSplit:
    """Return a split of a table, 1 to 10, with the error prices of a level."""
    table, prices = _lomax(name)
    rows = table[table["split"] == number]
    names = list(prices["costs"])
    groups = {key: Group(one["shared"], one["members"]) for key, one in prices["groups"].items()}
    # Codes are powers of two, the place of the value among those of the attribute: numbers in their order.
    X = rows[names].astype(np.float64)
    y, test = rows["target"].to_numpy(), rows["test"].to_numpy()
    return PricedSplit(
        (X[~test].reset_index(drop=True), y[~test]),
        (X[test].reset_index(drop=True), y[test]),
        CostSheet(prices["costs"], groups=groups),
        np.array(prices["errors"][level]),
    )


@cache
def _lomax(name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    folder = data_folder() / "lomax"
    return pd.read_parquet(folder / f"{name}.parquet"), json.loads((folder / f"{name}.json").read_text())


# Tables to choose settings on.


def near_split(name: str, seed: int, level: str) -> PricedSplit:
    """Return a random split of another table, with random prices of tests and errors."""
    X, y = _coded(name)
    n_train = NEAR[name][2]
    rng = np.random.default_rng(1000 + seed)
    n_features, n_classes = X.shape[1], int(y.max()) + 1
    names = [f"a{column}" for column in range(n_features)]
    cheap = rng.random(n_features) < 0.3
    own = np.where(cheap, rng.uniform(1, 10, n_features), rng.uniform(5, 100, n_features)).round(2)
    members = rng.permutation(n_features)[: max(2, n_features // 3)]
    group = Group(round(float(rng.uniform(2, 30)), 2), [names[column] for column in members])
    costs = CostSheet(dict(zip(names, own.tolist(), strict=True)), groups={"a": group})
    shares = np.bincount(y) / len(y)
    # Errors on rare classes cost more, as in most of Lomax's tables.
    prices = rng.uniform(0.6, 1.6, n_classes) * (shares + 0.02) ** -rng.uniform(0.2, 1.0)
    prices *= _LEVELS[level] * costs.total(names) / (prices @ shares)
    errors = np.repeat(prices.round()[:, np.newaxis], n_classes, axis=1)
    np.fill_diagonal(errors, 0.0)
    order = rng.permutation(len(y))
    frame = pd.DataFrame(X.astype(np.float64), columns=names)
    parts = [
        (frame.iloc[rows].reset_index(drop=True), y[rows])
        for rows in (order[:n_train], order[n_train : n_train + _TEST_ROWS])
    ]
    return PricedSplit(parts[0], parts[1], costs, errors)


@cache
def _coded(name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a table with a few values a column, and classes as codes."""
    n_classes, n_features, _ = NEAR[name]
    table = pd.read_parquet(data_folder() / f"{name}.parquet").drop(
        columns=["split", "query_id"], errors="ignore"
    )
    rng = np.random.default_rng(sum(map(ord, name)))
    if len(table) > _MOST_ROWS:
        table = table.iloc[np.sort(rng.permutation(len(table))[:_MOST_ROWS])]
    y = pd.factorize(table.pop("target"), sort=True)[0]
    kept = np.isin(y, np.argsort(-np.bincount(y), kind="stable")[:n_classes])
    y = np.unique(y[kept], return_inverse=True)[1]
    columns = [_few_values(table.loc[kept, column], rng) for column in table.columns]
    X = np.column_stack([column for column in columns if len(np.unique(column)) > 1])
    if X.shape[1] > n_features:
        some = rng.permutation(len(y))[:3000]
        gains = mutual_info_classif(X[some], y[some], discrete_features=True)
        best = np.argsort(-gains)[: n_features * 2 // 3 * 2]
        X = X[:, np.sort(rng.permutation(best)[:n_features])]
    return X, y


def _few_values(values: Any, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the six most frequent categories as codes, or two to five intervals of a number."""
    if not pd.api.types.is_numeric_dtype(values) or isinstance(values.dtype, pd.CategoricalDtype):
        codes = pd.factorize(values, sort=True)[0]
        top = np.sort(np.argsort(-np.bincount(codes[codes >= 0]))[:6])
        return np.where(np.isin(codes, top), np.searchsorted(top, codes) + 1, 0)
    numbers = values.to_numpy(np.float64)
    numbers = np.where(np.isnan(numbers), np.nanmedian(numbers), numbers)
    cuts = np.unique(np.quantile(numbers, np.linspace(0, 1, int(rng.integers(2, 6)))[1:-1]))
    ends = cuts if len(cuts) else np.array([np.median(numbers)])
    return np.asarray(np.searchsorted(ends, numbers, side="left"), dtype=np.int64)
