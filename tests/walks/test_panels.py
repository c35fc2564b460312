"""Panels: what is ordered at once, what it costs, and that walks, rounds and replays agree on it."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

import farthing
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import CSTCClassifier
from farthing.costs import CostSheet, Group, RowLedger
from farthing.datasets import load_heart_disease
from farthing.errors import TableError, WalkError
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.sources import Source, Sources
from farthing.trees import Forest
from farthing.walks import REFUSED, ForestPolicy, RowWalk, choose_panel, continuations

HEART = load_heart_disease()
TRAIN, FRESH = HEART.X[:200], HEART.X[200:212]
NAMES = list(HEART.X.columns)


class Tree:
    """A model of trees with counts of rows, and nothing else."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest

    def policy(self, seed: int | None = None) -> ForestPolicy:
        return ForestPolicy(self.forest, self.forest.value)

    def likely_answers(self, column: int) -> tuple[float, ...]:
        return ()


def tree(cover_left: float) -> Tree:
    """Return a tree that tests x0, then x1 for rows at or below 0.5, else x2; x3 is in no test."""
    return Tree(
        Forest.from_arrays(
            n_features=4,
            feature=[0, 1, -1, -1, 2, -1, -1],
            threshold=[0.5, 0.5, 0, 0, 0.5, 0, 0],
            left=[1, 2, -1, -1, 5, -1, -1],
            right=[4, 3, -1, -1, 6, -1, -1],
            value=[[0.0]] * 7,
            cover=[32, *_thirds(cover_left), *_thirds(32 - cover_left)],
        )
    )


def _thirds(cover: float) -> list[float]:
    """Return the rows of a node and of its two equal children."""
    return [cover, cover / 2, cover / 2]


def row_walk(model: Tree, sheet: CostSheet, budget: float | None = None) -> RowWalk:
    return RowWalk(model.policy(), RowLedger(sheet, budget))


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    y = HEART.y[:200]
    made = {
        "tree": BudgetTreeClassifier(costs=HEART.costs, cost_rule="penalty", tradeoff=0.0, max_depth=4),
        "forest": BudgetForestClassifier(
            costs=HEART.costs, cost_rule="penalty", tradeoff=0.0, n_estimators=5, random_state=0
        ),
        "miser": GreedyMiserClassifier(costs=HEART.costs, tradeoff=0.001, n_estimators=10),
        "linear": CSTCClassifier(costs=HEART.costs, depth=1, random_state=0),
    }
    return {name: model.fit(TRAIN, y) for name, model in made.items()}


@pytest.mark.parametrize("share", [4, 16, 28])
def test_continuations_of_a_tree_have_the_shares_of_its_training_rows(share: int) -> None:
    model = tree(share)
    found = continuations(row_walk(model, CostSheet([1, 1, 1, 1])), model, None, depth=9)
    assert sum(each.weight for each in found) == pytest.approx(1)
    likely = dict.fromkeys(((0, 1), (0, 2)), 0.0)
    for each in found:
        likely[each.columns] += each.weight
    assert likely[0, 1] == pytest.approx(share / 32, abs=1 / 32)


@pytest.mark.parametrize(
    ("share", "price", "within", "expected"),
    [
        (16, 1, 0.0, (0,)),  # either column is wasted on half of the rows
        (32, 1, 0.0, (0, 1)),  # certain, so no regret
        (28, 1, 0.07, (0, 1)),  # regret 4/32 of a price of 1, of which 2 are needed
        (28, 1, 0.05, (0,)),
        (28, 9, 0.09, (0,)),  # expensive: a regret of 9/8 where 1 + 9 * 28/32 + 4/32 = 9 are needed
        (28, 9, 0.13, (0, 1)),
        (16, 1, np.inf, (0, 1, 2)),  # never x3, which no continuation asks for
    ],
)
def test_a_panel_is_the_one_of_least_regret(share: int, price: float, within: float, expected: Any) -> None:
    model = tree(share)
    walk = row_walk(model, CostSheet([1, price, 1, 0]))
    assert choose_panel(walk, model, None, 4, within=within) == expected


