"""ASTC: the gains of its selection, its guarantee, its tree, and the example of four quadrants."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.quadrants import quadrants

from farthing.cascades import ASTCClassifier, ASTCRegressor
from farthing.cascades.astc.growing import GrowthProblem
from farthing.cascades.score_tree.routing import halving_threshold, leading_vector
from farthing.costs import CostSheet
from farthing.learning.forward_regression import ForwardRegression


def correlated(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns that share a factor, and a target of some of them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_columns)) + random.normal(size=(n_rows, 1))
    weights = random.normal(size=n_columns) * (random.random(n_columns) < 0.6)
    return X, X @ weights + random.normal(size=n_rows)


def r_squared(X: np.ndarray, y: np.ndarray, weights: np.ndarray, columns: list[int]) -> float:
    """The naive twin: a full least-squares fit, and the explained variance summed over outputs."""
    centred = y - np.average(y, axis=0, weights=weights)
    total = (weights[:, np.newaxis] * centred**2).sum()
    if not columns:
        return 0.0
    fit = LinearRegression().fit(X[:, columns], y, sample_weight=weights)
    left = (weights[:, np.newaxis] * (y - fit.predict(X[:, columns]).reshape(y.shape)) ** 2).sum()
    return 1 - left / total


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gains_are_those_of_full_fits(n_outputs: int) -> None:
    X, _ = correlated(60, 6, seed=1)
    random = np.random.default_rng(2)
    y = X @ random.normal(size=(6, n_outputs)) + random.normal(size=(60, n_outputs))
    weights = random.uniform(0.5, 2.0, size=60)
    selection = ForwardRegression(X, np.arange(6), y, weights)
    taken: list[int] = []
    for column in (3, 0, 5, 1):
        before = r_squared(X, y, weights, taken)
        expected = [r_squared(X, y, weights, [*taken, other]) - before for other in range(6)]
        np.testing.assert_allclose(selection.gains(), expected, atol=1e-10)
        selection.take(column)
        taken.append(column)
        assert selection.explained == pytest.approx(r_squared(X, y, weights, taken), abs=1e-10)


def test_the_terms_of_one_column_are_taken_together() -> None:
    random = np.random.default_rng(3)
    code = random.integers(0, 3, size=90)
    terms = np.column_stack([*(code == k for k in range(3)), random.normal(size=90)]).astype(float)
    y = (np.array([0.0, 5.0, -5.0])[code] + random.normal(size=90))[:, np.newaxis]
    weights = np.ones(90)
    selection = ForwardRegression(terms, np.array([0, 0, 0, 1]), y, weights)
    assert selection.gains()[0] == pytest.approx(r_squared(terms, y, weights, [0, 1, 2]), abs=1e-10)
    selection.take(0)
    assert selection.explained == pytest.approx(r_squared(terms, y, weights, [0, 1, 2]), abs=1e-10)
    assert selection.gains()[0] == 0


def test_a_dependent_column_gains_nothing() -> None:
    X, y = correlated(40, 3, seed=4)
    X[:, 2] = X[:, 0] - 2 * X[:, 1]
    selection = ForwardRegression(X, np.arange(3), y[:, np.newaxis], np.ones(40))
    selection.take(0)
    selection.take(1)
    assert selection.gains()[2] == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_greedy_guarantee(seed: int) -> None:
    """With gamma the smallest sparse eigenvalue, k steps have 1 - e^-gamma of the best k."""
    X, y = correlated(50, 7, seed=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weights, target = np.ones(50), y[:, np.newaxis]
    covariance = X.T @ X / 50
    for k in (1, 2, 3):
        model = ASTCRegressor(budget=k, depth=1).fit(X, y)
        found = r_squared(X, target, weights, model.tree_.columns(0))
        best = max(r_squared(X, target, weights, list(chosen)) for chosen in combinations(range(7), k))
        gamma = min(
            np.linalg.eigvalsh(covariance[np.ix_(chosen, chosen)])[0]
            for chosen in combinations(range(7), 2 * k)
        )
        assert best >= found >= (1 - np.exp(-gamma)) * best
        assert model.spend(X).max() == k


def test_one_node_is_least_squares_on_the_selected_columns() -> None:
    X, y = correlated(80, 5, seed=5)
    model = ASTCRegressor(budget=3, depth=1, l2_regularization=0).fit(X, y)
    columns = model.tree_.columns(0)
    np.testing.assert_allclose(
        model.predict(X), LinearRegression().fit(X[:, columns], y).predict(X[:, columns])
    )


def test_gain_per_price_and_what_the_path_owns_is_free() -> None:
    random = np.random.default_rng(6)
    X = random.normal(size=(400, 3))
    y = 2 * X[:, 0] + X[:, 1] + 0.5 * X[:, 2]
    # 4 / 8 is less than 1 / 1, and 0.25 / 0.1 is more.
    assert ASTCRegressor([8.0, 1.0, 0.1], depth=1).fit(X, y).tree_.columns(0) == [2, 1, 0]
    # A group that is paid for makes its other member cheap.
    grouped = CostSheet({"a": 0.0, "b": 1.0, "c": 0.0}, groups={"lab": {"cost": 5.0, "members": ["a", "c"]}})
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert ASTCRegressor(grouped, depth=1).fit(frame, y).tree_.columns(0) == [1, 0, 2]


def test_half_of_the_rows_go_each_way() -> None:
    X, y = correlated(256, 5, seed=7)
    model = ASTCRegressor(depth=3, min_samples_node=2).fit(X, y)
    tree = model.tree_
    assert len(tree.threshold) == 7
    at = np.zeros(256, dtype=int)
    for node in range(7):
        rows = np.flatnonzero(at == node)
        assert len(rows) == 256 // 2 ** ((node + 1).bit_length() - 1)
        if node < 3:
            at[rows] = tree.next_nodes(node, tree.scores(node, X[rows]))


def test_equal_scores_stay_together() -> None:
    assert halving_threshold(np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4)) == 0.5
    assert halving_threshold(np.zeros(4), np.ones(4)) is None
    repeated = halving_threshold(np.array([0.0, 0.0, 1.0, 2.0]), np.ones(4))
    assert halving_threshold(np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 1.0])) == repeated


@pytest.mark.parametrize("routing", ["hard", "soft"])
def test_four_quadrants_cost_twelve(routing: str) -> None:
    X, y = quadrants(1200, seed=0)
    costs = [1.0, 1.0, 10.0, 10.0, 10.0, 10.0]
    model = ASTCRegressor(costs, 12, depth=3, routing=routing, l2_regularization=0).fit(X, y)
    new, target = quadrants(600, seed=1)
    np.testing.assert_array_equal(model.spend(new), 12)
    # One node cannot do it for 12. Soft rows of other quadrants blur the last node.
    flat = ASTCRegressor(costs, 12, depth=1).fit(X, y)
    most = 1e-12 if routing == "hard" else np.mean((flat.predict(new) - target) ** 2)
    assert np.mean((model.predict(new) - target) ** 2) < most


def test_smaller_budgets_of_one_fit_are_prefixes() -> None:
    X, y = correlated(300, 10, seed=8)
    model = ASTCRegressor(budget=10, depth=2).fit(X, y)
    whole = model.tree_.columns(0)
    for budget in (2.0, 4.0, 6.0):
        smaller = model.at(budget)
        columns = smaller.tree_.columns(0)
        assert columns == whole[: len(columns)]
        assert smaller.spend(X).max() <= budget
        assert smaller.get_params()["budget_share"] == budget / 10
        again = ASTCRegressor(budget=10, depth=2, budget_share=budget / 10).fit(X, y)
        np.testing.assert_array_equal(again.predict(X), smaller.predict(X))
    with pytest.raises(ValueError, match=r"smallest budget of this fit is 1;"):
        model.at(0.5)


def test_classes_share_one_decomposition() -> None:
    random = np.random.default_rng(9)
    X = random.normal(size=(600, 4))
    y = np.array(["a", "b", "c"])[(X[:, 1] > 0).astype(int) + (X[:, 3] > 0.5)]
    model = ASTCClassifier([1.0, 1.0, 1.0, 1.0], 2, depth=2, min_samples_node=10).fit(X, y)
    assert model.score(X, y) > 0.8
    assert np.flatnonzero(model.fitted_.may_buy()).tolist() == [1, 3]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_two_classes_are_calibrated() -> None:
    random = np.random.default_rng(10)
    X = random.normal(size=(2000, 3))
    chance = 1 / (1 + np.exp(-1.5 * X[:, 0]))
    y = (random.random(2000) < chance).astype(int)
    p = ASTCClassifier(depth=1).fit(X, y).predict_proba(X)[:, 1]
    assert abs(p.mean() - y.mean()) < 0.03
    assert np.mean(np.abs(p - chance)) < 0.05


def test_a_root_that_could_buy_nothing_gets_more() -> None:
    X, y = correlated(100, 2, seed=11)
    model = ASTCRegressor(budget=2, depth=3).fit(X, y)
    # A third of the budget buys nothing, two thirds buy one column; the children have the other.
    assert [len(model.tree_.columns(node)) for node in range(3)] == [1, 1, 1]
    assert len(model.tree_.columns(3)) == 2


def test_collinear_columns_do_not_cancel_each_other() -> None:
    random = np.random.default_rng(12)
    X = random.normal(size=(300, 3))
    X[:, 2] = X[:, 0] + 0.001 * random.normal(size=300)
    y = X[:, 0] + X[:, 1] + random.normal(size=300)

    def error(penalty: float) -> float:
        model = ASTCRegressor(depth=1, l2_regularization=penalty).fit(X, y)
        return float(np.mean((model.predict(X, refused=["x2"]) - y) ** 2))

    assert error(1.0) < 2 < error(0.0)


@pytest.mark.parametrize("n_rows", [40, 41])
@pytest.mark.parametrize("digits", [1, 8])
def test_rows_of_one_weight_are_halved_as_by_a_sort(n_rows: int, digits: int) -> None:
    random = np.random.default_rng(n_rows)
    for _ in range(30):
        projection = np.round(0.2 * random.normal(size=n_rows), digits)
        assert halving_threshold(projection) == halving_threshold(projection, np.ones(n_rows))
    assert halving_threshold(np.zeros(n_rows)) is None
    assert halving_threshold(np.zeros(1)) is None


def test_equal_entries_of_a_direction_do_not_depend_on_rounding() -> None:
    for noise in (-1e-14, 0.0, 1e-14):
        products = np.array([[1.0 + noise, -1.0, 0.0], [-1.0, 1.0 - noise, 0.0], [0.0, 0.0, 0.0]])
        np.testing.assert_allclose(leading_vector(products), [np.sqrt(0.5), -np.sqrt(0.5), 0.0], atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_that_share_moments_are_those_that_do_not(
    weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What moves between two nodes is added to and taken from sums over many rows; nothing else changes."""
    random = np.random.default_rng(14)
    X = random.normal(size=(900, 8)) + random.normal(size=(900, 1))
    X[:, 7] = random.random(900) < 0.01  # constant in some nodes
    y = np.digitize(X[:, 0] * (X[:, 1] > 0) + X[:, 2] + random.normal(size=900), [-0.5, 1.0])
    weights = random.uniform(0.5, 2.0, size=900) if weighted else None
    settings = {"depth": 4, "min_samples_node": 10, "budget_share": 0.55}
    costs = random.integers(1, 5, size=8).astype(float)
    carried = ASTCClassifier(costs, **settings).fit(X, y, weights)
    monkeypatch.setattr(GrowthProblem, "carries", False)
    anew = ASTCClassifier(costs, **settings).fit(X, y, weights)
    for left, right in zip(carried.trees_, anew.trees_, strict=True):
        np.testing.assert_array_equal(left.children, right.children)
        np.testing.assert_array_equal(left.bought, right.bought)
        np.testing.assert_allclose(left.coef, right.coef, atol=1e-11)
        np.testing.assert_allclose(left.threshold, right.threshold, atol=1e-11)


