"""The losses of boosting, as pure functions of targets and scores.

Scores and gradients have shape (n_outputs, n_rows), so that the rows of one output are contiguous. Losses are
unweighted: the caller multiplies by the weights of the rows before it sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import lambda_steps
from farthing._core import logistic_losses as core_logistic_losses
from farthing._core import logistic_steps as core_logistic_steps
from farthing._core import softmax_losses as core_softmax_losses
from farthing._core import softmax_steps as core_softmax_steps
from farthing.base import sigmoid, softmax
from farthing.collective import group_totals, mean
from farthing.typing import Floats
from farthing.walks.plans import Link, LinkStep

Target: TypeAlias = NDArray[Any]
Steps: TypeAlias = tuple[Floats, Floats | None]

# Share of a class without rows, since log(0) is not a finite score.
_LEAST_SHARE = 1e-15
# Hessians are at least this multiple of the absolute gradient, so that no Newton step is longer than its
# inverse; those of the log losses are so in the core.
_LEAST_OWN = 0.1


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss as three functions.

    Attributes
    ----------
    start : callable
        (target, weights) to the scores before the first tree, shape (n_outputs,).
    steps : callable
        (target, scores) to the negative gradients and the hessians, shape (n_outputs, n_rows) each; None
        stands for hessians of 1.
    values : callable
        (target, scores) to the loss of each row, shape (n_rows,).
    core : str or None
        The name of the loss in the compiled core, whose boosting gives the same bits; None if it has none.
    """

    start: Callable[[Target, Floats], Floats]
    steps: Callable[[Target, Floats], Steps]
    values: Callable[[Target, Floats], Floats]
    core: str | None = None


# Squared error, half of it, so that its gradient is the residual.


def squared_start(target: Target, weights: Floats) -> Floats:
    """Return the weighted mean, shape (1,)."""
    return np.array([mean(target.astype(np.float64), weights)])


def squared_steps(target: Target, scores: Floats) -> Steps:
    """Return the residuals; the hessian of half the squared error is 1.

    Examples
    --------
    >>> squared_steps(np.array([1.0, 2.0]), np.array([[1.5, 1.5]]))
    (array([[-0.5,  0.5]]), None)
    """
    return target - scores, None


def squared_values(target: Target, scores: Floats) -> Floats:
    """Return half the squared error of each row."""
    return np.asarray((target - scores[0]) ** 2 / 2)


# Two classes: log loss of the log-odds of class 1.


def logistic_start(target: Target, weights: Floats) -> Floats:
    """Return the log-odds of class 1 over class 0, shape (1,)."""
    shares = _shares(target, weights, 2)
    return np.array([np.log(shares[1]) - np.log(shares[0])])


def logistic_steps(target: Target, scores: Floats) -> Steps:
    """Return y - p and p (1 - p), the latter at least |y - p| / 10.

    Examples
    --------
    >>> logistic_steps(np.array([0, 1]), np.zeros((1, 2)))
    (array([[-0.5,  0.5]]), array([[0.25, 0.25]]))
    """
    return core_logistic_steps(_numbers(target), np.ascontiguousarray(scores[0]))


def logistic_values(target: Target, scores: Floats) -> Floats:
    """Return the log loss of each row, in nats."""
    return core_logistic_losses(_numbers(target), np.ascontiguousarray(scores[0]))


# Several classes: log loss of the softmax, one score per class.


def softmax_start(n_classes: int) -> Callable[[Target, Floats], Floats]:
    """Return the function that gives the logarithms of the classes' shares, shape (n_classes,)."""

    def start(target: Target, weights: Floats) -> Floats:
        return np.log(_shares(target, weights, n_classes))

    return start


def softmax_steps(target: Target, scores: Floats) -> Steps:
    """Return y - p for each class, and the diagonal of the hessian, p (1 - p), at least |y - p| / 10.

    Examples
    --------
    >>> gradients, hessians = softmax_steps(np.array([0]), np.zeros((2, 1)))
    >>> gradients.ravel(), hessians.ravel()
    (array([ 0.5, -0.5]), array([0.25, 0.25]))
    """
    return core_softmax_steps(_codes(target), np.ascontiguousarray(scores))