def test_a_paid_group_makes_a_member_cheap_to_waste() -> None:
    model = tree(24)
    apart = CostSheet([1, 5, 5, 0])
    together = CostSheet([1, 0.1, 0.1, 0], groups={"blood": Group(4.9, ["x0", "x1", "x2"])})
    assert choose_panel(row_walk(model, apart), model, None, 3, within=0.1) == (0,)
    assert choose_panel(row_walk(model, together), model, None, 3, within=0.1) == (0, 1, 2)


def test_a_panel_leaves_enough_money_for_every_continuation() -> None:
    model = tree(16)
    sheet = CostSheet([1, 2, 2, 0])
    assert choose_panel(row_walk(model, sheet, 5.0), model, None, 3, within=np.inf) == (0, 1, 2)
    # With x0 and x1 bought, 4 would not pay for x2, which half of the rows need.
    assert choose_panel(row_walk(model, sheet, 4.0), model, None, 3, within=np.inf) == (0,)


@pytest.mark.parametrize("name", ["tree", "forest", "miser", "linear"])
def test_panels_save_rounds_and_decide_as_single_questions(models: dict[str, Any], name: str) -> None:
    model = models[name]
    alone = model.decide(FRESH)
    one = model.rounds(FRESH, 1)
    assert np.array_equal(one.rounds, (model.acquired(FRESH)[:, : model.costs_.n_columns]).sum(axis=1))
    for k in (2, 5):
        found = model.rounds(FRESH, k)
        # Without a budget, the answers of these methods do not depend on what else is owned.
        assert np.array_equal(found.probabilities, alone.probabilities)
        assert np.all(found.acquired >= alone.acquired)
        assert np.all(found.rounds <= one.rounds)
        assert found.rounds.sum() < one.rounds.sum()


def test_nothing_is_wasted_within_zero_if_the_order_is_fixed(models: dict[str, Any]) -> None:
    # All features of the root of CSTC are needed, whatever they are.
    found = models["linear"].rounds(FRESH, 5, within=0.0)
    assert found.rounds.sum() < models["linear"].rounds(FRESH, 1).rounds.sum()


def test_the_share_of_panels_is_the_largest_whose_money_is_allowed(models: dict[str, Any]) -> None:
    model, more = models["tree"], 0.05
    share = model.panel_share(FRESH, 3, more=more)
    alone = model.decide(FRESH).spent.sum()
    assert 0 < share < np.inf
    assert alone < model.rounds(FRESH, 3, within=share).spent.sum() <= (1 + more) * alone
    assert model.rounds(FRESH, 3, within=2 * share).spent.sum() > (1 + more) * alone
    # Nothing may be wasted by default, and everything if the allowance is large.
    assert model.panel_share(FRESH, 3, more=0) < share
    assert model.panel_share(FRESH, 3, more=100) == np.inf
    # Nothing is wasted by a method of a fixed order, however full its panels are.
    assert models["linear"].panel_share(FRESH, 3, more=0) == np.inf
    with pytest.raises(ValueError, match="more must be a share of at least zero; got -1"):
        model.panel_share(FRESH, 3, more=-1)


def test_what_was_bought_ahead_is_owned_and_heard_when_it_is_wanted(models: dict[str, Any]) -> None:
    model, row = models["tree"], FRESH.iloc[0].to_dict()
    plain, ahead = model.walk(), model.walk()
    while (ask := plain.ask) is not None:
        plain.tell(row[ask.feature])
    ahead.tell_panel(row)
    assert ahead.ask is None
    assert ahead.decision.probabilities == plain.decision.probabilities
    assert ahead.spent == model.costs_.total(NAMES)
    assert ahead.n_rounds == 1


