"""The contract, 3 and 4: the account balances, and budgets hold."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from farthing.checks.entry import check, model_check
from farthing.checks.trial import (
    NAMES,
    SHEET,
    TOTAL,
    Problem,
    answers_of,
    assert_decides,
    assert_raises,
    assert_same,
    budgets,
    fit,
    is_paid,
    sheet_of,
    source_of,
)
from farthing.costs import CostSheet

# 3. The account balances.


@model_check("account: spend is the sheet's total of what was acquired")
def _check_account(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model)
    for budget in budgets(len(problem.fresh)):
        acquired = model.acquired(problem.fresh, budget=budget)
        assert acquired.dtype == np.bool_, f"acquired is of {acquired.dtype}, not bool"
        assert acquired.shape == problem.fresh.shape, f"acquired has shape {acquired.shape}"
        due = np.array([sheet.total(row) for row in acquired])
        got = {"spend": model.spend(problem.fresh, budget=budget)}
        assert_same(got, {"spend": due}, "from the sheet's total of what was acquired")


@model_check("account: a walk balances at every step")
def _check_walk_account(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model)
    for row in range(len(problem.fresh)):
        source, walk = source_of(model, problem.fresh, row), model.walk()
        bought: set[str] = set()
        while (ask := walk.ask) is not None:
            price = sheet.price(ask.feature, owned=bought)
            assert ask.price == price, f"{ask.feature!r} was offered at {ask.price}, its price is {price}"
            walk.tell(source[ask.feature])
            if is_paid(model, source[ask.feature]):
                bought.add(ask.feature)
            decision = walk.decision
            assert set(decision.acquired) == bought, f"acquired is {decision.acquired}, told was {bought}"
            due = sheet.total(bought)
            assert decision.spent == due, f"{decision.spent} was charged for {sorted(bought)}, due is {due}"


# 4. Budgets hold.


@model_check("budgets: no row goes over its budget")
def _check_budgets(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model)
    for X in (problem.X, problem.fresh):
        for budget in budgets(len(X)):
            due = sheet.total_rows(model.acquired(X, budget=budget))
            cap = np.inf if budget is None else budget
            assert (due <= np.multiply(cap, 1 + 1e-12)).all(), f"rows paid up to {due.max()} of {budget}"
        bought = model.acquired(X).any()
        assert bought, "no row acquires anything: these tables do not show what the model does"


@check("budgets: the budget parameter holds on every row, seen or not", "costs", "budget")
def _check_hard_parameter(estimator: Any, problem: Problem) -> None:
    if not getattr(estimator, "_hard_budget", False):
        return  # a mean budget holds on the data that chose the model, which only the model knows
    for budget in (0.0, 0.25 * TOTAL, 0.5 * TOTAL):
        model = fit(estimator, problem, budget=budget)
        for X in (problem.X, problem.fresh):
            due = SHEET.total_rows(model.acquired(X))
            assert (due <= budget * (1 + 1e-12)).all(), f"rows paid up to {due.max()} of {budget}"


@check("budgets: with nothing affordable the prior, for nothing")
def _check_prior(estimator: Any, problem: Problem) -> None:
    weights = np.random.default_rng(5).integers(1, 4, size=len(problem.y))
    model = fit(estimator, problem, costs=CostSheet.uniform(NAMES), sample_weight=weights)
    answers = answers_of(model, problem.fresh, budget=0)
    assert not answers["acquired"].any(), "something was acquired with a budget of zero"
    assert not answers["spend"].any(), "something was paid with a budget of zero"
    if "predict_proba" in answers:
        shares = [weights[problem.y == label].sum() / weights.sum() for label in model.classes_]
        wrong = np.abs(answers["predict_proba"] - shares).max()
        assert wrong < 1e-9, f"the prior is {shares}; got {answers['predict_proba'][0]}"
    if not is_classifier(model):
        mean = np.average(problem.y, weights=weights)
        assert np.abs(answers["predict"] - mean).max() < 1e-9, f"the mean is {mean}; got {answers['predict']}"
    assert_decides(model.walk(), model, answers, 0, "before the first answer")


@model_check("budgets: what cannot be a budget is refused")
def _check_bad_budgets(model: Any, problem: Problem) -> None:
    for budget in (np.nan, -1.0, np.ones(3), np.full(len(problem.fresh), -1.0)):
        call = partial(model.predict, problem.fresh, budget=budget)
        assert_raises(ValueError, call, f"a budget of {budget}")
    for budget in (np.nan, -1.0):
        assert_raises(ValueError, partial(model.walk, budget=budget), f"a walk with a budget of {budget}")
