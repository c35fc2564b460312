"""What the core says of the answers to a question, against the naive way: a second walk for each of them."""

from __future__ import annotations

import numpy as np
import pytest

from farthing import BudgetedClassifier
from farthing._core import SplitJudge, Ways
from farthing.boosting import AdaBoostClassifier, GradientBoostingRegressor, GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier
from farthing.costs import CostSheet, Group, RowLedger
from farthing.forests import (
    BudgetForestClassifier,
    BudgetTreeClassifier,
    OptimalTreeClassifier,
    PrunedForestClassifier,
)
from farthing.walks.node_notes import notes_of
from farthing.walks.reasoning import Reasoning, split_of
from farthing.walks.row_walk import RowWalk

COSTS = CostSheet([1, 2, 3, 4], groups={"lab": Group(2.0, ["x1", "x2"])})
MISER = {"n_estimators": 6, "max_depth": 2}
METHODS = {
    "tree": BudgetTreeClassifier(costs=COSTS, max_depth=4),
    "optimal tree": OptimalTreeClassifier(costs=COSTS, max_depth=2),
    "forest": BudgetForestClassifier(costs=COSTS, n_estimators=4, max_depth=3, random_state=0),
    "votes": BudgetForestClassifier(
        costs=COSTS, n_estimators=4, max_depth=3, random_state=0, aggregation="vote"
    ),
    "pruned forest": PrunedForestClassifier(costs=COSTS, n_estimators=4, max_depth=3, random_state=0),
    "miser": GreedyMiserClassifier(costs=COSTS, **MISER),
    "vector miser": GreedyMiserClassifier(costs=COSTS, multi_strategy="multi_output_tree", **MISER),
    "early exit": EarlyExitClassifier(GreedyMiserClassifier(**MISER), threshold=0.7, costs=COSTS),
    "vote": AdaBoostClassifier(costs=COSTS, n_estimators=8),
    "paid miser": GreedyMiserClassifier(costs=COSTS, tree_cost=0.1, **MISER),
    "paid exits": EarlyExitClassifier(
        GreedyMiserClassifier(tree_cost=0.1, **MISER), threshold=0.7, costs=COSTS
    ),
    "regression": GradientBoostingRegressor(costs=COSTS, n_estimators=5, max_depth=2, max_leaf_nodes=None),
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    known = np.nan_to_num(X)
    return X, (known[:, 0] > 0).astype(int) + (known[:, 1] * known[:, 2] > 0)


def naive_judged(reasoning, walk):
    """Return what `Reasoning._foreseen` finds by copies of the walk, one for each answer."""
    split = split_of(walk.policy)
    ways = split.ways()
    ahead = reasoning._forked(walk, [way.answer for way in ways])
    return ahead, reasoning._judged(walk, ways, ahead)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("budget", [None, 5.0])
def test_answers_are_judged_as_by_a_second_walk(table, name, n_classes, budget):
    X, y = table
    model = METHODS[name].fit(X[:300], np.minimum(y[:300], n_classes - 1)).fitted_
    judge, checked = model.split_judge(), 0
    assert judge is not None
    for place, row in enumerate(X[300:340]):
        walk = RowWalk(model.policy(), RowLedger(model.costs, budget))
        reasoning = Reasoning(model, None, model.conclude_row, ())
        while walk.column is not None:
            core_ways = notes_of(model).ways(split_of(walk.policy)).core
            if (found := walk.judged(judge, core_ways)) is not None:
                ahead, naive = naive_judged(reasoning, walk)
                assert [None if c < 0 else c for c in found.columns] == ahead.columns
                if name != "vote":  # whose scores are doubled for the judge
                    assert np.array_equal(found.outputs, ahead.outputs)
                assert found.labels_known == naive.known
                assert (found.risk, found.fall) == pytest.approx((naive.risk, naive.fall), abs=1e-12)
                checked += 1
            if place % 4 == 3 and walk.column == 0:
                walk.refuse()
            else:
                walk.buy(float(row[walk.column]))
    assert checked > 20 if budget is None or not model.costs.calls else checked == 0


def test_a_walk_that_answers_a_question_itself_is_not_judged_in_the_core(table):
    X, y = table
    model = BudgetForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(X, y).fitted_
    judge = model.split_judge()
    free = RowWalk(model.policy(), RowLedger(model.costs))
    ways = notes_of(model).ways(split_of(free.policy)).core
    found = free.judged(judge, ways)
    known = {asked: 0.0 for asked in found.columns if asked >= 0}
    assert known
    assert (
        RowWalk(model.policy(), RowLedger(model.costs, None, tuple(known)), known).judged(judge, ways) is None
    )
    poor = RowWalk(model.policy(), RowLedger(model.costs, 1.0))
    assert poor.judged(judge, ways) is None


def test_reasons_of_the_front_door_are_those_of_the_model_that_it_chose(table):
    X, y = table
    door = BudgetedClassifier(budget=6.0, costs=COSTS, methods=["BudgetForestClassifier"], random_state=0)
    door = door.fit(X[:200], y[:200])
    chosen = door.fitted_
    if chosen.temperature == 1 and chosen.above is None:
        assert chosen.split_judge() is not None
    walk = door.walk()
    while (ask := walk.ask) is not None:
        walked = RowWalk(chosen.policy(None), RowLedger(chosen.costs, chosen.budget))
        for column, value in walk._row_walk.answers.items():
            assert walked.column == column
            walked.buy(value)
        naive = naive_judged(Reasoning(chosen, None, chosen.conclude_row, ()), walked)[1]
        assert ask.reason.fall == pytest.approx(naive.fall, abs=1e-12)
        walk.tell(X[350, COSTS.column(ask.feature)])


def test_wrong_arguments_are_refused(table):
    X, y = table
    model = BudgetForestClassifier(n_estimators=3, max_depth=2, random_state=0).fit(X, y).fitted_
    policy, judge = model.policy(), model.split_judge()
    policy.wants(RowLedger(model.costs))
    forest, scores, ways = model.forest.compiled, model.predictor.scores, Ways([0.0, 1.0], [0.5, 0.5])
    nodes, values, states = model.forest.offsets[:-1].copy(), np.zeros(4), np.zeros(4, dtype=np.uint8)
    with pytest.raises(ValueError, match="each in its own tree"):
        judge.judge(forest, values, states, nodes[::-1].copy(), 0, 3, False, 0, ways)
    with pytest.raises(ValueError, match="column"):
        judge.judge(forest, values, states, nodes, 0, 3, False, 4, ways)
    with pytest.raises(ValueError, match="one for each feature"):
        judge.judge(forest, values[:3], states, nodes, 0, 3, False, 0, ways)
    with pytest.raises(ValueError, match="as many of each"):
        Ways([0.0], [0.5, 0.5])
    given = {
        "link": "normalise", "labels": "none", "counts": None, "learning_rate": 1.0, "prior": model.prior,
        "exits": [], "threshold": 1.0, "single_sums": False,
    }  # fmt: skip
    for wrong, message in (
        ({"link": "none"}, "one of those known"),
        ({"labels": "counts"}, "those of each node"),
        ({"exits": [2, 1]}, "ascending"),
        ({"learning_rate": 0.0}, "above zero"),
        ({"link": "sigmoid"}, "one output"),
    ):
        with pytest.raises(ValueError, match=message):
            SplitJudge(scores, **{**given, **wrong})
