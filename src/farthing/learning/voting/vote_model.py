"""Binary classifiers by vote: the fitted model, its probabilities and its prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, ContractClassifier, TrainingSet, sigmoid

# Largest absolute prior, half the log-odds: that of a single class. Its probability rounds to nearly 1.
_MAX_PRIOR: Final = 18.0


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteModel(ClassifierModel):
    """A model of two classes whose raw output is a vote f(x), half the log-odds of ``classes[1]``.

    A positive vote is for ``classes[1]``; zero or less is for ``classes[0]``. The probability of
    ``classes[1]`` is 1 / (1 + exp(-2 f(x))).
    """

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of votes of shape (n_rows, 1); a single class is certain."""
        if len(self.classes) == 1:
            return np.ones((len(outputs), 1))
        # For AdaBoost, f(x) estimates half the log-odds (Friedman, Hastie and Tibshirani 2000, Lemma 1).
        return sigmoid(2 * outputs)


class BinaryVoteClassifier(ContractClassifier):
    """An estimator that learns a `VoteModel`."""

    binary_only: ClassVar[bool] = True

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Return the vote, positive for ``classes_[1]``; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        return self.raw_outputs(X, budget=budget, seeds=seeds)[0][:, 0]


def vote_prior(rows: TrainingSet) -> NDArray[np.float64]:
    """Return the vote of a row that acquired nothing: half the log-odds of the weighted class shares.

    Returns
    -------
    ndarray of float64, shape (1,)

    Examples
    --------
    >>> rows = TrainingSet.of(np.zeros((3, 1)), np.array([0, 0, 1]), classes=np.array(["no", "yes"]))
    >>> vote_prior(rows).round(4)
    array([-0.3466])
    """
    positive = rows.weights[rows.target == 1].sum()
    negative = rows.weights[rows.target == 0].sum()
    if positive == 0 or negative == 0:
        return np.array([_MAX_PRIOR if positive > 0 else -_MAX_PRIOR])
    return np.array([min(max(0.5 * math.log(positive / negative), -_MAX_PRIOR), _MAX_PRIOR)])
