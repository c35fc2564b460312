"""Fits of a small table side by side, in threads of this process.

A fit of a few hundred rows goes back and forth between Python, which runs on one core at a time, and loops of
the compiled core, which are too short to keep several threads busy. Two such fits at once fill each other's
gaps. Worker processes would take longer to start than the fits take; threads share the table and its bins,
and the threads of the core are those of one pool (`cpp/common/thread_pool.hpp`), so that fits do not fight
for cores. What a fit computes does not depend on what runs beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import Any, Final, TypeVar

from joblib import effective_n_jobs
from sklearn import config_context, get_config

from farthing.base.inputs import n_cores
from farthing.deadline import deadline

Result = TypeVar("Result")

MOST_CELLS: Final = 2**20
"""The most cells of a table whose fits run side by side; those of larger ones fill the cores alone."""

MOST_FITS: Final = 4
"""The most fits at once: Python runs one at a time, and each needs memory."""


def n_side_by_side(n_jobs: int | None, n_cells: int) -> int:
    """Return how many fits run at once in this process.

    Parameters
    ----------
    n_jobs : int, optional
        What the user asked for; a number, or one that joblib was told, is left to joblib.
    n_cells : int
        Rows times columns of the table.

    Examples
    --------
    >>> n_side_by_side(2, 1000), n_side_by_side(None, 10**9)
    (1, 1)
    """
    if n_jobs is not None or effective_n_jobs(None) != 1 or n_cells > MOST_CELLS:
        return 1
    return min(n_cores(), MOST_FITS)


def is_own(part: Any) -> bool:
    """Return whether an estimator, with those within it, or a scorer is of this library.

    Others may not bear threads.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from farthing.boosting import GreedyMiserClassifier
    >>> is_own(DecisionTreeClassifier()), is_own(GreedyMiserClassifier())
    (False, True)
    """
    within = part.get_params(deep=True).values() if hasattr(part, "get_params") else ()
    parts = [part, *(one for one in within if hasattr(one, "fit"))]
    return all(type(one).__module__.startswith("farthing.") for one in parts)


def run_side_by_side(calls: Iterable[Callable[[], Result]], n_threads: int) -> Iterator[Result]:
    """Call functions in threads, and yield what they return as they finish.

    They see the context variables and the settings of scikit-learn of the caller. If the caller gives up, as
    on Ctrl-C, those under way are told that their time is over, and waited for.

    Parameters
    ----------
    calls : iterable of callable
        Without arguments.
    n_threads : int
        How many run at once.

    Examples
    --------
    >>> sorted(run_side_by_side([lambda: 1, lambda: 2], 2))
    [1, 2]
    """
    settings = get_config()

    def with_settings(call: Callable[[], Result]) -> Result:
        with config_context(**settings):
            return call()

    with ThreadPoolExecutor(n_threads, thread_name_prefix="farthing-fit") as pool:
        futures = [pool.submit(copy_context().run, with_settings, call) for call in calls]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            with deadline(time.time()):
                pool.shutdown(wait=True, cancel_futures=True)
            raise
