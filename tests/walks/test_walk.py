"""A walk asks, is told or refused, keeps its account, and can be resumed."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from farthing.costs import CostSheet, Group, RowLedger
from farthing.errors import TableError, UnseenCategoryWarning, WalkError
from farthing.table import Schema
from farthing.walks import REFUSED, Ask, Decision, Walk

SHEET = CostSheet([1, 2, 4, 0], groups={"lab": Group(8, ["x1", "x2"])})
SCHEMA = Schema.learn(np.array([[0.0, 0.0, "red", 0.0], [0.0, 0.0, "blue", 0.0]], dtype=object))


class InOrder:
    """Want the columns of a list, some of them twice; the output is what was heard, as a code."""

    def __init__(self, *order: int) -> None:
        self.order = list(order)
        self.heard: list[tuple[int, float]] = []

    def wants(self, ledger: RowLedger) -> int | None:
        return self.order[0] if self.order else None

    def hear(self, column: int, value: float) -> None:
        assert column == self.order.pop(0)
        self.heard.append((column, value))

    def output(self) -> NDArray[np.float64]:
        return np.array([float(len(self.heard))])


def conclude(outputs: NDArray[np.float64], looked: NDArray[np.bool_]) -> tuple[Any, None]:
    assert outputs.shape == (1, 1)
    assert looked.shape == (1, 4)
    return (float(outputs[0, 0]), "".join(str(column) for column in np.flatnonzero(looked[0]))), None


def walk_of(*order: int, **options: Any) -> tuple[Walk, InOrder]:
    policy = InOrder(*order)
    return Walk(policy, SCHEMA, SHEET, conclude, **options), policy


def test_the_loop_of_the_design() -> None:
    walk, policy = walk_of(1, 2, 0)
    asked = []
    values = {"x0": 0.5, "x1": 7, "x2": "red"}
    while (ask := walk.ask) is not None:
        asked.append(ask)
        walk.tell(values[ask.feature])
    assert asked == [Ask("x1", 10.0, "lab"), Ask("x2", 4.0, "lab"), Ask("x0", 1.0, None)]
    assert policy.heard == [(1, 7.0), (2, 1.0), (0, 0.5)]
    assert walk.decision == Decision((3.0, "012"), None, 15.0, ("x0", "x1", "x2"))
    assert walk.spent == 15.0
    assert walk.left is None


def test_a_column_wanted_again_is_not_asked_again() -> None:
    walk, policy = walk_of(0, 0, 1, 0, 1)
    walk.tell(5)
    assert walk.ask == Ask("x1", 10.0, "lab")
    walk.refuse()
    assert walk.ask is None
    np.testing.assert_equal(policy.heard, [(0, 5.0), (0, 5.0), (1, np.nan), (0, 5.0), (1, np.nan)])
    assert walk.decision.acquired == ("x0",)


def test_missing_is_paid_and_refused_is_not() -> None:
    told, _ = walk_of(0)
    told.tell(None)
    refused, _ = walk_of(0)
    refused.refuse()
    assert (told.decision.spent, told.decision.acquired) == (1.0, ("x0",))
    assert (refused.decision.spent, refused.decision.acquired) == (0.0, ())
    assert refused.decision.prediction == (1.0, "")


def test_a_question_over_the_budget_is_refused_by_the_walk() -> None:
    walk, policy = walk_of(1, 0, 2, 3, budget=9)
    assert walk.ask == Ask("x0", 1.0, None)
    assert walk.left == 9.0
    walk.tell(1)
    assert walk.left == 8.0
    assert walk.ask == Ask("x3", 0.0, None)
    walk.tell(1)
    np.testing.assert_equal(policy.heard, [(1, np.nan), (0, 1.0), (2, np.nan), (3, 1.0)])
    assert walk.decision == Decision((4.0, "03"), None, 1.0, ("x0", "x3"))


def test_a_free_feature_fits_a_budget_of_zero() -> None:
    walk, _ = walk_of(0, 3, budget=0)
    assert walk.ask == Ask("x3", 0.0, None)


def test_known_features_are_owned_with_their_group() -> None:
    walk, policy = walk_of(2, 1, 0, known={"x2": "blue", "x3": np.nan}, budget=2)
    assert walk.ask == Ask("x1", 2.0, "lab")
    walk.tell(3)
    assert walk.ask is None
    np.testing.assert_equal(policy.heard, [(2, 0.0), (1, 3.0), (0, np.nan)])
    assert walk.decision == Decision((3.0, "12"), None, 2.0, ("x1",)), "x3 is known but was never looked at"


def test_an_unseen_category_is_missing_and_paid() -> None:
    walk, policy = walk_of(2)
    with pytest.warns(UnseenCategoryWarning, match="column 'x2': got the string 'green'"):
        walk.tell("green")
    np.testing.assert_equal(policy.heard, [(2, np.nan)])
    assert walk.spent == 12.0


def test_a_bad_answer_changes_nothing() -> None:
    walk, policy = walk_of(0, 1)
    with pytest.raises(TableError, match="x0"):
        walk.tell("seven")
    assert (walk.ask, walk.spent, policy.heard, walk.answers) == (Ask("x0", 1.0, None), 0.0, [], {})


@pytest.mark.parametrize("verb", ["tell", "refuse"])
def test_the_end_takes_no_answer(verb: str) -> None:
    walk, _ = walk_of()
    with pytest.raises(WalkError, match=f"{verb} was called, but the walk has ended"):
        walk.tell(1) if verb == "tell" else walk.refuse()


def test_unknown_known_features_are_named() -> None:
    with pytest.raises(TableError, match="'x9'"):
        walk_of(0, known={"x9": 1})
    with pytest.raises(TableError, match="x0"):
        walk_of(0, known={"x0": "text"})


@pytest.mark.parametrize("budget", [-1.0, np.nan])
def test_bad_budgets(budget: float) -> None:
    with pytest.raises(ValueError, match="budget"):
        walk_of(0, budget=budget)


@settings(deadline=None)
@given(
    order=st.lists(st.integers(0, 3), max_size=12),
    answers=st.lists(st.one_of(st.floats(), st.just(REFUSED)), min_size=4, max_size=4),
    budget=st.one_of(st.none(), st.floats(0, 20)),
    known=st.sets(st.sampled_from(["x0", "x1", "x3"])),
    cut=st.integers(0, 4),
)
def test_the_account_and_the_replay(
    order: list[int], answers: list[Any], budget: float | None, known: set[str], cut: int
) -> None:
    options: dict[str, Any] = {"budget": budget, "known": dict.fromkeys(known, 1.0)}
    answers[2] = "red"
    source = dict(zip(SHEET.features, answers, strict=True))
    walk, _ = walk_of(*order, **options)
    for _ in range(cut):
        if walk.ask is not None:
            walk.tell(source[walk.ask.feature])
    other, _ = walk_of(*order, **options)
    other.replay(walk.answers)
    assert other.ask == walk.ask
    for each in (walk, other):
        each.replay(source)
        decision = each.decision
        assert each.ask is None
        assert decision.spent == SHEET.total(decision.acquired, owned=known) == each.spent
        assert budget is None or decision.spent <= budget * (1 + 1e-12)
        refused = {name for name, answer in each.answers.items() if answer is REFUSED}
        assert set(each.answers) == refused | set(decision.acquired)
    assert other.decision == walk.decision
    assert list(other.answers) == list(walk.answers)


def test_walks_copy_and_the_refusal_is_one() -> None:
    walk, _ = walk_of(0, 1)
    walk.tell(2)
    twin = copy.deepcopy(walk)
    twin.refuse()
    assert twin.ask is None
    assert walk.ask == Ask("x1", 10.0, "lab")
    assert pickle.loads(pickle.dumps(REFUSED)) is REFUSED
    assert repr(REFUSED) == "REFUSED"
    assert repr(walk) == "Walk(ask=Ask(feature='x1', price=10.0, group='lab'), spent=1.0, left=None)"
