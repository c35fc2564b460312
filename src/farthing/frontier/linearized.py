"""Scores of scikit-learn with a standard error in closed form: one pass over the rows, no resampling.

Each function here returns a score that is a smooth function of means over the rows, and the influence of each
row on it: its linear part. To first order the score moves as the mean of the influences does, so the standard
error of that mean is the standard error of the score (the delta method, or infinitesimal jackknife). For a
mean over the rows the influence is the row's own value.

The score is the one that scikit-learn gives, to the last bit: the same operations in the same order, without
its checks, which take longer than most models of a sweep. Whatever is not the plain case gives None, and
scikit-learn decides.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from farthing.frontier.evaluation import Evaluation
from farthing.typing import Floats

# The score, and the influence of each row, shape (n_rows,), up to a constant.
Linearized: TypeAlias = tuple[float, Floats]

Ratio: TypeAlias = Literal["recall", "precision", "f1"]
# By how much a row of the class, and a row predicted as it, counts in the denominator of a ratio.
_DENOMINATORS: Final = {"recall": (1, 0), "precision": (0, 1), "f1": (1, 1)}


def log_loss(evaluation: Evaluation) -> Linearized | None:
    """Linearize the log loss, negated: the mean log of the probability of the true class."""
    found = _probabilities(evaluation)
    if found is None:
        return None
    truth, probabilities = found
    eps = np.finfo(np.float64).eps
    given = np.clip(probabilities[np.arange(len(truth)), truth], eps, 1 - eps)
    # xlogy, as in scikit-learn: the last bit of its logarithm is not always NumPy's.
    losses = np.asarray(-xlogy(1.0, given), dtype=np.float64)
    return -float(np.average(losses)), -losses


def brier_score(evaluation: Evaluation) -> Linearized | None:
    """Linearize the Brier score, negated; for two classes it is half the sum over both."""
    found = _probabilities(evaluation)
    if found is None or np.asarray(evaluation.classes).dtype.kind not in "biuf":
        return None
    truth, probabilities = found
    indicators = np.eye(probabilities.shape[1])[truth]
    scale = 0.5 if probabilities.shape[1] == 2 else 1.0
    losses = np.sum((indicators - probabilities) ** 2, axis=1)
    return -float(np.average(losses) * scale), -losses * scale


def balanced_accuracy(evaluation: Evaluation) -> Linearized | None:
    """Linearize the mean recall over the classes that the rows have."""
    found = _labels(evaluation)
    return found and _mean_ratio("recall", *found, np.unique(found[0]), evaluation.weights)


def macro(kind: Ratio, evaluation: Evaluation) -> Linearized | None:
    """Linearize the mean recall, precision or F1 over the classes that the rows or the predictions have."""
    found = _labels(evaluation)
    return found and _mean_ratio(kind, *found, np.unique(np.concatenate(found)), evaluation.weights)


def weighted(kind: Ratio, evaluation: Evaluation) -> Linearized | None:
    """Linearize the mean recall, precision or F1 over the classes, each weighted by its number of rows."""
    found = _labels(evaluation)
    return found and _mean_ratio(
        kind, *found, np.unique(np.concatenate(found)), evaluation.weights, by_size=True
    )


def binary(kind: Ratio, evaluation: Evaluation, positive: Any = None) -> Linearized | None:
    """Linearize the recall, precision or F1 of one of two classes; None means 1, if both are numbers."""
    found = _labels(evaluation)
    classes = np.asarray(evaluation.classes)
    if found is None or len(classes) != 2 or (positive is None and classes.dtype.kind not in "biuf"):
        return None
    places = np.flatnonzero(classes == (1 if positive is None else positive))
    return _mean_ratio(kind, *found, places, evaluation.weights) if len(places) else None


def micro(evaluation: Evaluation) -> Linearized | None:
    """Linearize the share of right labels: recall, precision and F1 over all classes together."""
    found = _labels(evaluation)
    if found is None:
        return None
    right = (found[0] == found[1]).astype(np.float64)
    return float(np.average(right)), right


def matthews_corrcoef(evaluation: Evaluation) -> Linearized | None:
    """Linearize the correlation of the labels with the predictions, by Gorodkin's formula for any classes."""
    found = _labels(evaluation)
    if found is None:
        return None
    truth, given = found
    n_rows, n_classes = len(truth), int(max(truth.max(), given.max())) + 1
    right = truth == given
    rows, predictions = (np.bincount(places, minlength=n_classes).astype(np.float64) for places in found)
    shared = np.sum(right) * n_rows - np.dot(rows, predictions)
    of_rows, of_predictions = (n_rows**2 - np.dot(counts, counts) for counts in (rows, predictions))
    if of_rows * of_predictions == 0:
        return 0.0, np.zeros(n_rows)
    score = float(shared / np.sqrt(of_rows * of_predictions))
    # The derivatives of covariance and variances, at the shares of the weighted rows.
    p, q = (
        np.bincount(places, evaluation.weights, n_classes) / evaluation.total_weight() for places in found
    )
    of_p, of_q = 1 - p @ p, 1 - q @ q
    at = (evaluation.mean(right.astype(np.float64)) - p @ q) / np.sqrt(of_p * of_q)
    influence = (right - p[given] - q[truth]) / np.sqrt(of_p * of_q)
    return score, influence + at * (p[truth] / of_p + q[given] / of_q)


