"""Invariant 3, the account balances: the spend is the sheet's total of what was acquired."""

from __future__ import annotations

from typing import Any

import numpy as np

from farthing.checks.fitting import sheet_of
from farthing.checks.outputs import assert_same
from farthing.checks.problems import Problem
from farthing.checks.suite import model_check
from farthing.checks.walking import is_paid, source_of


@model_check("account: spend is the sheet's total of what was acquired")
def _check_account(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model, problem)
    for budget in problem.budgets():
        acquired = model.acquired(problem.fresh, budget=budget)
        assert acquired.dtype == np.bool_, f"acquired is of {acquired.dtype}, not bool"
        shape = len(problem.fresh), len(sheet.features)
        assert acquired.shape == shape, f"acquired has shape {acquired.shape}"
        # Row by row through `total`, so that `total_rows` is checked as well. Equal in every bit: both sum in
        # the order of the sheet.
        due = np.array([sheet.total(row) for row in acquired])
        got = {"spend": model.spend(problem.fresh, budget=budget)}
        assert_same(got, {"spend": due}, "from the sheet's total of what was acquired")


@model_check("account: a walk balances at every step")
def _check_walk_account(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model, problem)
    for row in range(len(problem.fresh)):
        source, walk = source_of(model, problem, row), model.walk()
        bought: set[str] = set()
        while (ask := walk.ask) is not None:
            # The first of a group pays the shared cost, later members only their own.
            price = sheet.price(ask.feature, owned=bought)
            assert ask.price == price, f"{ask.feature!r} was offered at {ask.price}, its price is {price}"
            walk.tell(source[ask.feature])
            if is_paid(model, source[ask.feature]):
                bought.add(ask.feature)
            decision = walk.decision
            columns = set(decision.acquired).difference(sheet.calls)
            assert columns == bought, f"acquired is {decision.acquired}, answered: {bought}"
            due = sheet.total(decision.acquired)
            assert decision.spent == due, f"{decision.spent} was charged for {sorted(bought)}, due is {due}"
