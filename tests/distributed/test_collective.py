"""Sums over peers, and fits among peers that are threads: the same bits for any rows at any peer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.distributed.tables import assert_same_bits, numbers
from tests.distributed.thread_peers import ThreadPeers, run_among

from farthing.base import BudgetedEstimator, TrainingSet
from farthing.boosting import GradientBoostingRegressor, GreedyMiserClassifier, GreedyMiserRegressor
from farthing.cascades import MiserCascadeClassifier, MiserCascadeRegressor
from farthing.collective import all_numbers, bounds, count, gather, group_totals, mean, own_rows, total
from farthing.costs import CostSheet
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.learning.random_numbers import draw_rows
from farthing.table import BinRules, PartCodes, PartTable, Schema, content_keys, sample_of
from farthing.trees import Forest

FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30)


@given(FLOATS)
def test_total_is_the_exact_sum_rounded_once(values: list[float]) -> None:
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        expected = exact.numerator / exact.denominator
    except OverflowError:
        expected = math.inf if exact > 0 else -math.inf
    assert total(np.array(values)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([math.inf, 1.0], math.inf),
        ([-math.inf], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan], math.nan),
    ],
)
def test_total_of_special_values(values: list[float], expected: float) -> None:
    np.testing.assert_equal(total(np.array(values)), expected)


@given(st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=30), st.data())
def test_sums_over_peers(values: list[float], data: st.DataObject) -> None:
    array = np.array(values)
    rank_of = np.array([data.draw(st.integers(0, 1)) for _ in values])
    rank_of[:2] = 0, 1
    places = [np.flatnonzero(rank_of == rank) for rank in (0, 1)]
    groups = np.arange(len(array)) % 3

    def everything(rows: np.ndarray) -> tuple[Any, ...]:
        mine = array[rows]
        return (
            total(mine),
            mean(mine, np.abs(mine) + 1),
            group_totals(groups[rows], mine, 3).tolist(),
            bounds(mine),
            count(len(mine)),
        )

    alone = everything(np.arange(len(array)))
    assert run_among(places, lambda rank: everything(places[rank])) == [alone, alone]


@given(n_rows=st.integers(3, 200), data=st.data())
def test_draws_over_peers(n_rows: int, data: st.DataObject) -> None:
    n_drawn = data.draw(st.integers(1, n_rows))
    places = [np.arange(rank, n_rows, 3) for rank in range(3)]
    drawn = run_among(places, lambda rank: places[rank][draw_rows(7, len(places[rank]), n_drawn)])
    np.testing.assert_array_equal(np.sort(np.concatenate(drawn)), draw_rows(7, n_rows, n_drawn))


@given(n_rows=st.integers(3, 200), data=st.data())
def test_rows_by_their_numbers(n_rows: int, data: st.DataObject) -> None:
    values = np.random.default_rng(n_rows).normal(size=(n_rows, 2))
    chosen = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)))
    places = [np.arange(rank, n_rows, 3) for rank in range(3)]

    def look(rank: int) -> tuple[Any, ...]:
        mine = np.flatnonzero(np.isin(places[rank], chosen))
        every = all_numbers(mine)
        return mine, every, own_rows(every, len(places[rank])), gather(values[places[rank]][mine], mine)

    for mine, every, own, gathered in run_among(places, look):
        np.testing.assert_array_equal(every, chosen)
        np.testing.assert_array_equal(own, mine)
        np.testing.assert_array_equal(gathered, values[chosen])


CASCADE: dict[str, Any] = {
    "n_stages": 2,
    "n_estimators": 3,
    "max_depth": 2,
    "learning_rate": 0.5,
    "random_state": 0,
}
MISER: dict[str, Any] = {"n_estimators": 4, "max_depth": 3, "tradeoff": 0.001, "relative": True}
ESTIMATORS = {
    "model ledger": GreedyMiserRegressor(**MISER),
    "row ledger": GreedyMiserRegressor(**MISER, charge="row", budget=2.5, subsample=0.7, random_state=1),
    "gradient boosting": GradientBoostingRegressor(n_estimators=4, max_leaf_nodes=6),
    "counted ahead": GreedyMiserRegressor(
        **{**MISER, "max_depth": None, "tradeoff": 0.01}, max_leaf_nodes=31, learning_rate=0.9
    ),
    "monotonic": GreedyMiserRegressor(**MISER, charge="row", monotonic_cst=[1, -1, 0, 0, 1]),
    "classes": GreedyMiserClassifier(**MISER),
    "one tree": GreedyMiserClassifier(**MISER, multi_strategy="multi_output_tree", charge="row"),
    "tree": BudgetTreeClassifier(max_leaf_nodes=9, impurity="gini"),
    "forest": BudgetForestClassifier(
        n_estimators=3, max_depth=4, max_features=2, max_cuts=3, budget=4.0, random_state=1
    ),
    "forest, held out": BudgetForestClassifier(
        n_estimators=3,
        impurity="pairs",
        alpha=[0.0, 5.0],
        validation_fraction=0.3,
        budget=4.5,
        random_state=2,
    ),
    "forest, out of bag": BudgetForestClassifier(
        n_estimators=3, impurity="pairs", alpha=[0.0, 5.0], aggregation="vote", max_depth=5, random_state=3
    ),
    "cascade": MiserCascadeClassifier(**CASCADE, n_folds=2),
    "cascade, gates": MiserCascadeClassifier(
        **CASCADE, n_folds=1, exit="learned", multi_strategy="multi_output_tree"
    ),
    "cascade, numbers": MiserCascadeRegressor(**CASCADE, n_folds=2, budget=3.0),
}


def fit_among(
    estimator: BudgetedEstimator, rows: TrainingSet, places: list[np.ndarray], saved: list[Any]
) -> list[BudgetedEstimator]:
    rules = BinRules.learn(rows.values[sample_of(len(rows))], rows.schema, 255)

    def fit(rank: int) -> BudgetedEstimator:
        mine = places[rank]
        values = rows.values[mine]
        codes = PartCodes(rules.codes(values))
        table = PartTable(rows.schema, [codes], rules, 255, content_keys(values))
        part = TrainingSet(table, rows.target[mine], rows.weights[mine], rows.costs, rows.classes)
        return clone(estimator).fit_rows(part)

    return run_among(places, fit, saved)


def training_rows(estimator: BudgetedEstimator, n_rows: int, seed: int) -> TrainingSet:
    X, y, weights = numbers(n_rows, seed)
    is_classifier = (
        estimator._estimator_type == "classifier" if hasattr(estimator, "_estimator_type") else False
    )
    classes = np.array(["a", "b", "c"]) if is_classifier or hasattr(estimator, "predict_proba") else None
    target = y if classes is None else np.digitize(y, [0.0, 2.0])
    schema = Schema.learn(X)
    return TrainingSet.of(X, target, weights + 0.1, CostSheet.of(None, schema.names), classes)


@pytest.mark.parametrize("name", ESTIMATORS)
@given(data=st.data())
@settings(max_examples=4)
def test_any_rows_at_any_peer(name: str, data: st.DataObject) -> None:
    estimator = ESTIMATORS[name]
    rows = training_rows(estimator, n_rows=300, seed=data.draw(st.integers(0, 99)))
    size = data.draw(st.integers(2, 4))
    # Most rows at one of them, in any order: sums may not depend on it.
    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(rows))
    cuts = sorted(data.draw(st.lists(st.integers(1, 299), min_size=size - 1, max_size=size - 1, unique=True)))
    places = [np.asarray(part) for part in np.split(order, cuts)]
    alone = clone(estimator).fit_rows(rows)
    for together in fit_among(estimator, rows, places, []):
        assert_same_bits(alone, together)


def test_more_rows_than_packed_sums_hold() -> None:
    """Beyond two million rows, a root is still carried from tree to tree, with the rows of all peers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2**21, 2))
    y = X[:, 0] * (X[:, 1] > 0) + rng.normal(size=len(X))
    rows = TrainingSet.of(X, y, np.ones(len(X)), CostSheet.of(None, Schema.learn(X).names), None)
    estimator = GreedyMiserRegressor(n_estimators=4, max_depth=2)
    alone = clone(estimator).fit_rows(rows)
    places = [np.arange(0, len(X), 3), np.flatnonzero(np.arange(len(X)) % 3)]
    for together in fit_among(estimator, rows, places, []):
        assert_same_bits(alone, together)


