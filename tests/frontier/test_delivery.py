"""The figures of the model that is handed over."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

import farthing
from farthing import BudgetedClassifier, BudgetedRegressor
from farthing.base import Point
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier, MiserCascadeClassifier
from farthing.datasets import load_heart_disease
from farthing.errors import BudgetWarning
from farthing.forests import BudgetTreeClassifier, PrunedForestClassifier
from farthing.frontier.candidates import Candidate
from farthing.frontier.data_split import SweepRows
from farthing.frontier.delivery import deliver
from farthing.frontier.expected_spend import ExpectedSpend
from farthing.frontier.fold_curves import FoldCurve, SettingCurves
from farthing.frontier.last_fit import pick, variant_of

MISER = GreedyMiserClassifier(n_estimators=8, learning_rate=0.5, tradeoff=1e-4, relative=True)
EXITS = EarlyExitClassifier(MISER, rounds_per_exit=1)


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


@pytest.fixture(scope="module")
def door(heart):
    methods = [EXITS, ("BudgetTreeClassifier", {"max_depth": [2]})]
    return BudgetedClassifier(heart.costs, 40.0, methods=methods, cv=3).fit(heart.X, heart.y)


def curve(spends, scores, own=None, weight=1.0):
    figures = [[s, s, a, 0.01, 1 - a] for s, a in zip(spends, scores, strict=True)]
    aimed = spends[-1]
    return FoldCurve(
        [{"threshold": i} for i in range(len(spends))],
        np.array(figures, dtype=float),
        weight,
        aimed,
        aimed if own is None else own,
        0.0,
    )


def setting(estimator, *folds):
    return SettingCurves(Candidate("EarlyExitClassifier", estimator, {}), folds, 1.0)


def test_each_fold_is_aimed_at_the_budget_on_its_own_curve():
    # The means by variant mix a fold that buys much with one that buys little: 50 for 0.8.
    forest = PrunedForestClassifier()
    two = setting(forest, curve([1, 99], [0.7, 0.9]), curve([1, 1], [0.7, 0.7]))
    assert [point.spend for point in two.points()] == [1.0, 50.0]
    assert two.aimed(50.0).spend == 1.0
    assert two.aimed(50.0).score == pytest.approx(0.7)
    assert two.aimed(99.0).score == pytest.approx(0.8)


def test_new_rows_spend_more_than_those_learned_from():
    assert setting(EXITS, curve([1, 12], [0.7, 0.9], own=10.0)).growth == pytest.approx(1.2)
    # That they spend less is noise.
    assert setting(EXITS, curve([1, 8], [0.7, 0.9], own=10.0)).growth == 1.0


def test_a_noisy_difference_is_shrunk():
    fold = FoldCurve([{}], np.array([[12.0, 12, 0.9, 0.0, 0.1]]), 1.0, 12.0, 10.0, 4.0)
    assert setting(EXITS, fold).growth == 1.0


class _Told(PrunedForestClassifier):
    """A model that was told what its held-out rows spent."""

    told: float | None = None

    def held_out_spend(self):
        return self.told


def test_what_held_out_rows_spent_counts_if_it_is_more():
    model = _Told()
    model.told = 12.0
    alike = np.full(100, 10.0)
    assert ExpectedSpend(1.0).of(model, alike) == 12.0
    assert ExpectedSpend(1.5).of(model, alike) == 15.0
    model.told = None
    assert ExpectedSpend(1.0).of(model, alike) == 10.0
    # Rows that counted by their classes say nothing of the mean over rows.
    model.told = 12.0
    assert ExpectedSpend(1.0, has_factors=True).of(model, alike) == 10.0
    assert ExpectedSpend(1.5).of(BudgetTreeClassifier(), alike) == 15.0


def test_a_noisy_excess_of_held_out_rows_is_shrunk():
    model = _Told()
    model.told = 12.0
    few, many = np.tile([0.0, 20.0], 10), np.tile([0.0, 20.0], 5000)
    # The squared errors of both means are 100 over the number of rows.
    assert ExpectedSpend(1.0).of(model, few) == 10.0
    assert ExpectedSpend(1.0).of(model, many) == pytest.approx(10 + 2 * (1 - 0.02 / 4))
    weights = np.tile([1.0, 3.0], 5000)
    assert ExpectedSpend(1.0).of(model, many, weights) == pytest.approx(15.0)


def test_a_cascade_knows_what_its_held_out_rows_spent():
    X, y = make_classification(600, 12, n_informative=8, n_classes=3, flip_y=0.2, random_state=0)
    model = MiserCascadeClassifier(random_state=0, learning_rate=0.2, max_depth=4).fit(X, y)
    found = [model.at(budget).held_out_spend() for budget in (0.0, 2.0, 4.0, 6.0, None)]
    assert found[0] == 0.0
    assert np.all(np.diff(found) >= 0)
    assert found[1] <= 2.0 * (1 + 1e-12)
    # Models are surer of rows that they learned from, which leave sooner.
    own = [model.at(budget).spend(X).mean() for budget in (2.0, 4.0, 6.0, None)]
    assert np.max(np.array(found[1:]) - own) > 0
    assert model.set_params(budget_kind="hard").held_out_spend() is None


def test_the_quoted_spend_is_that_of_the_model(heart, door):
    spend = door.spend(heart.X)
    growth = door.chosen_.spend / spend.mean()
    assert 1 <= growth < 1.5
    assert door.chosen_.max_spend == spend.max()
    assert door.chosen_.spend <= 40 * (1 + 1e-12)


def test_the_quoted_score_is_that_of_folds_with_the_same_spend(heart):
    # All folds but the last promise 0.9 for 30; the fit on all rows buys next to nothing.
    costs = heart.costs
    cheap = EXITS.set_params(costs=costs)
    rich = [curve([0.0, 30.0], [0.55, 0.9]) for _ in range(3)]
    rows = SweepRows.of(heart.X, heart.y)
    one = setting(GreedyMiserClassifier(costs=costs, n_estimators=0), *rich)
    with pytest.warns(BudgetWarning, match="where those of the folds spent 30"):
        found = deliver([one], rows, 30.0, hard=False)
    assert found.promised.score == pytest.approx(0.9)
    assert found.chosen.spend == 0.0
    assert found.chosen.score == pytest.approx(0.55)
    # With another setting that keeps what it promises, that one is handed over.
    other = setting(cheap, *[curve([0.0, 29.0], [0.55, 0.8]) for _ in range(3)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        found = deliver([one, other], rows, 30.0, hard=False)
    assert isinstance(found.model, EarlyExitClassifier)


def test_realised_is_near_quoted(heart):
    ratios = []
    methods = [("PrunedForestClassifier", {"n_estimators": [8], "max_features": [None]})]
    for seed in range(4):
        X, new, y, _ = train_test_split(heart.X, heart.y, test_size=0.5, random_state=seed, stratify=heart.y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BudgetWarning)
            model = BudgetedClassifier(heart.costs, 60.0, methods=methods, cv=3).fit(X, y)
        ratios.append(model.spend(new).mean() / model.chosen_.spend)
    assert 0.8 < np.mean(ratios) < 1.25


def test_another_budget_without_a_fit(heart, door, tmp_path):
    less = door.at(10.0)
    assert less.chosen_.spend <= 10
    assert less.spend(heart.X).mean() <= 10
    assert less.budget == 10.0
    assert door.at(1e6).chosen_.spend == max(point.spend for point in door.path_)
    door.save(tmp_path / "door.farthing")
    again = farthing.load(tmp_path / "door.farthing")
    np.testing.assert_array_equal(again.at(10.0).predict_proba(heart.X), less.predict_proba(heart.X))
    assert len(again.frontier_) == len(door.frontier_)
    assert again.frontier_.best.score == door.frontier_.best.score
    assert again.table() == door.table()


def test_a_hard_budget_at_another_value(heart):
    methods = [("BudgetTreeClassifier", {"max_depth": [4]})]
    door = BudgetedClassifier(heart.costs, 20.0, budget_kind="hard", methods=methods, cv=2)
    door.fit(heart.X, heart.y)
    less = door.at(5.0)
    assert less.spend(heart.X).max() <= 5.0
    assert np.isnan(less.chosen_.score)
    assert door.table().count("\n") == 1


def test_the_cheapest_variant_is_taken_if_none_is_within():
    path = [Point("A", {"n": n}, float(n), float(n), n / 10, 0.0, 0.1) for n in (3, 2, 4)]
    assert pick(path, 1.0, is_any_budget=False).params == {"n": 2}
    assert pick(path, 3.5, is_any_budget=True).params == {"n": 3}


def test_a_variant_that_the_fit_lacks(heart):
    model = EXITS.set_params(costs=heart.costs).fit(heart.X, heart.y)
    assert variant_of(model, {}) is model
    with pytest.raises(LookupError, match="no variant"):
        variant_of(model, {"threshold": 0.123456})


def test_the_regressor_decides_not_the_dtype():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.round(4 * X[:, 0]).astype(np.int64)
    methods = [("GreedyMiserRegressor", {"n_estimators": [40]})]
    assert BudgetedRegressor(budget=3.0, methods=methods, cv=2).fit(X, y).score(X, y) > 0.5
    auto = BudgetedRegressor(budget=2.0, cv=2, time_limit=0).fit(X, y)
    assert all("Classifier" not in point.method for point in auto.frontier_)
    assert auto.predict(X).dtype == np.float64


def test_if_every_method_fails_the_error_says_why(heart):
    methods = [("BudgetTreeClassifier", {"max_depth": ["x"]}), ("GreedyMiserClassifier", {"tradeoff": [-1]})]
    with pytest.raises(
        ValueError, match=r"no method could be fitted: BudgetTree.*max_depth.*; Greedy.*trade"
    ):
        BudgetedClassifier(heart.costs, 20.0, methods=methods, cv=2).fit(heart.X, heart.y)


def test_a_variant_with_a_hard_budget_keeps_it(heart):
    methods = [("MiserCascadeClassifier", {"max_depth": [1], "n_estimators": [5], "budget_kind": ["mean"]})]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        door = BudgetedClassifier(heart.costs, 100.0, methods=methods, cv=2).fit(heart.X, heart.y)
    for budget in (6.479, 16.2, 64.79, 324.0):
        other = door.at(budget)
        np.testing.assert_array_equal(other.acquired(heart.X), other.model_.acquired(heart.X))
        assert other.spend(heart.X).mean() <= other.chosen_.spend * (1 + 1e-9)


def test_of_variants_within_the_budget_the_nearest_is_taken(heart):
    # A fit on all rows that spends more than the folds did is held to the budget by another threshold.
    whole = EarlyExitClassifier(MISER, threshold=1.0, rounds_per_exit=1, costs=heart.costs)
    full = whole.fit(heart.X, heart.y).spend(heart.X).mean()
    rows = SweepRows.of(heart.X, heart.y)

    def held_to(budget, spend):
        figures = np.array([[spend, spend, 0.8, 0.01, 0.2]])
        folds = [FoldCurve([{}], figures, 1.0, spend, spend, 0.0) for _ in range(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BudgetWarning)
            return deliver([setting(whole, *folds)], rows, budget, hard=False).model

    assert held_to(full, full).threshold == 1.0
    held = held_to(0.9 * full, 0.9 * full)
    assert held.spend(heart.X).mean() <= 0.9 * full
    assert held.threshold < 1
    assert held.estimator.n_estimators == 8
    cheapest = min(v.spend(heart.X).mean() for _, v in whole.variants())
    assert held_to(0.0, 0.0).spend(heart.X).mean() == cheapest


@pytest.mark.filterwarnings("ignore:the model fitted on all rows")
def test_a_budget_below_every_variant_is_said(heart):
    model = farthing.BudgetedClassifier(heart.costs, 20, methods=[BudgetTreeClassifier(max_depth=2)], cv=2)
    model.fit(heart.X, heart.y)
    with pytest.warns(BudgetWarning, match=r"no variant of this fit spends 0\.5 or less .* spends"):
        cheapest = model.at(0.5)
    assert cheapest.chosen_.spend > 0.5
    assert model.table([0.5])  # the line says what it spends
