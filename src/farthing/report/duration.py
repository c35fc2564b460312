"""How long a report takes."""

from __future__ import annotations

from typing import Final

from farthing.base.fit_time import expected_seconds
from farthing.frontier.budgeted_base import BudgetedBase
from farthing.report.summary import N_FOLDS, SHARES

# To draw the charts.
_CHARTS: Final = 3.0


def report_seconds(model: BudgetedBase) -> float | None:
    """Return about how many seconds the report of a fitted model takes; None if no fit was timed.

    Parameters
    ----------
    model : BudgetedClassifier or BudgetedRegressor
        Fitted in this process.
    """
    frontier, hard = model.frontier_, model.budget_kind == "hard"
    # The fits of `summarize`: the chosen model on folds, and that of every other budget on all rows.
    points = [frontier.choose(share * frontier.full_cost, hard=hard) for share in SHARES]
    fits = [model.chosen_] * N_FOLDS + [point for point in points if point is not None]
    times = [expected_seconds(frontier.fit_times, point) for point in fits]
    known = [time for time in times if time is not None]
    return _CHARTS + sum(known) * len(fits) / len(known) if known else None