@pytest.mark.parametrize("name", ["model ledger", "row ledger", "gradient boosting", "forest"])
def test_continues_from_saved_rounds(name: str) -> None:
    estimator = ESTIMATORS[name]
    rows = training_rows(estimator, n_rows=300, seed=0)
    alone = clone(estimator).fit_rows(rows)
    forest = alone.forest_
    first = 0 if name == "forest" else 1  # after the constant that boosting starts from
    saved = [forest.trees(first, first + 1), forest.trees(first + 1, first + 2)]
    assert all(isinstance(tree, Forest) for tree in saved)
    places = [np.arange(0, 300, 2), np.arange(1, 300, 2)]
    for together in fit_among(estimator, rows, places, saved):
        assert_same_bits(alone, together)


def test_folds_and_sets_travel_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five folds take little more exchanges than one: theirs are the same ones."""
    n_exchanges = 0
    meet = ThreadPeers._meet

    def counted(self: ThreadPeers, numbers: np.ndarray, combine: Any) -> np.ndarray:
        nonlocal n_exchanges
        n_exchanges += self.rank == 0
        return meet(self, numbers, combine)

    monkeypatch.setattr(ThreadPeers, "_meet", counted)
    rows = training_rows(ESTIMATORS["cascade"], n_rows=200, seed=0)
    places = [np.arange(0, 200, 2), np.arange(1, 200, 2)]
    found = {}
    for n_folds in (1, 5):
        n_exchanges = 0
        fit_among(clone(ESTIMATORS["cascade"]).set_params(n_folds=n_folds), rows, places, [])
        found[n_folds] = n_exchanges
    assert found[5] < 2 * found[1]


def test_continues_from_the_choice_of_features() -> None:
    estimator = ESTIMATORS["cascade"]
    rows = training_rows(estimator, n_rows=120, seed=0)
    alone = clone(estimator).fit_rows(rows)
    sets = [np.flatnonzero(flags) for flags in alone.sets_]
    chains = [chain[chain >= 0].tolist() for chain in alone.chains_]
    places = [np.arange(0, 120, 2), np.arange(1, 120, 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiserCascadeClassifier, "feature_chains", None)  # it is not called
        for together in fit_among(estimator, rows, places, [(sets, chains)]):
            assert_same_bits(alone, together)


def test_values_of_bins_fall_into_them() -> None:
    X, _, _ = numbers(500)
    schema = Schema.learn(X)
    rules = BinRules.learn(X, schema)
    codes = rules.codes(X)
    np.testing.assert_array_equal(rules.codes(rules.values(codes)), codes)
