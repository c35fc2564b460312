"""What trees cost: those without a split nothing; a budget that trees use up says so."""

import numpy as np
import pytest

from farthing.boosting import (
    GradientBoostingRegressor,
    GreedyMiserClassifier,
    GreedyMiserRanker,
    GreedyMiserRegressor,
    miser_path,
)
from farthing.cascades import EarlyExitClassifier, EarlyExitRanker
from farthing.errors import BudgetWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + 0.5 * X[:, 1]
GRADES = np.digitize(Y, [-1, 0, 1])
QID = np.repeat(np.arange(12), 10)
CHARGES = pytest.mark.parametrize("charge", ["model", "row"])
MISERS = pytest.mark.parametrize(
    ("miser", "target"),
    [
        (GreedyMiserRegressor, Y),
        (GreedyMiserClassifier, Y > 0),
        (GreedyMiserClassifier, GRADES),
        (GreedyMiserRanker, GRADES),
    ],
)


# Trees without a split.


@CHARGES
@MISERS
def test_boosting_ends_when_no_split_pays(miser, target, charge):
    model = miser(tradeoff=1e9, tree_cost=1.0, charge=charge).fit(X, target)
    assert (model.n_rounds_, model.evaluation_cost_) == (0, 0.0)
    assert model.spend(X).max() == 0


@CHARGES
def test_boosting_ends_after_the_last_split_that_pays(charge):
    """With one binary feature and full steps, the first tree leaves nothing to learn."""
    flag = (np.arange(20) % 2).astype(float)
    model = GreedyMiserRegressor(learning_rate=1.0, tree_cost=2.0, charge=charge, n_estimators=9)
    model.fit(flag[:, np.newaxis], flag)
    assert (model.n_rounds_, model.evaluation_cost_) == (1, 2.0)
    np.testing.assert_allclose(model.predict(flag[:, np.newaxis]), flag)


def test_a_class_that_needs_no_tree_costs_none():
    """The rows of the third class are as frequent in both halves, so its tree has no split that pays."""
    column = np.repeat([0.0, 1.0], 40)[:, np.newaxis]
    labels = np.repeat([0, 1], 40)
    labels[::20] = 2
    model = GreedyMiserClassifier(n_estimators=1, tree_cost=1.0, tradeoff=0.1, min_samples_leaf=5)
    model.fit(column, labels)
    sizes = np.diff(model.forest_.offsets)[3:]
    assert sizes.tolist() == [3, 3, 1]
    assert model.evaluation_cost_ == 2.0


def test_subsamples_go_on_after_a_draw_without_a_split():
    """Another draw may find a split that pays, so only the rounds at the end are left out."""
    flag = (np.arange(40) == 0).astype(float)
    column = flag[:, np.newaxis]
    model = GreedyMiserRegressor(subsample=0.2, n_estimators=59, tree_cost=1.0, random_state=0)
    model.fit(column, flag)
    grown = np.diff(model.forest_.offsets)[1:] > 1
    assert 0 < grown.sum() < len(grown) < 59
    assert grown[-1]
    assert model.evaluation_cost_ == grown.sum()
    assert model.fitted_.first_rounds(len(grown) - 1).evaluation_cost == grown[:-1].sum()
    free = model.set_params(tree_cost=0.0).fit(column, flag)
    *fewer, _ = free.variants()
    assert fewer
    for params, variant in fewer:
        assert (
            GreedyMiserRegressor(**{**model.get_params(), **params}).fit(column, flag).forest_
            == variant.forest_
        )


def test_gradient_boosting_ends_when_nothing_is_left_to_learn():
    assert GradientBoostingRegressor().fit(X, np.ones(len(X))).forest_.n_trees == 1
    assert GradientBoostingRegressor(learning_rate=1.0).fit(X, Y > 9).forest_.n_trees == 1


def test_early_stopping_counts_only_rounds_that_split():
    model = GreedyMiserRegressor(tradeoff=1e9, tree_cost=1.0)
    model.fit(X[:80], Y[:80], validation=(X[80:], Y[80:]))
    assert (model.n_rounds_, len(model.validation_losses_)) == (0, 0)


