"""What a tree learns: classes, numbers or rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from farthing.base import TrainingSet
from farthing.cascades.cstc.objective import RowLoss
from farthing.cascades.cstc.row_losses import LogRowLoss, SquaredRowLoss
from farthing.learning.logistic import n_class_scores
from farthing.metrics import ndcg_by_query
from farthing.typing import Floats


class Task(Protocol):
    """The losses of a kind of target."""

    @property
    def n_outputs(self) -> int:
        """Number of scores of a node."""
        ...

    def targets(self, rows: TrainingSet) -> Floats:
        """Return what trees are boosted on, shape (n_rows, n_targets)."""
        ...

    def loss(self, rows: TrainingSet) -> RowLoss:
        """Return the convex loss of rows, which the tree is optimised for."""
        ...

    def risk(self, rows: TrainingSet, scores: Floats) -> float:
        """Return what pruning lowers, from the scores of validation rows, shape (n_rows, n_outputs)."""
        ...


@dataclass(frozen=True)
class Classes:
    """The log loss; trees are boosted on -1 and 1 for two classes, else on an indicator of each."""

    n_classes: int

    @property
    def n_outputs(self) -> int:
        """One score for two classes, else one for each."""
        return n_class_scores(self.n_classes)

    def targets(self, rows: TrainingSet) -> Floats:
        """Return what trees are boosted on, shape (n_rows, 1) or (n_rows, n_classes)."""
        if self.n_classes == 2:
            return np.asarray((2.0 * rows.target - 1.0)[:, np.newaxis])
        return np.asarray(np.eye(self.n_classes)[rows.target])

    def loss(self, rows: TrainingSet) -> LogRowLoss:
        """Return the log loss of rows."""
        return LogRowLoss(rows.target, self.n_classes)

    def risk(self, rows: TrainingSet, scores: Floats) -> float:
        """Return the total log loss."""
        return float(rows.weights @ self.loss(rows)(scores)[0])


@dataclass(frozen=True)
class Numbers:
    """The squared error, in units of the target's variance.

    Parameters
    ----------
    mean, spread : float
        Of the target.
    """

    mean: float
    spread: float

    @classmethod
    def of(cls, rows: TrainingSet) -> Self:
        """Return the task of rows."""
        target = np.asarray(rows.target, dtype=np.float64)
        mean = float(np.average(target, weights=rows.weights))
        return cls(mean, float(np.sqrt(np.average((target - mean) ** 2, weights=rows.weights))) or 1.0)

    @property
    def n_outputs(self) -> int:
        """One score."""
        return 1

    def targets(self, rows: TrainingSet) -> Floats:
        """Return the standardised target, shape (n_rows, 1)."""
        return np.asarray((rows.target - self.mean) / self.spread, dtype=np.float64)[:, np.newaxis]

    def loss(self, rows: TrainingSet) -> SquaredRowLoss:
        """Return the squared loss of rows."""
        return SquaredRowLoss(self.targets(rows)[:, 0])

    def risk(self, rows: TrainingSet, scores: Floats) -> float:
        """Return the total squared error."""
        return float(rows.weights @ self.loss(rows)(scores)[0])


@dataclass(frozen=True)
class Grades(Numbers):
    """The squared error of grades; pruning goes by NDCG@k, each query weighing the same."""

    k: int = 5

    def risk(self, rows: TrainingSet, scores: Floats) -> float:
        """Return 1 - NDCG@k; the squared error if a target is below zero, and so is no grade."""
        if rows.target.min() < 0:
            return super().risk(rows, scores)
        return 1 - float(ndcg_by_query(rows.target, scores[:, 0], qid=rows.qid, k=self.k).mean())
