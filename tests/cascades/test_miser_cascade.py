"""The miser cascade: chains, budgets, exits, walks."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from farthing import BudgetedClassifier, load
from farthing.base import SweepContext, TrainingSet
from farthing.cascades import MiserCascadeClassifier, MiserCascadeRegressor
from farthing.cascades.miser_cascade.feature_chains import cut
from farthing.cascades.miser_cascade.grid import cascade_auto
from farthing.cascades.miser_cascade.held_out_rows import held_out_folds
from farthing.costs import CostSheet, Group
from farthing.errors import FileError
from farthing.trees import Predictor

SHEET = CostSheet([1.0, 3.0, 9.0, 9.5, 0.0, 2.0], groups={"lab": Group(2.0, ["x1", "x5"])})
SMALL = {"n_estimators": 12, "learning_rate": 0.3, "max_depth": 3, "min_samples_leaf": 3, "random_state": 0}


def drawn(n_rows, seed):
    """Draw rows: x0 tells the sign, x1 and x2 tell more where x0 is unsure, x3 repeats x0 and is dear."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    X[:, 3] = X[:, 0]
    signal = 2 * X[:, 0] + (np.abs(X[:, 0]) < 0.7) * (X[:, 1] + X[:, 2]) + 0.3 * X[:, 4]
    return X, signal


@pytest.fixture(scope="module")
def tables():
    parts = [drawn(n_rows, seed) for seed, n_rows in enumerate((700, 400, 300))]
    return [(X, np.digitize(signal, [-0.8, 0.8])) for X, signal in parts]


@pytest.fixture(scope="module")
def model(tables):
    train, held, _ = tables
    return MiserCascadeClassifier(SHEET, **SMALL).fit(*train, validation=held)


def test_cut_takes_every_column_if_there_are_stages_enough():
    assert cut(np.array([0.0, 0.0, 3.0, 5.0]), 1, 5) == [1, 2, 3]


def test_the_free_feature_comes_first_and_the_dear_copy_never(model):
    assert model.sets_[0].tolist() == [False, False, False, False, True, False]
    assert not model.sets_[:, 3].any()


def test_chains_are_nested_and_those_of_small_budgets_begin_within_them(model):
    whole = SHEET.total(SHEET.features)
    for number, chain in enumerate(model.chains_):
        sets = chain[chain >= 0]
        costs = SHEET.total_rows(model.fitted_.owned(sets))
        assert (np.diff(costs) > 0).all()
        if number > 1:  # the first two are those of the miser and of forward selection
            assert costs[1] <= 0.16 * whole * (1 + 1e-12)


def test_the_mean_budget_holds_on_the_rows_that_set_the_exits(model, tables):
    _, (X, _), _ = tables
    for budget in (0.5, 1.0, 2.0, 4.0, 8.0, 12.0):
        assert model.at(budget).spend(X).mean() <= budget * (1 + 1e-9)