def softmax_values(target: Target, scores: Floats) -> Floats:
    """Return the log loss of each row, in nats."""
    return core_softmax_losses(_codes(target), np.ascontiguousarray(scores))


# Rankings: LambdaMART. Pairs of documents of one query, weighted by the change of NDCG if they were swapped.


def lambdamart(qid: NDArray[np.int64] | None, n_rows: int, n_threads: int = 1) -> Loss:
    """Return the loss of LambdaMART over the queries of some rows.

    A pair of documents with different grades has the logistic loss of the difference of their scores, times
    the change of NDCG if the two were swapped (Burges 2010). The change is taken at the current ranks and
    treated as a constant, so the gradients of different rounds are not of one loss. Pairs of which neither
    document is among the first 30 are left out.

    Parameters
    ----------
    qid : ndarray of int64, shape (n_rows,), or None
        The query of each row; None means one query.
    n_rows : int
        Number of rows.
    n_threads : int
        Threads to use; any number gives the same bits.
    """
    queries = np.zeros(n_rows, dtype=np.int64) if qid is None else qid
    # Rows of a query need not be adjacent: documents lists them query by query, bounds[q] to bounds[q + 1].
    documents = np.argsort(queries, kind="stable").astype(np.int64)
    starts = np.flatnonzero(np.diff(queries[documents])) + 1
    bounds = np.concatenate([[0], starts, [n_rows]]).astype(np.int64)

    def both(target: Target, scores: Floats) -> tuple[Floats, Floats, Floats]:
        grades = np.ascontiguousarray(target, dtype=np.float64)
        return lambda_steps(documents, bounds, grades, np.ascontiguousarray(scores[0]), n_threads)

    def steps(target: Target, scores: Floats) -> Steps:
        gradients, hessians, _ = both(target, scores)
        return gradients[np.newaxis], np.maximum(hessians, _LEAST_OWN * np.abs(gradients))[np.newaxis]

    def values(target: Target, scores: Floats) -> Floats:
        return both(target, scores)[2]

    # Only differences of scores matter, so any start will do; the mean grade suits a row without any feature.
    return Loss(squared_start, steps, values)


SQUARED = Loss(squared_start, squared_steps, squared_values, "squared")
LOGISTIC = Loss(logistic_start, logistic_steps, logistic_values, "logistic")


def softmax_loss(n_classes: int) -> Loss:
    """Return the log loss of several classes."""
    return Loss(softmax_start(n_classes), softmax_steps, softmax_values, "softmax")


def classification_loss(n_classes: int) -> Loss:
    """Return the log loss for a number of classes: of one log-odds for two, else of one score per class.

    Examples
    --------
    >>> classification_loss(2) is LOGISTIC
    True
    """
    return LOGISTIC if n_classes == 2 else softmax_loss(n_classes)


def scores_to_probabilities(scores: Floats, n_classes: int) -> Floats:
    """Return the class probabilities for the scores of `classification_loss`.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, 1) or (n_rows, n_classes)
        One log-odds for two classes, else one score per class.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_classes)

    Examples
    --------
    >>> scores_to_probabilities(np.array([[0.0]]), 2)
    array([[0.5, 0.5]])
    """
    return sigmoid(scores) if n_classes == 2 else softmax(scores)


def probability_steps(n_classes: int) -> Link:
    """Return `scores_to_probabilities` as steps, for an export."""
    return (LinkStep("sigmoid" if n_classes == 2 else "softmax"),)


def _numbers(target: Target) -> Floats:
    return np.ascontiguousarray(target, dtype=np.float64)


def _codes(target: Target) -> NDArray[np.int64]:
    return np.ascontiguousarray(target, dtype=np.int64)


def _shares(target: Target, weights: Floats, n_classes: int) -> Floats:
    counts = group_totals(target.astype(np.int64), weights, n_classes)
    return np.asarray(np.maximum(counts / counts.sum(), _LEAST_SHARE))
