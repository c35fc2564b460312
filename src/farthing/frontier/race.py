"""A race instead of a grid: settings that cannot win leave before they have been fitted on every fold.

All settings begin on the first fold, or on a part of a large table. After each heat they are compared at the
budget, row by row on the rows that all of them have seen: differences to the leader have a far smaller
standard error than the losses themselves. The leader is the setting of the least loss. The rule:

- a setting whose loss is above the leader's by more than `HOPELESS` standard errors of the difference leaves;
- so does one whose loss is above that of the best preferred setting by more than `BEHIND` standard errors: it
  would have to be clearly ahead of it in the end, see `farthing.frontier.paired_choice`, which one that is
  behind on a fifth of the rows is hardly ever;
- of the others at most `STAY` go on, those of the least loss; the best preferred one always does.

So the setting that would win over all folds leaves early only if it is far behind, or behind several others,
on the first rows. docs/results/door_rules.md has what that costs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from farthing.frontier.fold_curves import Judged
from farthing.frontier.row_values import Standing, difference

HOPELESS: Final = 2.5
"""Standard errors of a paired difference by which a setting must be behind to leave, whatever its place."""

BEHIND: Final = 0.5
"""Standard errors by which a setting must be behind one that is preferred to leave."""

STAY: Final = (7, 6, 4)
"""The most settings that stay after each heat; the last number holds for all later ones."""


def heats(n_folds: int, *, trial: bool = False) -> Sequence[tuple[int, ...]]:
    """Return the folds of each heat of a race: one after the other.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    trial : bool
        Whether there is a fold numbered -1, a part of the rows, which comes before all others.

    Examples
    --------
    >>> heats(5)
    [(0,), (1,), (2,), (3,), (4,)]
    >>> heats(1, trial=True)
    [(-1,), (0,)]
    """
    first = -1 if trial else 0
    return [(fold,) for fold in range(first, n_folds)]


def survivors(
    judged: Mapping[int, Judged | None],
    heat: int,
    *,
    always: Sequence[int] = (),
    preferred: Collection[int] = (),
) -> list[int]:
    """Return the settings that go on after a heat, by their places.

    Parameters
    ----------
    judged : mapping
        From the place of each setting to how it stands; None leaves.
    heat : int
        Number of the heat that is over, from 0.
    always : sequence of int
        Settings that stay in any case.
    preferred : collection of int
        Settings that others must clearly beat.
    """
    standing = {place: one for place, one in judged.items() if one is not None}
    values = {place: one.standing for place, one in standing.items() if one.standing is not None}
    stay = STAY[min(heat, len(STAY) - 1)]
    if len(values) < len(standing):  # a score without values of rows: by the points alone
        ranked = sorted(standing, key=lambda place: -standing[place].point.score)
        return sorted({*ranked[:stay], *always})
    ranked = sorted(values, key=lambda place: (_mean_loss(values[place]), place))
    left = [place for place in ranked if not _is_behind(values[place], values[ranked[0]], HOPELESS)]
    best = [place for place in ranked if place in preferred][:1]
    for one in best:
        left = [
            place
            for place in left
            if place in preferred or not _is_behind(values[place], values[one], BEHIND)
        ]
    return sorted({*left[:stay], *best, *always})


def _is_behind(one: Standing, other: Standing, errors: float) -> bool:
    """Return whether the loss of a setting is above another's by more than some standard errors."""
    found = difference(one.losses, other.losses, other.weights)
    return found.mean > errors * found.error


def _mean_loss(one: Standing) -> float:
    return float(np.average(one.losses, weights=one.weights))
