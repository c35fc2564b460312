"""The contract, 2: walks, array calls and any order of rows tell the same."""

from __future__ import annotations

import importlib
import inspect
import pickle
from functools import partial
from typing import Any

import numpy as np

from farthing.checks.entry import check, model_check
from farthing.checks.trial import (
    CATEGORICAL,
    NAMES,
    REFUSED,
    TOTAL,
    Problem,
    answers_of,
    assert_decides,
    assert_raises,
    assert_same,
    budgets,
    columns_of,
    finish,
    fit,
    own_budget,
    poor_answer,
    sheet_of,
    source_of,
    step,
)
from farthing.errors import WalkError


@model_check("one truth: a walk fed from a row gives what the array calls give", rows_alone=True)
def _check_walk_is_row(model: Any, problem: Problem) -> None:
    n_rows = len(problem.fresh)
    every_seeds: list[Any] = [None]
    if "seeds" in inspect.signature(model.predict).parameters:
        every_seeds.append(np.arange(n_rows) + 11)
    for budget in budgets(n_rows):
        for seeds in every_seeds:
            options: dict[str, Any] = {} if seeds is None else {"seeds": seeds}
            answers = answers_of(model, problem.fresh, budget=budget, **options)
            for row in range(n_rows):
                seed = None if seeds is None else int(seeds[row])
                walk = model.walk(seed=seed, budget=own_budget(budget, row))
                finish(walk, source_of(model, problem.fresh, row))
                assert_decides(walk, model, answers, row, f"budget={own_budget(budget, row)}, seed={seed}")


@model_check("one truth: decide is the other array calls in one pass")
def _check_decide(model: Any, problem: Problem) -> None:
    if not hasattr(model, "decide"):
        return
    for budget in budgets(len(problem.fresh)):
        answers = answers_of(model, problem.fresh, budget=budget)
        decided = model.decide(problem.fresh, budget=budget)
        got = {"predict": decided.prediction, "spend": decided.spent, "acquired": decided.acquired}
        if "predict_proba" in answers:
            got["predict_proba"] = decided.probabilities
        assert_same(got, {call: answers[call] for call in got}, "between decide and the single calls")


@model_check("one truth: a row is the same alone and among others", rows_alone=True)
def _check_row_alone(model: Any, problem: Problem) -> None:
    kinds = budgets(len(problem.fresh))
    for turn, budget in enumerate(kinds):
        answers = answers_of(model, problem.fresh, budget=budget)
        for row in range(turn, len(problem.fresh), len(kinds)):  # every row once, the budgets in turn
            alone = answers_of(model, problem.fresh[row : row + 1], budget=own_budget(budget, row))
            expected = {call: array[row : row + 1] for call, array in answers.items()}
            assert_same(alone, expected, f"when row {row} is predicted alone, budget={budget}")


@check("one truth: arrays and frames, columns in any order")
def _check_frames(estimator: Any, problem: Problem) -> None:
    expected = answers_of(fit(estimator, problem), problem.fresh)
    seen, fresh = columns_of(problem.X), columns_of(problem.fresh)
    for library in ("pandas", "polars"):
        try:
            frame = importlib.import_module(library).DataFrame
        except ImportError:
            continue
        model = fit(estimator, Problem(frame(seen), problem.y, problem.fresh))
        assert list(model.feature_names_in_) == list(NAMES), "feature_names_in_ are not the columns"
        assert_same(answers_of(model, frame(fresh)), expected, f"between an array and a {library} frame")
        turned = frame(dict(reversed(fresh.items())))
        assert_same(answers_of(model, turned), expected, f"with the columns of {library} in another order")
        renamed = frame({"x9" if name == "x4" else name: column for name, column in fresh.items()})
        assert_raises(ValueError, partial(model.predict, renamed), "a frame without x4", "x4")


@model_check("one truth: a refused feature is missing, free and not asked again")
def _check_refusals(model: Any, problem: Problem) -> None:
    untouched = model.walk().decision
    for row in range(len(problem.fresh)):
        for kept in (NAMES[::2], NAMES[1::2], ()):
            told = source_of(model, problem.fresh, row)
            source = {name: value for name, value in told.items() if name in kept}
            walk = model.walk()
            finish(walk, source)
            decision = walk.decision
            assert set(decision.acquired) <= set(kept), f"refused features are in {decision.acquired}"
            assert decision.spent == sheet_of(model).total(decision.acquired), "a refused feature was charged"
            if not kept:
                assert decision == untouched, f"all refused gives {decision}, nothing asked {untouched}"


@model_check("one truth: known features are free and not asked")
def _check_known(model: Any, problem: Problem) -> None:
    for row in range(len(problem.fresh)):
        source = source_of(model, problem.fresh, row)
        for names in (NAMES[:3], NAMES[3:], NAMES):
            walk = model.walk(known={name: source[name] for name in names}, budget=0.5 * TOTAL)
            asked = dict(finish(walk, source))
            decision = walk.decision
            assert not set(asked) & set(names), f"known features were asked for: {sorted(asked)}"
            assert not set(decision.acquired) & set(names), f"known features are in {decision.acquired}"
            due = sheet_of(model).total(decision.acquired, owned=names)
            assert decision.spent == due, f"{decision.spent} was charged for {due} beside what is known"
            assert due <= 0.5 * TOTAL * (1 + 1e-12), f"{due} is over the budget of the walk"
    assert_raises(ValueError, partial(model.walk, known={"x77": 1.0}), "an unknown name", "x77")


@model_check("one truth: a walk resumes anywhere from its answers")
def _check_resumes(model: Any, problem: Problem) -> None:
    copy = pickle.loads(pickle.dumps(model))
    for row in range(0, len(problem.fresh), 3):
        told = source_of(model, problem.fresh, row)
        source = {name: value for name, value in told.items() if name != NAMES[row % 6]}
        walk, log = model.walk(seed=row, budget=0.8 * TOTAL), []
        while (ask := walk.ask) is not None:
            log.append((ask.feature, source.get(ask.feature, REFUSED)))
            step(walk, log[-1][1])
            resumed = copy.walk(seed=row, budget=0.8 * TOTAL)
            for feature, answer in log:
                assert resumed.ask is not None, f"a walk with the same answers ended before {feature!r}"
                asked = resumed.ask.feature
                assert asked == feature, f"the same answers led to {asked!r}, then to {feature!r}"
                step(resumed, answer)
            assert (resumed.ask, resumed.decision) == (walk.ask, walk.decision), (
                f"after {log} one walk is at {walk.ask}, {walk.decision}, another at "
                f"{resumed.ask}, {resumed.decision}"
            )


@model_check("one truth: a bad answer changes nothing, and the end takes none")
def _check_bad_answers(model: Any, problem: Problem) -> None:
    walk = model.walk()
    while (ask := walk.ask) is not None and ask.feature == NAMES[CATEGORICAL]:
        walk.refuse()  # there text would be an answer
    if ask is not None:
        before = walk.decision
        assert_raises(ValueError, lambda: walk.tell("text"), "text for a number", ask.feature)
        assert (walk.ask, walk.decision) == (ask, before), "a bad answer moved the walk"
        walk.tell(poor_answer(model))
        assert walk.decision.acquired == (ask.feature,), "an answer that tells nothing was not paid for"
    finish(walk, source_of(model, problem.fresh, 0))
    assert_raises(WalkError, lambda: walk.tell(1.0), "tell at the end of a walk")
    assert_raises(WalkError, walk.refuse, "refuse at the end of a walk")
