"""Fits of a small table in threads: the same results, the caller's settings, and an end when it gives up."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest
from sklearn import config_context, get_config
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier

import farthing.frontier.schedule as schedule_module
from farthing import BudgetedClassifier, sweep
from farthing.boosting import GreedyMiserClassifier
from farthing.datasets import load_heart_disease
from farthing.deadline import DeadlineReached, check_deadline, deadline_end
from farthing.frontier.side_by_side import MOST_CELLS, is_own, n_side_by_side, run_side_by_side
from farthing.frontier.sweep_run import fit_and_score

METHODS: list[Any] = [
    ("GreedyMiserClassifier", {"n_estimators": [5, 10], "tradeoff": [0.0, 0.001]}),
    ("BudgetTreeClassifier", {"max_depth": [1, 3]}),
]


@pytest.fixture
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two fits at once, whatever the number of cores."""
    monkeypatch.setattr(schedule_module, "n_side_by_side", lambda *_: 2)


def points(**options: Any) -> list[Any]:
    heart = load_heart_disease()
    found = sweep(METHODS, heart.X, heart.y, heart.costs, cv=3, budget=100.0, **options)
    return [(one.method, dict(one.params), one.spend, one.score, one.error, one.loss) for one in found]


def test_results_are_those_of_one_fit_after_another(
    monkeypatch: pytest.MonkeyPatch, two_at_once: None
) -> None:
    beside = points()
    monkeypatch.setattr(schedule_module, "n_side_by_side", lambda *_: 1)
    assert beside == points()


def door_and_fits(
    monkeypatch: pytest.MonkeyPatch, most_ahead: int
) -> tuple[list[Any], list[tuple[str, int]]]:
    """Return what a front door decides, and its fits in their order, with a most of cells to go ahead."""
    fits: list[tuple[str, int]] = []

    def noted(run: Any, candidate: Any, task: Any, *others: Any) -> Any:
        fits.append((candidate.method, task[1]))
        return fit_and_score(run, candidate, task, *others)

    monkeypatch.setattr(schedule_module, "fit_and_score", noted)
    monkeypatch.setattr(schedule_module, "n_side_by_side", lambda *_: 1)
    monkeypatch.setattr(schedule_module, "MOST_AHEAD", most_ahead)
    heart = load_heart_disease()
    door = BudgetedClassifier(heart.costs, 100.0, random_state=0).fit(heart.X, heart.y)
    found = door.decide(heart.X)
    return [found.prediction.tolist(), found.probabilities.tolist(), found.spent.tolist(), door.chosen_], fits


def test_fits_ahead_are_the_same_fits_and_give_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    later, in_turn = door_and_fits(monkeypatch, 0)
    now, ahead = door_and_fits(monkeypatch, 2**14)
    assert now[:3] == later[:3]
    assert (now[3].method, now[3].params, now[3].score) == (later[3].method, later[3].params, later[3].score)
    assert sorted(in_turn) == sorted(ahead)  # none is fitted that would have left the race
    assert ahead.index(("MiserCascadeClassifier", 4)) < in_turn.index(("MiserCascadeClassifier", 4))


def test_fits_run_at_once() -> None:
    meet = threading.Barrier(2)
    # Each waits for the other; one after another, the first would wait in vain.
    assert sorted(run_side_by_side([lambda: meet.wait(30), lambda: meet.wait(30)], 2)) == [0, 1]


def test_fits_see_the_context_and_the_settings_of_the_caller() -> None:
    variable: ContextVar[str] = ContextVar("variable", default="nothing")
    variable.set("mine")
    with config_context(assume_finite=True):
        (seen,) = run_side_by_side([lambda: (variable.get(), get_config()["assume_finite"])], 2)
    assert seen == ("mine", True)


def test_a_caller_who_gives_up_ends_the_fits_under_way() -> None:
    begun, ended, never = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        begun.wait(30)

    def long() -> None:
        begun.set()
        try:
            while True:
                check_deadline()
                time.sleep(0.001)
        except DeadlineReached:
            ended.set()

    results = run_side_by_side([first, long, *[never.set] * 20], 2)
    next(results)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
    assert ended.is_set()
    assert np.isinf(deadline_end())


def test_an_error_is_the_callers() -> None:
    def fails() -> None:
        raise ValueError("of a fit")

    with pytest.raises(ValueError, match="of a fit"):
        list(run_side_by_side([fails], 2))


def test_a_score_of_the_users_own_is_called_in_the_main_thread(two_at_once: None) -> None:
    threads = set()

    def score(model: Any, X: Any, y: Any) -> float:
        threads.add(threading.current_thread())
        return float(accuracy_score(y, model.predict(X)))

    points(scoring=score)
    assert threads == {threading.main_thread()}


def test_estimators_of_others_are_not_fitted_in_threads(two_at_once: None) -> None:
    threads = set()

    class Watched(DecisionTreeClassifier):
        def fit(self, X: Any, y: Any, **options: Any) -> Any:
            threads.add(threading.current_thread())
            return super().fit(X, y, **options)

    heart = load_heart_disease()
    sweep([Watched(max_depth=1), Watched(max_depth=2)], heart.X, heart.y, heart.costs, cv=3)
    assert threads == {threading.main_thread()}
    assert is_own(GreedyMiserClassifier())
    assert not is_own(Watched())


def test_how_many_fits_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthing.frontier.side_by_side.n_cores", lambda: 3)
    assert n_side_by_side(None, MOST_CELLS) == 3
    assert n_side_by_side(None, MOST_CELLS + 1) == 1
    assert n_side_by_side(1, 100) == n_side_by_side(4, 100) == 1
    monkeypatch.setattr("farthing.frontier.side_by_side.n_cores", lambda: 64)
    assert n_side_by_side(None, 100) == 4
