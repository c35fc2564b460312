"""The contract, 1: a prediction does not depend on what it did not buy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.checks.entry import model_check
from farthing.checks.trial import (
    CATEGORICAL,
    NAMES,
    Problem,
    answers_of,
    assert_raises,
    assert_same,
    budgets,
    hears_devices,
    overwritten,
)


@model_check("blindness: entries not acquired may be anything")
def _check_blind(model: Any, problem: Problem) -> None:
    for budget in budgets(len(problem.fresh)):
        expected = answers_of(model, problem.fresh, budget=budget)
        hidden = ~expected["acquired"]
        for number, text in ((1e6, "unseen"), (-3.5, "ash"), (np.nan, None)):
            X = overwritten(model, problem.fresh, hidden, number, text)
            got = answers_of(model, X, budget=budget)
            assert_same(got, expected, f"with {number} in entries not acquired, budget={budget}")


@model_check("blindness: only acquired entries are validated")
def _check_validates_acquired(model: Any, problem: Problem) -> None:
    expected = answers_of(model, problem.fresh)
    if hears_devices(model):
        _check_validates_heard(model, problem, expected["acquired"])
        return
    X = problem.fresh.astype(object)
    numeric = np.arange(len(NAMES)) != CATEGORICAL
    X[~expected["acquired"] & numeric] = "text"
    try:
        got = answers_of(model, X)
    except ValueError as error:
        raise AssertionError(f"an entry that is not acquired was validated: {error}") from error
    assert_same(got, expected, "with text in entries not acquired")
    for row, column in np.argwhere(expected["acquired"] & numeric)[:1]:
        X[row, column] = "text"
        assert_raises(ValueError, partial(model.predict, X), "text in a numeric column", NAMES[column])


def _check_validates_heard(model: Any, problem: Problem, acquired: NDArray[np.bool_]) -> None:
    """Gates of devices read all of a table; what the cloud must not look at is what silent ones say."""
    for row, device in np.argwhere(acquired)[:1]:
        odd = np.zeros(acquired.shape, dtype=np.bool_)
        odd[row, device] = True
        sent = overwritten(model, problem.fresh, odd, np.nan, None)
        assert_raises(ValueError, partial(model.predict, sent), "a message of NaN", NAMES[device])
