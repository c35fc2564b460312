"""How to add a method: a tree of linear classifiers in one file, which keeps the whole contract.

The shape is that of CSTC: a row enters at the root, pays for the columns of the node's linear classifier, and
goes left or right by its score until a leaf decides. Only the shape: the weights here are differences of
class means, where CSTC optimises all nodes together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, ContractClassifier, SweepContext, TrainingSet, register, sigmoid
from farthing.base.parameters import NON_NEGATIVE, between
from farthing.costs import RowLedger


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearTreeModel(ClassifierModel):
    """What is learned: the fields are what a file holds.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_nodes, n_features)
        Of each node's classifier; a node pays for the columns of non-zero weight. Children of node i are
        nodes 2 i + 1 and 2 i + 2.
    means : ndarray of float64, shape (n_features,)
        What is subtracted from each column, and stands for a missing value.
    """

    weights: NDArray[np.float64]
    means: NDArray[np.float64]

    def policy(self, seed: int | None = None) -> LinearTreePolicy:  # not stochastic
        """Return a fresh walk down the tree. The array calls run it row by row; a fast path is optional."""
        return LinearTreePolicy(self)

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn the log-odds of the last node into probabilities, shape (n_rows, n_classes)."""
        return sigmoid(outputs) if len(self.classes) == 2 else np.ones((len(outputs), 1))

    def check(self) -> None:
        """Raise ValueError if a file holds arrays that do not fit together."""
        super().check()
        n_nodes, n_features = len(self.weights), len(self.schema.names)
        arrays_fit = self.weights.shape == (n_nodes, n_features) and self.means.shape == (n_features,)
        if not arrays_fit or n_nodes not in (1, 3, 7) or len(self.prior) != 1 or len(self.classes) > 2:
            raise ValueError("weights, means and prior must be those of a full tree over the columns")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.means).all()):
            raise ValueError("weights and means must be finite")


class LinearTreePolicy:
    """One row on its way: asks for the columns of a node, then moves to a child."""

    def __init__(self, model: LinearTreeModel) -> None:
        self._model = model
        self._values = model.means.copy()
        self._score = float(model.prior[0])
        self._answered: set[int] = set()
        self._enter(0)

    def wants(self, ledger: RowLedger) -> int | None:  # the walk itself keeps the budget
        """Return the next column of the node, moving down when the node has all of its columns."""
        while not self._pending:
            self._score = self._node_score()
            child = 2 * self._node + (2 if self._score > 0 else 1)
            if child >= len(self._model.weights):
                return None
            self._enter(child)
        return self._pending[0]

    def hear(self, column: int, value: float) -> None:
        """Take the answer; a missing or refused value counts as the mean."""
        self._pending.remove(column)
        self._answered.add(column)
        if np.isfinite(value):
            self._values[column] = value

    def output(self) -> NDArray[np.float64]:
        """Return the score of the last node that had all its answers, shape (1,)."""
        return np.array([self._score])

    def _enter(self, node: int) -> None:
        self._node = node
        columns = np.flatnonzero(self._model.weights[node]).tolist()
        self._pending = [column for column in columns if column not in self._answered]

    def _node_score(self) -> float:
        offsets = self._values - self._model.means
        # Column by column, so that no parallel sum can change the last bits.
        return float(self._model.prior[0]) + sum((self._model.weights[self._node] * offsets).tolist())


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return the settings that a sweep tries: a price of the mean should cost a few hundredths of weight."""
    unit = context.mean_price or 1.0
    return {"depth": [0, 1, 2], "tradeoff": [0.0, 0.1 / unit, 0.5 / unit]}


@register(grid=_grid, auto=False, trials=[{"depth": 2, "tradeoff": 0.02}, {"depth": 1, "budget": 3.0}])
class LinearTreeClassifier(ContractClassifier):
    """A tree of linear classifiers, each node paying for its own columns."""

    model_type = LinearTreeModel
    budget_kind = "hard"
    binary_only = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {"depth": [between(0, 2)], "tradeoff": [NON_NEGATIVE]}

    def __init__(
        self, *, depth: int = 1, tradeoff: float = 0.0, budget: float | None = None, costs: Any = None
    ) -> None:
        self.depth = depth
        self.tradeoff = tradeoff
        self.budget = budget
        self.costs = costs

    def _learn(self, rows: TrainingSet) -> LinearTreeModel:
        # In C order, so that sums over rows have the same bits for arrays and frames.
        given = np.ascontiguousarray(rows.values, dtype=np.float64)
        values = np.where(np.isfinite(given), given, np.nan)
        known = ~np.isnan(values)
        counts = np.maximum((known * rows.weights[:, np.newaxis]).sum(axis=0), np.finfo(np.float64).tiny)
        means = np.where(known, values * rows.weights[:, np.newaxis], 0.0).sum(axis=0) / counts
        signs = np.where(rows.target == 1, 1.0, -1.0) * rows.weights
        offsets = np.where(known, values - means, 0.0)
        variances = (offsets**2 * rows.weights[:, np.newaxis]).sum(axis=0) / counts
        slopes = (offsets * signs[:, np.newaxis]).sum(axis=0) / rows.weights.sum()
        slopes /= np.maximum(variances, 1e-12)
        prices = np.array([rows.costs.price(name) for name in rows.costs.features])
        # Deeper nodes are reached by fewer rows, so their columns may cost more.
        n_nodes = 2 ** (self.depth + 1) - 1
        level = np.log2(np.arange(1, n_nodes + 1)).astype(np.int64)
        worth = np.abs(slopes) * np.sqrt(variances)
        kept = worth > self.tradeoff * prices / 2.0 ** level[:, np.newaxis]
        weights = np.where(kept, slopes, 0.0)
        share = np.clip(rows.prior()[-1] if rows.n_classes == 2 else 0.5, 1e-9, 1 - 1e-9)
        prior = np.array([np.log(share / (1 - share))])
        return LinearTreeModel(**rows.header(prior, self.hard_cap()), weights=weights, means=means)
