"""Early exit for classes, against exits taken by hand on the staged outputs."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from farthing import load
from farthing.boosting import GradientBoostingRegressor, GreedyMiserClassifier
from farthing.cascades import BranchingCascadeClassifier, EarlyExitClassifier, MiserCascadeClassifier
from farthing.cascades.early_exit.model import exit_trees
from farthing.costs import CostSheet, Group
from farthing.errors import FileError
from farthing.store import read, write
from farthing.trees import Forest

SHEET = CostSheet([1.0, 2.0, 4.0, 8.0, 0.5], groups={"lab": Group(3.0, ["x1", "x2"])})


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 5)), 1)
    X[rng.random(size=X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X) @ [1.0, 0.7, -0.7, 0.4, 0.1] + 0.3 * rng.normal(size=400)
    return X, np.digitize(signal, [-0.5, 0.6])


@pytest.fixture(scope="module")
def plain(table):
    return GreedyMiserClassifier(n_estimators=24, max_depth=2, learning_rate=0.3, costs=SHEET).fit(*table)


def staged_by_hand(model, X, threshold, rounds_per_exit):
    """Return probabilities and acquired of each row at the first exit where its top class is above."""
    probabilities, acquired = None, None
    open_rows = np.ones(len(X), dtype=bool)
    n_classes = len(model.classes_)
    for rounds in range(rounds_per_exit, model.n_rounds_ + rounds_per_exit, rounds_per_exit):
        n_trees = min(rounds + 1, model.n_rounds_ + 1) * n_classes
        first = Forest.from_arrays(
            n_features=5,
            n_outputs=n_classes,
            offsets=model.forest_.offsets[: n_trees + 1],
            target=model.forest_.target[:n_trees],
            **{
                name: getattr(model.forest_, name)[: model.forest_.offsets[n_trees]]
                for name in ("feature", "threshold", "left", "right", "missing", "value")
            },
        )
        shorter = GreedyMiserClassifier(**model.get_params()).adopt(replace(model.fitted_, forest=first))
        if probabilities is None:
            probabilities, acquired = shorter.predict_proba(X), shorter.acquired(X)
        probabilities[open_rows] = shorter.predict_proba(X)[open_rows]
        acquired[open_rows] = shorter.acquired(X)[open_rows]
        open_rows &= ~(probabilities.max(axis=1) > threshold)
    return probabilities, acquired


@pytest.mark.parametrize(("threshold", "rounds_per_exit"), [(0.5, 1), (0.8, 5), (0.95, 10)])
def test_rows_leave_at_the_first_exit_where_their_class_is_clear(table, plain, threshold, rounds_per_exit):
    X, _ = table
    early = EarlyExitClassifier.around(plain, threshold=threshold, rounds_per_exit=rounds_per_exit)
    probabilities, acquired = staged_by_hand(plain, X, threshold, rounds_per_exit)
    assert early.predict_proba(X).tobytes() == probabilities.tobytes()
    assert np.array_equal(early.acquired(X), acquired)
    assert (probabilities != plain.predict_proba(X)).any()  # somebody left


def test_at_a_threshold_of_one_nobody_leaves(table, plain):
    X, _ = table
    early = EarlyExitClassifier.around(plain, threshold=1.0, rounds_per_exit=3)
    assert early.predict_proba(X).tobytes() == plain.predict_proba(X).tobytes()
    assert early.spend(X).tobytes() == plain.spend(X).tobytes()


def test_a_lower_threshold_never_buys_more(table, plain):
    X, _ = table
    bought = [
        EarlyExitClassifier.around(plain, threshold=s, rounds_per_exit=2).acquired(X)
        for s in (0.4, 0.6, 0.8, 0.99, 1.0)
    ]
    for less, more in itertools.pairwise(bought):
        assert (less <= more).all()
    assert bought[0].sum() < bought[-1].sum()


def test_every_variant_is_what_a_fit_with_its_parameters_gives(table):
    X, y = table
    miser = GreedyMiserClassifier(n_estimators=12, max_depth=2, tradeoff=0.01, relative=True, costs=SHEET)
    model = EarlyExitClassifier(miser, rounds_per_exit=2).fit(X, y)
    variants = list(model.variants())
    assert len({params.get("estimator__n_estimators") for params, _ in variants}) > 2
    for params, variant in variants[::7]:
        again = (
            EarlyExitClassifier(GreedyMiserClassifier(**miser.get_params()), rounds_per_exit=2)
            .set_params(**params)
            .fit(X, y)
        )
        assert np.array_equal(again.predict_proba(X), variant.predict_proba(X))
        assert np.array_equal(again.spend(X), variant.spend(X))
        assert variant.get_params()["estimator__n_estimators"] == params.get("estimator__n_estimators", 12)
    assert miser.n_estimators == model.estimator.n_estimators == 12


def test_the_budget_of_the_model_within_is_kept(table):
    X, y = table
    inner = GreedyMiserClassifier(n_estimators=12, costs=SHEET, budget=6.0)
    early = EarlyExitClassifier(inner, threshold=0.9, rounds_per_exit=2).fit(X, y)
    assert early.budget_ == early.model_.budget_
    assert early.spend(X).max() <= 6.0
    assert (
        inner.__dict__.keys() == GreedyMiserClassifier().__dict__.keys()
    )  # the estimator given stays unfitted


def test_costs_given_to_the_wrapper_win(table):
    X, y = table
    early = EarlyExitClassifier(
        GreedyMiserClassifier(n_estimators=2, costs=SHEET), costs=SHEET.scaled(2)
    ).fit(X, y)
    assert early.costs_ == early.model_.costs_ == SHEET.scaled(2)
    early = EarlyExitClassifier(GreedyMiserClassifier(n_estimators=2, costs=SHEET)).fit(X, y)
    assert early.costs_ == SHEET


def test_exits_are_at_whole_rounds():
    leaf = Forest.constant([0.0], n_features=1)
    stump = Forest.from_arrays(
        n_features=1,
        feature=[0, -1, -1],
        threshold=[0] * 3,
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0.0]] * 3,
    )

    def of(trees):
        joined = Forest.concat(trees)
        return Forest.from_arrays(
            n_features=1,
            n_outputs=3,
            target=np.arange(len(trees)) % 3,
            **{n: getattr(joined, n) for n in ("offsets", "feature", "threshold", "left", "right", "value")},
        )

    assert exit_trees(of([leaf] * 3 + [stump] * 12), rounds_per_exit=2) == (9, 15)
    assert exit_trees(of([stump] * 12), rounds_per_exit=1) == (3, 6, 9, 12)
    assert exit_trees(of([leaf] * 3), rounds_per_exit=1) == (3,)


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"threshold": 1.2}, ValueError, "threshold"),
        ({"threshold": np.nan}, ValueError, "threshold"),
        ({"rounds_per_exit": 0}, ValueError, "rounds_per_exit"),
        ({"rounds_per_exit": 1.5}, ValueError, "rounds_per_exit"),
        ({"estimator": GradientBoostingRegressor()}, TypeError, "EarlyExitRanker"),
        ({"estimator": MiserCascadeClassifier()}, TypeError, "exits of its own"),
        ({"estimator": BranchingCascadeClassifier()}, TypeError, "exits of its own"),
    ],
)
def test_what_makes_no_exit_is_refused(table, params, kind, message):
    X, y = table
    with pytest.raises(kind, match=message):
        EarlyExitClassifier(**{"estimator": GreedyMiserClassifier(n_estimators=1), **params}).fit(X, y)


# Files: a model within a model.


def test_a_file_holds_both_models(table, plain, tmp_path):
    X, _ = table
    early = EarlyExitClassifier.around(plain, threshold=0.7, rounds_per_exit=4)
    early.save(tmp_path / "early")
    loaded = load(tmp_path / "early")
    assert type(loaded.model_) is GreedyMiserClassifier
    assert loaded.model_.forest_ == plain.forest_
    assert loaded.get_params()["estimator__n_estimators"] == 24
    for budget in (None, 5.0):
        assert (
            loaded.predict_proba(X, budget=budget).tobytes()
            == early.predict_proba(X, budget=budget).tobytes()
        )


def spoil_fitted(name, value):
    def spoil(state):
        state["fitted"][name] = value

    return spoil


def spoil_inner(name, value):
    def spoil(state):
        inner = state["fitted"]["model_"]
        inner.adopt(replace(inner.fitted_, **{name: value}))

    return spoil


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_fitted("model_", 3.0),
        spoil_fitted("model_", None),
        spoil_fitted("model_", EarlyExitClassifier()),
        spoil_fitted("model_", GreedyMiserClassifier()),  # not fitted
        spoil_fitted("rounds_per_exit_", 0),
        spoil_fitted("threshold_", 7.0),
        spoil_fitted("threshold_", float("nan")),
        spoil_fitted("budget_", 3.0),
        spoil_fitted("prior_", np.array([0.0, 0.0, 9.0])),
        spoil_fitted("costs_", SHEET.scaled(2)),
        spoil_fitted("classes_", np.array([0, 1, 5])),
        spoil_inner("classes", np.array([0, 1])),
        spoil_inner("prior", np.array([0.0, np.nan, 0.0])),
        spoil_inner("forest", Forest.constant([0.0], n_features=5)),
        spoil_inner("forest", Forest.constant([0.0, 0.0, 0.0], n_features=4)),
        lambda state: state["params"].update(strange=1),
    ],
)
def test_a_file_whose_models_do_not_fit_together_is_refused(plain, tmp_path, spoil):
    EarlyExitClassifier.around(plain, threshold=0.7, rounds_per_exit=4).save(tmp_path / "early")
    kind, state = read(tmp_path / "early")
    spoil(state)
    write(tmp_path / "spoilt", kind, state)
    with pytest.raises(FileError):
        load(tmp_path / "spoilt")


def test_a_regressor_within_a_classifier_is_refused(table, plain, tmp_path):
    X, y = table
    EarlyExitClassifier.around(plain).save(tmp_path / "early")
    kind, state = read(tmp_path / "early")
    state["fitted"]["model_"] = GradientBoostingRegressor(n_estimators=2, costs=SHEET).fit(X, y)
    write(tmp_path / "spoilt", kind, state)
    with pytest.raises(FileError):
        load(tmp_path / "spoilt")
