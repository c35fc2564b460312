"""Trees are walked one after another; the output is the sum over their current nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from farthing.costs import CostSheet, Group, RowLedger
from farthing.errors import TableError
from farthing.forests import BudgetForestClassifier
from farthing.trees import Forest
from farthing.walks import REFUSED, ForestPolicy, RowWalk

# Tree 0: x0 <= 0 ? x1 <= 0 ? : leaf; missing goes left. Tree 1: x1 <= 5, missing stays. Tree 2: one leaf.
FOREST = Forest.from_arrays(
    n_features=3,
    n_outputs=2,
    offsets=[0, 5, 8, 9],
    target=[0, 1, 0],
    feature=[0, 1, -1, -1, -1, 1, -1, -1, -1],
    threshold=[0, 0, 0, 0, 0, 5, 0, 0, 0],
    left=[1, 3, -1, -1, -1, 1, -1, -1, -1],
    right=[2, 4, -1, -1, -1, 2, -1, -1, -1],
    missing=[0, 0, 0, 0, 0, 2, 0, 0, 0],
    value=[[1], [2], [3], [4], [5], [10], [20], [30], [100]],
)
SHEET = CostSheet([1, 2, 4])


def inquire(answers: dict[int, float], budget: float | None = None) -> tuple[list[int], list[float]]:
    row_walk = RowWalk(ForestPolicy(FOREST, FOREST.value), RowLedger(SHEET, budget))
    asked = []
    while (column := row_walk.column) is not None:
        asked.append(column)
        row_walk.buy(answers[column])
    return asked, row_walk.output().tolist()


@pytest.mark.parametrize(
    ("answers", "budget", "asked", "output"),
    [
        ({0: 1.0, 1: 9.0}, None, [0, 1], [103.0, 30.0]),
        ({0: -1.0, 1: 3.0}, None, [0, 1], [105.0, 20.0]),
        ({0: np.nan, 1: -1.0}, None, [0, 1], [104.0, 20.0]),
        ({0: 1.0, 1: np.nan}, None, [0, 1], [103.0, 10.0]),  # the second tree stays at its root
        ({0: 1.0}, 1.0, [0], [103.0, 10.0]),  # what is not afforded counts as missing
        ({}, 0.5, [], [104.0, 10.0]),
    ],
)
def test_a_descent(answers: Any, budget: Any, asked: Any, output: Any) -> None:
    assert inquire(answers, budget) == (asked, output)


def test_an_unfinished_forest_counts_with_its_current_nodes() -> None:
    policy = ForestPolicy(FOREST, FOREST.value)
    assert policy.output().tolist() == [101.0, 10.0]
    assert policy.wants(RowLedger(SHEET)) == 0
    policy.hear(0, -1.0)
    assert policy.output().tolist() == [102.0, 10.0]
    assert policy.wants(RowLedger(SHEET)) == 1


def test_scores_replace_values() -> None:
    assert ForestPolicy(FOREST, FOREST.value * 2).output().tolist() == [202.0, 20.0]
    with pytest.raises(ValueError, match=r"scores must have shape \(9, width\); got \(3, 1\)"):
        ForestPolicy(FOREST, FOREST.value[:3])


def test_the_additions_are_those_of_the_trees_in_order() -> None:
    rng = np.random.default_rng(0)
    leaves = [
        Forest.from_arrays(n_features=1, feature=[-1], threshold=[0], left=[-1], right=[-1], value=[[value]])
        for value in rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, size=50)
    ]
    total = 0.0
    for leaf in leaves:
        total += float(leaf.value[0, 0])
    forest = Forest.concat(leaves)
    assert ForestPolicy(forest, forest.value).output()[0] == total


class OneStepAtATime:
    """The naive twin: a node at a time, hearing every column again."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.tree = 0
        self.nodes = forest.offsets[:-1].copy()

    def wants(self, ledger: RowLedger) -> int | None:
        while self.tree < self.forest.n_trees:
            column = int(self.forest.feature[self.nodes[self.tree]])
            if column >= 0:
                return column
            self.tree += 1
        return None

    def hear(self, column: int, value: float) -> None:
        node = self.forest.route(int(self.nodes[self.tree]), value)
        if node is None:
            self.tree += 1
        else:
            self.nodes[self.tree] = node

    def output(self) -> Any:
        total = np.zeros(self.forest.n_outputs)
        for target, node in zip(self.forest.target, self.nodes, strict=True):
            total[target : target + self.forest.width] += self.forest.value[node]
        return total


