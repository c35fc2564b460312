"""How a node divides its rows: the direction of its scores, and the threshold."""

from __future__ import annotations

from typing import Final

import numpy as np

from farthing.typing import Floats

# Numbers that differ by less than this share of their range differ by rounding.
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
    offsets = scores - np.average(scores, axis=0, weights=weights)
    return leading_vector((offsets * weights[:, np.newaxis]).T @ offsets)


def leading_vector(products: Floats) -> Floats:
    """Return the eigenvector of the largest eigenvalue, of length 1; its largest entry is positive.

    Of entries that are equally large but for rounding, the first is.

    Parameters
    ----------
    products : ndarray of float64, shape (n_outputs, n_outputs)
        Symmetric.

    Examples
    --------
    >>> leading_vector(np.array([[1.0, 0.0], [0.0, 3.0]]))
    array([0., 1.])
    """
    if len(products) == 1:
        return np.ones(1)
    leading = np.linalg.eigh(products)[1][:, -1]
    sizes = np.abs(leading)
    first = np.argmax(sizes > (1 - _SAME) * sizes.max())
    return np.asarray(leading * np.sign(leading[first]))


def halving_threshold(projection: Floats, weights: Floats | None = None) -> float | None:
    """Return the threshold that divides the weight most evenly; None if all projections are the same.

    Equal projections stay together, so a weight of 2 counts like two rows.

    Parameters
    ----------
    projection : ndarray of float64, shape (n_rows,)
    weights : ndarray of float64, shape (n_rows,), optional
        None means 1 each.

    Examples
    --------
    >>> halving_threshold(np.array([3.0, 1.0, 2.0, 2.0]), np.ones(4))
    1.5
    """
    if weights is None:
        middle = len(projection) // 2
        sorted_around = np.partition(projection, middle)
        lower, upper = sorted_around[:middle].max(initial=-np.inf), sorted_around[middle]
        # No cut is more even; only between equal projections there is none.
        if middle and upper - lower > _SAME * (projection.max() - projection.min()):
            return float((lower + upper) / 2)
        weights = np.ones(len(projection))
    order = np.argsort(projection)
    values, below = projection[order], np.cumsum(weights[order])
    gaps = np.flatnonzero(np.diff(values) > _SAME * (values[-1] - values[0]))
    if not len(gaps):
        return None
    # Compared after rounding: a cut and its mirror image leave the same difference but for the last bits.
    uneven = np.round(np.abs(below[gaps] / below[-1] - 0.5), 12)
    cut = gaps[int(np.argmin(uneven))]
    return float((values[cut] + values[cut + 1]) / 2)
