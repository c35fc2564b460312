"""Static selection: the same columns for every row, chosen by a ranking, and a LightGBM model on them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.feature_selection import mutual_info_classif

from experiments.lib.afa_tables import Rows
from farthing.costs import CostSheet
from farthing.typing import Floats
from farthing.walks import Decisions

N_RANKED: Final = 4000  # rows that rankings look at
N_PERMUTED: Final = 2000
ROUNDS: Final = 300
PATIENCE: Final = 20
KEPT: Final = 0.6  # of the columns in each step of the elimination


def booster(train: Rows, validation: Rows, seed: int) -> Any:
    """Return a LightGBM model, stopped early by the validation rows."""
    import lightgbm  # noqa: PLC0415 - rivals are optional

    model = lightgbm.LGBMClassifier(n_estimators=ROUNDS, random_state=seed, n_jobs=1, verbose=-1)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train.X, train.y, eval_set=[(validation.X, validation.y)], callbacks=[stop])


def units_of(costs: CostSheet) -> list[NDArray[np.int64]]:
    """Return what is bought for 1: the columns of each group, or single columns."""
    group_of = np.asarray(costs.group_of)
    if (group_of >= 0).all():
        return [np.flatnonzero(group_of == group) for group in range(len(costs.group_names))]
    return [np.array([column]) for column in range(len(group_of))]


# ---- rankings: the importance of each column ---------------------------------------------------------------


def mutual_information(train: Rows, validation: Rows, seed: int) -> Floats:  # noqa: ARG001 - one signature
    """Return the mutual information of each column with the label, by some of the training rows."""
    rows = _some(train, N_RANKED, seed)
    columns, discrete = [], []
    for name in rows.X:
        values = rows.X[name]
        coded = isinstance(values.dtype, pd.CategoricalDtype)
        discrete.append(coded or values.nunique() <= 10)
        numbers = values.cat.codes if coded else values.fillna(values.median())
        columns.append(np.asarray(numbers, dtype=float))
    return np.asarray(
        mutual_info_classif(
            np.column_stack(columns), rows.y, discrete_features=np.array(discrete), random_state=seed
        )
    )


def permutation(train: Rows, validation: Rows, seed: int) -> Floats:
    """Return by how much the log-loss on validation rows grows when a column is permuted."""
    model = booster(train, validation, seed)
    rows, random = _some(validation, N_PERMUTED, seed), np.random.default_rng(seed)
    codes = np.searchsorted(model.classes_, rows.y)
    base = _log_loss(model, rows.X, codes)
    found = np.zeros(rows.X.shape[1])
    for column in np.flatnonzero(model.feature_importances_):
        name = str(rows.X.columns[int(column)])
        permuted = rows.X.copy()
        permuted[name] = permuted[name].to_numpy()[random.permutation(len(codes))]
        permuted[name] = permuted[name].astype(rows.X[name].dtype)
        found[column] = _log_loss(model, permuted, codes) - base
    return found


def elimination(train: Rows, validation: Rows, seed: int) -> Floats:
    """Return the step in which a column is eliminated, by its gain in a model on those that remain.

    An embedded selection, as that of a concrete autoencoder with a label, and far cheaper.
    """
    remaining = np.arange(train.X.shape[1])
    importance, step = np.zeros(len(remaining)), 0
    while len(remaining) > 1:
        gains = booster(train.only(remaining), validation.only(remaining), seed).booster_.feature_importance(
            importance_type="gain"
        )
        # The share of the gains orders the columns that go in the same step.
        importance[remaining] = step + gains / max(gains.sum(), 1e-12)
        step += 1
        order = np.argsort(-gains, kind="stable")
        remaining = remaining[np.sort(order[: min(len(order) - 1, max(1, int(KEPT * len(order))))])]
    importance[remaining] = step + 1
    return importance


RANKINGS: Final[dict[str, Callable[[Rows, Rows, int], Floats]]] = {
    "mutual information": mutual_information,
    "permutation": permutation,
    "elimination": elimination,
}


class StaticSelection:
    """The columns that a ranking puts first, as many as a budget buys, and a model on them.

    Parameters
    ----------
    ranking : str
        One of `RANKINGS`.
    costs : CostSheet
        Each column, or each group, costs 1.
    budgets : sequence of int
        The numbers of columns or groups.
    seed : int
        Of the ranking and the models.
    """

    def __init__(self, ranking: str, costs: CostSheet, budgets: Sequence[int], seed: int) -> None:
        self.ranking = ranking
        self.costs = costs
        self.budgets = tuple(budgets)
        self.seed = seed

    def fit(self, train: Rows, validation: Rows) -> StaticSelection:
        """Rank the columns, and fit a model for each budget."""
        importance = RANKINGS[self.ranking](train, validation, self.seed)
        units = units_of(self.costs)
        order = np.argsort([-importance[unit].max() for unit in units], kind="stable")
        self.columns = {
            k: np.sort(np.concatenate([units[place] for place in order[:k]])) for k in self.budgets
        }
        self.models = {}
        for k, columns in self.columns.items():
            self.models[k] = booster(train.only(columns), validation.only(columns), self.seed)
        self.classes_ = self.models[self.budgets[0]].classes_
        return self

    def decide(self, X: pd.DataFrame, *, budget: int) -> Decisions:
        """Return predictions, probabilities and what they look at, for one of the budgets."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            likely = np.asarray(self.models[budget].predict_proba(X.iloc[:, self.columns[budget]]))
        acquired = np.zeros(X.shape, dtype=np.bool_)
        acquired[:, self.columns[budget]] = True
        chosen = self.classes_[likely.argmax(axis=1)]
        return Decisions(chosen, likely, self.costs.total_rows(acquired), acquired)


def _some(rows: Rows, n_rows: int, seed: int) -> Rows:
    """Return at most so many rows, drawn by a seed."""
    return rows.take(np.sort(np.random.default_rng(seed).permutation(len(rows.y))[:n_rows]))


def _log_loss(model: Any, X: pd.DataFrame, codes: NDArray[Any]) -> float:
    likely = np.asarray(model.predict_proba(X))[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(likely, 1e-12)).mean())