# Budgets that trees use up.


@MISERS
def test_trees_that_leave_nothing_for_features_warn_with_the_remedy(miser, target):
    model = miser(charge="row", budget=10.0, tree_cost=0.1)
    with pytest.warns(BudgetWarning, match=r"tree_cost.*leave.*n_estimators to \d+ or less") as caught:
        model.fit(X, target)
    assert model.spend(X).max() == 0
    # The remedy works as told.
    rounds = int(str(caught[0].message).split("n_estimators to ")[1].split()[0])
    assert model.set_params(n_estimators=rounds).fit(X, target).spend(X).max() > 0


@CHARGES
def test_a_budget_without_room_for_a_round_and_a_feature_warns(charge):
    model = GreedyMiserClassifier(
        charge=charge, budget=3.0, tree_cost=1.0, multi_strategy="one_output_per_tree"
    )
    with pytest.warns(BudgetWarning, match=r"raise budget to at least 5, or lower tree_cost"):
        model.fit(X, GRADES)
    assert model.set_params(budget=5.0, n_estimators=1).fit(X, GRADES).spend(X).max() > 0


def test_a_budget_that_ends_boosting_says_after_how_many_rounds():
    model = GreedyMiserRegressor(charge="model", budget=4.0, tree_cost=0.5)
    with pytest.warns(BudgetWarning, match=r"ended boosting after \d of 100 rounds"):
        model.fit(X, Y)
    assert 0 < model.n_rounds_ < 100


@CHARGES
def test_a_budget_with_room_for_all_says_nothing(charge, recwarn):
    model = GreedyMiserRegressor(charge=charge, budget=14.0, tree_cost=0.1).fit(X, Y)
    assert model.spend(X).max() > 0
    assert not recwarn.list


def test_wrappers_pass_the_warning_on():
    miser = GreedyMiserClassifier(charge="row", budget=10.0, tree_cost=0.1)
    with pytest.warns(BudgetWarning, match="tree_cost"):
        EarlyExitClassifier(miser).fit(X, Y > 0)


# The account of trees.


def test_the_cost_of_a_point_has_the_trees_of_equation_three():
    model = GreedyMiserRegressor(n_estimators=3, tree_cost=2.0, max_depth=1, costs=[1.0, 5.0, 7.0, 9.0])
    path = miser_path(model, X, Y, tradeoffs=[0.0], validation=(X, Y))
    for point in path:
        fitted = point.model
        features = fitted.costs_.without_calls().total(fitted.fitted_.tested())
        assert point.spend == pytest.approx(fitted.spend(X).mean(), abs=1e-12)
        assert point.details["model_cost"] == 2.0 * point.details["n_rounds"] + features
    assert path[-1].details["model_cost"] > path[0].details["model_cost"] == 0


def test_the_spend_has_the_trees_as_a_named_part():
    model = GreedyMiserRegressor(n_estimators=3, tree_cost=2.0, max_depth=1, costs=[1.0, 5.0, 7.0, 9.0])
    model.fit(X, Y)
    free = GreedyMiserRegressor(n_estimators=3, max_depth=1, costs=[1.0, 5.0, 7.0, 9.0]).fit(X, Y)
    assert model.costs_.call_prices() == {"trees": 6.0}
    np.testing.assert_array_equal(model.spend(X), free.spend(X) + 6.0)
    np.testing.assert_array_equal(model.acquired(X)[:, :4], free.acquired(X))
    np.testing.assert_array_equal(model.predict(X), free.predict(X))
    walk = model.walk()
    assert (walk.spent, walk.decision.acquired) == (0.0, ())
    walk.tell(X[0, 0])
    assert walk.decision.acquired == ("x0", "trees")
    assert walk.spent == 7.0


