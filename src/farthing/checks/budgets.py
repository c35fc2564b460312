"""Invariant 4, budgets hold: a hard budget is exceeded on no row, and zero buys only what is free."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from farthing.checks.fitting import CheckedEstimator, fit, sheet_of
from farthing.checks.outputs import assert_raises, outputs_of
from farthing.checks.problems import Problem
from farthing.checks.suite import estimator_check, model_check
from farthing.checks.walking import asks_devices, assert_decides, budget_of_row, run_to_end, source_of
from farthing.costs import CostSheet, within_budget


@model_check("budgets: no row goes over its budget")
def _check_budgets(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model, problem)
    # A budget holds on rows that the model has seen and on rows that it has not.
    for X in (problem.X, problem.fresh):
        for budget in problem.budgets(len(X)):
            spent = sheet.total_rows(model.acquired(X, budget=budget))
            assert np.all(within_budget(spent, budget)), f"rows paid up to {spent.max()} of {budget}"
        bought = model.acquired(X).any()
        assert bought, "no row acquires anything: these tables do not show what the model does"


@estimator_check(
    "budgets: the budget parameter holds on every row, seen or not", "costs", "budget", wide=True
)
def _check_hard_parameter(checked: CheckedEstimator, problem: Problem) -> None:
    if getattr(checked.estimator, "budget_kind", "mean") != "hard":
        return  # a mean budget holds on the data that chose the model, which only the model knows
    for budget in (0.0, 0.25 * problem.total, 0.5 * problem.total):
        model = checked.fit(problem, budget=budget)
        for X in (problem.X, problem.fresh):
            spent = sheet_of(model, problem).total_rows(model.acquired(X))
            assert np.all(within_budget(spent, budget)), f"rows paid up to {spent.max()} of {budget}"


@estimator_check("budgets: when nothing is affordable the prior is predicted and nothing is spent")
def _check_prior(checked: CheckedEstimator, problem: Problem) -> None:
    # Weights, so that the prior differs from plain frequencies; uniform prices, so that nothing is free.
    weights = np.random.default_rng(5).integers(1, 4, size=len(problem.y))
    uniform = CostSheet.uniform(problem.names)
    model = fit(checked.estimator, problem, costs=uniform, sample_weight=weights)
    outputs = outputs_of(model, problem.fresh, budget=0)
    assert not outputs["acquired"].any(), "something was acquired with a budget of zero"
    assert not outputs["spend"].any(), "something was paid with a budget of zero"
    if "predict_proba" in outputs:
        shares = [weights[problem.y == label].sum() / weights.sum() for label in model.classes_]
        wrong = np.abs(outputs["predict_proba"] - shares).max()
        assert wrong < 1e-9, f"the prior is {shares}; got {outputs['predict_proba'][0]}"
    if not is_classifier(model):
        mean = np.average(problem.y, weights=weights)
        assert np.abs(outputs["predict"] - mean).max() < 1e-9, f"the mean is {mean}; got {outputs['predict']}"
    assert_decides(model.walk(), model, problem, outputs, 0, when="before the first answer")


@model_check("budgets: what cannot be a budget is refused")
def _check_bad_budgets(model: Any, problem: Problem) -> None:
    for budget in (np.nan, -1.0, np.ones(3), np.full(len(problem.fresh), -1.0)):
        call = partial(model.predict, problem.fresh, budget=budget)
        assert_raises(ValueError, call, f"a budget of {budget}")
    for budget in (np.nan, -1.0):
        assert_raises(ValueError, partial(model.walk, budget=budget), f"a walk with a budget of {budget}")


@model_check("budgets: no row passes the cap of a further resource")
def _check_resources(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model, problem)
    if asks_devices(model) or not getattr(model, "rows_are_independent", True) or not sheet.resources:
        return  # the first two say that they take no such caps
    minutes = sheet.resources["minutes"]
    rows = problem.fresh[: 4 if problem.is_wide else 9]
    most = float(minutes.total_rows(model.acquired(rows)).max())
    per_row = np.linspace(0, most, len(rows))
    every: list[dict[str, Any]] = [{"minutes": 0.5 * most}, {"minutes": per_row, "cost": 0.6 * problem.total}]
    for budget in every:
        outputs = outputs_of(model, rows, budget=budget)
        for name, each in (("minutes", minutes), ("cost", sheet)):
            spent, cap = each.total_rows(outputs["acquired"]), budget.get(name)
            assert np.all(within_budget(spent, cap)), f"rows took up to {spent.max()} of {cap} {name}"
        for row in range(0, len(rows), 2):
            walk = model.walk(budget={name: budget_of_row(cap, row) for name, cap in budget.items()})
            run_to_end(walk, source_of(model, problem, row))
            assert_decides(walk, model, problem, outputs, row, when=f"caps {budget}")
            taken = minutes.total(walk.decision.acquired)
            assert walk.resources["minutes"] == taken, "the account of a resource does not balance"
