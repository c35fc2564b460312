"""Consult runs a walk over mappings, callables and coroutines."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.stumps import StumpListClassifier

from farthing.errors import TableError
from farthing.walks import REFUSED, aconsult, consult

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
MODEL = StumpListClassifier(costs=[1, 2]).fit(X, ["a", "b", "c", "c"] * 5)


def test_a_mapping_a_series_and_a_callable_agree() -> None:
    for row in X[:4]:
        source = {"x0": row[0], "x1": row[1]}
        decision = consult(MODEL, source)
        assert decision == consult(MODEL, pd.Series(source)) == consult(MODEL, source.__getitem__)
        assert decision.prediction == MODEL.predict([row])[0]
        assert decision.spent == MODEL.spend([row])[0]


def test_only_what_is_asked_is_fetched() -> None:
    fetched = []

    def source(name: str) -> float:
        fetched.append(name)
        return 1.0

    decision = consult(MODEL, source)
    assert fetched == ["x0"]
    assert (decision.prediction, decision.acquired, decision.spent) == ("c", ("x0",), 1.0)


def test_what_is_not_there_is_refused_on_request() -> None:
    decision = consult(MODEL, {}, lacking="refuse")
    assert decision.acquired == ()
    assert decision == consult(MODEL, lambda name: REFUSED) == consult(MODEL, {"x0": REFUSED, "x1": REFUSED})
    assert decision == asyncio.run(aconsult(MODEL, {}, lacking="refuse"))
    assert decision.probabilities == {"a": 0.25, "b": 0.25, "c": 0.5}


@pytest.mark.parametrize("source", [{"X0 ": 1.0}, {"x_0": 1.0, "other": 2.0}, pd.Series({"X0 ": 1.0})])
def test_a_misspelt_key_is_named(source: Any) -> None:
    wanted = rf"lacks 'x0', which the model asks for; did you mean '{next(iter(source.keys()))}'\?"
    with pytest.raises(TableError, match=wanted):
        consult(MODEL, source)
    with pytest.raises(TableError, match=wanted):
        asyncio.run(aconsult(MODEL, source))


def test_a_mapping_that_lacks_what_is_asked_is_named() -> None:
    with pytest.raises(
        TableError, match=r"lacks 'x1', .*; it has 'x0', 'weight'\..*REFUSED.*lacking='refuse'"
    ):
        consult(MODEL, {"x0": 0.0, "weight": 80})
    with pytest.raises(ValueError, match="lacking must be 'raise' or 'refuse'; got 'ignore'"):
        consult(MODEL, {}, lacking="ignore")  # type: ignore[arg-type]


def test_a_mapping_may_hold_more_and_less_than_the_columns() -> None:
    """The row of a database: other keys are ignored, and a column that is not asked for may be absent."""
    assert consult(MODEL, {"id": 7, "x0": 1.0}).prediction == "c"


def test_budget_and_known_reach_the_walk() -> None:
    source = {"x0": 0.0, "x1": 1.0}
    assert consult(MODEL, source).spent == 3.0
    assert consult(MODEL, source, budget=1).acquired == ("x0",)
    decision = consult(MODEL, source, known={"x0": 0.0}, budget=2)
    assert (decision.prediction, decision.spent, decision.acquired) == ("b", 2.0, ("x1",))


def test_a_coroutine_needs_aconsult() -> None:
    async def source(name: str) -> float:
        await asyncio.sleep(0)
        return 1.0

    with pytest.raises(TypeError, match=r"'x0' with an awaitable; use await farthing\.aconsult"):
        consult(MODEL, source)
    assert asyncio.run(aconsult(MODEL, source)) == consult(MODEL, {"x0": 1.0})
    assert asyncio.run(aconsult(MODEL, {"x0": 1.0})) == consult(MODEL, {"x0": 1.0})


@pytest.mark.parametrize("source", [None, 3, [1.0, 2.0]])
def test_other_sources_are_refused(source: Any) -> None:
    with pytest.raises(TypeError, match="source must be a callable or a mapping"):
        consult(MODEL, source)


def test_a_misspelt_key_is_named_even_if_lacking_ones_are_refused() -> None:
    with pytest.warns(UserWarning, match="'x0' is refused, .* did you mean 'X0', which is no feature"):
        consult(MODEL, {"X0": 1.0, "x1": 1.0}, lacking="refuse")
    # What it has is a feature of its own, however alike the names are.
    assert consult(MODEL, {"x1": 1.0}, lacking="refuse").acquired in {(), ("x1",)}