def test_refusals_in_a_panel_are_free_and_those_of_a_walk(models: dict[str, Any]) -> None:
    for name in ("tree", "forest"):
        model, row = models[name], FRESH.iloc[1].to_dict()
        refused = {"thal", "ca", "cp"}
        plain, walk = model.walk(), model.walk()
        while (ask := plain.ask) is not None:
            plain.tell(REFUSED if ask.feature in refused else row[ask.feature])
        while panel := walk.panel(4):
            walk.tell_panel(
                {ask.feature: REFUSED if ask.feature in refused else row[ask.feature] for ask in panel}
            )
        assert walk.decision.probabilities == plain.decision.probabilities
        assert not refused.intersection(walk.decision.acquired)
        resumed = model.walk()
        resumed.replay(walk.history)
        assert resumed.decision == walk.decision


def test_a_reason_within_a_walk_of_panels_is_found_from_where_it_stands(models: dict[str, Any]) -> None:
    model, row = models["forest"], FRESH.iloc[2].to_dict()
    walk = model.walk()
    walk.tell_panel({ask.feature: row[ask.feature] for ask in walk.panel(3)})
    assert walk.ask is not None
    assert walk.ask.reason is not None
    # The same answers one by one lead to the same question, for the same reason.
    single = model.walk()
    single.replay({name: value for name, value in row.items() if name in walk.answers})
    assert single.ask == walk.ask
    assert single.ask.reason.outcomes == walk.ask.reason.outcomes


def test_mistakes_leave_the_walk_as_it_was(models: dict[str, Any]) -> None:
    walk = models["tree"].walk(budget=110.0)
    first = walk.ask.feature
    for answers, error, words in [
        ({"shoe": 1}, TableError, "shoe"),
        ({first: 3, "chol": "a lot"}, TableError, "chol"),
        (FRESH.iloc[0].to_dict(), WalkError, "more than is left of the budget"),
    ]:
        with pytest.raises(error, match=words):
            walk.tell_panel(answers)
        assert (walk.n_rounds, walk.spent, walk.ask.feature) == (0, 0.0, first)
    walk.tell_panel({first: 3})
    with pytest.raises(WalkError, match="answered already"):
        walk.tell_panel({first: 3})
    for k, within in ((0, 0.1), (True, 0.1), (2.5, 0.1), (2, -1.0), (2, np.nan)):
        with pytest.raises(ValueError, match=r"k must be|within must be"):
            walk.panel(k, within=within)


def test_consult_asks_in_panels_and_reads_a_source_once(models: dict[str, Any]) -> None:
    model, row = models["forest"], FRESH.iloc[3].to_dict()
    reads: list[str] = []

    async def lab(key: Any) -> dict[str, Any]:
        reads.append("lab")
        await asyncio.sleep(0)
        return {name: row[name] for name in NAMES[:6]}

    async def clinic(key: Any) -> dict[str, Any]:
        reads.append("clinic")
        await asyncio.sleep(0)
        return {name: row[name] for name in NAMES[6:]}

    sources = Sources(
        [
            Source(lab, NAMES[:6]),
            Source(clinic, NAMES[6:]),
        ]
    )
    expected = model.rounds(FRESH[3:4], 4)
    for decision in (
        asyncio.run(farthing.aconsult(model, sources, row=0, panel=4)),
        farthing.consult(model, row, panel=4),
    ):
        assert decision.spent == expected.spent[0]
        assert decision.prediction == expected.prediction[0]
    assert sorted(reads) == ["clinic", "lab"]


def test_a_lying_source_is_refused_in_a_panel(models: dict[str, Any]) -> None:
    model, row = models["forest"], FRESH.iloc[3].to_dict()
    lies = row | {"chol": "many", "oldpeak": "few"}
    sources = Sources([Source(lambda key: lies, list(row), name="all")])
    with_lies = farthing.consult(model, sources, row=0, panel=13, within=np.inf)
    without = farthing.consult(model, row | {"chol": REFUSED, "oldpeak": REFUSED}, panel=13, within=np.inf)
    assert with_lies == without