@pytest.mark.parametrize("budget", [None, 2.0])
@pytest.mark.parametrize("single", [False, True])
def test_the_compiled_descent_is_that_of_one_step_at_a_time(budget: float | None, single: bool) -> None:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(200, 4)), 1)
    X[:, 3] = rng.integers(0, 3, size=200)
    X = X.astype(object)
    X[:, 3] = np.array(["ash", "beech", "cedar"])[X[:, 3].astype(int)]
    y = np.digitize(X[:, 0].astype(float) * X[:, 1].astype(float) + (X[:, 3] == "ash"), [0, 0.5])
    model = BudgetForestClassifier(n_estimators=7, random_state=0).fit(X, y)
    forest = replace(model.forest_, dtype="float32") if single else model.forest_
    values = model.schema_.encode(X).values.copy()
    values[rng.random(values.shape) < 0.2] = np.nan
    for row in values[:60]:
        both = []
        for policy in (ForestPolicy(forest, forest.value), OneStepAtATime(forest)):
            row_walk = RowWalk(policy, RowLedger(CostSheet([1.0] * 4), budget), {1: row[1]})
            asked = []
            while (column := row_walk.column) is not None:
                asked.append((column, row_walk.output().tolist()))
                row_walk.buy(row[column])
            both.append((asked, row_walk.output().tolist(), row_walk.looked.tolist()))
        assert both[0] == both[1]


def test_a_replay_is_that_of_one_answer_at_a_time() -> None:
    rng = np.random.default_rng(4)
    names = [f"x{column}" for column in range(6)]
    X = np.round(rng.normal(size=(200, 6)), 1)
    sheet = CostSheet([1, 2, 0, 4, 8, 3], groups={"lab": Group(2, ["x1", "x4"])})
    target = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 5] + X[:, 3] * X[:, 4] > 0
    model = BudgetForestClassifier(costs=sheet, n_estimators=9, random_state=0).fit(X, target)
    ends = 0
    for row in range(150):
        answers: dict[str, Any] = {
            name: float(X[row, i]) for i, name in enumerate(names) if rng.random() < 0.7
        }
        for name in list(answers):
            answers[name] = rng.choice([answers[name], np.nan, REFUSED], p=[0.7, 0.15, 0.15])
        known = {name: 0.1 for name in names if rng.random() < 0.2}
        budget = [None, 20.0, float(rng.uniform(0, 20))][row % 3]
        at_once, one_by_one = (model.walk(budget=budget, known=known) for _ in range(2))
        at_once.replay(answers)
        while (ask := one_by_one.ask) is not None and ask.feature in answers:
            one_by_one.tell(answers[ask.feature])
        assert list(at_once.answers) == list(one_by_one.answers)
        assert (at_once.ask, at_once.spent, at_once.left) == (ask, one_by_one.spent, one_by_one.left)
        assert at_once.decision == one_by_one.decision
        ends += ask is None
    assert 20 < ends < 130


def test_only_what_is_asked_for_can_be_wrong_in_a_replay() -> None:
    model = BudgetForestClassifier(n_estimators=1, random_state=0).fit(np.eye(3), [0, 1, 1])
    full = model.walk()
    full.replay({"x0": 0.0, "x1": 0.0, "x2": 0.0})
    asked = dict.fromkeys(full.answers, 0.0)
    unasked = {name: "no number" for name in ("x0", "x1", "x2") if name not in asked}
    assert asked
    assert unasked
    walk = model.walk()
    walk.replay({**unasked, "a stranger": 1, **asked})
    assert walk.decision == full.decision
    first = next(iter(asked))
    with pytest.raises(TableError, match=first):
        model.walk().replay({first: "no number"})