def mean_absolute_error(evaluation: Evaluation) -> Linearized | None:
    """Linearize the mean absolute error, negated."""
    residuals = _residuals(evaluation)
    if residuals is None:
        return None
    losses = np.abs(residuals)
    return -float(np.average(losses, axis=0)[0]), -losses[:, 0]


def root_mean_squared_error(evaluation: Evaluation) -> Linearized | None:
    """Linearize the root of the mean squared error, negated."""
    residuals = _residuals(evaluation)
    if residuals is None:
        return None
    squares = residuals**2
    score = float(np.sqrt(np.average(squares, axis=0))[0])
    root = float(np.sqrt(evaluation.mean(squares[:, 0])))
    return -score, -squares[:, 0] / (2 * root) if root > 0 else np.zeros(len(squares))


def r2(evaluation: Evaluation) -> Linearized | None:
    """Linearize the share of the variance that is explained."""
    residuals = _residuals(evaluation)
    if residuals is None or len(residuals) < 2:
        return None
    y = evaluation.y.astype(np.float64)[:, np.newaxis]
    total = np.sum((y - np.average(y, axis=0)) ** 2, axis=0)
    if total[0] == 0:
        return None
    score = float((1 - np.sum(residuals**2, axis=0) / total)[0])
    # Moving the mean of y changes the variance to second order only, so it has no influence of its own.
    deviations = (y[:, 0] - evaluation.mean(y[:, 0])) ** 2
    unexplained, variance = evaluation.mean(residuals[:, 0] ** 2), evaluation.mean(deviations)
    return score, -(residuals[:, 0] ** 2 - unexplained / variance * deviations) / variance


LINEARIZED: Final[dict[str, Callable[[Evaluation], Linearized | None]]] = {
    "neg_log_loss": log_loss,
    "neg_brier_score": brier_score,
    "balanced_accuracy": balanced_accuracy,
    **{kind: partial(binary, kind) for kind in get_args(Ratio)},
    **{f"{kind}_macro": partial(macro, kind) for kind in get_args(Ratio)},
    **{f"{kind}_weighted": partial(weighted, kind) for kind in get_args(Ratio)},
    **{f"{kind}_micro": micro for kind in get_args(Ratio)},
    "matthews_corrcoef": matthews_corrcoef,
    "neg_mean_absolute_error": mean_absolute_error,
    "neg_root_mean_squared_error": root_mean_squared_error,
    "r2": r2,
}
"""By scikit-learn's name of the score; larger is better."""


