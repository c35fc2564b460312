"""From the curves of a sweep to the model that is handed over, with figures of that very model.

Within a mean budget every setting is judged by models that were aimed at the budget, one per fold. The best
setting is fitted on all rows and aimed by the same rule. Its spend is measured on those rows, and multiplied
by how much more the folds' models spent on new rows. Its score is that of the folds' models of the same
spend. If the last fit turns out worse than the folds promised, as it does for methods that are unstable, the
next best settings are tried, too: those that were judged by the same rows, unless the method is the one that
others must clearly beat.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from farthing.base import Point
from farthing.base.choice import choose
from farthing.deadline import DeadlineReached, deadline
from farthing.errors import BudgetWarning
from farthing.frontier.data_split import SweepRows
from farthing.frontier.fold_curves import SettingCurves
from farthing.frontier.last_fit import Delivery, are_far, fit_on_all
from farthing.frontier.optimism import optimism
from farthing.frontier.progress_bar import Progress
from farthing.frontier.setting_order import ranked

# Settings that are fitted on all rows before the best of them is kept.
_MOST_REFITS: Final = 3
# Under a time limit, a fit must be expected to take at most its time left over this.
_SAFETY: Final = 1.7
# A fit that is expected to take no more than this part of the limit is made even if the time is over.
_GRACE: Final = 0.05


@dataclass(frozen=True)
class LastFitLimit:
    """The time of the last fit.

    Parameters
    ----------
    end : float
        When it is over, in seconds since the epoch.
    seconds : float
        The whole limit, of which the last fit has a part.
    """

    end: float
    seconds: float

    def end_of(self, expected: float) -> float:
        """Return when to stop a fit; one that takes little is made even if the time is over.

        Parameters
        ----------
        expected : float
            Seconds that the fit is expected to take.
        """
        grace = _GRACE * self.seconds
        return max(self.end, time.time() + _SAFETY * grace) if expected <= grace else self.end


def of_fold(seconds: float) -> float:
    """Return how long a fit on the rows of a fold may take if one on all rows must follow in some seconds."""
    return seconds / _SAFETY


def deliver(
    settings: Sequence[SettingCurves],
    rows: SweepRows,
    budget: float | None,
    *,
    hard: bool,
    limit: LastFitLimit | None = None,
    progress: bool = False,
) -> Delivery | None:
    """Choose a setting within a budget and fit it on all rows; None if nothing is within the budget.

    Parameters
    ----------
    settings : sequence of SettingCurves
        The curves of the sweep.
    rows : SweepRows
        All rows.
    budget : float or None
        Limit on the mean spend, or on that of every row; None means no limit.
    hard : bool
        Whether it applies to every row.
    limit : LastFitLimit, optional
        When to stop. Settings whose fit would take longer are passed over, as long as a faster one is left.
    progress : bool
        Whether to show a bar.
    """
    tried: list[Delivery] = []
    late: list[tuple[SettingCurves, Point]] = []
    cut_off: list[tuple[SettingCurves, Point]] = []

    def fit_again(setting: SettingCurves, promised: Point, end: float | None) -> None:
        bar = Progress(1, "fit on all rows", shown=progress, expected=setting.seconds_on_all)
        with deadline(end), bar:
            tried.append(fit_on_all(setting, promised, rows, budget, hard=hard))
            bar.step()

    choice = ranked(settings, budget, hard=hard)
    judged_alike = [
        (one, how.standing) for one, how in choice if how.standing is not None and one.is_finalist
    ]
    lucky = optimism(
        [how for _, how in judged_alike], [one.candidate.is_preferred for one, _ in judged_alike]
    )
    for setting, judged in choice:
        if tried and not setting.is_finalist:
            continue  # judged by fewer rows, it would win by luck
        promised = judged.point
        expected = setting.seconds_on_all
        end = None if limit is None else limit.end_of(expected)
        if end is not None and time.time() + _SAFETY * expected > end:
            late.append((setting, promised))
            continue
        try:
            fit_again(setting, promised, end)
        except DeadlineReached:
            cut_off.append((setting, promised))
            continue
        is_kept = setting.candidate.is_preferred or not tried[-1].is_worse_than_promised
        if is_kept or len(tried) == _MOST_REFITS:
            break
        if limit is not None and time.time() > limit.end:
            break
    if not tried and (late or cut_off):
        # There is to be a model to hand over, whatever the time.
        fit_again(*min(late or cut_off, key=lambda one: one[0].seconds), None)
    if not tried:
        return None
    best = choose([replace(one.chosen, estimator=None) for one in tried])
    places = [i for i, one in enumerate(tried) if best is not None and one.chosen.score == best.score]
    found = tried[places[0] if places else 0]
    _warn_if_far(found)
    return replace(found, optimism=lucky)


def _warn_if_far(found: Delivery) -> None:
    if are_far(found.chosen.spend, found.promised.spend):
        warnings.warn(
            f"the model fitted on all rows spends {found.chosen.spend:.4g} on average, where those of the "
            f"folds spent {found.promised.spend:.4g}; its score is quoted from models that spend as it does",
            BudgetWarning,
            stacklevel=4,
        )
