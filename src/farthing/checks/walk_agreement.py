"""Invariant 2, one truth: walks, array calls and any order of rows or columns give the same."""

from __future__ import annotations

import importlib
import inspect
import pickle
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from farthing.checks.fitting import CheckedEstimator, fit, sheet_of
from farthing.checks.outputs import assert_raises, assert_same, expected_of, outputs_of
from farthing.checks.problems import Problem
from farthing.checks.suite import estimator_check, model_check
from farthing.checks.walking import (
    answer,
    asks_devices,
    assert_decides,
    budget_of_row,
    run_to_end,
    source_of,
    uninformative_answer,
)
from farthing.costs import within_budget
from farthing.errors import WalkError
from farthing.walks import REFUSED


@model_check("one truth: a walk fed from a row gives what the array calls give", row_independence=True)
def _check_walk_is_row(model: Any, problem: Problem) -> None:
    n_rows = len(problem.fresh)
    every_seeds: list[Any] = [None]
    if "seeds" in inspect.signature(model.predict).parameters:
        # A seed of its own for each row, which the array call and the walk must use alike.
        every_seeds.append(np.arange(n_rows) + 11)
    sources = [source_of(model, problem, row) for row in range(n_rows)]
    for turn, budget in enumerate(problem.budgets()):
        # A budget for all rows on a third of them, in turn, since walks take long.
        rows = range(turn % 3, n_rows, 3) if isinstance(budget, float) else range(n_rows)
        for seeds in every_seeds:
            if seeds is None:
                outputs = expected_of(model, problem, budget)
            else:
                outputs = outputs_of(model, problem.fresh, budget=budget, seeds=seeds)
            for row in rows:
                seed = None if seeds is None else int(seeds[row])
                cap = budget_of_row(budget, row)
                walk = model.walk(seed=seed, budget=cap)
                run_to_end(walk, sources[row])
                assert_decides(walk, model, problem, outputs, row, when=f"budget={cap}, seed={seed}")


@model_check("one truth: decide is the other array calls in one pass")
def _check_decide(model: Any, problem: Problem) -> None:
    if not hasattr(model, "decide"):
        return
    for budget in (None, 0.6 * problem.total, problem.mixed_budgets):
        outputs = expected_of(model, problem, budget)
        decided = model.decide(problem.fresh, budget=budget)
        got = {"predict": decided.prediction, "spend": decided.spent, "acquired": decided.acquired}
        if "predict_proba" in outputs:
            got["predict_proba"] = decided.probabilities
        assert_same(got, {call: outputs[call] for call in got}, "between decide and the single calls")


@model_check("one truth: a row is the same alone and among others", row_independence=True)
def _check_row_alone(model: Any, problem: Problem) -> None:
    kinds = problem.budgets()
    for turn, budget in enumerate(kinds):
        outputs = expected_of(model, problem, budget)
        for row in range(turn, len(problem.fresh), len(kinds)):  # every row once, the budgets in turn
            alone = outputs_of(model, problem.fresh[row : row + 1], budget=budget_of_row(budget, row))
            expected = {call: array[row : row + 1] for call, array in outputs.items()}
            assert_same(alone, expected, f"when row {row} is predicted alone, budget={budget}")


@estimator_check("one truth: arrays and frames, columns in any order")
def _check_frames(checked: CheckedEstimator, problem: Problem) -> None:
    expected = expected_of(checked.fit(problem), problem)
    seen, fresh = _by_name(problem, problem.X), _by_name(problem, problem.fresh)
    for library in checked.dealt(problem, ("polars", "pandas")):  # text in those of pandas
        try:
            frame = importlib.import_module(library).DataFrame
        except ImportError:
            continue
        model = fit(checked.estimator, replace(problem, X=frame(seen)))
        assert list(model.feature_names_in_) == list(problem.names), "feature_names_in_ are not the columns"
        assert_same(outputs_of(model, frame(fresh)), expected, f"between an array and a {library} frame")
        turned = frame(dict(reversed(fresh.items())))
        assert_same(outputs_of(model, turned), expected, f"with the columns of {library} in another order")
        # A column that the model never buys may be lacking.
        for lost in [problem.names[column] for column in np.flatnonzero(model.fitted_.may_buy())[:1]]:
            renamed = frame({"x99" if name == lost else name: column for name, column in fresh.items()})
            assert_raises(ValueError, partial(model.predict, renamed), f"a frame without {lost}", lost)