def _mean_ratio(
    kind: Ratio,
    truth: NDArray[np.int64],
    given: NDArray[np.int64],
    classes: NDArray[np.int64],
    weights: Floats | None,
    *,
    by_size: bool = False,
) -> Linearized:
    """Linearize a mean over classes of a ratio of means over rows; an empty ratio is zero.

    A ratio a/b of the means of a_i and b_i has the influences (a_i - a/b b_i) / mean(b).
    """
    of_class, of_prediction = _DENOMINATORS[kind]
    n_classes = int(max(truth.max(), given.max(), classes.max())) + 1
    right = truth == given

    def ratios(weights: Floats | None) -> tuple[Floats, Floats, Floats]:
        hits, rows, predictions = (
            np.bincount(places[kept], None if weights is None else weights[kept], n_classes).astype(float)
            for places, kept in ((truth, right), (truth, slice(None)), (given, slice(None)))
        )
        below = of_class * rows + of_prediction * predictions
        return (of_class + of_prediction) * hits / np.where(below == 0, 1, below), below, rows

    # The score of equal weights, in whole numbers; the influences at the weights of the rows.
    of_classes, _, sizes = ratios(None)
    score = float(np.average(of_classes[classes], weights=sizes[classes] if by_size else None))
    ratio, below, sizes = ratios(weights)
    # A class outside of the mean, or without rows, has no influence.
    shares = np.zeros(n_classes)
    shares[classes] = sizes[classes] / sizes.sum() if by_size else 1 / len(classes)
    scale = shares / np.where(below == 0, 1, below) * sizes.sum()
    influence = (of_class + of_prediction) * right * scale[truth]
    influence = influence - of_class * (ratio * scale)[truth] - of_prediction * (ratio * scale)[given]
    return score, influence + ratio[truth] if by_size else influence


def _labels(evaluation: Evaluation) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the places among the classes of the truth and of the predictions, each shape (n_rows,)."""
    if not _are_discrete(evaluation):
        return None
    truth, given = evaluation.places(evaluation.y), evaluation.places(evaluation.prediction)
    return None if truth is None or given is None else (truth, given)


def _probabilities(evaluation: Evaluation) -> tuple[NDArray[np.int64], Floats] | None:
    """Return the place of the true class, and the probabilities, shape (n_rows, n_classes), as scored."""
    probabilities = evaluation.probabilities
    if probabilities is None or probabilities.dtype != np.float64 or not _are_discrete(evaluation):
        return None
    truth = evaluation.places(evaluation.y)
    n_classes = probabilities.shape[1]
    # scikit-learn refuses rows that lack a class, and probabilities that are none.
    if truth is None or n_classes < 2 or np.any(np.bincount(truth, minlength=n_classes) == 0):
        return None
    if not (probabilities.min() >= 0 and probabilities.max() <= 1):
        return None
    if n_classes == 2:  # scikit-learn's scorers look at the second column alone
        return truth, np.column_stack([1 - probabilities[:, 1], probabilities[:, 1]])
    sums = probabilities.sum(axis=1)
    near = np.abs(sums - 1) <= np.sqrt(np.finfo(np.float64).eps)
    return (truth, probabilities) if near.all() else None


def _are_discrete(evaluation: Evaluation) -> bool:
    """Return whether scikit-learn takes the classes as labels: anything but fractions."""
    classes = evaluation.classes
    if classes is None or len(evaluation.y) == 0:
        return False
    return classes.dtype.kind != "f" or bool(np.all(classes == np.round(classes)))


def _residuals(evaluation: Evaluation) -> Floats | None:
    """Return truth minus prediction as a column, shape (n_rows, 1), the shape that scikit-learn sums over."""
    y, prediction = evaluation.y, evaluation.prediction
    if prediction.dtype != np.float64 or y.dtype.kind not in "biuf" or y.ndim != 1 or prediction.ndim != 1:
        return None
    residuals: Floats = (y.astype(np.float64) - prediction)[:, np.newaxis]
    return residuals if len(y) > 0 and np.isfinite(residuals).all() else None