def test_the_path_says_what_held_out_rows_pay(model, tables):
    _, (X, y), _ = tables
    points = model.path()
    assert len(points) > 5
    for point in points[:: len(points) // 5]:
        decided = point.model.decide(X)
        assert decided.spent.mean() == pytest.approx(point.spend)
        wrong = (decided.prediction != y).mean()
        expected = (1 - decided.probabilities.max(axis=1)).mean()
        if decided.acquired.any():
            assert -point.score == pytest.approx((wrong + expected) / 2, abs=1e-9)


def test_more_budget_is_more_accurate_and_beats_every_stage_alone(model, tables):
    _, _, (X, y) = tables
    scores = [(model.at(budget).predict(X) == y).mean() for budget in (0.0, 1.0, 6.0, None)]
    assert scores[0] < scores[1] < scores[2] <= scores[3] + 0.02
    # At the spend of the cascade a single set does not do as well.
    owned = SHEET.total_rows(model.sets_)
    budget = 6.0
    alone = MiserCascadeClassifier(SHEET, budget, budget_kind="hard", **SMALL)
    alone.fit(*tables[0], validation=tables[1])
    assert owned.max() > budget
    assert scores[2] >= (alone.predict(X) == y).mean()


def test_sure_rows_stop_early(model, tables):
    _, _, (X, _) = tables
    spent = model.at(5.0).spend(X)
    sure = np.abs(X[:, 0]) > 1.2
    assert spent[sure].mean() < spent[~sure].mean()


def test_a_hard_budget_takes_every_row_to_the_last_stage_it_can_pay(tables):
    train, held, (X, _) = tables
    model = MiserCascadeClassifier(SHEET, 7.0, budget_kind="hard", **SMALL)
    model.fit(*train, validation=held)
    owned = model.fitted_.owned(model.chain_)
    payable = owned[SHEET.total_rows(owned) <= 7.0][-1]
    assert (model.acquired(X) == payable).all()
    nothing = model.acquired(X, budget=0.5)
    assert (nothing == model.sets_[0]).all()


@pytest.mark.parametrize("other", [{"exit": "learned"}, {"error_costs": 1 - np.eye(3)}])
def test_curtailment_says_what_it_clashes_with(tables, other):
    with pytest.raises(ValueError, match=f"curtail=True cannot be combined with {next(iter(other))}"):
        MiserCascadeClassifier(SHEET, curtail=True, **other).fit(*tables[0])


def test_curtailment_changes_no_label_and_saves(tables):
    train, held, (X, _) = tables
    settings = {"budget": 7.0, "budget_kind": "hard", **SMALL}
    whole = MiserCascadeClassifier(SHEET, **settings).fit(*train, validation=held)
    less = MiserCascadeClassifier(SHEET, **settings, curtail=True).fit(*train, validation=held)
    for budget in (1.0, 4.0, None):
        expected, got = whole.at(budget).decide(X), less.at(budget).decide(X)
        assert (got.prediction == expected.prediction).all()
        assert (got.spent <= expected.spent).all()
    assert less.spend(X).mean() < whole.spend(X).mean()


def test_a_walk_asks_stage_by_stage_the_cheapest_first(model, tables):
    _, _, (X, _) = tables
    far = model.at(None)
    walk = far.walk()
    asked = []
    while walk.ask is not None:
        asked.append(far.schema_.index(walk.ask.feature))
        walk.tell(X[0, asked[-1]])
    owned = far.fitted_.owned(far.chain_)
    for before, after in itertools.pairwise(owned):
        new = np.flatnonzero(after & ~before)
        places = [asked.index(column) for column in new if column in asked]
        if places:
            prices = [SHEET.price(SHEET.features[column]) for column in np.array(asked)[sorted(places)]]
            assert prices == sorted(prices)
            assert all(asked.index(c) > max(places) for c in asked if not after[c])


def test_held_out_rows_were_not_seen_by_the_trees():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, size=300)
    model = MiserCascadeClassifier(
        n_estimators=30, max_depth=8, learning_rate=0.5, n_iter_no_change=None, random_state=0
    )
    model.fit(X, y)
    # Labels by lot cannot be learned; trees that saw their rows would claim to.
    assert model.set_risks_.min() > 0.4


@pytest.mark.parametrize("n_folds", [1, 3])
def test_folds_hold_out_what_they_say(tables, n_folds):
    X, y = tables[0]
    rows = TrainingSet.of(X, y, classes=np.unique(y))
    folds = held_out_folds(rows, len(y), n_folds, random_state=0)
    assert len(folds) == n_folds
    for fold in folds:
        assert not set(fold.learn) & set(fold.held_out)
        assert len(fold.learn) + len(fold.held_out) == len(y)


@pytest.mark.parametrize("n_folds", [1, 3])
def test_boosters_are_grown_on_all_rows_in_the_end(tables, n_folds):
    X, y = tables[0]
    model = MiserCascadeClassifier(SHEET, n_folds=n_folds, ensemble=False, **SMALL).fit(X, y)
    roots = model.forest_.offsets[:-1]
    grown = roots[model.forest_.feature[roots] >= 0]
    shares = np.bincount(y) / len(y)
    # The cover is the sum of p (1 - p) over the rows, where p is at first the share of the class.
    assert model.forest_.cover[grown[:3]] == pytest.approx(len(y) * shares * (1 - shares))


