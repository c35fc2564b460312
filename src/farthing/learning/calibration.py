"""Temperature scaling: calibrated probabilities that leave every predicted label unchanged."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing._core import best_log_temperature
from farthing.base.links import normalise

# Offsets that move by less than this are found; they take some ten steps.
_CLOSE: Final = 1e-9
_MOST_STEPS: Final = 100
# Probabilities below this are raised to it before their logarithm is taken.
_MIN_PROBABILITY: Final = 1e-12
# Logarithms of temperatures lie between this and its negative, and are found to this close.
_WIDEST: Final = 3.0
_FOUND: Final = 1e-5


def temper(probabilities: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Return p^(1/T), normalised: softer for T > 1, sharper for T < 1, in the same order.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_rows, n_classes)
    temperature : float
        Above zero; 1 changes nothing.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_classes)

    Examples
    --------
    >>> temper(np.array([[0.8, 0.2]]), 2.0).round(3)
    array([[0.667, 0.333]])
    """
    if temperature == 1:
        return probabilities
    # In logarithms, shifted to a maximum of 0, so that low temperatures do not underflow all classes.
    logs = np.log(np.maximum(probabilities, _MIN_PROBABILITY)) / temperature
    return normalise(np.exp(logs - logs.max(axis=1, keepdims=True)))


def temperature_of(
    probabilities: NDArray[np.float64],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the temperature that minimises the log loss of held-out rows.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_rows, n_classes)
        Probabilities of held-out rows.
    codes : ndarray of int64, shape (n_rows,)
        The column of the true class of each row.
    weights : ndarray of float64, shape (n_rows,), optional
        Weights of the rows; None means 1 each.

    Returns
    -------
    float

    Examples
    --------
    >>> overconfident = np.array([[0.99, 0.01], [0.99, 0.01], [0.99, 0.01]])
    >>> temperature_of(overconfident, np.array([0, 0, 1])) > 1
    True
    """
    logs = np.log(np.maximum(probabilities, _MIN_PROBABILITY))
    return _best_temperature(_margins(logs, codes), weights)


def score_temperature(
    scores: NDArray[np.float64], codes: NDArray[np.int64], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the divisor of scores that minimises the log loss of held-out rows, as in `temperature_of`.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, 1) or (n_rows, n_classes)
        The log-odds of the second of two classes, or a score of each class.
    codes, weights
        As in `temperature_of`.

    Examples
    --------
    >>> overconfident = np.array([[-4.6], [-4.6], [-4.6]])
    >>> score_temperature(overconfident, np.array([0, 0, 1])) > 1
    True
    """
    if scores.shape[1] == 1:
        margins = np.where(codes[:, np.newaxis] == 0, scores, -scores)
    else:
        margins = _margins(scores, codes)
    # As far apart as the logarithms of probabilities can be.
    widest = -np.log(_MIN_PROBABILITY)
    return _best_temperature(np.clip(margins, -widest, widest), weights)


def _margins(logs: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores of the other classes less that of the true one, shape (n_rows, n_classes - 1)."""
    every, n_classes = np.arange(len(logs))[:, np.newaxis], logs.shape[1]
    others = (codes[:, np.newaxis] + np.arange(1, n_classes)) % n_classes
    return np.asarray(logs[every, others] - logs[every, codes[:, np.newaxis]])


def _best_temperature(margins: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Return the temperature that minimises the log loss of rows with these margins."""
    counted = None if weights is None or (weights == 1).all() else np.ascontiguousarray(weights)
    total = len(margins) if counted is None else float(counted.sum())

    # The search is over log T, where the loss is close to symmetric around its minimum. It is bounded, since
    # without a single error on the held-out rows the best temperature would be 0.
    found = best_log_temperature(margins, counted, _MIN_PROBABILITY, total, -_WIDEST, _WIDEST, _FOUND)
    return float(np.exp(found))


def share_offsets(
    scores: NDArray[np.float64],
    shares: NDArray[np.float64],
    weights: NDArray[np.float64],
    start: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return what to add to the score of each class so that mean probabilities are the shares of classes.

    These offsets maximise the likelihood of the rows (the condition is that its gradient is zero); they are
    found by iterative proportional fitting.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_outputs)
        Scores of the classes, or the log-odds of the second of two.
    shares : ndarray of float64, shape (n_classes,)
        The shares; a class of share zero keeps its offset.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    start : ndarray of float64, shape (n_classes,)
        Offsets to begin with.

    Examples
    --------
    >>> offsets = share_offsets(np.zeros((4, 1)), np.array([0.25, 0.75]), np.ones(4), np.zeros(2))
    >>> (np.exp(offsets) / np.exp(offsets).sum()).round(6)
    array([0.25, 0.75])
    """
    logits = scores if scores.shape[1] > 1 else np.column_stack([np.zeros(len(scores)), scores])
    present = shares > 0
    offsets = start.copy()
    for _ in range(_MOST_STEPS):
        moved = logits + offsets
        probabilities = normalise(np.exp(moved - moved.max(axis=1, keepdims=True)))
        means = np.average(probabilities, axis=0, weights=weights)
        step = np.log(shares[present] / np.maximum(means[present], _MIN_PROBABILITY))
        offsets[present] += step
        if np.abs(step).max() < _CLOSE:
            break
    return offsets
