"""All fits of a sweep: in which order, in parallel, and within a time limit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

from joblib import Parallel, delayed

from farthing.frontier.candidates import Candidate
from farthing.frontier.fold_curves import Judged
from farthing.frontier.progress_bar import Progress
from farthing.frontier.race import heats, survivors
from farthing.frontier.result_cache import ResultCache, digest
from farthing.frontier.side_by_side import is_own, n_side_by_side, run_side_by_side
from farthing.frontier.sweep_run import (
    TRIAL,
    FitLimits,
    Results,
    SweepRun,
    Task,
    curves_of,
    fit_and_score,
    setting,
)
from farthing.frontier.time_left import TimeLeft

# Under a time limit, the part of the time left, per fold, that one fit may take, pass by pass.
_PARTS: Final = (0.2, 0.5, 1.0)
# Under a time limit, the part of it in which fits are done without worker processes.
_ALONE: Final = 0.2

MOST_AHEAD: Final = 2**14
"""The most cells of a table on which settings that never leave a race are fitted on later folds ahead.

Beside the fits of the heat they fill the cores. Fits of larger tables fill them alone, and two of them at
once would only take more memory: a cascade on 700 rows, 35 columns and 19 classes keeps 1.9 of two cores
busy.
"""


@dataclass(frozen=True)
class TimeLimits:
    """How long a sweep may take, and one fit of it.

    Parameters
    ----------
    seconds : float
        For the sweep.
    of_fit : float, optional
        For one fit.
    """

    seconds: float
    of_fit: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What the fits of a sweep gave.

    Parameters
    ----------
    results : mapping
        By candidate and fold.
    left : mapping
        The candidates that left the race, with the folds that they have.
    """

    results: Results
    left: Mapping[int, tuple[int, ...]]


def run_all(
    run: SweepRun,
    tried: Sequence[Candidate],
    cache: ResultCache,
    *,
    n_jobs: int | None,
    progress: bool,
    limits: TimeLimits | None,
    is_race: bool = False,
) -> Outcome:
    """Fit and evaluate every candidate on every fold, except what is cached or past the time limit.

    Parameters
    ----------
    run : SweepRun
        The rows and the scorer.
    tried : sequence of Candidate
        What to fit.
    cache : ResultCache
        Results of an interrupted sweep.
    n_jobs, progress
        As in `farthing.sweep`.
    limits : TimeLimits or None
        None means no limit.
    is_race : bool
        Whether candidates leave that cannot win, see `farthing.frontier.race`. The first one never does.
    """
    seconds = None if limits is None else limits.seconds
    begun = heats(run.n_folds, trial=run.trial is not None) if is_race else [tuple(range(run.n_folds))]
    places = [(tried[place].method, place) for heat in begun for place in range(len(tried)) for _ in heat]
    with Progress(len(places), "fits", shown=progress, time_left=TimeLeft(places, limit=seconds)) as bar:
        schedule = _Schedule(run, tried, cache, bar, limits)
        for number, heat in enumerate(begun):
            # Under a time limit every setting has its turn before any has a second one.
            goes_ahead = limits is None and run.n_cells <= MOST_AHEAD and TRIAL not in heat
            schedule.begin(
                heat, [fold for later in begun[number + 1 :] for fold in later] if goes_ahead else []
            )
            if limits is not None and n_jobs not in (None, 1) and number == 0:
                # Worker processes take seconds to start: what is fast is done before there are any.
                schedule.go_through(_PARTS[0], n_jobs=1, until=time.time() + _ALONE * limits.seconds)
            # Under a time limit a single slow fit must not take the time of all others: it is cut off, and
            # tried again with more time once the others are done.
            heats_left = len(begun) - number
            parts = _PARTS if heats_left == 1 else _PARTS[:-1]
            for part in (math.inf,) if limits is None else parts:
                schedule.go_through(part / heats_left, n_jobs=n_jobs)
            if number + 1 < len(begun):
                schedule.leave(number)
    return Outcome(schedule.results, schedule.left)


