"""CSTC: its gradients, its descent, its convex case, and the example of four quadrants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import Lasso
from tests.quadrants import quadrants

from farthing.base import TrainingSet
from farthing.cascades import CSTCClassifier, CSTCRanker, CSTCRegressor
from farthing.cascades.cstc.finishing import pruned, routed
from farthing.cascades.cstc.objective import CSTCObjective, NodeObjective, NodeWeights
from farthing.cascades.cstc.row_losses import LogRowLoss, SquaredRowLoss
from farthing.cascades.cstc.tasks import Grades
from farthing.cascades.cstc.training import train_tree
from farthing.costs import CostSheet
from farthing.learning.booster import TreeSettings
from farthing.learning.mixed_norm import MixedNorm
from farthing.learning.tree_terms import TreeTerms
from farthing.metrics import ndcg


def problem(seed: int, n_outputs: int, depth: int = 3) -> tuple[CSTCObjective, dict[int, NodeWeights]]:
    """A small objective with groups and prices of evaluation, and random nodes."""
    random = np.random.default_rng(seed)
    learners = random.normal(size=(40, 4))
    shares = random.uniform(0.5, 1.5, size=40)
    costs = CostSheet({"a": 1.0, "b": 2.0, "c": 0.5}, groups={"lab": {"cost": 1.5, "members": ["a", "c"]}})
    reads = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    target = random.integers(0, 3 if n_outputs == 3 else 2, size=40)
    loss = LogRowLoss(target, 3) if n_outputs == 3 else SquaredRowLoss(target.astype(float))
    norm = MixedNorm.of(reads, costs, np.full(4, 0.3), eps=1e-3)
    objective = CSTCObjective(learners, shares / shares.sum(), loss, norm, depth, 0.2, 0.05)
    nodes = {
        place: NodeWeights(
            random.normal(size=(4, n_outputs)),
            random.normal(size=n_outputs),
            random.normal(size=n_outputs),
            float(random.normal()),
        )
        for place in range(1, 2**depth)
    }
    return objective, nodes


def over_trees(objective: CSTCObjective, n_outputs: int) -> CSTCObjective:
    """The same rows, with four boosted trees as the learners."""
    X, random = objective.learners[:, :3], np.random.default_rng(9)
    settings = TreeSettings(n_estimators=4, learning_rate=0.5, max_depth=2)
    terms = TreeTerms.boosted(TrainingSet.of(X, X[:, 0]), random.normal(size=(40, 1)), settings)
    costs = CostSheet([1.0, 2.0, 0.5], groups={"lab": {"cost": 1.5, "members": ["x0", "x2"]}})
    norm = MixedNorm.of(terms.reads, costs, np.full(4, 0.3), eps=1e-3)
    return replace(objective, learners=terms.terms(X), norm=norm)


@pytest.mark.parametrize("learners", ["columns", "trees"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gradients_are_those_of_finite_differences(n_outputs: int, learners: str) -> None:
    objective, nodes = problem(0, n_outputs)
    objective = objective if learners == "columns" else over_trees(objective, n_outputs)
    for place, node in nodes.items():
        bound = NodeObjective(objective, nodes, place)

        def whole(vector: np.ndarray, place: int = place, node: NodeWeights = node) -> float:
            return objective.value({**nodes, place: node.moved(vector)})

        start = node.vector()
        np.testing.assert_allclose(bound(start)[1], approx_fprime(start, whole, 1e-7), atol=2e-6)


def test_the_bound_is_above_the_objective_and_touches_it() -> None:
    objective, nodes = problem(1, 1)
    random = np.random.default_rng(2)
    for place, node in nodes.items():
        bound, start = NodeObjective(objective, nodes, place), node.vector()
        constant = objective.value(nodes) - bound(start)[0]
        for _ in range(20):
            vector = start + random.normal(size=len(start))
            value = objective.value({**nodes, place: node.moved(vector)})
            assert bound(vector)[0] + constant >= value - 1e-10


def test_the_mixed_norm_is_the_price_where_coefficients_are_equal() -> None:
    costs = CostSheet({"a": 1.0, "b": 2.0}, groups={"lab": {"cost": 4.0, "members": ["a", "b"]}})
    norm = MixedNorm.of(np.eye(2, dtype=bool), costs, np.zeros(2), eps=0.0)
    assert norm.value(np.array([1.0, 0.0])) == costs.total(["a"])
    assert norm.value(np.array([0.0, 0.0])) == 0


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_objective_never_rises(n_outputs: int) -> None:
    objective, _ = problem(3, n_outputs)
    _, trace = train_tree(objective, n_outputs, max_cycles=6, tol=1e-12)
    assert len(trace.values) > 2
    assert np.all(np.diff(trace.values) <= 1e-12)


def test_one_node_is_the_convex_problem() -> None:
    """Depth 1 against a generic solver on the same smoothed objective."""
    objective, _ = problem(4, 1, depth=1)
    nodes, trace = train_tree(objective, 1, max_cycles=60, tol=1e-12)
    node = nodes[1]
    generic = minimize(
        lambda v: objective.value({1: node.moved(np.append(v, 0.0))}), np.zeros(5), method="BFGS",
        options={"gtol": 1e-9},
    )  # fmt: skip
    assert trace.values[-1] == pytest.approx(generic.fun, rel=1e-5)


def test_without_prices_one_node_is_the_lasso() -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(200, 6))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 0] - 2 * X[:, 1] + random.normal(size=200)
    y = (y - y.mean()) / y.std()
    norm = MixedNorm.of(np.eye(6, dtype=bool), CostSheet(np.zeros(6)), np.zeros(6), eps=1e-6)
    objective = CSTCObjective(X, np.full(200, 1 / 200), SquaredRowLoss(y), norm, 1, 0.0, 0.2)
    nodes, _ = train_tree(objective, 1, max_cycles=100, tol=1e-10)
    np.testing.assert_allclose(nodes[1].coef[:, 0], Lasso(alpha=0.2).fit(X, y).coef_, atol=5e-3)


def test_four_quadrants_cost_twelve() -> None:
    X, y = quadrants(1200, seed=0)
    model = CSTCRegressor([1.0, 1.0, 10.0, 10.0, 10.0, 10.0], tradeoff=0.018, random_state=0).fit(X, y)
    new, target = quadrants(600, seed=1)
    np.testing.assert_array_equal(model.spend(new), 12)
    assert np.mean((model.predict(new) - target) ** 2) < 1e-3


def test_a_higher_tradeoff_spends_less() -> None:
    random = np.random.default_rng(6)
    X = random.normal(size=(300, 5))
    y = (X @ [1.0, 1.0, 0.5, 0.5, 0.2] + random.normal(size=300) > 0).astype(int)
    spends = [
        CSTCClassifier(tradeoff=tradeoff, depth=2, max_cycles=3, random_state=0).fit(X, y).spend(X).mean()
        for tradeoff in (0.0, 0.1, 10.0)
    ]
    assert spends[0] == 5
    assert spends[0] > spends[1] > spends[2] == 0


def test_nodes_that_do_not_help_are_pruned() -> None:
    objective, nodes = problem(7, 1)
    learners = objective.learners
    # Children like their parents change nothing, so all of them go.
    same = dict.fromkeys(nodes, nodes[1])
    kept = pruned(same, learners, lambda scores: float(objective.shares @ objective.loss(scores)[0]))
    assert list(kept) == [1]
    assert set(routed(kept, learners)) == {1}


def test_probabilities_are_no_surer_than_held_out_rows_allow() -> None:
    random = np.random.default_rng(8)
    X = random.normal(size=(400, 3))
    y = (X[:, 0] + random.normal(size=400) > 0).astype(int)
    new = random.normal(size=(2000, 3))
    truth = new[:, 0] + random.normal(size=2000) > 0
    p = CSTCClassifier(tradeoff=0.0, max_cycles=2, random_state=0).fit(X, y).predict_proba(new)[:, 1]
    sure = np.maximum(p, 1 - p).mean()
    assert abs(sure - np.mean((p > 0.5) == truth)) < 0.06


def test_a_node_alone_in_closed_form_is_the_minimum() -> None:
    """The start of the squared loss against a generic solver, for the root and a node below it."""
    objective, _ = problem(9, 1, depth=2)
    nodes, _ = train_tree(objective, 1, max_cycles=0, tol=1e-9)
    for place in (1, 3):
        bound = NodeObjective(objective, nodes, place, alone=True)
        # At its own minimum the bound has no slope, but for the threshold, which a last node does not have.
        assert np.abs(bound(nodes[place].vector())[1][:-1]).max() < 1e-4


def test_a_path_costs_what_the_sheet_says() -> None:
    random = np.random.default_rng(10)
    X = random.normal(size=(300, 5))
    y = np.where(X[:, 0] > 0, X[:, 1] + X[:, 2], X[:, 3]) + 0.1 * random.normal(size=300)
    sheet = CostSheet([1.0, 2.0, 0.5, 2.0, 3.0], groups={"lab": {"cost": 1.5, "members": ["x1", "x2"]}})
    model = CSTCRegressor(
        sheet, tradeoff=0.005, learners="trees", n_estimators=15, max_depth=2, tree_cost=0.1, max_cycles=2,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    tree, new = model.trees_[0], random.normal(size=(100, 5))
    owned = np.zeros((100, 5), dtype=bool)
    evaluated = np.zeros((100, tree.terms.n_terms), dtype=bool)
    at, active = np.zeros(100, dtype=int), (tree.coef != 0).any(axis=2)
    for node in range(len(tree.threshold)):
        rows = np.flatnonzero(at == node)
        owned[rows] |= tree.terms.reads[active[node]].any(axis=0)
        evaluated[rows] |= active[node]
        at[rows] = tree.next_nodes(node, tree.scores(node, new[rows]))
    assert model.costs_.calls
    np.testing.assert_array_equal(model.acquired(new)[:, :5], owned)
    np.testing.assert_allclose(model.spend(new), sheet.total_rows(owned) + 0.1 * evaluated.sum(axis=1))


def test_a_row_that_cannot_pay_for_trees_buys_nothing() -> None:
    random = np.random.default_rng(11)
    X = random.normal(size=(200, 3))
    model = CSTCRegressor(
        learners="trees", n_estimators=5, max_depth=1, tree_cost=1.0, tradeoff=0.0, depth=1
    ).fit(X, X[:, 0])
    call = model.costs_.call_prices()["trees of node 1"]
    assert not model.acquired(X, budget=call + 0.5).any()
    np.testing.assert_allclose(model.predict(X, budget=call + 0.5), X[:, 0].mean())
    assert (model.spend(X, budget=call + 1.5) == call + 1).all()


def test_a_weight_of_two_is_a_repeated_row_to_the_last_bit() -> None:
    random = np.random.default_rng(12)
    X, y = random.normal(size=(60, 3)), random.normal(size=60)
    weights = random.integers(1, 4, size=60)
    repeated = np.repeat(np.arange(60), weights)
    for learners in ("columns", "trees"):
        settings = {"learners": learners, "n_estimators": 5, "max_cycles": 2, "random_state": 0}
        once = CSTCRegressor(**settings).fit(X, y, sample_weight=weights).predict(X)
        again = CSTCRegressor(**settings).fit(X[repeated[::-1]], y[repeated[::-1]]).predict(X)
        np.testing.assert_array_equal(once, again)


def test_trees_see_what_lines_do_not() -> None:
    random = np.random.default_rng(13)
    X, new = random.normal(size=(600, 4)), random.normal(size=(500, 4))
    classes = [np.digitize(x[:, 0] * x[:, 1], [-0.4, 0.4]) for x in (X, new)]
    scores = [
        CSTCClassifier(
            learners=learners, n_estimators=15, learning_rate=0.3, tradeoff=0.005, depth=2, max_cycles=1,
            random_state=0,
        )
        .fit(X, classes[0])
        .score(new, classes[1])
        for learners in ("columns", "trees")
    ]  # fmt: skip
    assert scores[1] > scores[0] + 0.08


def test_the_ranker_prunes_by_ndcg() -> None:
    rows = TrainingSet.of(np.zeros((4, 1)), np.array([0.0, 1.0, 2.0, 0.0]))
    scores = np.array([[0.1], [0.3], [0.2], [0.0]])
    assert Grades(0.75, 0.8, k=3).risk(rows, scores) == 1 - ndcg(rows.target, scores[:, 0], k=3)


def test_the_ranker_ranks_within_queries() -> None:
    random = np.random.default_rng(14)
    X, qid = random.normal(size=(500, 4)), np.repeat(np.arange(50), 10)
    grades = np.digitize(X[:, 0] + X[:, 1] + 0.3 * random.normal(size=500), [0.5, 1.5])
    model = CSTCRanker(
        [1.0, 1.0, 5.0, 5.0], learners="trees", n_estimators=20, max_depth=2, depth=2, random_state=0
    )
    model.fit(X[:300], grades[:300], qid[:300])
    assert model.score(X[300:], grades[300:], qid[300:]) > 0.8
    assert not model.acquired(X)[:, 2:].any()
