"""Stochastic curtailment: a vote that stops when the remaining votes are unlikely to change its sign.

Before each question a row has a sum S of finished votes; the votes to come add some D, so that the full vote
is S + D. Rows that the vote was learned from give the mean m and the standard deviation d of D before each
question. A row stops if the sign of S is that of S + m, and |S + m| / d, its *score*, is above a level L.

L is chosen on rows that were held out, n of them, by split conformal prediction. The critical score of a row
is the largest one at which S has another sign than its full vote: with a level of at least that, the row
cannot stop with the wrong label. L is the critical score of rank ceil((1 - error) (n + 1)) among the rows
held out. If these and a new row are exchangeable, its critical score exceeds L with a probability of at most
``error``. So this probability is over the draw of the held-out rows and of the new row together, not for a
given row, nor for a given fit: with one fit, the share of rows that differ is about ``error``, give or take
sqrt(error / n). It is a bound: rows whose label is not yet certain, but right, are not errors.

Where no rank is high enough, if n < 1 / error - 1, L is infinite and only exact curtailment is left; an error
of zero is exact curtailment, bit for bit. The bound is about rows that may buy what the held-out rows could
buy: it does not hold under a smaller budget at prediction, or if features are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.learning.holdout import hold_out
from farthing.learning.random_numbers import draw_rows

# From rows of a table to the sums before each question, shape (n_rows, n_places), NaN where a row is not
# asked or has nothing yet; and to the full votes, shape (n_rows,).
Trace: TypeAlias = Callable[[NDArray[np.floating]], tuple[NDArray[np.float64], NDArray[np.float64]]]

# Rows whose sums are held at one time.
_BLOCK: Final = 4096
# The key of the held-out rows: which rows they are is fixed, so that a fit needs no seed.
_HELD_OUT: Final = 0x6375727461696C


def split_rows(
    rows: TrainingSet, curtail: bool, error: float, fraction: float
) -> tuple[TrainingSet, TrainingSet | None]:
    """Return the rows to learn from, and those to hold out for the level: None if the error is zero.

    Raises
    ------
    ValueError
        If there is an error probability without curtailment, or for more than two classes.
    """
    if error == 0:
        return rows, None
    if not curtail:
        raise ValueError(f"curtailment_error={error} has no meaning without curtailment; set curtail=True")
    if rows.classes is not None and len(rows.classes) > 2:
        raise ValueError(f"curtailment_error={error} is for two classes; got {len(rows.classes)}")
    return hold_out(rows, fraction, partial(draw_rows, _HELD_OUT))


def stopping_thresholds(
    trace: Trace, learned: NDArray[np.floating], held_out: NDArray[np.floating], error: float
) -> NDArray[np.float64]:
    """Return the sums at which a row stops before each question.

    Parameters
    ----------
    trace : callable
        The sums of rows of a table.
    learned : ndarray, shape (n_rows, n_features)
        Rows that the vote was learned from.
    held_out : ndarray, shape (n_held_out, n_features)
        Other rows.
    error : float
        The probability that a label differs from that of the full vote.

    Returns
    -------
    ndarray of float64, shape (2, n_places)
        A row stops at a sum of at most the first, which is zero or less, or above the second, which is zero
        or more.

    Examples
    --------
    The votes of four columns, asked one after another:

    >>> def trace(X):
    ...     return np.cumsum(X, axis=1)[:, :-1], X.sum(axis=1)
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(2000, 4)) * [8.0, 4.0, 2.0, 3.0]
    >>> stopping_thresholds(trace, X[:1000], X[1000:], error=0.1).round(1)
    array([[-7.9, -5.3, -4.4],
           [ 8. ,  5.5,  4.7]])
    """
    means, spreads = _rest_moments(trace, learned)
    critical = np.concatenate(
        [_critical_scores(*traced, means, spreads) for traced in _traces(trace, held_out)]
    )
    rank = max(math.ceil((1 - error) * (len(critical) + 1)), 1)
    level = max(float(np.sort(critical)[rank - 1]), 0.0) if rank <= len(critical) else math.inf
    # A little more than the level, which is safe: by rounding, a sum of the critical score could stop.
    reach = np.full(len(means), math.inf) if level == math.inf else (level * (1 + 1e-9) + 1e-12) * spreads
    return np.stack([np.minimum(-reach - means, 0.0), np.maximum(reach - means, 0.0)])


def check_stops(stops: NDArray[np.float64] | None, n_places: int) -> None:
    """Raise ValueError unless there are two thresholds for each place, on either side of zero."""
    if stops is None:
        return
    if stops.dtype != np.float64 or stops.shape != (2, n_places):
        raise ValueError(f"stops must be two floats for each of {n_places} places")
    if not ((stops[0] <= 0).all() and (stops[1] >= 0).all()):  # written so that NaN fails, too
        raise ValueError("stops must have zero or less first, then zero or more")


def _traces(
    trace: Trace, values: NDArray[np.floating]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    for start in range(0, len(values), _BLOCK):
        yield trace(values[start : start + _BLOCK])


def _rest_moments(
    trace: Trace, values: NDArray[np.floating]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of the votes still to come, before each question."""
    count, total, squares = 0.0, 0.0, 0.0
    for sums, finals in _traces(trace, values):
        rest = finals[:, np.newaxis] - sums
        seen = ~np.isnan(rest)
        rest = np.where(seen, rest, 0.0)
        count, total, squares = (
            count + seen.sum(axis=0),
            total + rest.sum(axis=0),
            squares + (rest**2).sum(axis=0),
        )
    means = np.asarray(total / np.maximum(count, 1))
    spreads = np.sqrt(np.maximum(squares / np.maximum(count, 1) - means**2, 0.0))
    # Where no row was asked, or all had the same votes to come, nothing is known of other rows: no row stops.
    return means, np.where(spreads > 0, spreads, math.inf)


def _critical_scores(
    sums: NDArray[np.float64],
    finals: NDArray[np.float64],
    means: NDArray[np.float64],
    spreads: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the largest score of each row at which its sum has the wrong sign; -inf if there is none."""
    # NaN compares as False, so what is not asked counts as a negative sum, with a score of NaN.
    positive = sums > 0
    scores = np.where(positive, sums + means, -(sums + means)) / spreads
    wrong = (positive != (finals > 0)[:, np.newaxis]) & ~np.isnan(sums)
    return np.asarray(np.max(scores, axis=1, initial=-math.inf, where=wrong))
