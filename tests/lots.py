"""A method that draws lots: it looks at a few columns in an order that the seed decides."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import ContractClassifier, register, softmax
from farthing.costs import CostSheet, RowLedger


class GlancePolicy:
    """Look at some columns in order; each adds the scores of the nearest of its centres."""

    def __init__(
        self, order: NDArray[Any], centres: NDArray[np.float64], scores: NDArray[np.float64]
    ) -> None:
        self.order, self.centres, self.scores = list(order), centres, scores
        self.sum: NDArray[np.float64] = scores[0, 0].copy()

    def wants(self, ledger: RowLedger) -> int | None:
        return int(self.order[0]) if self.order else None

    def hear(self, column: int, value: float) -> None:
        self.order.pop(0)
        if not np.isnan(value):
            self.sum = self.sum + self.scores[1 + column, np.argmin(np.abs(self.centres[column] - value))]

    def output(self) -> NDArray[np.float64]:
        return self.sum


@register()
class RandomGlanceClassifier(ContractClassifier):
    """Add up what a few columns, drawn by lot, say about the class."""

    _stored: ClassVar[dict[str, type]] = {
        "centres_": np.ndarray,
        "scores_": np.ndarray,
        "seed_": int,
        "n_glances_": int,
    }

    def __init__(self, costs: Any = None, n_glances: int = 5, random_state: Any = None) -> None:
        self.costs = costs
        self.n_glances = n_glances
        self.random_state = random_state

    def _fit(
        self, values: NDArray[Any], target: NDArray[Any], weights: NDArray[np.float64], sheet: CostSheet
    ) -> None:
        n_classes, n_features = len(self.classes_), values.shape[1]
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))
        self.n_glances_ = int(self.n_glances)
        self.prior_ = np.log(np.maximum(self.prior_, 1e-12))
        self.centres_ = np.zeros((n_features, n_classes))
        self.scores_ = np.zeros((1 + n_features, n_classes, n_classes))
        self.scores_[0] = self.prior_
        share = np.exp(self.prior_)
        for column in range(n_features):
            seen = ~np.isnan(values[:, column])
            for label in range(n_classes):
                mine = seen & (target == label)
                if mine.any():
                    self.centres_[column, label] = np.average(values[mine, column], weights=weights[mine])
            nearest = np.argmin(np.abs(self.centres_[column] - values[seen, column, None]), axis=1)
            counts = np.zeros((n_classes, n_classes))
            np.add.at(counts, (nearest, target[seen]), weights[seen])
            odds = (counts + share) / (counts.sum(axis=1, keepdims=True) + 1)
            self.scores_[1 + column] = np.log(np.maximum(odds, 1e-12)) - self.prior_

    def _policy(self, seed: int | None) -> GlancePolicy:
        order = np.random.default_rng(self.seed_ if seed is None else seed).permutation(len(self.centres_))
        return GlancePolicy(order[: self.n_glances_], self.centres_, self.scores_)

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return softmax(outputs)
