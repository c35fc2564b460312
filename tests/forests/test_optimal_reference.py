"""Optimal trees on the thresholds of a reference: the best of those, and of no others."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import ASTCClassifier
from farthing.checks import yield_checks
from farthing.datasets import load_heart_disease
from farthing.forests import OptimalTreeClassifier

REFERENCE = GreedyMiserClassifier(n_estimators=4, max_depth=2)
CHECKS = [
    (name, check)
    for name, check in yield_checks(
        OptimalTreeClassifier(max_depth=2, reference=REFERENCE, budget_kind="mean"), tables="small"
    )
    if "check_estimator" not in name
]


@pytest.mark.parametrize("check", [check for _, check in CHECKS], ids=[name for name, _ in CHECKS])
def test_contract(check):
    check()


def made(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 5)), 1)
    y = ((X[:, 0] > 0.3) ^ (X[:, 2] < -0.2)).astype(int) + (X[:, 1] > 1.0)
    return X, y


def used(model):
    """Return the thresholds of each column of a model, ascending."""
    forest = model.fitted_.forest
    return [np.unique(forest.threshold[forest.feature == column]) for column in range(forest.n_features)]


@pytest.mark.parametrize("settings", [{}, {"budget": 2.0}, {"budget_kind": "mean", "tradeoff": 0.001}])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_tree_is_the_best_with_these_thresholds(depth, settings):
    X, y = made()
    weights = np.random.default_rng(1).integers(1, 4, size=len(y))
    settings = {"costs": [1.0, 1.0, 2.0, 0.5, 0.0], "max_depth": depth, **settings}
    reference = GreedyMiserClassifier(costs=settings["costs"], n_estimators=4, max_depth=2)
    known = used(reference.fit(X, y, weights))
    # The same problem by hand: the value of a column is how many of the thresholds are below it.
    codes = np.column_stack([np.searchsorted(cuts, X[:, column]) for column, cuts in enumerate(known)])
    by_hand = OptimalTreeClassifier(max_values=255, **settings).fit(codes, y, weights)
    model = OptimalTreeClassifier(reference=REFERENCE, **settings).fit(X, y, weights)
    assert model.objective_ == pytest.approx(by_hand.objective_, abs=1e-12)
    np.testing.assert_allclose(model.path_costs_, by_hand.path_costs_)
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(codes))
    assert model.optimality_gap_ == 0.0
    assert all(set(cuts) <= set(there) for cuts, there in zip(used(model), known, strict=True))


def test_other_thresholds_may_cost_less_and_never_more():
    X, y = made(200, seed=3)
    settings = {"max_depth": 2, "node_penalty": 0.0}
    every = OptimalTreeClassifier(max_values=255, **settings).fit(X, y)
    few = OptimalTreeClassifier(reference=GreedyMiserClassifier(n_estimators=1, max_depth=1), **settings)
    many = OptimalTreeClassifier(reference=GreedyMiserClassifier(n_estimators=30, max_depth=3), **settings)
    assert every.objective_ <= many.fit(X, y).objective_ <= few.fit(X, y).objective_
    assert every.objective_ < few.objective_
    # What is proven is of the trees on the thresholds of the reference.
    assert few.lower_bound_ == few.objective_


@pytest.mark.parametrize("settings", [{}, {"budget": 2.0}, {"budget_kind": "mean", "tradeoff": 0.001}])
@pytest.mark.parametrize("seed", range(3))
def test_guessed_bounds_cost_at_most_the_errors_of_the_reference(seed, settings):
    X, y = made(150, seed)
    noisy = np.random.default_rng(seed).random(len(y)) < 0.15
    y = np.where(noisy, 0, y)
    settings = {"costs": [1.0, 1.0, 2.0, 0.5, 0.0], "max_depth": 3, "node_penalty": 1.0, **settings}
    reference = GreedyMiserClassifier(costs=settings["costs"], n_estimators=4, max_depth=2)
    wrong = (reference.fit(X, y).predict(X) != y).mean()
    best = OptimalTreeClassifier(reference=REFERENCE, **settings).fit(X, y)
    guessed = OptimalTreeClassifier(reference=REFERENCE, guess_bounds=True, **settings).fit(X, y)
    assert wrong > 0
    assert best.objective_ <= guessed.objective_ <= best.objective_ + wrong + 1e-12
    assert guessed.lower_bound_ <= best.objective_
    assert guessed.optimality_gap_ == guessed.objective_ - guessed.lower_bound_ <= wrong + 1e-12
    # The tree costs what is reported.
    tradeoff = settings.get("tradeoff", 0.01 / sum(settings["costs"]))
    n_tests = (guessed.forest_.feature >= 0).sum()
    paid = (guessed.predict(X) != y).mean() + n_tests / len(y)
    if "budget_kind" not in settings:
        assert paid + tradeoff * guessed.spend(X).mean() == pytest.approx(guessed.objective_)


def test_guesses_that_are_too_high_miss_the_best_tree_and_say_so():
    X, y = made(150)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.15, 0, y)
    settings = {"reference": REFERENCE, "max_depth": 3, "node_penalty": 1.0}
    best = OptimalTreeClassifier(**settings).fit(X, y)
    guessed = OptimalTreeClassifier(guess_bounds=True, **settings).fit(X, y)
    assert guessed.lower_bound_ < best.objective_ < guessed.objective_


def test_guesses_of_a_reference_without_errors_prove_the_best_tree():
    # The exclusive or of three columns: the reference has all thresholds, and no error.
    X = np.random.default_rng(0).integers(0, 2, size=(300, 4)).astype(float)
    y = X[:, :3].sum(axis=1).astype(int) % 2
    reference = GreedyMiserClassifier(n_estimators=40, max_depth=4)
    assert reference.fit(X, y).score(X, y) == 1.0
    model = OptimalTreeClassifier(reference=reference, guess_bounds=True, node_penalty=0.0, tradeoff=0.0)
    assert model.fit(X, y).objective_ == 0.0
    assert model.optimality_gap_ == 0.0


def test_guessed_bounds_need_a_reference_and_are_the_same_for_any_threads():
    X, y = made(150, 5)
    with pytest.raises(ValueError, match="needs a reference"):
        OptimalTreeClassifier(guess_bounds=True).fit(X, y)
    fits = [
        OptimalTreeClassifier(reference=REFERENCE, guess_bounds=True, max_depth=4, n_jobs=n).fit(X, y)
        for n in (1, 2, 4)
    ]
    assert all(fit.forest_ == fits[0].forest_ for fit in fits)
    assert len({(fit.objective_, fit.lower_bound_) for fit in fits}) == 1


def test_categories_and_missing_values():
    heart = load_heart_disease()
    X = heart.X.astype({"cp": "category", "thal": "category"})
    model = OptimalTreeClassifier(heart.costs, max_depth=3, reference=REFERENCE).fit(X, heart.y)
    plain = OptimalTreeClassifier(heart.costs, max_depth=3, max_values=255).fit(X, heart.y)
    prior = OptimalTreeClassifier(heart.costs, max_depth=0).fit(X, heart.y)
    assert plain.objective_ <= model.objective_ < prior.objective_


@pytest.mark.parametrize(
    ("reference", "said"),
    [(LogisticRegression(), "got LogisticRegression()"), (ASTCClassifier(depth=1), "got ASTCClassifier")],
)
def test_a_reference_that_has_no_trees_is_refused(reference, said):
    with pytest.raises(ValueError, match="reference must be a model") as error:
        OptimalTreeClassifier(reference=reference).fit(*made(60))
    assert said in str(error.value)
