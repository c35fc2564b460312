"""AdaBoostRS: what it takes for an ensemble, when it stops, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from farthing import load
from farthing.boosting import AdaBoostClassifier, AdaBoostRSClassifier
from farthing.costs import CostSheet
from farthing.forests import BudgetTreeClassifier
from farthing.learning.voting import LinearVotes, TreeVotes
from farthing.trees import Forest

N_FEATURES = 10


@pytest.fixture(scope="module")
def data() -> Any:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, N_FEATURES)), 2)
    y = np.where(X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * X[:, 3] * X[:, 4] > 0, "yes", "no")
    return X[:250], y[:250], X[250:]


COSTS = np.random.default_rng(1).random(N_FEATURES).round(3)

ENSEMBLES = [
    AdaBoostClassifier(n_estimators=40),
    AdaBoostClassifier(n_estimators=20, max_depth=2),
    BudgetTreeClassifier(max_depth=3),
    RandomForestClassifier(n_estimators=30, max_depth=2, random_state=0),
    ExtraTreesClassifier(n_estimators=30, max_depth=2, random_state=0),
    BaggingClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=15, max_features=0.5, max_samples=4, random_state=0
    ),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    TheirAdaBoost(n_estimators=20, random_state=0),
    LogisticRegression(),
    RidgeClassifier(),
]


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("fitted", [True, False])
def test_any_weighted_vote_can_be_sampled(data: Any, ensemble: Any, fitted: bool) -> None:
    X, y, fresh = data
    alone = clone(ensemble)
    if "costs" in alone.get_params():
        alone.set_params(costs=COSTS)
    own = alone.fit(X, y) if fitted else clone(alone)
    model = AdaBoostRSClassifier(estimator=own, costs=COSTS, random_state=0).fit(X, y)
    right = alone.fit(X, y).predict(fresh)
    assert np.array_equal(model.predict(fresh), right)  # without a budget: the full vote
    for sampling in ("weight", "cost", "free_rider", "top"):
        sampled = AdaBoostRSClassifier(
            estimator=own, sampling=sampling, costs=COSTS, random_state=0, budget=3.0
        ).fit(X, y)
        assert sampled.spend(fresh).max() <= 3.0
        agreement = np.mean(sampled.predict(fresh, seeds=np.arange(len(fresh))) == right)
        nothing = np.mean(sampled.predict(fresh, budget=0) == right)
        assert agreement >= nothing  # a tree that asks for too much is not asked at all
        if isinstance(ensemble, RandomForestClassifier | LogisticRegression) or ensemble is ENSEMBLES[0]:
            assert agreement > nothing + 0.1


def test_the_full_vote_is_adaboosts_bit_for_bit(data: Any) -> None:
    X, y, fresh = data
    plain = AdaBoostClassifier(n_estimators=100).fit(X, y)
    for sampling in ("weight", "cost", "free_rider", "top"):
        for options in ({"costs": COSTS}, {"costs": np.zeros(N_FEATURES), "budget": 0.0}):
            model = AdaBoostRSClassifier(sampling=sampling, n_estimators=100, **options).fit(X, y)
            assert model.predict_proba(fresh).tobytes() == plain.predict_proba(fresh).tobytes()


def test_a_logistic_regression_keeps_its_probabilities(data: Any) -> None:
    X, y, fresh = data
    linear = LogisticRegression().fit(X, y)
    model = AdaBoostRSClassifier(estimator=linear).fit(X, y)
    assert model.predict_proba(fresh) == pytest.approx(linear.predict_proba(fresh), abs=1e-9)
    assert isinstance(model.votes_, LinearVotes)
    assert np.abs(model.votes_.table(X)).max() <= 1 + 1e-12


def test_missing_values_vote_as_the_mean_in_a_linear_model(data: Any) -> None:
    X, y, _ = data
    model = AdaBoostRSClassifier(estimator=LogisticRegression().fit(X, y)).fit(X, y)
    blank = X[:1].copy()
    blank[0, 3] = np.nan
    filled = X[:1].copy()
    filled[0, 3] = X[:, 3].mean()
    assert model.decision_function(blank) == pytest.approx(model.decision_function(filled), abs=1e-9)


def test_saved_without_the_estimator_but_with_its_votes(data: Any, tmp_path: Any) -> None:
    X, y, fresh = data
    for ensemble in (
        RandomForestClassifier(n_estimators=9, max_depth=2, random_state=0),
        LogisticRegression(),
    ):
        model = AdaBoostRSClassifier(estimator=ensemble, costs=COSTS, budget=2.0, random_state=1).fit(X, y)
        model.save(tmp_path / "model.farthing")
        loaded = load(tmp_path / "model.farthing")
        assert loaded.estimator is None
        assert loaded.predict_proba(fresh).tobytes() == model.predict_proba(fresh).tobytes()
        assert np.array_equal(loaded.samples_taken(fresh), model.samples_taken(fresh))


def test_number_of_draws(data: Any) -> None:
    X, y, fresh = data
    seeds = np.arange(len(fresh))
    fixed = AdaBoostRSClassifier(n_samples=13, n_estimators=50).fit(X, y)
    assert (fixed.samples_taken(fresh) == 13).all()
    assert (AdaBoostRSClassifier(n_estimators=50).fit(X, y).samples_taken(fresh) == 0).all()  # the full vote
    bound = AdaBoostRSClassifier(n_estimators=50, budget=4, max_samples=5).fit(X, y)
    assert bound.samples_taken(fresh, seeds=seeds).max() == 5
    rest = AdaBoostRSClassifier(n_estimators=50, budget=4).fit(X, y)
    taken, spend = rest.samples_taken(fresh, seeds=seeds), rest.spend(fresh, seeds=seeds)
    assert (taken >= 4).all()
    assert (spend == 4).all()  # with costs of one each nothing is left over
    assert taken.max() > 4  # features drawn again cost nothing


def test_more_draws_by_cost_and_less_spend_when_cheap(data: Any) -> None:
    """Table 6: drawing by alpha over cost takes more samples within the same budget."""
    X, y, fresh = data
    taken = {}
    for sampling in ("weight", "cost"):
        model = AdaBoostRSClassifier(sampling=sampling, n_estimators=100, budget=2.0, costs=COSTS).fit(X, y)
        taken[sampling] = model.samples_taken(fresh, seeds=np.arange(len(fresh))).mean()
    assert taken["cost"] > 1.2 * taken["weight"]


def test_free_learners_vote_exactly_under_cost(data: Any) -> None:
    X, y, fresh = data
    costs = np.where(np.arange(N_FEATURES) < 3, 0.0, 5.0)
    model = AdaBoostRSClassifier(sampling="cost", n_estimators=60, budget=4.9, costs=costs).fit(X, y)
    plain = AdaBoostClassifier(n_estimators=60).fit(X, y)
    free = plain.forest_.feature[plain.forest_.offsets[:-1]] < 3
    expected = model.votes_.table(fresh)[:, free] @ plain.estimator_weights_[free]
    assert model.decision_function(fresh) == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(model.acquired(fresh).any(axis=0), np.arange(N_FEATURES) < 3)
    assert not model.spend(fresh).any()
    assert not model.samples_taken(fresh).any()


def test_top_takes_the_best_of_alpha_over_cost_and_skips_the_unaffordable(data: Any) -> None:
    X, y, fresh = data
    model = AdaBoostRSClassifier(sampling="top", n_estimators=60, budget=0.9, costs=COSTS).fit(X, y)
    plain = AdaBoostClassifier(n_estimators=60).fit(X, y)
    column = plain.forest_.feature[plain.forest_.offsets[:-1]]
    owned: set[int] = set()
    taken = []
    for t in np.argsort(-plain.estimator_weights_ / COSTS[column], kind="stable"):
        if COSTS[[*owned, column[t]] if column[t] not in owned else list(owned)].sum() <= 0.9:
            owned.add(int(column[t]))
            taken.append(t)
    assert (model.acquired(fresh) == np.isin(np.arange(N_FEATURES), list(owned))).all()
    expected = model.votes_.table(fresh)[:, taken] @ plain.estimator_weights_[taken]
    assert model.decision_function(fresh) == pytest.approx(expected, abs=1e-9)
    assert (model.samples_taken(fresh) == len(taken)).all()


def test_a_certain_vote_of_constants_is_not_replaced_by_the_prior() -> None:
    """The constant outweighs the feature, so the label is certain before anything is read."""
    votes = TreeVotes(
        np.array([3.0, 1.0]), Forest.concat([Forest.constant([1.0], 1), stump_on_the_only_column()])
    )
    X, y = np.array([[0.0], [1.0], [1.0]]), np.array([0, 0, 1])
    for curtail in (False, True):
        model = AdaBoostRSClassifier(estimator=votes, sampling="top", curtail=curtail).fit(X, y)
        assert model.predict(X).tolist() == [1, 1, 1]
        assert model.predict(X, budget=0).tolist() == [0, 0, 0]
        assert model.walk().ask is not None


def stump_on_the_only_column() -> Forest:
    return Forest.from_arrays(
        n_features=1,
        feature=[0, -1, -1],
        threshold=[0.5, 0.0, 0.0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0.0], [-1.0], [1.0]],
    )


def test_curtailment_saves_and_keeps_the_labels(data: Any) -> None:
    X, y, fresh = data
    whole = AdaBoostRSClassifier(sampling="top", n_estimators=60, costs=COSTS).fit(X, y)
    short = AdaBoostRSClassifier(sampling="top", n_estimators=60, costs=COSTS, curtail=True).fit(X, y)
    for budget in (None, 2.0):
        assert np.array_equal(short.predict(fresh, budget=budget), whole.predict(fresh, budget=budget))
        assert (short.spend(fresh, budget=budget) <= whole.spend(fresh, budget=budget)).all()
    assert short.spend(fresh).sum() < whole.spend(fresh).sum()


def test_seeds_make_rows_independent(data: Any) -> None:
    X, y, _ = data
    model = AdaBoostRSClassifier(budget=3, n_estimators=50, random_state=0).fit(X, y)
    same = np.tile(X[:1], (50, 1))
    assert len(np.unique(model.decision_function(same))) == 1
    votes = model.decision_function(same, seeds=np.arange(50))
    assert len(np.unique(votes)) > 5
    back = np.arange(50)[::-1]
    assert np.array_equal(model.decision_function(same, seeds=back), votes[::-1])


def test_the_wrapper_still_takes_it(data: Any) -> None:
    X, _, fresh = data
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = OneVsRestClassifier(AdaBoostRSClassifier(n_estimators=20, budget=5, random_state=0)).fit(X, y)
    assert np.mean(model.predict(fresh) == np.digitize(fresh[:, 0], [-0.5, 0.5])) > 0.6


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sampling": "best"}, "The 'sampling' parameter of AdaBoostRSClassifier must be"),
        ({"curtail": True}, "set sampling='top'"),
        ({"sampling": "top", "curtail": True, "estimator": LogisticRegression()}, "votes with a bound"),
        ({"n_samples": 0}, "n_samples"),
        ({"max_samples": 0}, "max_samples"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_bad_settings(data: Any, params: Any, message: str) -> None:
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        AdaBoostRSClassifier(**params).fit(X, y)


def test_a_frozen_ensemble_outlives_a_clone(data: Any) -> None:
    X, y, fresh = data
    forest = RandomForestClassifier(n_estimators=9, max_depth=2, random_state=0).fit(X[:100], y[:100])
    model = clone(AdaBoostRSClassifier(estimator=FrozenEstimator(forest))).fit(X, y)
    assert np.array_equal(model.predict(fresh), forest.predict(fresh))
    assert (forest.fit(X, y).predict(fresh) != model.predict(fresh)).any()


def test_bad_ensembles(data: Any) -> None:
    X, y, _ = data
    with pytest.raises(TypeError, match="KNeighborsClassifier is not a weighted vote"):
        AdaBoostRSClassifier(estimator=KNeighborsClassifier()).fit(X, y)
    with pytest.raises(TypeError, match="holds a LogisticRegression"):
        AdaBoostRSClassifier(estimator=BaggingClassifier(LogisticRegression())).fit(X, y)
    with pytest.raises(ValueError, match="LogisticRegression knows 3 features, the table has 10"):
        AdaBoostRSClassifier(estimator=LogisticRegression().fit(X[:, :3], y)).fit(X, y)
    with pytest.raises(ValueError, match="knows the classes"):
        AdaBoostRSClassifier(estimator=LogisticRegression().fit(X, y == "yes")).fit(X, y)
    with pytest.raises(ValueError, match="was fitted on the columns"):
        AdaBoostRSClassifier(estimator=AdaBoostClassifier(n_estimators=2).fit(X[:, :3], y)).fit(X, y)
    frame = pd.DataFrame({"wood": ["ash", "elm"] * 125, "x": X[:, 0]})
    with pytest.raises(ValueError, match="column 'wood' holds categories"):
        AdaBoostRSClassifier(estimator=LogisticRegression()).fit(frame, y)
    named = pd.DataFrame(X, columns=[f"c{j}" for j in range(N_FEATURES)])
    turned = LogisticRegression().fit(named[named.columns[::-1]], y)
    with pytest.raises(ValueError, match="was fitted on the columns"):
        AdaBoostRSClassifier(estimator=turned).fit(named, y)


def test_bounds_refuse_what_has_no_bound(data: Any) -> None:
    X, y, fresh = data
    model = AdaBoostRSClassifier(sampling="top", n_estimators=10).fit(X, y)
    with pytest.raises(ValueError, match="is deterministic"):
        model.disagreement_bound(fresh, 10)
    for theta, draws in ((0.0, 5), (1.5, 5), (0.5, -1)):
        with pytest.raises(ValueError, match="must"):
            model.margin_bound(theta, draws)


def test_prices_of_a_sheet_that_is_a_mapping(data: Any) -> None:
    X, y, fresh = data
    sheet = CostSheet({f"x{j}": cost for j, cost in enumerate(COSTS)})
    by_array = AdaBoostRSClassifier(sampling="cost", budget=2, costs=COSTS, n_estimators=30, random_state=0)
    by_sheet = AdaBoostRSClassifier(sampling="cost", budget=2, costs=sheet, n_estimators=30, random_state=0)
    assert np.array_equal(by_array.fit(X, y).acquired(fresh), by_sheet.fit(X, y).acquired(fresh))
