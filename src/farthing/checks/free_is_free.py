"""Invariant 5, free is free: without costs or without a trade-off, a model is the cost-blind one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from farthing.checks.fitting import CheckedEstimator, budget_parameter, scaled_prices, tradeoff_of
from farthing.checks.outputs import assert_same, expected_of, outputs_of
from farthing.checks.problems import Problem
from farthing.checks.suite import estimator_check
from farthing.errors import BudgetError


@estimator_check("free is free: with zero costs, budgets and groups are idle", "costs")
def check_zero_costs(checked: CheckedEstimator, problem: Problem) -> None:
    """Check that nothing is paid, and that neither a budget nor a group changes a bit."""
    nothing = scaled_prices(checked.estimator, 0.0)
    free = checked.fit(problem, costs=problem.free_sheet, budget=None, **nothing)
    expected = expected_of(free, problem)
    assert not expected["spend"].any(), "something was paid with zero costs"
    for budget in checked.dealt(problem, (0.0, None, 1.0)):
        model = checked.fit(problem, costs=problem.free_groups, budget=budget, **nothing)
        assert_same(outputs_of(model, problem.fresh), expected, f"with zero costs and budget={budget}")
        got = outputs_of(model, problem.fresh, budget=0.0)
        assert_same(got, expected, "with zero costs and a budget of zero at prediction")


@estimator_check("free is free: a trade-off of zero is zero costs", "costs", "tradeoff", wide=True)
def check_zero_tradeoff(checked: CheckedEstimator, problem: Problem) -> None:
    """Check that prices without a trade-off give the bits of the model without prices."""
    nothing = scaled_prices(checked.estimator, 0.0)
    without_costs = checked.fit(problem, costs=problem.free_sheet, budget=None, **nothing)
    without_tradeoff = checked.fit(problem, budget=None, tradeoff=0.0, **nothing)
    expected = expected_of(without_costs, problem)
    got = outputs_of(without_tradeoff, problem.fresh)
    # Predictions must agree; what they cost cannot, since one of the models has prices.
    del expected["spend"], got["spend"]
    assert_same(got, expected, "between a trade-off of zero and costs of zero")


@estimator_check("free is free: costs times a power of two give the same bits", "costs")
def check_scale(checked: CheckedEstimator, problem: Problem) -> None:
    """Check that costs and budget times s, and the trade-off over s, give the same bits."""
    tradeoff, name = tradeoff_of(checked.estimator), "tradeoff"
    tradeoffs = [{}] if tradeoff is None else [{name: tradeoff}, {name: 0.3}]
    # Powers of two change only the exponents of floats, so the bits must stay; other factors round.
    variants = ((False, 0.25), (True, 1024.0), (True, 1024.0), (False, 0.25))
    settings = [setting for setting in tradeoffs for _ in range(2)]
    for setting, (capped, s) in checked.dealt(problem, zip(settings, variants, strict=False)):
        budget = budget_parameter(problem) if capped else None
        try:
            model = checked.fit(problem, budget=budget, **setting)
        except BudgetError:
            continue  # a mean budget below what has to be bought in any case
        scaled = checked.fit(
            problem,
            costs=problem.sheet.scaled(s),
            budget=budget_parameter(problem, s) if capped else None,
            **{name: value / s for name, value in setting.items()},
            **scaled_prices(checked.estimator, s),
        )
        for cap in (None, problem.mixed_budgets):
            expected = expected_of(model, problem, cap)
            expected["spend"] = expected["spend"] * s
            got = outputs_of(scaled, problem.fresh, budget=None if cap is None else cap * s)
            assert_same(got, expected, f"with costs and budget={budget} times {s}, {setting} over {s}")


def check_plain(checked: CheckedEstimator, plain: Any) -> None:
    """Compare an estimator whose features cost nothing with a cost-blind model."""
    problem = checked.problems[0]
    nothing = scaled_prices(checked.estimator, 0.0)
    model = checked.fit(problem, costs=problem.free_sheet, budget=None, **nothing)
    twin = clone(plain).fit(problem.X, problem.y)
    got, expected = model.predict(problem.fresh), twin.predict(problem.fresh)
    close = np.array_equal if is_classifier(model) else np.allclose
    assert close(got, expected), f"with zero costs it predicts {got}, the plain model {expected}"
