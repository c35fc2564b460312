"""Invariant 1, blindness: a prediction does not depend on what was not acquired."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from farthing.checks.outputs import Outputs, assert_raises, assert_same, expected_of, outputs_of
from farthing.checks.problems import Problem
from farthing.checks.suite import model_check
from farthing.checks.walking import asks_devices, overwritten
from farthing.typing import Flags


@model_check("blindness: entries not acquired may be anything")
def _check_blind(model: Any, problem: Problem) -> None:
    for budget in (None, problem.mixed_budgets):
        expected = expected_of(model, problem, budget)
        hidden = ~_columns_of(expected, problem)
        # Out of range, another plausible value, and missing; for text an unseen and a seen category.
        for number, text in ((1e6, "unseen"), (-3.5, "ash"), (np.nan, None)):
            X = overwritten(model, problem, hidden, number, text)
            got = outputs_of(model, X, budget=budget)
            assert_same(got, expected, f"with {number} in entries not acquired, budget={budget}")


@model_check("blindness: only acquired entries are validated")
def _check_validates_acquired(model: Any, problem: Problem) -> None:
    expected = expected_of(model, problem)
    if asks_devices(model):
        _check_validates_messages(model, problem, expected["acquired"])
        return
    acquired = _columns_of(expected, problem)
    X = problem.fresh.astype(object)
    numeric = np.array([column != problem.categorical for column in range(len(problem.names))])
    # Text is no number at all, so a model that validated the entry would have to fail.
    X[~acquired & numeric] = "text"
    try:
        got = outputs_of(model, X)
    except ValueError as error:
        raise AssertionError(f"an entry that is not acquired was validated: {error}") from error
    assert_same(got, expected, "with text in entries not acquired")
    for row, column in np.argwhere(acquired & numeric)[:1]:
        X = problem.fresh.astype(object)  # one bad entry, so that the error can name no other
        X[row, column] = "text"
        assert_raises(
            ValueError, partial(model.predict, X), "text in a numeric column", problem.names[column]
        )


def _columns_of(outputs: Outputs, problem: Problem) -> Flags:
    """Return what was acquired, without calls, shape (n_rows, n_features)."""
    return np.asarray(outputs["acquired"][:, : len(problem.names)])


def _check_validates_messages(model: Any, problem: Problem, acquired: Flags) -> None:
    """Check that a bad message is refused. Gates read the whole table, so only messages can be hidden."""
    for row, device in np.argwhere(acquired)[:1]:
        bad = np.zeros(acquired.shape, dtype=np.bool_)
        bad[row, device] = True
        sent = overwritten(model, problem, bad, np.nan, None)
        assert_raises(ValueError, partial(model.predict, sent), "a message of NaN", problem.names[device])
