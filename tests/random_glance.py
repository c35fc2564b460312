"""A stochastic method: it looks at a few columns in a random order that the seed decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import ClassifierModel, ContractClassifier, TrainingSet, register, softmax
from farthing.costs import RowLedger


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


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomGlanceModel(ClassifierModel):
    """The centre of each class in each column, and the log-odds that belong to the nearest one."""

    centres: NDArray[np.float64]
    scores: NDArray[np.float64]
    seed: int
    n_glances: int

    def policy(self, seed: int | None = None) -> GlancePolicy:
        order = np.random.default_rng(self.seed if seed is None else seed).permutation(len(self.centres))
        return GlancePolicy(order[: self.n_glances], self.centres, self.scores)

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return softmax(outputs)


@register()
class RandomGlanceClassifier(ContractClassifier):
    """Add up the scores of a few columns, chosen at random."""

    model_type = RandomGlanceModel

    def __init__(self, costs: Any = None, n_glances: int = 5, random_state: Any = None) -> None:
        self.costs = costs
        self.n_glances = n_glances
        self.random_state = random_state

    def _learn(self, rows: TrainingSet) -> RandomGlanceModel:
        values, target, weights = rows.values, rows.target, rows.weights
        n_classes, n_features = rows.n_classes, values.shape[1]
        prior = np.log(np.maximum(rows.prior(), 1e-12))
        centres = np.zeros((n_features, n_classes))
        scores = np.zeros((1 + n_features, n_classes, n_classes))
        scores[0] = prior
        share = np.exp(prior)
        for column in range(n_features):
            seen = ~np.isnan(values[:, column])
            for label in range(n_classes):
                mine = seen & (target == label)
                if mine.any():
                    centres[column, label] = np.average(values[mine, column], weights=weights[mine])
            nearest = np.argmin(np.abs(centres[column] - values[seen, column, None]), axis=1)
            counts = np.zeros((n_classes, n_classes))
            np.add.at(counts, (nearest, target[seen]), weights[seen])
            odds = (counts + share) / (counts.sum(axis=1, keepdims=True) + 1)
            scores[1 + column] = np.log(np.maximum(odds, 1e-12)) - prior
        return self.model_type(
            **rows.header(prior=prior),
            centres=centres,
            scores=scores,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            n_glances=int(self.n_glances),
        )
