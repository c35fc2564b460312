"""Rows held out of learning, and the threshold that a mean budget sets on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from farthing.adaptive.adapt.expensive_model import Rows
from farthing.adaptive.adapt.gate_pairs import SLACK
from farthing.adaptive.adapt.projection import Floats
from farthing.base import ValidatedMixin


class WithValidation(ValidatedMixin):
    """A method whose mean budget sets a threshold on rows that it does not learn from.

    Validation rows are these rows; their labels are counted, and not looked at.
    """

    def _known_target(self, y: Any) -> NDArray[np.int64]:
        return np.zeros(len(column_or_1d(y)), dtype=np.int64)

    def _held_rows(self, validation: Any) -> Rows | None:
        """Return the validation rows that `fit` was given, if any."""
        return None if validation is None else Rows(*self._given_rows(validation))


def check_share(name: str, share: float) -> None:
    """Raise ValueError unless a parameter lies between 0 and 1, both left out."""
    if not 0 < share < 1:
        raise ValueError(f"{name} must lie between 0 and 1; got {share!r}")


def apart(rows: Rows, fraction: float, chance: np.random.RandomState) -> tuple[Rows, Rows]:
    """Part the rows into those to learn from and those held out."""
    n_rows = len(rows.target)
    n_held = round(fraction * n_rows)
    if not 0 < n_held < n_rows:
        raise ValueError(
            f"validation_fraction={fraction} leaves nothing on one side of {n_rows} rows; give more, or "
            "validation rows of their own"
        )
    held = np.zeros(n_rows, dtype=np.bool_)
    held[chance.permutation(n_rows)[:n_held]] = True
    return rows.take(~held), rows.take(held)


def lowest_threshold(scores: Floats, prices: Floats, limit: float) -> float:
    """Return the lowest threshold such that all that scores above it costs at most the limit.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Of gates; equal scores open together.
    prices : ndarray of float64, shape (n,)
        What each adds to the mean spend if it opens.
    limit : float
        The most that they may add.

    Returns
    -------
    float
        Minus infinity if all may open.

    Examples
    --------
    >>> lowest_threshold(np.array([3.0, 1.0, 2.0, 1.0]), np.ones(4), 2.5)
    1.0
    >>> lowest_threshold(np.array([3.0, 1.0]), np.ones(2), 2.0)
    -inf
    """
    levels, place = np.unique(-scores, return_inverse=True)  # from the top score down
    fits = np.cumsum(np.bincount(place, weights=prices, minlength=len(levels))) <= limit
    return -np.inf if fits.all() else float(-levels[int(np.argmin(fits))])


def share_threshold(scores: Floats, weights: Floats, share: float) -> float:
    """Return the lowest threshold that at most a share of the rows scores above.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows,)
        Of a gate; equal scores open together.
    weights : ndarray of float64, shape (n_rows,)
        How much each row counts.
    share : float
        0 to 1. At 0 no row opens, not even one that scores above all of these.

    Returns
    -------
    float

    Examples
    --------
    >>> share_threshold(np.array([3.0, 1.0, 2.0, 1.0]), np.ones(4), 0.6)
    1.0
    >>> share_threshold(np.array([3.0, 1.0]), np.ones(2), 0.0)
    inf
    """
    if share <= 0:
        return np.inf
    return lowest_threshold(scores, weights / weights.sum(), share * (1 + SLACK))
