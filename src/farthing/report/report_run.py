"""The making of one report: the time it has, a bar of how far it is, and what the time did not allow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

from farthing.base.fit_time import expected_seconds
from farthing.frontier.budgeted_base import BudgetedBase
from farthing.frontier.progress_bar import Progress
from farthing.frontier.time_left import TimeLeft

N_FOLDS: Final = 5
"""Folds on which the chosen model is fitted, for predictions of held-out rows."""

ACCOUNT: Final = "account"
FOLD: Final = "fold"
LOADING: Final = "loading"
CHART: Final = "chart"
N_CHARTS: Final = 4
# Seconds of the processor that steps take which are no fits: the purchases at several budgets, to load what
# draws, and a chart in two themes.
_PROCESSOR: Final = {ACCOUNT: 0.4, LOADING: 0.6, CHART: 0.4}
# The part of a time limit that is kept for the charts.
_CHARTS_SHARE: Final = 0.4


class ReportRun:
    """The time and the progress of one report.

    Parameters
    ----------
    model : BudgetedClassifier or BudgetedRegressor
        Fitted; the times of its sweep tell how long the folds take.
    time_limit : float, optional
        Seconds.
    shown : bool
        Whether to show a bar.

    Examples
    --------
    >>> from farthing import BudgetedClassifier
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = BudgetedClassifier(heart.costs, 10, methods=["BudgetTreeClassifier"]).fit(heart.X, heart.y)
    >>> with ReportRun(model, time_limit=0.0) as run:
    ...     run.is_over(), run.fold_is_late()
    (True, True)
    """

    def __init__(self, model: BudgetedBase, *, time_limit: float | None = None, shown: bool = False) -> None:
        start = time.time()
        self.left_out: list[str] = []
        """Sentences on what the time limit did not allow."""
        self._end = None if time_limit is None else start + time_limit
        self.folds_end = None if time_limit is None else start + (1 - _CHARTS_SHARE) * time_limit
        """When the fits are to be done, in seconds since the epoch; None is no limit."""
        # A sweep that was read from a file has no times.
        self._fold = expected_seconds(model.frontier_.fit_times, model.chosen_)
        self._expected = dict(_PROCESSOR) if self._fold is None else {**_PROCESSOR, FOLD: self._fold}
        steps = [(ACCOUNT, 0)] + [(FOLD, 0)] * N_FOLDS + [(LOADING, 0)] + [(CHART, 0)] * N_CHARTS
        left = TimeLeft(steps, limit=time_limit, expected=self._expected)
        self._clocks = time.perf_counter(), time.process_time()
        self._bar = Progress(len(steps), "report", shown=shown, time_left=left)

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._bar.__exit__(None, None, None)

    @contextmanager
    def step(self, kind: str) -> Iterator[None]:
        """Count what is done in a ``with`` block as a step of some kind."""
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        if kind == FOLD:
            self._fold = seconds
        self._bar.step(kind, 0, seconds)
        # On a busy machine everything takes longer; fits have shown so already.
        begun, used = self._clocks
        slower = max((time.perf_counter() - begun) / max(time.process_time() - used, 0.001), 1.0)
        self._expected.update({kind: slower * seconds for kind, seconds in _PROCESSOR.items()})

    def skip(self, kind: str) -> None:
        """Count a step that is left out."""
        self._bar.step(kind, 0)

    def is_over(self) -> bool:
        """Return whether the time is over."""
        return self._end is not None and time.time() >= self._end

    def fold_is_late(self) -> bool:
        """Return whether a fit on one more fold would take longer than there is time."""
        if self.folds_end is None:
            return False
        return time.time() + (self._fold or 0.0) >= self.folds_end
