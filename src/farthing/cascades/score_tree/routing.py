"""How a node divides its rows: the direction of its scores, and the threshold."""

from __future__ import annotations

from typing import Final

import numpy as np

from farthing.typing import Floats

# Projections that differ by less than this share of their range differ by rounding.
_SAME: Final = 1e-9


def leading_direction(scores: Floats, weights: Floats) -> Floats:
    """Return the direction in which scores vary most, of length 1; its largest entry is positive.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_outputs)
    weights : ndarray of float64, shape (n_rows,)

    Returns
    -------
    ndarray of float64, shape (n_outputs,)

    Examples
    --------
    >>> leading_direction(np.array([[0.0, 1.0], [0.0, -3.0]]), np.ones(2))
    array([0., 1.])
    """
    if scores.shape[1] == 1:
        return np.ones(1)
    offsets = scores - np.average(scores, axis=0, weights=weights)
    _, vectors = np.linalg.eigh((offsets * weights[:, np.newaxis]).T @ offsets)
    leading = vectors[:, -1]
    return np.asarray(leading * np.sign(leading[np.argmax(np.abs(leading))]))


def halving_threshold(projection: Floats, weights: Floats) -> float | None:
    """Return the threshold that divides the weight most evenly; None if all projections are the same.

    Equal projections stay together, so a weight of 2 counts like two rows.

    Examples
    --------
    >>> halving_threshold(np.array([3.0, 1.0, 2.0, 2.0]), np.ones(4))
    1.5
    """
    order = np.argsort(projection)
    values, below = projection[order], np.cumsum(weights[order])
    gaps = np.flatnonzero(np.diff(values) > _SAME * (values[-1] - values[0]))
    if not len(gaps):
        return None
    # Compared after rounding: a cut and its mirror image leave the same difference but for the last bits.
    uneven = np.round(np.abs(below[gaps] / below[-1] - 0.5), 12)
    cut = gaps[int(np.argmin(uneven))]
    return float((values[cut] + values[cut + 1]) / 2)
