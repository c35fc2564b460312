"""A race instead of a grid: settings that cannot win leave before they have been fitted on every fold.

All settings begin on the first fold, or on a part of a large table. After each heat they are compared at the
budget, row by row on the rows that all of them have seen: the differences to the leader have a far smaller
standard error than the scores themselves. The rule:

- a setting whose score and whose loss are both worse than the leader's by more than `HOPELESS` standard
  errors of the difference leaves;
- of the others at most a part stays, those of the least loss; the leader in score always does.

The winner over all folds leaves early only if it is far behind on the first rows and in two measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from farthing.frontier.fold_curves import Judged
from farthing.frontier.row_values import Standing, difference

HOPELESS: Final = 1.0
"""Standard errors of a paired difference by which a setting must be behind to leave, whatever its place."""

# The most settings that stay after each heat; the last number holds for all later ones.
_STAY: Final = (8, 4, 3)


def heats(n_folds: int, *, trial: bool = False) -> list[tuple[int, ...]]:
    """Return the folds of each heat of a race: one for the first two, then all others.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    trial : bool
        Whether there is a fold numbered -1, a part of the rows, which comes before all others.

    Examples
    --------
    >>> heats(5)
    [(0,), (1,), (2, 3, 4)]
    >>> heats(1, trial=True)
    [(-1,), (0,)]
    """
    parts = [(0,), (1,), tuple(range(2, n_folds))]
    found = [tuple(fold for fold in part if fold < n_folds) for part in parts]
    return [(-1,)] * trial + [part for part in found if part]


def survivors(judged: Mapping[int, Judged | None], heat: int, *, always: Sequence[int] = ()) -> list[int]:
    """Return the settings that go on after a heat, by their places.

    Parameters
    ----------
    judged : mapping
        From the place of each setting to how it stands; None leaves.
    heat : int
        Number of the heat that is over, from 0.
    always : sequence of int
        Settings that stay in any case.
    """
    standing = {place: one for place, one in judged.items() if one is not None}
    values = {place: one.standing for place, one in standing.items() if one.standing is not None}
    stay = _STAY[min(heat, len(_STAY) - 1)]
    if len(values) < len(standing):  # a score without values of rows: by the points alone
        ranked = sorted(standing, key=lambda place: -standing[place].point.score)
        return sorted({*ranked[:stay], *always})
    if not values:
        return sorted(always)
    leader = max(values, key=lambda place: (standing[place].point.score, -standing[place].point.loss))
    left = [place for place in values if not _is_hopeless(values[place], values[leader])]
    ranked = sorted(left, key=lambda place: (place != leader, _mean_loss(values[place])))
    return sorted({*ranked[:stay], *always})


def _is_hopeless(one: Standing, leader: Standing) -> bool:
    """Return whether a setting is behind the leader in score and in loss, by more than chance."""
    score = difference(one.scores, leader.scores, leader.weights)
    loss = difference(one.losses, leader.losses, leader.weights)
    return score.mean < -HOPELESS * score.error and loss.mean > HOPELESS * loss.error


def _mean_loss(one: Standing) -> float:
    return float(np.average(one.losses, weights=one.weights))
