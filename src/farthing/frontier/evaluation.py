"""The predictions of a model for held-out rows, and the standard error of a mean over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The predictions of a model for held-out rows, and the truth.

    Attributes
    ----------
    y : ndarray, shape (n_rows,)
        The truth.
    prediction : ndarray, shape (n_rows,)
        Labels or numbers.
    probabilities : ndarray of float64, shape (n_rows, n_classes), or None
        For classifiers that give them.
    spend : ndarray of float64, shape (n_rows,)
        What each row paid.
    classes : ndarray or None
        The labels of the columns of ``probabilities``; None for a regressor.
    weights : ndarray of float64, shape (n_rows,), or None
        Weight of each row in scores.
    qid : ndarray or None
        The query of each row.
    spend_weights : ndarray of float64, shape (n_rows,), or None
        Weight of each row in the mean spend, to which the weights of classes do not belong.
    """

    y: NDArray[Any]
    prediction: NDArray[Any]
    probabilities: Floats | None
    spend: Floats
    classes: NDArray[Any] | None = None
    weights: Floats | None = None
    qid: NDArray[Any] | None = None
    spend_weights: Floats | None = None

    def mean_spend(self) -> float:
        """Return the mean spend of a row."""
        return float(np.average(self.spend, weights=self.spend_weights))

    def mean(self, of_rows: Floats) -> float:
        """Return the weighted mean of a number for each row."""
        return float(np.average(of_rows, weights=self.weights))

    def total_weight(self) -> float:
        """Return the sum of the weights, or the number of rows."""
        return float(len(self.y) if self.weights is None else self.weights.sum())

    def places(self, labels: NDArray[Any]) -> NDArray[np.int64] | None:
        """Return the place of each label among the classes; None if one is not among them.

        Examples
        --------
        >>> y = np.array(["b", "a"])
        >>> Evaluation(y, y, None, np.zeros(2), classes=np.array(["a", "b", "c"])).places(y)
        array([1, 0])
        """
        if self.classes is None:
            return None
        places = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        return places if np.array_equal(self.classes[places], labels) else None


def standard_error(values: Floats, weights: Floats | None = None) -> float:
    """Return the standard error of a weighted mean of independent values, NaN for a single one."""
    n = len(values)
    if n < 2:
        return math.nan
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    # Variance of a weighted mean of independent values, with Bessel's correction; for equal weights it is the
    # usual standard error.
    # Not a product of BLAS, whose threads would wait for each other longer than the sum takes.
    residuals = values - float((shares * values).sum())
    return float(np.sqrt(n / (n - 1) * np.sum((shares * residuals) ** 2)))