def _by_name(problem: Problem, X: Any) -> dict[str, list[Any]]:
    """Return a table as lists by name, from which any library makes a frame."""
    return {name: X[:, column].tolist() for column, name in enumerate(problem.names)}


@model_check("one truth: panels are paid for, and rounds counts them", row_independence=True)
def _check_panels(model: Any, problem: Problem) -> None:
    if asks_devices(model) or problem.is_wide or not hasattr(model, "rounds"):
        return
    sheet, X = sheet_of(model, problem), problem.fresh[:2]
    alone, one = model.decide(X), model.rounds(X, 1)
    assert np.array_equal(one.prediction, alone.prediction), "panels of one question decide otherwise"
    assert np.array_equal(one.acquired, alone.acquired), "panels of one question buy otherwise"
    for budget in (None, 0.6 * problem.total):
        found = model.rounds(X, 3, budget=budget)
        assert np.array_equal(found.spent, sheet.total_rows(found.acquired)), "the account does not balance"
        assert np.all(within_budget(found.spent, budget)), f"panels cost {found.spent} of {budget}"
        outputs = {"predict": found.prediction, "spend": found.spent, "acquired": found.acquired}
        for row in range(len(X)):
            walk, told = model.walk(budget=budget), problem.row(row)
            while panel := walk.panel(3):
                assert panel[0] == walk.ask, "the first of a panel is not the question of the walk"
                walk.tell_panel({ask.feature: told[ask.feature] for ask in panel})
            assert_decides(walk, model, problem, outputs, row, when=f"panels of 3, budget={budget}")
            assert walk.n_rounds == found.rounds[row], f"{walk.n_rounds} rounds, not {found.rounds[row]}"
            resumed = model.walk(budget=budget)
            resumed.replay(walk.history)
            assert_decides(resumed, model, problem, outputs, row, when=f"panels replayed, budget={budget}")


@model_check("one truth: a refused feature is free and not asked again")
def _check_refusals(model: Any, problem: Problem) -> None:
    untouched, sheet = model.walk().decision, sheet_of(model, problem)
    for row in range(len(problem.fresh)):
        told = source_of(model, problem, row)
        for kept in (problem.names[::2], problem.names[1::2], ()):
            source = {name: value for name, value in told.items() if name in kept}
            walk = model.walk()
            run_to_end(walk, source)
            decision = walk.decision
            columns = set(decision.acquired).difference(sheet.calls)
            assert columns <= set(kept), f"refused features are in {decision.acquired}"
            due = sheet.total(decision.acquired)
            assert decision.spent == due, "a refused feature was charged"
            if not kept:
                # A refusal tells the model nothing, so refusing everything is the prior, for free.
                assert decision == untouched, f"all refused gives {decision}, nothing asked {untouched}"


@model_check("one truth: entries refused in an array call are those refused in a walk", row_independence=True)
def _check_refused_entries(model: Any, problem: Problem) -> None:
    refused = np.random.default_rng(5).random(problem.fresh.shape) < 0.4
    refused[::4] = False
    for budget in (None, 0.6 * problem.total):
        outputs = outputs_of(model, problem.fresh, budget=budget, refused=refused)
        for row in range(0, len(problem.fresh), 2):
            told = source_of(model, problem, row)
            kept = [name for name, gone in zip(problem.names, refused[row], strict=True) if not gone]
            walk = model.walk(budget=budget)
            run_to_end(walk, {name: told[name] for name in kept})
            assert_decides(walk, model, problem, outputs, row, when=f"budget={budget}, only {kept} available")


