"""The order of settings at one budget: the best first, those that left a race where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from farthing.base.choice import choose
from farthing.frontier.fold_curves import Judged, SettingCurves
from farthing.frontier.paired_choice import Contender, rank
from farthing.frontier.row_values import difference

# Budgets over which settings are compared, as shares of the largest mean spend.
_SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def ranked(
    settings: Sequence[SettingCurves], budget: float | None, *, hard: bool
) -> list[tuple[SettingCurves, Judged]]:
    """Return the settings that have a model within a budget, the best first, with how they are judged.

    Parameters
    ----------
    settings : sequence of SettingCurves
        The curves of the sweep. Of a race those count that were evaluated on all folds.
    budget : float or None
        Limit on the mean spend, or on that of every row; None means no limit.
    hard : bool
        Whether it applies to every row.
    """
    found = [(one, how) for one in settings if (how := one.judged(budget, hard=hard)) is not None]
    order = _by_rows([pair for pair in found if pair[0].is_finalist])
    # Who left a race comes before the first who is worse on the rows that both have.
    for pair in _by_points([pair for pair in found if not pair[0].is_finalist]):
        places = [i for i, other in enumerate(order) if _is_better(pair[1], other[1])]
        order.insert(places[0] if places else len(order), pair)
    return order


def _is_better(one: Judged, other: Judged) -> bool:
    """Return whether a setting is better than another that was judged by its rows and more."""
    if one.standing is None or other.standing is None:
        return one.point.score > other.point.score
    if not np.isin(one.standing.rows, other.standing.rows).all():
        return False
    rest = other.standing.on(one.standing.rows)
    gained = difference(one.standing.scores, rest.scores, rest.weights)
    return gained.mean > gained.error


def _by_rows(found: list[tuple[SettingCurves, Judged]]) -> list[tuple[SettingCurves, Judged]]:
    """Order settings that were judged by the same rows."""
    standings = [how.standing for _, how in found if how.standing is not None]
    if len(standings) < len(found):
        return _by_points(found)  # a score without values of rows
    whole = max((one.most_spend for one, _ in found), default=0.0)
    overall = [one.overall([share * whole for share in _SHARES]) for one, _ in found]
    preferred = [one.candidate.is_preferred for one, _ in found]
    order = rank([Contender(*each) for each in zip(standings, overall, preferred, strict=True)])
    return [found[place] for place in order]


def _by_points(found: list[tuple[SettingCurves, Judged]]) -> list[tuple[SettingCurves, Judged]]:
    """Order settings by their points alone."""
    left, order = list(found), []
    while (best := choose(how.point for _, how in left)) is not None:
        order.append(next(pair for pair in left if pair[1].point is best))
        left.remove(order[-1])
    return order
