"""Interpretation of a stage's scores: as probabilities or numbers, as a risk, as an error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import ErrorCosts
from farthing.learning.losses import probability_steps, scores_to_probabilities
from farthing.typing import Floats
from farthing.walks import plans


class Readout(ABC):
    """The part of a fitted cascade in which the classifier and the regressor differ.

    Raw outputs are the calibrated scores of a stage, shape (n_rows, n_scores). Where exits are learned, the
    output of the stage's gate follows in one more column.
    """

    #: Whether exits are learned: the last output is then that of a gate.
    gated: bool = True
    #: What errors are, in words.
    measure: ClassVar[str] = "squared error"

    @abstractmethod
    def read(self, place: int, scores: Floats) -> Floats:
        """Return calibrated scores, shape (n_rows, n_scores), of the set of features at a place."""

    @abstractmethod
    def errors(self, target: NDArray[Any], scores: Floats) -> Floats:
        """Return the error of each row if it stops, shape (n_rows,), from calibrated scores."""

    def risks(self, outputs: Floats) -> Floats:
        """Return the values that thresholds apply to, shape (n_rows,): by default the output of the gate."""
        return outputs[:, -1]

    def as_data(self, place: int) -> plans.Readout:
        """Return `read` as data."""
        return plans.Readout()

    def exit_at(self, threshold: float) -> plans.Exit:
        """Return where rows stop at a threshold, as data: by default by the gate."""
        return plans.Gate(threshold)

    def scores(self, outputs: Floats) -> Floats:
        """Return raw outputs without that of the gate."""
        return outputs[:, :-1] if self.gated else outputs


class NumberReadout(Readout):
    """The readout of the regressor: the score is the prediction, and exits are always learned.

    Examples
    --------
    >>> NumberReadout().errors(np.array([1.0]), np.array([[3.0]]))
    array([4.])
    """

    def read(self, place: int, scores: Floats) -> Floats:
        """Return the scores as they are."""
        return scores

    def errors(self, target: NDArray[Any], scores: Floats) -> Floats:
        """Return squared errors, shape (n_rows,)."""
        return np.asarray((target - scores[:, 0]) ** 2)


@dataclass(frozen=True, eq=False)
class ClassReadout(Readout):
    """The readout of the classifier: calibrated probabilities, and labels of the least expected cost.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    temperatures : ndarray of float64, shape (n_sets,)
        Divisor of each booster's scores.
    error_costs : ndarray of float64, shape (n_classes, n_classes), or None
        What errors cost, true class by predicted class; None means 1 per error.
    gated : bool
        Whether exits are learned.

    Examples
    --------
    >>> readout = ClassReadout(2, np.array([2.0]), None, gated=False)
    >>> readout.risks(readout.read(0, np.array([[0.0], [4.0]]))).round(3)
    array([0.5  , 0.119])
    """

    measure: ClassVar[str] = "error"
    n_classes: int
    temperatures: Floats
    error_costs: Floats | None
    gated: bool

    def read(self, place: int, scores: Floats) -> Floats:
        """Return scores divided by the temperature of the booster."""
        return np.asarray(scores / self.temperatures[place])

    def as_data(self, place: int) -> plans.Readout:
        """Return `read` as data."""
        return plans.Readout(
            divisor=float(self.temperatures[place]), n_scaled=1 if self.n_classes == 2 else self.n_classes
        )

    def exit_at(self, threshold: float) -> plans.Exit:
        """Return where rows stop at a threshold, as data."""
        if self.gated:
            return super().exit_at(threshold)
        if self.n_classes == 2:
            middle = plans.riskiest(lambda scores: -self.risks(scores))
            return plans.ends_outside(lambda scores: self.risks(scores) <= threshold, middle)
        return plans.Risk(probability_steps(self.n_classes), threshold, self.error_costs)

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class, shape (n_rows, n_classes), from calibrated scores."""
        return scores_to_probabilities(np.ascontiguousarray(scores), self.n_classes)

    def expected_costs(self, probabilities: Floats) -> Floats:
        """Return the expected cost of predicting each class, shape (n_rows, n_classes)."""
        if self.error_costs is None:
            return 1 - probabilities
        return ErrorCosts(self.error_costs).expected(probabilities)

    def labels(self, probabilities: Floats) -> NDArray[np.int64]:
        """Return the class of the least expected cost, the first of ties, shape (n_rows,)."""
        return np.asarray(np.argmin(self.expected_costs(probabilities), axis=1), dtype=np.int64)

    def expected_errors(self, outputs: Floats) -> Floats:
        """Return the error that the probabilities of a row expect, shape (n_rows,), from raw outputs."""
        probabilities = self.probabilities(self.scores(outputs))
        return np.asarray(self.expected_costs(probabilities).min(axis=1))

    def risks(self, outputs: Floats) -> Floats:
        """Return the output of the gate if exits are learned, else the expected errors."""
        return super().risks(outputs) if self.gated else self.expected_errors(outputs)

    def errors(self, target: NDArray[Any], scores: Floats) -> Floats:
        """Return the cost of each row's label: 1 if it is wrong, or its entry in the error costs."""
        labels = self.labels(self.probabilities(scores))
        if self.error_costs is None:
            return np.asarray(labels != target, dtype=np.float64)
        return np.asarray(self.error_costs[target, labels])
