"""AdaBoostRS on several classes: one draw for all of them, estimates without bias, any ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from farthing import load
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier, AdaBoostRSClassifier
from farthing.forests import BudgetTreeClassifier
from farthing.learning.voting import TreeVotes
from farthing.trees import Forest
from farthing.walks import walk_rows

COSTS = [0.4, 1.0, 0.7, 0.2, 1.5]


def problem(seed: int = 0, n_rows: int = 150) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 5)), 1)
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.3 * rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.array(["low", "mid", "top"])[np.digitize(score, [-0.5, 0.5])]


def rs(**settings: Any) -> AdaBoostRSClassifier:
    return AdaBoostRSClassifier(**{"costs": COSTS, "n_estimators": 20, "random_state": 0, **settings})


def test_the_full_vote_is_adaboosts_bit_for_bit() -> None:
    X, y = problem()
    plain = AdaBoostClassifier(n_estimators=20).fit(X, y)
    for sampling in ("weight", "cost", "top"):
        assert np.array_equal(rs(sampling=sampling).fit(X, y).predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("sampling", ["weight", "cost"])
def test_the_vector_of_votes_is_estimated_without_bias(sampling: Any) -> None:
    """Theorem 5 for each class. Six means at 4.5 standard errors: one false alarm in some 25,000 runs."""
    X, y = problem()
    forest = AdaBoostClassifier(n_estimators=12).fit(X, y)
    constant = Forest.constant([1.0, -1.0, -1.0], 5)
    votes = TreeVotes(np.append(forest.estimator_weights_, 0.4), Forest.concat([forest.forest_, constant]))
    model = rs(sampling=sampling, n_samples=4, estimator=votes).fit(X, y)
    full = rs(estimator=votes).fit(X, y).decision_function(X[:2])
    for row in (0, 1):
        drawn = model.decision_function(np.tile(X[row], (3000, 1)), seeds=np.arange(3000))
        errors = drawn.std(axis=0, ddof=1) / np.sqrt(3000)
        assert (np.abs(drawn.mean(axis=0) - full[row]) <= 4.5 * errors + 1e-9).all()
        assert (errors > 0).any()


@pytest.mark.parametrize(
    "settings",
    [
        {"budget": 1.9},
        {"sampling": "cost", "budget": 3.3, "estimator": AdaBoostClassifier(n_estimators=9, max_depth=2)},
        {"sampling": "top", "budget": 1.4},
        {"sampling": "top", "curtail": True},
    ],
)
def test_walks_are_the_array_calls(settings: dict[str, Any], tmp_path: Path) -> None:
    X, y = problem()
    model = rs(**settings).fit(X, y)
    fresh, _ = problem(1, 25)
    seeds = np.arange(25)
    budget = None if model.budget is None else np.full(25, model.budget)
    fast = model.fitted_.outputs(fresh, budget=budget, seeds=seeds)
    slow = walk_rows(model.fitted_.policy, model.fitted_.costs, fresh, 3, budget=budget, seeds=seeds)
    assert np.array_equal(fast[0], slow[0])
    assert np.array_equal(fast[1], slow[1])
    if model.budget is not None:
        assert 0 < model.spend(fresh, seeds=seeds).max() <= model.budget
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(fresh, seeds=seeds), model.predict_proba(fresh, seeds=seeds))


def test_a_refused_column_sends_the_votes_of_all_classes_the_same_way() -> None:
    X, y = problem()
    model = rs(estimator=AdaBoostClassifier(n_estimators=10, max_depth=3), budget=2.5).fit(X, y)
    for row in X[:10]:
        walk = model.walk(seed=3)
        while (ask := walk.ask) is not None:
            if ask.feature in {"x0", "x2"}:
                walk.refuse()
            else:
                walk.tell(row[int(ask.feature[1:])])
        assert sum(walk.decision.probabilities.values()) == pytest.approx(1.0)


def test_a_curtailed_list_has_the_same_labels_for_less() -> None:
    X, y = problem()
    fresh, _ = problem(2, 40)
    whole, short = (rs(sampling="top", curtail=curtail).fit(X, y) for curtail in (False, True))
    assert np.array_equal(short.predict(fresh), whole.predict(fresh))
    assert (short.spend(fresh) <= whole.spend(fresh)).all()
    assert short.spend(fresh).sum() < whole.spend(fresh).sum()
    assert (short.samples_taken(fresh) <= whole.samples_taken(fresh)).all()


@pytest.mark.parametrize(
    "ensemble",
    [
        AdaBoostBTClassifier(n_estimators=10, max_depth=2, costs=COSTS),
        BudgetTreeClassifier(max_depth=3, costs=COSTS),
        RandomForestClassifier(n_estimators=15, max_depth=3, random_state=0),
        TheirAdaBoost(n_estimators=15, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_vote_on_classes_can_be_sampled(ensemble: Any) -> None:
    X, y = problem()
    X = np.nan_to_num(X)
    fitted = ensemble.fit(X, y)
    assert np.array_equal(rs(estimator=fitted).fit(X, y).predict(X), fitted.predict(X))
    sampled = rs(estimator=fitted, sampling="top", budget=2.5).fit(X, y)
    assert sampled.spend(X).max() <= 2.5


def test_a_linear_vote_is_on_two_classes() -> None:
    X, y = problem()
    with pytest.raises(TypeError, match="LogisticRegression has more than two classes"):
        rs(estimator=LogisticRegression()).fit(np.nan_to_num(X), y)
    two = AdaBoostClassifier(n_estimators=5).fit(X, y == "mid")
    votes = TreeVotes(two.estimator_weights_, two.forest_)
    with pytest.raises(ValueError, match="those of the TreeVotes have 1"):
        rs(estimator=votes).fit(X, y)


def test_the_bounds_of_samples_hold() -> None:
    """Of many draws, no larger share of labels differs from those of the full vote than the bound says."""
    X, y = problem()
    model = rs(n_samples=150).fit(X, y)
    full = rs().fit(X, y)
    bound = model.disagreement_bound(X, 150)
    differs = model.predict(X, seeds=np.arange(len(X))) != full.predict(X)
    assert differs.mean() <= bound < 1
    votes = np.sort(full.decision_function(X), axis=1)
    leads = (votes[:, -1:] - votes[:, :-1]) / (2 * full.votes_.alphas.sum())
    expected = np.minimum(np.exp(-150 * leads**2 / 2).sum(axis=1), 1.0).mean()
    assert bound == pytest.approx(expected, rel=1e-9)
    assert np.array_equal(model.margins_ > 1e-12, (full.predict(X) == y) & (np.abs(model.margins_) > 1e-12))
    assert model.margin_bound(0.3, 400).sampling == pytest.approx(2 * np.exp(-400 * 0.09 / 8))
