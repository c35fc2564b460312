"""How long a report takes."""

from __future__ import annotations

from typing import Final

from farthing.base.fit_time import expected_seconds
from farthing.frontier.budgeted_base import BudgetedBase
from farthing.report.summary import N_FOLDS

# To draw the charts.
_CHARTS: Final = 3.0


def report_seconds(model: BudgetedBase) -> float | None:
    """Return about how many seconds the report of a fitted model takes; None if no fit was timed.

    Parameters
    ----------
    model : BudgetedClassifier or BudgetedRegressor
        Fitted in this process.
    """
    # The fits of `summarize`: the chosen model on folds.
    seconds = expected_seconds(model.frontier_.fit_times, model.chosen_)
    return None if seconds is None else _CHARTS + N_FOLDS * seconds
