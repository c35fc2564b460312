"""Bootstrap samples as counts of the rows, and ranking scores of all samples at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats

# Bootstrap samples for the standard error of a score that has none in closed form.
N_SAMPLES: Final = 40
# Samples come in blocks of at most this many counts, which bounds the memory that scoring them takes.
_MOST_COUNTS: Final = 2**20


def sample_blocks(n_rows: int) -> Iterable[NDArray[np.int32]]:
    """Return bootstrap samples: how often each row is in each, in blocks of shape (n_samples, n_rows).

    The seed is fixed, since the same predictions must always have the same standard error. So all evaluations
    of as many rows share their samples, which are drawn once unless they are large.

    Parameters
    ----------
    n_rows : int
        Number of rows, and of draws of each sample.

    Examples
    --------
    >>> (block,) = sample_blocks(5)
    >>> block.shape, block.sum(axis=1)[:3]
    ((40, 5), array([5, 5, 5]))
    """
    return _only_block(n_rows) if N_SAMPLES * n_rows <= _MOST_COUNTS else _blocks(n_rows)


@lru_cache(maxsize=4)
def _only_block(n_rows: int) -> tuple[NDArray[np.int32], ...]:
    blocks = tuple(_blocks(n_rows))
    for block in blocks:
        block.flags.writeable = False  # shared by all callers
    return blocks


def _blocks(n_rows: int) -> Iterator[NDArray[np.int32]]:
    rng = np.random.default_rng(0)
    size = min(N_SAMPLES, max(1, _MOST_COUNTS // n_rows))
    for begin in range(0, N_SAMPLES, size):
        drawn = (rng.choice(n_rows, n_rows) for _ in range(min(size, N_SAMPLES - begin)))
        yield np.array([np.bincount(rows, minlength=n_rows) for rows in drawn], dtype=np.int32)


def roc_areas(truth: NDArray[np.bool_], scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the area under the ROC curve of each bootstrap sample, NaN for those of one class.

    Parameters
    ----------
    truth : ndarray of bool, shape (n_rows,)
        Which rows are positive.
    scores : ndarray of float64, shape (n_rows,)
        Higher for rows that are more likely positive.
    weights : ndarray of float64, shape (n_rows,), optional
        Weight of each row.

    Returns
    -------
    ndarray of float64, shape (n_samples,)
    """
    return _over_samples(_area, truth, scores, weights)


def average_precisions(truth: NDArray[np.bool_], scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the average precision of each bootstrap sample, NaN for those without a positive row.

    The parameters are those of `roc_areas`.
    """
    return _over_samples(_average_precision, truth, scores, weights)


def _over_samples(
    measure: Callable[[Floats, Floats], Floats],
    truth: NDArray[np.bool_],
    scores: Floats,
    weights: Floats | None,
) -> Floats:
    """Return a measure of the hits and false alarms at every threshold, for each sample."""
    order = np.argsort(-scores, kind="stable")
    # A threshold lies below each run of equal scores.
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    positive = truth[order]
    measured = []
    for counts in sample_blocks(len(truth)):
        masses = counts[:, order].astype(np.float64)
        if weights is not None:
            masses *= weights[order]
        hits = np.cumsum(masses * positive, axis=1)[:, ends]
        alarms = np.cumsum(masses * ~positive, axis=1)[:, ends]
        with np.errstate(invalid="ignore", divide="ignore"):
            measured.append(measure(hits, alarms))
    return np.concatenate(measured)


def _area(hits: Floats, alarms: Floats) -> Floats:
    """Return the areas under curves, shape (n_samples,), from counts of shape (n_samples, n_thresholds)."""
    widths = np.diff(alarms, axis=1, prepend=0.0)
    heights = hits - np.diff(hits, axis=1, prepend=0.0) / 2
    areas: Floats = np.sum(widths * heights, axis=1) / (hits[:, -1] * alarms[:, -1])
    return areas


def _average_precision(hits: Floats, alarms: Floats) -> Floats:
    gained = np.diff(hits, axis=1, prepend=0.0)
    # Thresholds above every drawn row have neither hits nor alarms, and gain nothing.
    precision = hits / np.maximum(hits + alarms, np.finfo(np.float64).tiny)
    averages: Floats = np.sum(gained * precision, axis=1) / hits[:, -1]
    return averages