def test_a_share_does_not_change_the_others() -> None:
    X, y = correlated(300, 10, seed=15)
    plain = ASTCRegressor(budget=9, depth=3).fit(X, y)
    other = ASTCRegressor(budget=9, depth=3, budget_share=0.45).fit(X, y)
    for cap in plain.caps_:
        np.testing.assert_array_equal(plain.at(cap).predict(X), other.at(cap).predict(X))


def test_nodes_of_one_class_buy_nothing_more() -> None:
    """Their slopes are rounding error, by which no row should pay."""
    random = np.random.default_rng(16)
    X = random.normal(size=(400, 6))
    X[:, 0] = np.repeat([-1.0, 1.0], 200)
    model = ASTCClassifier(budget=6, depth=2, min_samples_node=10).fit(X, X[:, 0])
    for tree in model.trees_[5:]:
        assert tree.columns(0)[0] == 0
        assert len(tree.threshold) == 3
        assert not tree.coef[1:].any()
        assert tree.new_columns(1) == tree.new_columns(2) == []


def test_scores_of_the_growth_are_those_of_the_tree() -> None:
    """They calibrate the probabilities, so they must be what predictions see, bit by bit."""
    random = np.random.default_rng(13)
    X = np.round(random.normal(size=(400, 5)), 1)
    y = random.integers(0, 3, 400)
    model = ASTCClassifier(depth=3, min_samples_node=5).fit(X, y)
    rows = model.training_set(X, y)
    _, scores = model._grow(rows, np.eye(3)[rows.target])
    for tree, of in zip(model.trees_, scores, strict=True):
        np.testing.assert_array_equal(tree.outputs(rows.values).T, of)