def test_an_ensemble_has_the_trees_of_all_folds(tables):
    X, y = tables[0]
    options = {**SMALL, "n_iter_no_change": None, "n_folds": 3}
    several, one = (
        MiserCascadeClassifier(SHEET, ensemble=each, **options).fit(X, y) for each in (True, False)
    )
    assert np.array_equal(several.sets_, one.sets_)
    assert np.array_equal(several.set_risks_, one.set_risks_)  # held-out rows see one booster in both
    # One constant for all folds; all sets but the free one have trees.
    trees = [np.diff(model.ends_, prepend=0) for model in (several, one)]
    assert trees[0][0] == trees[1][0]
    assert (trees[0][1:] > 2 * trees[1][1:]).all()


def test_every_variant_is_what_a_fit_with_its_parameters_gives(tables):
    train, _, test = tables
    model = MiserCascadeClassifier(SHEET, 5.0, n_folds=2, **SMALL).fit(*train)
    variants = list(model.variants())
    assert sum(params.get("budget_kind") == "hard" for params, _ in variants) > 10
    means = [params["budget"] for params, _ in variants if set(params) == {"budget"}]
    assert len(means) > 10
    assert means == sorted(means)
    for params, variant in variants[::9]:
        again = MiserCascadeClassifier(SHEET, 5.0, n_folds=2, **SMALL).set_params(**params).fit(*train)
        assert np.array_equal(again.predict_proba(test[0]), variant.predict_proba(test[0]))
        assert np.array_equal(again.spend(test[0]), variant.spend(test[0]))


def test_a_hard_variant_is_one_booster_on_the_best_set_that_the_budget_pays(model, tables):
    X = tables[2][0]
    hard = [(params["budget"], v) for params, v in model.variants() if params.get("budget_kind") == "hard"]
    assert len(hard) > 10
    for budget, variant in hard:
        acquired = variant.acquired(X)
        assert (acquired == acquired[0]).all()
        assert SHEET.total(acquired[0]) <= budget
        # The last set of each chain that the budget pays, and the one of them that risks least.
        last = []
        for chain in model.chains_:
            sets = chain[chain >= 0]
            last.append(sets[SHEET.total_rows(model.fitted_.owned(sets)) <= budget][-1])
        best = min(last, key=lambda place: model.set_risks_[place])
        trees = model.forest_.trees(model.ends_[best - 1] if best else 0, model.ends_[best])
        scores, _ = Predictor(trees).predict(X)
        assert np.array_equal(variant.decision_function(X), scores / model.temperatures_[best])


def test_error_costs_move_labels_and_are_weighed_against_prices(tables):
    train, held, (X, y) = tables
    costs = np.where(np.eye(3, dtype=bool), 0.0, 30.0)
    costs[2] = [90.0, 90.0, 0.0]  # to miss class 2 is the worst
    model = MiserCascadeClassifier(SHEET, error_costs=costs, **SMALL).fit(*train, validation=held)
    plain = MiserCascadeClassifier(SHEET, **SMALL).fit(*train, validation=held)
    missed = (model.predict(X)[y == 2] != 2).mean()
    assert missed < (plain.predict(X)[y == 2] != 2).mean()
    # With errors that cost next to nothing, nothing is worth its price.
    idle = MiserCascadeClassifier(SHEET, error_costs=costs * 1e-6, **SMALL).fit(*train, validation=held)
    assert idle.spend(X).max() == 0
    assert model.spend(X).mean() > 0
    with pytest.raises(ValueError, match="error_costs: the costs are for 2 classes; y has 3"):
        MiserCascadeClassifier(error_costs=np.ones((2, 2)), **SMALL).fit(*train)


def test_class_weight_counts_in_learning(tables):
    train, held, (X, _) = tables
    model = MiserCascadeClassifier(SHEET, class_weight={1: 20.0}, **SMALL).fit(*train, validation=held)
    plain = MiserCascadeClassifier(SHEET, **SMALL).fit(*train, validation=held)
    assert (model.predict(X) == 1).mean() > (plain.predict(X) == 1).mean()


def test_learned_exits_keep_walks_and_arrays_together(tables):
    train, held, (X, _) = tables
    model = MiserCascadeClassifier(SHEET, 4.0, exit="learned", **SMALL).fit(*train, validation=held)
    # The gates that told the held out rows had not seen them; those of the model have.
    assert model.spend(held[0]).mean() <= 4.0 * 1.2
    decided = model.decide(X[:20])
    for row in range(20):
        walk = model.walk()
        while walk.ask is not None:
            walk.tell(X[row, model.schema_.index(walk.ask.feature)])
        assert walk.decision.prediction == decided.prediction[row]
        assert walk.decision.spent == decided.spent[row]
    assert len(np.unique(decided.spent)) > 1


