"""BudgetForestClassifier: algorithm 2 of Nan's thesis, its draws, its budget, its choices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import farthing
from farthing.costs import CostSheet, Group
from farthing.errors import BudgetWarning
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.forests.budget_rf.tree import impurity_of
from farthing.trees import Forest, Predictor


def problem(n_rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, CostSheet]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 6)), 2)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows) > 0).astype(int) + (X[:, 4] > 1)
    own = dict(zip([f"x{j}" for j in range(6)], [1.0, 0.8, 1.0, 0.5, 1.25, 3.0], strict=True))
    return X, y, CostSheet(own, groups={"lab": Group(0.5, ["x1", "x3"])})


def test_a_forest_of_one_tree_without_draws_is_the_tree() -> None:
    X, y, sheet = problem()
    for options in ({}, {"impurity": "pairs", "alpha": 2.0}, {"cost_rule": "penalty", "tradeoff": 0.01}):
        tree = BudgetTreeClassifier(costs=sheet, **options).fit(X, y)
        forest = BudgetForestClassifier(costs=sheet, n_estimators=1, bootstrap=False, **options).fit(X, y)
        assert forest.forest_ == tree.forest_


def test_trees_are_added_until_the_mean_cost_passes_the_budget() -> None:
    """Algorithm 2 by hand: the same trees one by one, on the same validation rows."""
    X, y, sheet = problem()
    X_val = problem(seed=1)[0]
    settings: dict[str, Any] = {"impurity": "pairs", "costs": sheet, "random_state": 4, "max_depth": 3}
    whole = BudgetForestClassifier(n_estimators=12, **settings).fit(X, y)
    acquired = np.zeros(X_val.shape, dtype=bool)
    costs = []
    for t in range(12):
        acquired |= Predictor(whole.forest_.trees(t, t + 1)).predict(X_val)[1]
        costs.append(sheet.total_rows(acquired).mean())
    assert costs[0] < costs[-1]
    for budget in (costs[0], (costs[0] + costs[-1]) / 2, costs[-1], np.inf):
        expected = int(np.sum(np.array(costs) <= budget * (1 + 1e-12)))
        for n_jobs in (1, 3):
            forest = BudgetForestClassifier(n_estimators=12, budget=budget, n_jobs=n_jobs, **settings)
            forest.fit(X, y, validation=(X_val, None))
            assert forest.n_trees_ == forest.forest_.n_trees == expected
            assert forest.forest_ == whole.forest_.trees(0, expected)
            assert forest.validation_cost_ == costs[expected - 1]
            assert forest.spend(X_val).mean() <= budget * (1 + 1e-12)


def test_without_validation_rows_the_budget_holds_on_the_training_rows() -> None:
    X, y, sheet = problem()
    forest = BudgetForestClassifier(budget=4.0, costs=sheet, max_depth=3, random_state=0).fit(X, y)
    assert 0 < forest.n_trees_ < 40
    assert forest.spend(X).mean() == pytest.approx(forest.validation_cost_)
    assert forest.validation_cost_ <= 4.0
    assert forest.spend(X).max() > 4.0  # a mean, not a cap


def test_held_out_rows_judge_and_do_not_teach() -> None:
    X, y, sheet = problem()
    forest = BudgetForestClassifier(
        budget=4.0, costs=sheet, max_depth=3, validation_fraction=0.25, random_state=0
    ).fit(X, y)
    taught = np.sum([forest.in_bag(t) for t in range(forest.n_trees_)], axis=0) > 0
    assert all(forest.in_bag(t).sum() == 225 for t in range(forest.n_trees_))
    assert taught.sum() <= 225
    assert forest.forest_.cover[0] == 225
    assert forest.validation_cost_ <= 4.0
    everything = BudgetForestClassifier(budget=np.inf, costs=sheet, validation_fraction=0.25, random_state=0)
    everything.fit(X, y)
    held = np.sum([everything.in_bag(t) for t in range(40)], axis=0) == 0
    assert held.sum() == 75
    assert everything.validation_cost_ == pytest.approx(everything.spend(X[held]).mean())


def test_a_budget_below_the_first_tree_gives_the_prior_and_a_warning() -> None:
    X, y, _ = problem()
    forest = BudgetForestClassifier(budget=0.5, random_state=0)
    with pytest.warns(BudgetWarning, match="cost 6"):
        forest.fit(X, y)
    assert forest.n_trees_ == 0
    assert forest.max_cost_.shape == (0,)
    assert not forest.spend(X).any()
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(forest.predict_proba(X), np.tile(shares, (len(y), 1)))
    assert (forest.predict(X) == shares.argmax()).all()
    assert forest.walk().ask is None


def test_values_are_the_class_weights_of_the_rows_drawn() -> None:
    X, y, _ = problem()
    forest = BudgetForestClassifier(n_estimators=4, random_state=3, max_depth=4).fit(X, y)
    for t in range(4):
        tree, weights = forest.forest_.trees(t, t + 1), forest.in_bag(t)
        assert tree.value[0].tolist() == np.bincount(y, weights=weights).tolist()
        ends = Predictor(tree, np.arange(float(tree.n_nodes))[:, None]).predict(X)[0][:, 0].astype(int)
        for node in np.flatnonzero(tree.feature < 0):
            here = ends == node
            expected = np.bincount(y[here], weights=weights[here], minlength=3)
            assert tree.value[node].tolist() == expected.tolist()


@pytest.mark.parametrize("aggregation", ["distribution", "vote", "count"])
def test_prediction_adds_up_shares_votes_or_counts(aggregation: Any) -> None:
    X, y, _ = problem()
    forest = BudgetForestClassifier(n_estimators=7, aggregation=aggregation, max_depth=2, random_state=0)
    forest.fit(X, y)
    sums = np.zeros((len(y), 3))
    for t in range(7):
        tree = forest.forest_.trees(t, t + 1)
        ends = Predictor(tree, np.arange(float(tree.n_nodes))[:, None]).predict(X)[0][:, 0].astype(int)
        shares = tree.value[ends] / tree.value[ends].sum(axis=1, keepdims=True)
        votes = np.eye(3)[shares.argmax(axis=1)]
        sums += {"distribution": shares, "vote": votes, "count": tree.value[ends]}[aggregation]
    expected = sums / sums.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(forest.predict_proba(X), expected, rtol=1e-12)
    assert (forest.predict(X) == sums.argmax(axis=1)).all()


def test_the_out_of_bag_score_asks_only_trees_that_did_not_see_the_row() -> None:
    X, y, _ = problem()
    forest = BudgetForestClassifier(n_estimators=5, oob_score=True, random_state=0).fit(X, y)
    sums, voters = np.zeros((len(y), 3)), np.zeros(len(y))
    for t in range(5):
        out = forest.in_bag(t) == 0
        values = Predictor(forest.forest_.trees(t, t + 1)).predict(X)[0]
        sums[out] += (values / values.sum(axis=1, keepdims=True))[out]
        voters += out
    covered = voters > 0
    assert 0 < (~covered).sum() < len(y) / 4
    assert forest.oob_score_ == np.mean(sums[covered].argmax(axis=1) == y[covered])
    assert np.isnan(forest.oob_decision_function_[~covered]).all()
    np.testing.assert_allclose(forest.oob_decision_function_[covered], sums[covered] / voters[covered, None])
    assert 0.5 < forest.oob_score_ < forest.score(X, y)


@pytest.mark.parametrize("given", [True, False])
def test_alpha_is_chosen_on_rows_that_did_not_teach(given: bool) -> None:
    X, y, _ = problem()
    flip = np.random.default_rng(5).random(len(y)) < 0.2
    y = np.where(flip, (y + 1) % 3, y)  # noise, which a threshold ignores
    X_val, y_val, _ = problem(seed=1)
    alphas = [0.0, 2.0, 8.0, 40.0]
    settings: dict[str, Any] = {"impurity": "pairs", "n_estimators": 8, "random_state": 0, "oob_score": True}
    rows = {"validation": (X_val, y_val)} if given else {}
    chosen = BudgetForestClassifier(alpha=alphas, **settings).fit(X, y, **rows)
    single = [BudgetForestClassifier(alpha=alpha, **settings).fit(X, y) for alpha in alphas]
    scores = [model.score(X_val, y_val) if given else model.oob_score_ for model in single]
    assert chosen.alpha_ == alphas[int(np.argmax(scores))]
    assert chosen.forest_ == single[int(np.argmax(scores))].forest_
    assert len(set(scores)) > 1


def test_a_label_never_seen_in_training_is_wrong_in_validation() -> None:
    X, y, _ = problem()
    X_val, y_val, _ = problem(seed=1)
    forest = BudgetForestClassifier(impurity="pairs", alpha=[0.0, 3.0], n_estimators=3, random_state=0)
    forest.fit(X[y < 2], y[y < 2], validation=(X_val, y_val))
    assert forest.alpha_ in (0.0, 3.0)


def test_the_order_of_the_rows_and_threads_change_nothing() -> None:
    X, y, sheet = problem()
    settings: dict[str, Any] = {"costs": sheet, "n_estimators": 6, "max_features": 2, "random_state": 1}
    one = BudgetForestClassifier(n_jobs=1, **settings).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    two = BudgetForestClassifier(n_jobs=2, **settings).fit(X[order], y[order])
    assert one.forest_ == two.forest_
    other = BudgetForestClassifier(**{**settings, "random_state": 2}).fit(X, y)
    assert one.forest_ != other.forest_


def test_feature_subsets_make_trees_differ_and_spread_the_features() -> None:
    X, y, _ = problem()
    settings: dict[str, Any] = {"n_estimators": 10, "random_state": 0, "max_depth": 2}
    every = BudgetForestClassifier(**settings).fit(X, y)
    for max_features in (1, 0.17, "log2"):
        drawn = BudgetForestClassifier(max_features=max_features, **settings).fit(X, y)
        roots = [set(model.forest_.feature[model.forest_.offsets[:-1]].tolist()) for model in (every, drawn)]
        assert len(roots[1]) > len(roots[0])
    assert BudgetForestClassifier(max_features=1.0, **settings).fit(X, y).forest_ == every.forest_


def test_drawn_cuts_make_trees_differ() -> None:
    X, y, _ = problem()
    settings: dict[str, Any] = {"impurity": "pairs", "n_estimators": 30, "random_state": 0, "max_depth": 1}
    exact, drawn, many = (
        BudgetForestClassifier(max_cuts=cuts, **settings).fit(X, y).forest_ for cuts in (None, 1, 255)
    )
    roots = [len(set(forest.threshold[forest.offsets[:-1]].tolist())) for forest in (exact, drawn)]
    assert roots[1] > 1.2 * roots[0]
    assert many == exact


def test_a_schedule_of_cuts_is_that_of_the_weights_of_the_nodes() -> None:
    X, y, _ = problem()
    settings: dict[str, Any] = {"impurity": "pairs", "n_estimators": 6, "random_state": 0}

    def grown(max_cuts: Any, **limits: Any) -> Forest:
        return BudgetForestClassifier(max_cuts=max_cuts, **settings, **limits).fit(X, y).forest_

    thesis = [(2000, 80), (500, 40), (0, 20)]
    assert grown(thesis) == grown(20)  # all nodes have fewer than 500 rows
    assert grown([(100, 2)]) == grown(2, cuts_above=100)
    assert grown([(100, 2)]) == grown([[1e9, 7], [100.0, 2]])
    both = grown([(100, 2), (0, 5)])
    assert both not in (grown(2), grown(5), grown([(100, 2)]))
    assert both.trees(0, 1).threshold[0] == grown(2).threshold[0]


def test_impurity_stops_growth_and_saves_costs() -> None:
    X, y, sheet = problem()
    settings: dict[str, Any] = {"costs": sheet, "n_estimators": 4, "random_state": 0}
    for impurity, least in (("entropy", (0.0, 3.0, 15.0, 60.0)), ("pairs", (0.0, 10.0, 100.0, 3000.0))):
        forests = [
            BudgetForestClassifier(impurity=impurity, min_impurity=one, **settings).fit(X, y) for one in least
        ]
        spent = [forest.spend(X).mean() for forest in forests]
        assert spent == sorted(spent, reverse=True)
        assert spent[-1] < 0.8 * spent[0]
        for one, forest in zip(least, forests, strict=True):
            split = forest.forest_.feature >= 0
            kept = np.array([impurity_of(value, impurity) for value in forest.forest_.value])
            assert (kept[split] > one).all()
            alone = forest.forest_.cover <= 1  # a single row cannot be split; pure nodes have no impurity
            assert (kept[~split & ~alone] <= one).all()


def test_the_root_of_a_tree_is_a_leaf_if_it_is_pure_enough() -> None:
    X, y, _ = problem()
    pure_enough = impurity_of(np.bincount(y).astype(float), "gini")
    for least, n_nodes in ((pure_enough, 1), (np.nextafter(pure_enough, 0), 3)):
        tree = BudgetTreeClassifier(impurity="gini", min_impurity=least, max_depth=1).fit(X, y)
        assert tree.forest_.n_nodes == n_nodes


def product(counts: np.ndarray) -> float:
    """Return sum over i < j of n_i n_j, half of threshold-Pairs without a threshold."""
    return float((counts.sum() ** 2 - (counts**2).sum()) / 2)


def test_a_callable_impurity_is_the_compiled_one_of_the_same_formula(tmp_path: Any) -> None:
    X, y, sheet = problem(120)
    settings: dict[str, Any] = {"costs": sheet, "n_estimators": 3, "random_state": 0}
    own = BudgetForestClassifier(impurity=product, **settings).fit(X, y)
    assert own.forest_ == BudgetForestClassifier(impurity="pairs", **settings).fit(X, y).forest_
    own.save(tmp_path / "forest")
    loaded = farthing.load(tmp_path / "forest")
    assert loaded.impurity == "product"
    assert (loaded.predict_proba(X) == own.predict_proba(X)).all()
    with pytest.raises(ValueError, match="'product'"):
        loaded.fit(X, y)


def test_a_file_keeps_what_was_chosen_but_not_the_rows(tmp_path: Any) -> None:
    X, y, sheet = problem()
    forest = BudgetForestClassifier(budget=4.0, costs=sheet, max_depth=3, random_state=0).fit(X, y)
    forest.save(tmp_path / "forest")
    loaded = farthing.load(tmp_path / "forest")
    assert loaded.n_trees_ == forest.n_trees_
    assert loaded.validation_cost_ == forest.validation_cost_
    assert (loaded.max_cost_ == forest.max_cost_).all()
    with pytest.raises(ValueError, match="fit it again"):
        loaded.in_bag(0)


def test_max_cost_is_the_dearest_path() -> None:
    X, y, sheet = problem()
    forest = BudgetForestClassifier(costs=sheet, n_estimators=5, max_depth=3, random_state=0).fit(X, y)

    def dearest(tree: Forest, node: int, path: frozenset[str]) -> float:
        if tree.feature[node] < 0:
            return sheet.total(path)
        path |= {sheet.features[tree.feature[node]]}
        return max(dearest(tree, int(child[node]), path) for child in (tree.left, tree.right))

    expected = [dearest(forest.forest_.trees(t, t + 1), 0, frozenset()) for t in range(5)]
    assert forest.max_cost_.tolist() == expected


def test_as_accurate_as_the_peer() -> None:
    """Entropy with all features against scikit-learn's forest, both 30 trees, on rows of their own."""
    X, y, _ = problem(1500)
    X_test, y_test, _ = problem(1500, seed=1)
    ours = BudgetForestClassifier(n_estimators=30, random_state=0).fit(X, y).score(X_test, y_test)
    peer = RandomForestClassifier(30, criterion="entropy", max_features=None, random_state=0).fit(X, y)
    assert ours > peer.score(X_test, y_test) - 0.02  # two standard errors of 1500 rows at 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"impurity": "depth"}, "'depth'"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_features": 0}, "max_features"),
        ({"max_features": 1.5}, "max_features"),
        ({"max_features": "most"}, "max_features"),
        ({"max_cuts": 0}, "max_cuts"),
        ({"max_cuts": [(0, 0)]}, "max_cuts must be at least 1 threshold"),
        ({"max_cuts": [(-1, 5)]}, "above a weight of zero or more"),
        ({"max_cuts": [(0, 2.5)]}, "max_cuts"),
        ({"max_cuts": [20, 40]}, "pairs of a weight and a number"),
        ({"max_cuts": [(5, 2), (5.0, 3)]}, "each weight once"),
        ({"max_cuts": [(5, 2)], "cuts_above": 7}, "cuts_above=7 is for a single number"),
        ({"cuts_above": -1}, "cuts_above"),
        ({"min_impurity": -1.0}, "min_impurity"),
        ({"aggregation": "mean"}, "aggregation"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": [0.0, 1.0]}, "has no meaning with impurity="),
        ({"alpha": 1.0, "impurity": "gini"}, "alpha=1.0 has no meaning with impurity='gini'"),
        ({"power": 3.0}, "power=3.0 has no meaning"),
        ({"alpha": [0.0, 1.0], "impurity": "pairs", "bootstrap": False}, r"validation=\(X, y\)"),
        ({"oob_score": True, "bootstrap": False}, "oob_score"),
        ({"validation_fraction": 1.5}, "validation_fraction"),
        ({"tradeoff": 1.0}, "tradeoff"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    X, y, _ = problem(40)
    with pytest.raises(ValueError, match=message):
        BudgetForestClassifier(**options).fit(X, y)


def test_validation_rows_need_what_they_are_used_for() -> None:
    X, y, _ = problem(40)
    several = BudgetForestClassifier(impurity="pairs", alpha=[0.0, 1.0], n_estimators=2)
    with pytest.raises(ValueError, match="without labels"):
        several.fit(X, y, validation=(X, None))
    with pytest.raises(ValueError, match="2D array"):
        several.fit(X, y, validation=(None, y))
    with pytest.raises(ValueError, match="40 rows, but 3 targets"):
        several.fit(X, y, validation=(X, y[:3]))
    with pytest.raises(ValueError, match="'x2'"):
        several.fit(X, y, validation=(np.where(np.arange(6) == 2, "text", X.astype(object)), y))
    with pytest.raises(ValueError, match="tree must lie"):
        BudgetForestClassifier(n_estimators=2).fit(X, y).in_bag(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        several.fit(X, y, validation=(X, y))