@CHARGES
def test_a_row_that_cannot_pay_for_the_trees_buys_no_feature(charge):
    costs = [1.0, 5.0, 7.0, 9.0]
    model = GreedyMiserRegressor(n_estimators=3, tree_cost=2.0, costs=costs, charge=charge).fit(X, Y)
    for budget in (6.5, 7.0, 12.5, 40.0):
        spent = model.spend(X, budget=budget)
        assert spent.max() <= budget
        assert (spent.max() > 0) == (budget >= 7.0)
        assert set(spent) <= {0.0, *(6.0 + model.costs_.own[:4] @ model.acquired(X, budget=budget)[:, :4].T)}


@pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
@CHARGES
def test_staged_spends_are_those_of_the_first_rounds(charge):
    model = GreedyMiserClassifier(n_estimators=5, tree_cost=0.3, max_depth=2, charge=charge, budget=9.0)
    model.fit(X, GRADES)
    assert model.n_rounds_ > 1
    for number, spent in enumerate(model.staged_spend(X), start=1):
        fewer = model.fitted_.first_rounds(number)
        caps = np.full(len(X), fewer.budget)
        _, acquired = fewer.outputs(X, budget=caps)
        np.testing.assert_allclose(spent, fewer.costs.total_rows(acquired), rtol=1e-12)
    np.testing.assert_array_equal(spent, model.spend(X))
    assert spent.max() <= 9.0


def test_rows_that_exit_early_are_charged_for_the_trees_they_walked():
    costs = [1.0, 5.0, 7.0, 9.0]
    miser = GreedyMiserClassifier(n_estimators=12, tree_cost=0.5, max_depth=2, costs=costs)
    early = EarlyExitClassifier(miser, threshold=0.75, rounds_per_exit=4).fit(X, Y > 0)
    # Twelve rounds with exits after 4, 8 and 12 of them.
    assert early.costs_.call_prices() == {f"trees up to exit {number}": 2.0 for number in (1, 2, 3)}
    cost = early.acquired(X)[:, 4:].sum(axis=1) * 2.0
    np.testing.assert_allclose(early.spend(X), cost + early.acquired(X)[:, :4] @ costs)
    assert cost.min() < cost.max() == 6.0
    for end, left in ((2.0, cost == 2.0), (4.0, cost == 4.0)):
        rounds = early.model_.fitted_.first_rounds(int(end / 0.5))
        outputs, _ = rounds.outputs(X[left])
        assert (rounds.conclude(outputs).max(axis=1) > 0.75).all()
    everyone = early.set_params(threshold=1.0).fit(X, Y > 0)
    assert everyone.acquired(X)[:, 4:].all()


def test_documents_that_exit_early_are_charged_for_the_trees_they_walked():
    ranker = GreedyMiserRanker(n_estimators=12, tree_cost=0.5)
    early = EarlyExitRanker(ranker, margin=0.0, k=1, rounds_per_exit=4).fit(X, GRADES, QID)
    cost = (early.acquired(X, qid=QID)[:, 4:].sum(axis=1) * 2.0).reshape(12, 10)
    assert set(np.unique(cost)) <= {2.0, 4.0, 6.0}
    # At the first exit all leave that are behind the best of their query.
    outputs, _ = early.model_.fitted_.first_rounds(4).outputs(X)
    scores = outputs[:, 0].reshape(12, 10)
    np.testing.assert_array_equal(cost == 2.0, scores < scores.max(axis=1, keepdims=True))
    assert early.acquired(X[:1])[0, 4:].all()


@pytest.mark.parametrize("budget", [None, 5.0, 7.0, 8.5])
def test_the_walk_of_a_query_charges_what_the_arrays_charge(budget):
    ranker = GreedyMiserRanker(n_estimators=6, tree_cost=1.0)
    early = EarlyExitRanker(ranker, margin=0.1, k=2, rounds_per_exit=2).fit(X, GRADES, QID)
    rows = X[:10]
    walk = early.walk_query(10, budget=budget)
    while (ask := walk.ask) is not None:
        walk.tell(rows[ask.document, int(ask.feature[1:])])
    expected = early.decide(rows, budget=budget)
    assert [decision.spent for decision in walk.decisions] == expected.spent.tolist()
    assert [decision.prediction for decision in walk.decisions] == expected.prediction.tolist()
    assert expected.spent.max() > 0
