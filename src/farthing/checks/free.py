"""The contract, 5: what is free is free."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from farthing.checks.entry import check, rate_name, rate_of
from farthing.checks.trial import (
    NAMES,
    NOTHING,
    SHEET,
    Problem,
    answers_of,
    assert_same,
    budgets,
    fit,
    fit_budget,
    problems,
)
from farthing.costs import CostSheet, Group
from farthing.errors import BudgetError


@check("free is free: with zero costs, budgets and groups are idle", "costs")
def _check_zero_costs(estimator: Any, problem: Problem) -> None:
    expected = answers_of(fit(estimator, problem, costs=NOTHING, budget=None), problem.fresh)
    assert not expected["spend"].any(), "something was paid with zero costs"
    grouped = CostSheet(dict.fromkeys(NAMES, 0.0), groups={"lab": Group(0.0, ["x1", "x4"])})
    for budget in (None, 0.0, 1.0):
        model = fit(estimator, problem, costs=grouped, budget=budget)
        assert_same(answers_of(model, problem.fresh), expected, f"with zero costs and budget={budget}")
        got = answers_of(model, problem.fresh, budget=0.0)
        assert_same(got, expected, "with zero costs and a budget of zero at prediction")


@check("free is free: a trade-off of zero is zero costs", "costs", "tradeoff")
def _check_zero_tradeoff(estimator: Any, problem: Problem) -> None:
    free = answers_of(fit(estimator, problem, costs=NOTHING, budget=None), problem.fresh)
    rate = {rate_name(estimator): 0.0}
    blind = answers_of(fit(estimator, problem, budget=None, **rate), problem.fresh)
    del free["spend"], blind["spend"]
    assert_same(blind, free, "between a trade-off of zero and costs of zero")


@check("free is free: costs times a power of two give the same bits", "costs")
def _check_scale(estimator: Any, problem: Problem) -> None:
    tradeoff, name = rate_of(estimator), rate_name(estimator)
    rates = [{}] if tradeoff is None else [{name: tradeoff}, {name: 0.3}]
    cases = itertools.product(rates, (False, True))
    for (rate, capped), s in zip(cases, itertools.cycle((0.25, 1024.0, 1024.0, 0.25)), strict=False):
        budget = fit_budget(estimator) if capped else None
        try:
            model = fit(estimator, problem, budget=budget, **rate)
        except BudgetError:
            continue  # a mean budget that what must be bought exceeds
        other = fit(
            estimator,
            problem,
            costs=SHEET.scaled(s),
            budget=fit_budget(estimator, s) if capped else None,
            **{name: value / s for name, value in rate.items()},
        )
        for cap in budgets(len(problem.fresh)):
            expected = answers_of(model, problem.fresh, budget=cap)
            expected["spend"] = expected["spend"] * s
            got = answers_of(other, problem.fresh, budget=None if cap is None else cap * s)
            assert_same(got, expected, f"with costs and budget={budget} times {s}, {rate} over {s}")


def check_plain(estimator: Any, plain: Any) -> None:
    """Compare an estimator whose features cost nothing with a model that knows no costs."""
    problem = next(problems(estimator))
    model = fit(estimator, problem, costs=NOTHING, budget=None)
    rival = clone(plain).fit(problem.X, problem.y)
    got, expected = model.predict(problem.fresh), rival.predict(problem.fresh)
    close = np.array_equal if is_classifier(model) else np.allclose
    assert close(got, expected), f"with zero costs it predicts {got}, the plain model {expected}"