class _Schedule:
    """The fits of a sweep that are done and those that are left."""

    def __init__(
        self,
        run: SweepRun,
        tried: Sequence[Candidate],
        cache: ResultCache,
        bar: Progress,
        limits: TimeLimits | None,
    ) -> None:
        self.results: Results = {}
        self._run, self._tried, self._cache, self._bar = run, tried, cache, bar
        self._end = math.inf if limits is None else time.time() + limits.seconds
        self._of_fit = math.inf if limits is None or limits.of_fit is None else limits.of_fit
        self._where = run.digest() if cache.is_kept else ""
        # The candidates that are in the race, and those that left it, with the folds that they have.
        self._racing = list(range(len(tried)))
        self.left: dict[int, tuple[int, ...]] = {}
        self._heat: tuple[int, ...] = ()
        self._ahead: list[int] = []
        self._done: tuple[int, ...] = ()

    def begin(self, heat: tuple[int, ...], ahead: Sequence[int] = ()) -> None:
        """Begin with the fits of some folds.

        Parameters
        ----------
        heat : tuple of int
            The folds.
        ahead : sequence of int
            Later folds on which settings that never leave the race are fitted now: the same fits, earlier.
        """
        self._heat, self._ahead = heat, list(ahead)

    def _folds_of(self, place: int) -> list[int]:
        """Return the folds to fit a setting on in this heat."""
        preferred = [one for one in self._racing if self._tried[one].is_preferred]
        # Of several preferred settings only the best is sure to stay, see `survivors`.
        never_leaves = place == self._racing[0] or preferred == [place]
        return [*self._heat, *(self._ahead if never_leaves else ())]

    def leave(self, number: int) -> None:
        """End a heat: candidates that cannot win leave the race.

        Parameters
        ----------
        number : int
            Of the heat, from 0.
        """
        # A trial is on other rows than the folds.
        self._done = self._heat if TRIAL in self._done else (*self._done, *self._heat)
        judged = {place: found for place in self._racing if (found := self._judge(place)) is not None}
        # Whoever was cut off by the time limit before its fits were done stays: there may be time later.
        unknown = [place for place in self._racing if self._is_missing(place)]
        preferred = [place for place in self._racing if self._tried[place].is_preferred]
        always = [self._racing[0], *unknown]
        stay = set(survivors(judged, number, always=always, preferred=preferred))
        for place in self._racing:
            if place not in stay:
                self.left[place] = self._done
                self._bar.skip(self._tried[place].method, place)
        self._racing = sorted(stay)
        if judged:
            best = max(judged, key=lambda place: judged[place].point.score)
            self._bar.say(f"leads: {self._tried[best].method}, {judged[best].point.score:.4g}")

    def _is_missing(self, place: int) -> bool:
        return any((place, fold) not in self.results for fold in self._done)

    def _judge(self, place: int) -> Judged | None:
        found = [self.results.get((place, fold), {}) for fold in self._done]
        if not all("rows" in one for one in found):
            return None
        curves = curves_of(self._run, self._tried[place], found, is_finalist=False)
        hard = self._run.cap is not None
        return curves.judged(self._run.cap if hard else self._run.aim, hard=hard)

    def go_through(self, part: float, *, n_jobs: int | None, until: float = math.inf) -> None:
        """Do the fits that are left, each in a part of the time left.

        Parameters
        ----------
        part : float
            Of the time left, for all folds of a candidate; they are cut off after it.
        n_jobs : int, optional
            Number of fits in parallel, as in joblib.
        until : float
            When to stop, in seconds since the epoch.
        """
        most = min(part * max(self._end - time.time(), 0.0) / max(len(self._heat), 1), self._of_fit)
        cut: set[int] = set()
        # Unordered, so that the bar and the cache move on as fits finish. Results are keyed by task: the
        # order in which they arrive changes nothing.
        for task, result in self._in_parallel(self._left(most, cut, until), n_jobs):
            if result is None:
                cut.add(task[0])
            else:
                self.results[task] = result
                self._bar.step(self._tried[task[0]].method, task[0], result["seconds"])

    def _in_parallel(self, fits: Iterable[Any], n_jobs: int | None) -> Iterable[tuple[Task, Any]]:
        """Yield the results of fits as they finish."""
        n_threads = n_side_by_side(n_jobs, self._run.n_cells) if self._has_threads else 1
        if n_threads == 1:
            found: Iterable[tuple[Task, Any]] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(fits)
            return found
        for fold in [*self._heat, *self._ahead]:
            self._run.rows_of(fold)  # made once, before the threads ask for it
        calls = [partial(fit, *args, **options) for fit, args, options in fits]
        return run_side_by_side(calls, n_threads)

    @cached_property
    def _has_threads(self) -> bool:
        """Whether fits may run in threads."""
        # A time limit is one of the process, and code of others may not bear threads.
        scorer = self._run.scorer
        own = all(is_own(one.estimator) for one in self._tried) and is_own(scorer) and not scorer.calls_back
        return own and math.isinf(self._end)

    def _left(self, most: float, cut: set[int], until: float) -> Iterator[Any]:
        """Yield the fits to do; a generator, so that the clock is read when a fit is dispatched."""
        tasks = [(place, fold) for place in self._racing for fold in self._folds_of(place)]
        for place, fold in [task for task in tasks if task not in self.results]:
            kept = self._cache.is_kept
            name = digest(self._where, setting(self._tried[place]), fold) if kept else ""
            found = self._cache.get(name) if kept else None
            if found is not None:
                self.results[place, fold] = found
                self._bar.step(self._tried[place].method, place)
            # The first candidate runs whatever the limit, so that there is a model to return.
            elif place == 0 or (place not in cut and time.time() < min(self._end, until)):
                limits = (
                    FitLimits(name, math.inf, math.inf) if place == 0 else FitLimits(name, self._end, most)
                )
                task = place, fold
                yield delayed(fit_and_score)(self._run, self._tried[place], task, self._cache, limits)
