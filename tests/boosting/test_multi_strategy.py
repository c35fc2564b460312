"""One tree a round for all classes: rounds, the account, early exits, warm starts, files, cascades."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.utils.extmath import softmax

import farthing
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier, MiserCascadeClassifier
from farthing.costs import CostSheet
from farthing.learning.multi_strategy import grows_multi_output
from farthing.trees import Grower

N_CLASSES = 5
X, Y = make_classification(
    150, 6, n_informative=5, n_redundant=1, n_classes=N_CLASSES, n_clusters_per_class=1, random_state=0
)
COSTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
SETTINGS = {"n_estimators": 6, "max_depth": 2, "costs": COSTS, "multi_strategy": "multi_output_tree"}


def miser(**params):
    return GreedyMiserClassifier(**{**SETTINGS, **params})


def assert_walks_as_it_predicts(model):
    probabilities, spent = model.predict_proba(X[:15]), model.spend(X[:15])
    for row, x in enumerate(X[:15]):
        walk = model.walk()
        while (ask := walk.ask) is not None:
            walk.tell(x[int(ask.feature[1:])])
        np.testing.assert_array_equal(list(walk.decision.probabilities.values()), probabilities[row])
        assert walk.decision.spent == spent[row]


def test_auto_grows_one_tree_for_all_from_four_classes_on():
    assert [grows_multi_output("auto", n) for n in (1, 3, 4, 100)] == [False, False, True, True]
    assert [grows_multi_output("multi_output_tree", n) for n in (1, 2)] == [False, True]
    assert not grows_multi_output("one_output_per_tree", 100)
    assert GreedyMiserClassifier(n_estimators=2).fit(X, Y).forest_.width == N_CLASSES
    assert GreedyMiserClassifier(n_estimators=2).fit(X, np.minimum(Y, 2)).forest_.width == 1


@pytest.mark.parametrize(("leaf", "weighted"), [("newton", False), ("newton", True), ("gradient", True)])
def test_the_booster_equals_one_written_out(leaf, weighted):
    """Gradients and hessians of the log loss, one tree a round, scores summed up."""
    weights = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float) if weighted else None
    model = miser(leaf=leaf, l2_regularization=0.5, learning_rate=0.3).fit(X, Y, sample_weight=weights)
    w = np.ones(len(Y)) if weights is None else weights
    shares = np.bincount(Y, w) / w.sum()
    scores = np.repeat(np.log(shares)[:, np.newaxis], len(Y), axis=1)
    labels = np.arange(N_CLASSES)[:, np.newaxis] == Y
    bins = farthing.table.PreparedTable.of(X).bins(255)
    grower = Grower(bins, CostSheet(COSTS), max_depth=2, ledger="model")
    for number in range(6):
        p = softmax(scores.T).T
        gradients = labels - p
        hessians = np.maximum(p * (1 - p), 0.1 * np.abs(gradients)) if leaf == "newton" else np.ones_like(p)
        least = 1e-6 * w.sum() if leaf == "newton" else 0.0
        grown = grower.gradient(
            gradients * w,
            hessians * w,
            l2_regularization=0.5,
            min_hessian=least,
            step=0.3,
            number=number,
        )
        np.testing.assert_allclose(model.forest_.trees(number + 1, number + 2).value, grown.tree.value)
        scores += grown.tree.value[grown.leaf_of_row].T
    np.testing.assert_allclose(model.decision_function(X), scores.T)


def test_a_round_is_one_tree_and_one_price():
    model = miser(tree_cost=0.25).fit(X, Y)
    assert model.n_rounds_ == 6
    assert model.forest_.n_trees == 7
    assert model.evaluation_cost_ == 6 * 0.25
    assert model.costs_.call_prices() == {"trees": 1.5}
    bought = model.acquired(X)
    np.testing.assert_allclose(model.spend(X), bought @ np.append(COSTS, 1.5))
    rounds = [variant.forest_.n_trees - 1 for _, variant in miser().fit(X, Y).variants()]
    assert rounds[0] == 1
    assert rounds[-1] == 6
    assert len(list(model.staged_predict(X))) == 6


@pytest.mark.parametrize("charge", ["model", "row"])
def test_budgets_hold_with_a_price_for_trees(charge):
    model = miser(charge=charge, tree_cost=0.1, budget=4.0).fit(X, Y)
    assert 0 < model.spend(X).max() <= 4.0 + 1e-9


def test_a_warm_start_continues_with_the_same_trees():
    whole = miser(subsample=0.7, random_state=1).fit(X, Y)
    part = miser(subsample=0.7, random_state=1, n_estimators=3, warm_start=True).fit(X, Y)
    assert part.set_params(n_estimators=6).fit(X, Y).forest_ == whole.forest_
    with pytest.raises(ValueError, match="multi_strategy of the last fit"):
        part.set_params(multi_strategy="one_output_per_tree").fit(X, Y)


def test_validation_rows_choose_the_rounds():
    model = miser(validation_fraction=0.3, n_estimators=40, learning_rate=1.0, random_state=0).fit(X, Y)
    assert model.n_rounds_ == np.argmin(model.validation_losses_) + 1 < 40


def test_files_keep_the_vectors(tmp_path):
    model = miser().fit(X, Y)
    path = tmp_path / "model.farthing"
    model.save(path)
    loaded = farthing.load(path)
    assert loaded.forest_ == model.forest_
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_rows_leave_early_after_a_tree():
    model = miser(tree_cost=0.1, n_estimators=12).fit(X, Y)
    early = EarlyExitClassifier.around(model, threshold=0.5, rounds_per_exit=2)
    assert early.fitted_.exits == (3, 5, 7, 9, 11, 13)
    assert early.costs_.call_prices()["trees up to exit 1"] == pytest.approx(0.2)
    assert early.spend(X).mean() < model.spend(X).mean()
    assert_walks_as_it_predicts(early)


@pytest.mark.parametrize("params", [{"exit": "learned"}, {"curtail": True}])
def test_cascades_walk_as_they_predict(params):
    """Gates share a forest with trees of vectors, and bounds of scores are those of each class."""
    model = MiserCascadeClassifier(
        n_stages=3,
        n_estimators=3,
        max_depth=2,
        n_folds=2,
        random_state=0,
        costs=COSTS,
        budget=9.0,
        multi_strategy="multi_output_tree",
        **params,
    ).fit(X, Y)
    assert model.forest_.width == N_CLASSES
    assert_walks_as_it_predicts(model)
