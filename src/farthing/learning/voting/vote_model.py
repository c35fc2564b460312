"""Classifiers by vote: the fitted model, its probabilities, its prior and the labels of its learners."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, ContractClassifier, TrainingSet, sigmoid, softmax
from farthing.walks.plans import Link, LinkStep

# Largest absolute prior, half the log-odds: that of a single class. Its probability rounds to nearly 1.
_MAX_PRIOR: Final = 18.0


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteModel(ClassifierModel):
    """A model whose raw output is a vote: f(x) on two classes, f_1(x) to f_K(x) on more.

    On two classes the vote is half the log-odds of ``classes[1]``: positive for ``classes[1]``, zero or less
    for ``classes[0]``. The probability of ``classes[1]`` is 1 / (1 + exp(-2 f(x))).

    On K > 2 classes there is a vote on each class against the rest. The largest wins, the first of equals,
    and the probabilities are the softmax of the votes. Two votes of -f(x) and f(x) would give what two
    classes do.
    """

    makes_calls: ClassVar[bool] = False

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of votes of shape (n_rows, n_outputs); a single class is certain."""
        if len(self.classes) == 1:
            return np.ones((len(outputs), 1))
        # For AdaBoost, f(x) estimates half the log-odds (Friedman, Hastie and Tibshirani 2000, Lemma 1).
        return sigmoid(2 * outputs) if len(self.classes) == 2 else softmax(outputs)

    def link_steps(self) -> Link:
        """Return the steps to probabilities."""
        if len(self.classes) == 1:
            return (LinkStep("one"),)
        return (
            (LinkStep("times", 2.0), LinkStep("sigmoid"))
            if len(self.classes) == 2
            else (LinkStep("softmax"),)
        )


class VoteClassifier(ContractClassifier):
    """An estimator that learns a `VoteModel`."""

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Return the votes; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            On two classes one vote, positive for ``classes_[1]``; on more a vote on each class.
        """
        outputs = self.raw_outputs(X, budget=budget, seeds=seeds)[0]
        return outputs[:, 0] if len(self.fitted_.classes) <= 2 else outputs


class BinaryVoteClassifier(VoteClassifier):
    """An estimator that learns a `VoteModel` of two classes."""

    binary_only: ClassVar[bool] = True


def vote_prior(rows: TrainingSet) -> NDArray[np.float64]:
    """Return the vote of a row that acquired nothing, whose probabilities are the weighted class shares.

    Returns
    -------
    ndarray of float64, shape (1,) or (n_classes,)
        Half the log-odds on two classes; on more the logarithms of the shares, which add up to zero.

    Examples
    --------
    >>> rows = TrainingSet.of(np.zeros((3, 1)), np.array([0, 0, 1]), classes=np.array(["no", "yes"]))
    >>> vote_prior(rows).round(4)
    array([-0.3466])
    """
    if rows.classes is not None and len(rows.classes) > 2:
        shares = np.bincount(rows.target, weights=rows.weights, minlength=len(rows.classes))
        # Classes without a row are as improbable as with two classes.
        logs = np.log(np.maximum(shares / shares.sum(), math.exp(-2 * _MAX_PRIOR)))
        return np.asarray(logs - logs.mean())
    positive = rows.weights[rows.target == 1].sum()
    negative = rows.weights[rows.target == 0].sum()
    if positive == 0 or negative == 0:
        return np.array([_MAX_PRIOR if positive > 0 else -_MAX_PRIOR])
    return np.array([min(max(0.5 * math.log(positive / negative), -_MAX_PRIOR), _MAX_PRIOR)])


def vote_targets(rows: TrainingSet) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Return what learners are to vote, and how much each of these votes weighs.

    On more than two classes, a row of weight w is a case for its own class, of weight w / 2, and one against
    each of the others, of weight w / (2 (K - 1)): half of the weight is for, half against. Unless classes
    differ in size, a vote against everything then has no edge.

    Returns
    -------
    labels : ndarray of int8, shape (n_rows,) or (n_rows, n_classes)
        +1 or -1.
    weights : ndarray of float64, of the same shape

    Examples
    --------
    >>> rows = TrainingSet.of(np.zeros((2, 1)), np.array([0, 2]), classes=np.array(["a", "b", "c"]))
    >>> labels, weights = vote_targets(rows)
    >>> labels
    array([[ 1, -1, -1],
           [-1, -1,  1]], dtype=int8)
    >>> weights[0]
    array([0.5 , 0.25, 0.25])
    """
    if rows.classes is None or len(rows.classes) <= 2:
        return np.where(rows.target == 1, 1, -1).astype(np.int8), rows.weights
    n_classes = len(rows.classes)
    own = rows.target[:, np.newaxis] == np.arange(n_classes)
    shares = np.where(own, 0.5, 0.5 / (n_classes - 1))
    return np.where(own, 1, -1).astype(np.int8), rows.weights[:, np.newaxis] * shares
