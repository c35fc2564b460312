"""Rows of a table with all that belongs to them, and how they are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing, column_or_1d

from farthing.base.inputs import check_weights


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table with all that belongs to them."""

    X: Any
    y: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    qid: NDArray[Any] | None = None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None, qid: Any = None) -> Part:
        """Take what a user gives, with the weights checked."""
        target = column_or_1d(y)
        weights = None if sample_weight is None else check_weights(sample_weight, len(target))
        table = X if hasattr(X, "columns") else np.asarray(X)
        return cls(table, target, weights, None if qid is None else np.asarray(qid))

    def counted(self) -> Part:
        """Leave out rows that count nothing."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def take(self, rows: NDArray[np.int64]) -> Part:
        """Return some of the rows."""
        return Part(
            _safe_indexing(self.X, rows),
            self.y[rows],
            None if self.weights is None else self.weights[rows],
            None if self.qid is None else self.qid[rows],
        )

    def weight(self) -> float:
        """Return how much the rows count together."""
        return float(len(self.y) if self.weights is None else self.weights.sum())

    def has_classes(self) -> bool:
        """Tell whether the targets look like classes."""
        return bool(self.y.dtype.kind != "f")


def folds_of(
    part: Part, cv: Any, test_size: float, random_state: int, *, classifies: bool
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows to learn from and to judge by, pair by pair; queries stay whole.

    Parameters
    ----------
    part : Part
        The rows.
    cv : int, splitter, iterable or None
        As in scikit-learn; None is one random split.
    test_size : float
        Share of the rows to judge by in that split.
    random_state : int
        For that split.
    classifies : bool
        Whether targets are classes, which every side should have.
    """
    rows: NDArray[np.int64] = np.arange(len(part.y))
    splitter: Any
    if cv is None and part.qid is not None:
        splitter = GroupShuffleSplit(1, test_size=test_size, random_state=random_state)
    elif cv is None:
        kind = StratifiedShuffleSplit if classifies and _enough(part.y) else ShuffleSplit
        splitter = kind(1, test_size=test_size, random_state=random_state)
    elif isinstance(cv, int) and part.qid is not None:
        splitter = GroupKFold(cv)
    else:
        splitter = check_cv(cv, part.y, classifier=classifies)
    return list(splitter.split(rows[:, np.newaxis], part.y, part.qid))


def _enough(y: NDArray[Any]) -> bool:
    """Tell whether every class has two rows, so that both sides of a split can have one."""
    return bool(np.unique(y, return_counts=True)[1].min() > 1)