def test_numbers_go_on_where_there_is_more_to_gain():
    X, signal = drawn(1200, 3)
    model = MiserCascadeRegressor(SHEET, 4.0, **SMALL).fit(X[:800], signal[:800])
    fresh, wanted = X[800:], signal[800:]
    spent, unsure = model.spend(fresh), np.abs(fresh[:, 0]) < 0.7
    assert spent[unsure].mean() > spent[~unsure].mean()
    errors = [np.mean((model.at(b).predict(fresh) - wanted) ** 2) for b in (0.0, 1.0, 6.0, None)]
    assert errors[0] > errors[1] > errors[2] > 0.98 * errors[3]


def test_small_tables_of_classes_get_fewer_bins_and_longer_steps():
    def tried(n_rows, n_classes):
        params = cascade_auto(SweepContext(n_rows, 2, n_classes, CostSheet([1.0, 1.0])))
        candidate = MiserCascadeClassifier(**{name: values[0] for name, values in params.items()})
        return candidate.max_depth, candidate.max_bins, candidate.learning_rate

    assert [tried(n, 3) for n in (999, 1000, 3999)] == [(3, 31, 0.15), (4, 63, 0.2), (4, 63, 0.2)]
    assert tried(4000, 3) == (4, 255, 0.2)
    assert [tried(n, None) for n in (999, 1000)] == [(3, 255, 0.1), (4, 255, 0.1)]


@pytest.mark.parametrize("kind", ["mean", "hard"])
def test_the_front_door_takes_its_budgets(tables, kind):
    X, y = tables[0]
    grid = {"n_estimators": [5], "n_stages": [3], "n_folds": [2], "budget_kind": [kind], "budget": [6.0]}
    door = BudgetedClassifier(SHEET, 6.0, budget_kind=kind, methods=[(MiserCascadeClassifier, grid)], cv=2)
    door.fit(X[:300], y[:300])
    assert door.chosen_.method == "MiserCascadeClassifier"
    spent = door.spend(X[300:])
    assert spent.max() <= 6.0 if kind == "hard" else 0 < spent.mean() < 12.0
    points = {point.params["budget"] for point in door.frontier_ if point.method == "MiserCascadeClassifier"}
    assert len(points) > 10


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"budget_kind": "median"}, "'budget_kind' parameter .* must be"),
        ({"n_stages": 0}, "'n_stages' parameter .* must be"),
        ({"n_folds": 0}, "'n_folds' parameter .* must be"),
        ({"trust": 2.0}, "'trust' parameter .* must be"),
        ({"exit": "never"}, "'exit' parameter .* must be"),
        ({"l2_regularization": -1.0}, "'l2_regularization' parameter .* must be"),
    ],
)
def test_bad_parameters_are_named(tables, params, message):
    with pytest.raises(ValueError, match=message):
        MiserCascadeClassifier(SHEET, **params).fit(*tables[0])


def test_validation_rows_are_checked(tables):
    X, y = tables[0]
    with pytest.raises(ValueError, match="validation must be"):
        MiserCascadeClassifier(SHEET).fit(X, y, validation=X)
    with pytest.raises(ValueError, match="no training row has"):
        MiserCascadeClassifier(SHEET).fit(X, y, validation=(X, y + 7))


def test_a_file_whose_trees_look_at_what_is_not_paid_is_refused(model, tmp_path):
    path = tmp_path / "model.farthing"
    bad = model.at(4.0)
    sets = model.sets_.copy()
    sets[-1] = sets[0]
    bad.adopt(replace(bad.fitted_, sets=sets)).save(path)
    with pytest.raises(FileError, match="does not have"):
        load(path)
    chain, thresholds = np.array([len(model.sets_)]), np.array([np.inf])
    bad.adopt(replace(model.fitted_, chain=chain, thresholds=thresholds)).save(path)
    with pytest.raises(FileError, match="chain"):
        load(path)
