"""Pruning paths: what they say of themselves, the rivals against their twins, errors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.prunings import make_case

from farthing import load
from farthing.boosting import GradientBoostingRegressor
from farthing.costs import CostSheet, Group
from farthing.errors import BudgetWarning
from farthing.forests import (
    BudgetForestClassifier,
    BudgetTreeClassifier,
    cost_complexity_path,
    from_model,
    greedy_feature_path,
    prune_path,
)
from farthing.trees import Forest, pruned

PATHS = [prune_path, cost_complexity_path, greedy_feature_path]


def table(seed: int, n_rows: int = 300) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return numbers, a column of categories, missing values and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6)).astype(object)
    codes = rng.integers(0, 4, size=n_rows)
    X[:, 2] = np.array(["ash", "beech", "cedar", "oak"])[codes]
    y = np.array(["low", "mid", "top"])[
        np.searchsorted([-0.5, 0.8], X[:, 0].astype(float) + (codes == 1) - X[:, 4].astype(float) * 0.7)
    ]
    X[rng.random(X.shape) < 0.08] = None
    return X, y


SHEET = CostSheet(
    {"x0": 1.0, "x1": 0.3, "x2": 0.7, "x3": 0.0, "x4": 2.1, "x5": 0.1},
    groups={"lab": Group(1.3, ["x1", "x4"]), "scan": Group(0.6, ["x2", "x5"])},
    unit="USD",
)


@pytest.fixture(scope="module")
def forest() -> BudgetForestClassifier:
    X, y = table(0)
    return BudgetForestClassifier(n_estimators=6, max_features=3, costs=SHEET, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def rows() -> tuple[NDArray[Any], NDArray[Any]]:
    return table(1, 120)


# ---- what a path says is what its models do ----------------------------------------------------------------


@pytest.mark.parametrize("make", PATHS)
@pytest.mark.parametrize("aggregation", ["distribution", "vote"])
def test_the_curves_are_those_of_the_models(make: Any, aggregation: str, rows: Any) -> None:
    X, y = table(0)
    model = BudgetForestClassifier(
        n_estimators=5, max_features=3, costs=SHEET, random_state=1, aggregation=aggregation, max_depth=7
    ).fit(X, y)
    path = make(model, *rows)
    assert len(path) > 4
    for j in {*range(0, len(path), max(1, len(path) // 12)), len(path) - 1}:
        pruned_model = path[j].model
        assert path.costs[j] == pytest.approx(pruned_model.spend(rows[0]).mean(), abs=1e-12)
        assert path.forest_errors[j] == np.mean(pruned_model.predict(rows[0]) != rows[1])
        assert path.n_leaves[j] == (pruned_model.forest_.feature < 0).sum()
        assert path.objective_errors[j] == pytest.approx(bag_error(pruned_model.forest_), abs=1e-12)
        pruned_model.forest_.validate()


def bag_error(forest: Forest) -> float:
    leaf = forest.feature < 0
    wrong = np.where(leaf, forest.value.sum(axis=1) - forest.value.max(axis=1), 0.0)
    return float(wrong.sum() / forest.value[forest.offsets[:-1]].sum())


@pytest.mark.parametrize("make", PATHS)
def test_threads_change_nothing(make: Any, forest: Any, rows: Any) -> None:
    one, two = (make(forest, *rows, n_jobs=jobs) for jobs in (1, 2))
    for name in ("tradeoffs", "costs", "objective_errors", "forest_errors", "n_leaves", "path_lengths"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_pruned_model_keeps_the_contract(forest: Any, rows: Any, tmp_path: Any) -> None:
    path = prune_path(forest, *rows)
    model = path.within(0.4 * path.costs[0]).model
    assert type(model) is BudgetForestClassifier
    X = rows[0][:25]
    for budget in (None, 1.5):
        answers = model.decide(X, budget=budget)
        for i, row in enumerate(X):
            walk = model.walk(budget=budget)
            while (ask := walk.ask) is not None:
                walk.tell(row[int(ask.feature[1:])])
            assert walk.decision.prediction == answers.prediction[i]
            assert walk.decision.spent == answers.spent[i]
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(rows[0]), model.predict_proba(rows[0]))
    assert (forest.forest_.feature < 0).sum() == path.n_leaves[0]  # the forest itself is as it was


def test_other_costs_become_the_models(forest: Any, rows: Any) -> None:
    prices = {f"x{k}": 1.0 + k for k in range(6)}
    path = prune_path(forest, *rows, costs=prices)
    model = path[1].model
    assert model.costs_ == CostSheet(prices)
    assert path.costs[1] == pytest.approx(model.spend(rows[0]).mean())
    assert forest.costs_ == SHEET


# ---- choosing from a path ----------------------------------------------------------------------------------


def test_at_gives_the_pruning_of_its_interval(forest: Any, rows: Any) -> None:
    path = prune_path(forest, *rows)
    assert path.index(0) == 0
    for j in range(2, len(path) - 1):
        assert path.index(path.tradeoffs[j]) == j
        assert path.index(np.nextafter(path.tradeoffs[j], 0)) == j - 1
    assert path.index(np.inf) == len(path) - 1
    assert path.at(path.tradeoffs[3]).model.forest_ == path[3].model.forest_
    assert path[-1].model.forest_ == path.at(1e9).model.forest_
    with pytest.raises(ValueError, match="zero or more"):
        path.at(-1)
    with pytest.raises(IndexError):
        path[len(path)]


def test_within_is_the_largest_that_fits(forest: Any, rows: Any) -> None:
    path = prune_path(forest, *rows)
    for budget in (0.0, 1.0, float(path.costs[5]), 2.5, 1e9):
        model = path.within(budget).model
        assert model.spend(rows[0]).mean() <= budget * (1 + 1e-12)
        leaves = (model.forest_.feature < 0).sum()
        assert all(path.costs[j] > budget for j in range(len(path)) if path.n_leaves[j] > leaves)


def test_points_hold_what_the_arrays_do(forest: Any, rows: Any) -> None:
    path = prune_path(forest, *rows)
    for j, point in enumerate(path):
        assert point.params == {"tradeoff": path.tradeoffs[j]}
        assert (point.spend, point.score) == (path.costs[j], 1 - path.forest_errors[j])
        assert point.details["n_leaves"] == path.n_leaves[j]
        assert point.details["path_length"] == path.path_lengths[j]
        assert point.details["objective_error"] == path.objective_errors[j]
    some = path.by("tradeoff")[path.tradeoffs[4]]
    np.testing.assert_array_equal(some.kept(0), path.kept(4))
    assert some.curve(*rows)[0].tolist() == [path.costs[4]]


def test_nothing_fits_below_the_cheapest(rows: Any) -> None:
    X, y = table(0)
    tree = BudgetTreeClassifier(max_depth=3, costs=[1] * 6).fit(X, y)
    path = prune_path(tree, *rows)
    assert path.within(0.0).spend == 0
    first = path.by("tradeoff")[0.0]
    assert first.within(0.0) is None
    with pytest.raises(ValueError, match="mean costs only"):
        path.within(1.0, hard=True)


def test_plot_draws_error_against_cost(forest: Any, rows: Any) -> None:
    pytest.importorskip("matplotlib")
    path = prune_path(forest, *rows)
    line = path.plot(label="BudgetPrune").lines[0]
    np.testing.assert_array_equal(line.get_xdata(), path.costs)
    np.testing.assert_array_equal(line.get_ydata(), path.forest_errors)
    assert line.axes.get_xlabel() == "mean cost (USD)"


@pytest.mark.parametrize("make", PATHS)
def test_a_path_is_measured_on_other_rows_as_its_models_are(make: Any, forest: Any, rows: Any) -> None:
    path, (X, y) = make(forest, *rows), table(2, 90)
    costs, errors = path.curve(X, y)
    for entry in range(0, len(path), max(1, len(path) // 7)):
        decided = path[entry].model.decide(X)
        assert costs[entry] == pytest.approx(decided.spent.mean(), rel=1e-12)
        assert errors[entry] == np.mean(decided.prediction != y)


def test_progress_is_told_in_order(forest: Any, rows: Any, capsys: Any) -> None:
    for make in PATHS:
        shares: list[float] = []
        make(forest, *rows, progress=shares.append)
        assert shares == sorted(shares)
        assert all(0 < share <= 1 for share in shares)
        assert shares[-1] == 1
    prune_path(forest, *rows, progress=True)
    assert "pruning: 100%" in capsys.readouterr().err


def test_an_exception_in_progress_ends_the_run(forest: Any, rows: Any) -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prune_path(forest, *rows, progress=stop)


# ---- the rivals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("risk", "criterion"), [("gini", "gini"), ("entropy", "entropy")])
def test_cost_complexity_is_that_of_scikit_learn(risk: Any, criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32).astype(float)
    y = (X[:, 0] + rng.normal(scale=0.7, size=200) > 0).astype(int) + (X[:, 1] > 1)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    model = BudgetTreeClassifier().fit(X, y)
    model.adopt(replace(model.fitted_, forest=from_sklearn(theirs, 4)))
    assert (model.predict(X) == theirs.predict(X)).all()
    path = cost_complexity_path(model, X, y, risk=risk)
    steps = theirs.cost_complexity_pruning_path(X, y)
    unit = np.log(2) if risk == "entropy" else 1.0  # bits there, nats here
    alphas = steps.ccp_alphas * unit
    far = np.flatnonzero(np.diff(alphas) > 1e-9)  # rounding parts ties there
    assert len(far) > 10
    for i in far:
        alpha = (alphas[i] + alphas[i + 1]) / 2
        j = path.index(alpha)
        cut = DecisionTreeClassifier(criterion=criterion, random_state=0, ccp_alpha=alpha / unit).fit(X, y)
        assert path.n_leaves[j] == cut.get_n_leaves()
        assert path.objective_errors[j] == pytest.approx(steps.impurities[i] * unit, abs=1e-9)
        assert path.tradeoffs[j + 1] == pytest.approx(alphas[i + 1], abs=1e-9)
    assert path.n_leaves[-1] == 1


def from_sklearn(tree: Any, n_features: int) -> Forest:
    inner = tree.tree_
    cover = inner.weighted_n_node_samples
    counts = np.rint(inner.value[:, 0] * (cover / inner.value[:, 0].sum(axis=1))[:, np.newaxis])
    return Forest.from_arrays(
        n_features=n_features,
        feature=np.maximum(inner.feature, -1),
        threshold=np.where(inner.feature >= 0, inner.threshold, 0.0),
        left=inner.children_left,
        right=inner.children_right,
        value=counts,
        cover=cover,
        dtype="float32",
    ).validate()


@pytest.mark.parametrize("seed", range(8))
def test_cost_complexity_is_the_best_for_each_tree(seed: int) -> None:
    """By brute force, errors per leaf: each tree alone, all at one rate."""
    case = make_case(seed)
    given = {name: case.arguments[name] for name in ("forest", "X", "y", "costs", "X_error", "y_error")}
    path = cost_complexity_path(**given)
    edges = np.append(path.tradeoffs, 2 * path.tradeoffs[-1] + 1)
    choices = [
        [(tree.error(kept), int(kept.sum())) for kept in all_prunings(tree, len(path.kept(0)))]
        for tree in case.trees
    ]
    for j, lam in enumerate((edges[:-1] + edges[1:]) / 2):
        kept = path.kept(j)
        for tree, options in zip(case.trees, choices, strict=True):
            ours = tree.error(kept) + lam * kept[tree.begin : tree.end].sum()
            assert ours == pytest.approx(min(error + lam * splits for error, splits in options), abs=1e-12)


def all_prunings(tree: Any, n_nodes: int) -> list[NDArray[np.bool_]]:
    def below(h: int) -> list[tuple[int, ...]]:
        children = tree.children(h)
        if not children:
            return [()]
        return [(), *((h, *a, *b) for a in below(children[0]) for b in below(children[1]))]

    found = []
    for nodes in below(tree.begin):
        kept = np.zeros(n_nodes, dtype=bool)
        kept[list(nodes)] = True
        found.append(kept)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_greedy_pruning_is_the_naive_loop(seed: int) -> None:
    case = make_case(seed)
    given = {name: case.arguments[name] for name in ("forest", "X", "y", "costs", "X_error", "y_error")}
    path = greedy_feature_path(**given)
    features = case.model.forest_.feature
    removed: set[int] = set()
    error, cost = naive_value(case, removed)
    assert (path.objective_errors[0], path.costs[0]) == pytest.approx((error, cost), abs=1e-12)
    worst = 0.0
    for j in range(1, len(path)):
        offers = []
        for k in set(features[features >= 0].tolist()) - removed:
            new_error, new_cost = naive_value(case, removed | {k})
            if cost - new_cost > 1e-12:
                ratio = (new_error - error) / (cost - new_cost)
                offers.append((round(ratio, 9), round(new_cost, 9), k))
        ratio, _, best = min(offers)
        removed.add(best)
        error, cost = naive_value(case, removed)
        worst = max(worst, ratio)
        assert (path.objective_errors[j], path.costs[j]) == pytest.approx((error, cost), abs=1e-9)
        assert path.tradeoffs[j] == pytest.approx(worst, abs=1e-8)
    assert path.costs[-1] == pytest.approx(0, abs=1e-12)


def naive_value(case: Any, removed: set[int]) -> tuple[float, float]:
    kept = ~np.isin(case.model.forest_.feature, list(removed))
    error = float(np.mean([tree.error(kept) for tree in case.trees]))
    used = np.any([tree.used(kept) for tree in case.trees], axis=0)
    return error, float(case.sheet.total_rows(used).mean())


# ---- what cannot be pruned ---------------------------------------------------------------------------------


def test_a_forest_without_class_weights_is_pruned_on_the_rows_at_hand(forest: Any, rows: Any) -> None:
    imported = forest.variant({}, replace(forest.fitted_, forest=forest.forest_.scaled(0.01)))
    path = prune_path(imported, *rows)
    twice = prune_path(imported, *rows, X_error=rows[0], y_error=rows[1])
    assert path.objective_errors[0] < path.objective_errors[-1]
    assert [point.params for point in path] == [point.params for point in twice]
    assert (path.drop == twice.drop).all()
    with pytest.raises(ValueError, match="an imported forest does not hold; use risk='error'"):
        cost_complexity_path(imported, *rows, risk="gini")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("make", PATHS)
def test_imported_forests_are_pruned_by_given_rows(make: Any, n_classes: int) -> None:
    pytest.importorskip("treelite")
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 5))
    y = np.searchsorted([0.0, 1.0][: n_classes - 1], X[:, 0] + X[:, 1] * (X[:, 2] > 0))
    theirs = RandomForestClassifier(6, max_depth=5, random_state=0).fit(X[:200], y[:200])
    model = from_model(theirs, costs=[1, 2, 3, 0, 1])
    path = make(model, X[200:300], y[200:300], X_error=X[300:], y_error=y[300:])
    assert len(path) > 3
    assert (np.diff(path.costs) <= 0).all()
    for j in (0, len(path) // 2, len(path) - 1):
        assert path.forest_errors[j] == np.mean(path[j].model.predict(X[200:300]) != y[200:300])
        assert path.costs[j] == pytest.approx(path[j].model.spend(X[200:300]).mean())


def test_boosted_trees_are_refused() -> None:
    pytest.importorskip("treelite")
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = from_model(GradientBoostingClassifier(n_estimators=3).fit(X, y))
    with pytest.raises(ValueError, match="not a boosted model"):
        prune_path(model, X, y, X_error=X, y_error=y)


def test_errors_say_what_to_do(forest: Any, rows: Any) -> None:
    X, y = rows
    with pytest.raises(TypeError, match="only a classifier made of trees"):
        prune_path(GradientBoostingRegressor(), X, y)
    with pytest.raises(ValueError, match="go together"):
        prune_path(forest, X, y, X_error=X)
    with pytest.raises(ValueError, match="path_length_cost"):
        prune_path(forest, X, y, path_length_cost=-1)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        prune_path(forest, X, y[:-1])
    with pytest.raises(ValueError, match="risk"):
        cost_complexity_path(forest, X, y, risk="variance")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rows measure errors only"):
        cost_complexity_path(forest, X, y, X_error=X, y_error=y, risk="gini")
    with pytest.raises(TypeError, match="progress"):
        prune_path(forest, X, y, progress="yes")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:y has a single class")
def test_a_forest_without_splits_has_one_pruning(rows: Any) -> None:
    X, y = table(0)
    with pytest.warns(BudgetWarning):
        empty = BudgetForestClassifier(budget=0.0, costs=[1] * 6, n_estimators=3, random_state=0).fit(X, y)
    one_class = BudgetForestClassifier(n_estimators=2, random_state=0).fit(X, np.ones(len(y)))
    for model, labels in ((empty, rows[1]), (one_class, np.ones(len(rows[1])))):
        for make in PATHS:
            path = make(model, rows[0], labels)
            assert len(path) == 1
            assert path.costs[0] == 0
            assert path.forest_errors[0] == np.mean(path[0].model.predict(rows[0]) != labels)


def test_labels_of_no_class_are_always_wrong(forest: Any, rows: Any) -> None:
    path = prune_path(forest, rows[0], np.full(len(rows[1]), "none"))
    assert (path.forest_errors == 1).all()


def test_weights_that_are_not_whole_are_rounded_finely() -> None:
    X, y = table(3)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    model = BudgetTreeClassifier(max_depth=5, costs=SHEET).fit(X, y, sample_weight=weights)
    path = prune_path(model, X, y)
    for j in range(len(path)):
        assert path.objective_errors[j] == pytest.approx(bag_error(path[j].model.forest_), abs=1e-9)


def test_pruned_forests_keep_values_and_code_sets(forest: Any) -> None:
    trees = forest.forest_
    assert pruned(trees, np.ones(trees.n_nodes, dtype=bool)) == trees
    roots = pruned(trees, np.zeros(trees.n_nodes, dtype=bool))
    assert roots.n_nodes == roots.n_trees == trees.n_trees
    np.testing.assert_array_equal(roots.value, trees.value[trees.offsets[:-1]])
    assert len(roots.category_words) == 0


def test_money_is_exact_on_the_grid() -> None:
    from farthing.forests.budget_prune.integer_grid import grid_prices  # noqa: PLC0415

    sheet = CostSheet({"a": 7.27, "b": 0.1, "c": 100.0}, groups={"g": Group(2.1, ["a", "b"])})
    grid = grid_prices(sheet, 0.005, n_rows=10, n_tests=100)
    assert grid.unit == Fraction(1, 1000)
    assert [*grid.own, *grid.shared, grid.test] == [7270, 100, 100_000, 2100, 5]
    odd = grid_prices(CostSheet([1 / 3, np.pi]), 0.0, n_rows=10, n_tests=0)
    assert odd.unit.denominator & (odd.unit.denominator - 1) == 0
    assert np.allclose(odd.own * float(odd.unit), [1 / 3, np.pi], rtol=1e-13)
