"""CSTC: its gradients, its descent, its convex case, and the example of four quadrants."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import Lasso
from tests.quadrants import quadrants

from farthing.cascades import CSTCClassifier, CSTCRegressor
from farthing.cascades.cstc.finishing import pruned, routed
from farthing.cascades.cstc.objective import CSTCObjective, NodeObjective, NodeWeights
from farthing.cascades.cstc.row_losses import LogRowLoss, SquaredRowLoss
from farthing.cascades.cstc.training import train_tree
from farthing.costs import CostSheet
from farthing.learning.mixed_norm import MixedNorm


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


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gradients_are_those_of_finite_differences(n_outputs: int) -> None:
    objective, nodes = problem(0, n_outputs)
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