@model_check("one truth: a table without rows gives empty answers")
def _check_no_rows(model: Any, problem: Problem) -> None:
    some, none = expected_of(model, problem), outputs_of(model, problem.fresh[:0])
    expected = {call: array[:0] for call, array in some.items()}
    assert_same(none, expected, "for a table without rows")
    for call, array in none.items():
        assert array.dtype == some[call].dtype, f"{call} of no rows has dtype {array.dtype}"


@model_check("one truth: known features are free and not asked")
def _check_known(model: Any, problem: Problem) -> None:
    budget, half, sheet = 0.5 * problem.total, len(problem.names) // 2, sheet_of(model, problem)
    for row in range(len(problem.fresh)):
        source = source_of(model, problem, row)
        for names in (problem.names[:half], problem.names[half:], problem.names):
            walk = model.walk(known={name: source[name] for name in names}, budget=budget)
            asked = dict(run_to_end(walk, source))
            decision = walk.decision
            assert not set(asked) & set(names), f"known features were asked for: {sorted(asked)}"
            assert not set(decision.acquired) & set(names), f"known features are in {decision.acquired}"
            due = sheet.total(decision.acquired, owned=names)
            assert decision.spent == due, f"{decision.spent} was charged for {due} beside what is known"
            assert within_budget(due, budget), f"{due} is over the budget of the walk"
    assert_raises(ValueError, partial(model.walk, known={"x77": 1.0}), "an unknown name", "x77")


@model_check("one truth: a walk resumes anywhere from its answers")
def _check_resumes(model: Any, problem: Problem) -> None:
    copy = pickle.loads(pickle.dumps(model))
    for row in range(0, len(problem.fresh), 3):
        told = source_of(model, problem, row)
        lacking = problem.names[row % len(problem.names)]
        source = {name: value for name, value in told.items() if name != lacking}
        walk, log = model.walk(seed=row, budget=0.8 * problem.total), []
        while (ask := walk.ask) is not None:
            log.append((ask.feature, source.get(ask.feature, REFUSED)))
            answer(walk, log[-1][1])
            # After every step, and from a copy of the model: the walk may continue in another process.
            resumed = copy.walk(seed=row, budget=0.8 * problem.total)
            for feature, value in log:
                assert resumed.ask is not None, f"a walk with the same answers ended before {feature!r}"
                asked = resumed.ask.feature
                assert asked == feature, f"the same answers led to {asked!r}, then to {feature!r}"
                answer(resumed, value)
            assert (resumed.ask, resumed.decision) == (walk.ask, walk.decision), (
                f"after {log} one walk is at {walk.ask}, {walk.decision}, another at "
                f"{resumed.ask}, {resumed.decision}"
            )


@model_check("one truth: a bad answer changes nothing, and the end takes none")
def _check_bad_answers(model: Any, problem: Problem) -> None:
    walk = model.walk()
    text = None if problem.categorical is None else problem.names[problem.categorical]
    while (ask := walk.ask) is not None and ask.feature == text:
        walk.refuse()  # text is a good answer there
    if ask is not None:
        before = walk.decision
        assert_raises(ValueError, lambda: walk.tell("text"), "text for a number", ask.feature)
        assert (walk.ask, walk.decision) == (ask, before), "a bad answer moved the walk"
        walk.tell(uninformative_answer(model))
        calls = sheet_of(model, problem).calls
        bought = [name for name in walk.decision.acquired if name not in calls]
        assert bought == [ask.feature], "an answer that says nothing was not paid for"
    run_to_end(walk, source_of(model, problem, 0))
    assert_raises(WalkError, lambda: walk.tell(1.0), "tell at the end of a walk")
    assert_raises(WalkError, walk.refuse, "refuse at the end of a walk")
