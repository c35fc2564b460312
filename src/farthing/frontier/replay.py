"""A stand-in for a fitted model that repeats stored predictions, for the scorers of scikit-learn.

A scorer wants an estimator and X. The stand-in has the predictions, and X is row numbers, so that any scorer
works on any subset of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from farthing.frontier.evaluation import Evaluation
from farthing.typing import Floats


class Replay(BaseEstimator):  # type: ignore[misc]
    """Repeats the predictions of an evaluation for the rows whose numbers are in X."""

    evaluation: Evaluation
    asked_probabilities = False
    """Whether a scorer has asked for probabilities."""
    asked_labels = False
    """Whether a scorer has asked for predictions."""

    def fit(self, X: Any, y: Any) -> Replay:  # scorers want it to be there
        """Do nothing."""
        return self

    def predict(self, X: NDArray[np.int64]) -> NDArray[Any]:
        """Return the predictions of rows, given by their numbers."""
        self.asked_labels = True
        return self.evaluation.prediction[X]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ClassesReplay(ClassifierMixin, Replay):  # type: ignore[misc]
    """Stands in for a classifier."""

    def predict_proba(self, X: NDArray[np.int64]) -> Floats:
        """Return the probabilities of rows, given by their numbers, shape (n_rows, n_classes)."""
        self.asked_probabilities = True
        if self.evaluation.probabilities is None:
            raise ValueError("this scorer needs probabilities, which the model does not give")
        return self.evaluation.probabilities[X]


class NumbersReplay(RegressorMixin, Replay):  # type: ignore[misc]
    """Stands in for a regressor."""


def replay_of(evaluation: Evaluation) -> Replay:
    """Return a stand-in with the predictions of an evaluation.

    Examples
    --------
    >>> y = np.array([0.5, 1.5, 2.5])
    >>> replay_of(Evaluation(y, y, None, np.zeros(3))).predict(np.array([2, 2, 0]))
    array([2.5, 2.5, 0.5])
    """
    replay: Replay = NumbersReplay() if evaluation.classes is None else ClassesReplay()
    replay.evaluation = evaluation
    if evaluation.classes is not None:
        replay.classes_ = evaluation.classes
    return replay
