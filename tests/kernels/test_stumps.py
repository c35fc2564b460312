"""The compiled stump search against brute force over all stumps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.naive.boosting import Twin, best_edges
from tests.kernels.strategies import SEEDS, Table, tables

from farthing.learning.voting.stump_rounds import StumpRounds
from farthing.learning.voting.tree_vote_model import GRID
from farthing.table import Bins, Schema
from farthing.trees import Predictor


def problem(seed: int, n_rows: int) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    labels = rng.choice(np.array([-1, 1], dtype=np.int8), size=n_rows)
    weights = rng.choice([1.0, 2.0, 0.25, 1e-3, 7.0], size=n_rows)
    return labels, weights


def votes_of(rounds: StumpRounds, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """What the last learner says about the training rows, by the ordinary predictor."""
    forest = rounds.forest()
    assert forest is not None
    outputs = Predictor(forest).predict(values)[0][:, 0]
    before = (
        Predictor(forest.trees(0, forest.n_trees - 1)).predict(values)[0][:, 0] if forest.n_trees > 1 else 0.0
    )
    return np.rint(outputs - before).astype(np.int64)


@given(tables(max_rows=24), SEEDS)
def test_the_edges_are_the_largest_there_are(table: Table, seed: int) -> None:
    labels, weights = problem(seed, table.n_rows)
    bins = table.fast()
    got = StumpRounds(bins, labels, weights).candidates()
    signed = labels * weights / weights.sum()
    expected = best_edges(bins, [n > 0 for n in table.n_categories], signed)
    np.testing.assert_allclose(got, [abs(signed.sum()), *np.maximum(expected, 0.0)], atol=1e-14)


@given(tables(max_rows=40), SEEDS, st.integers(1, 3))
def test_what_is_taken_has_the_edge_it_was_chosen_for(table: Table, seed: int, max_depth: int) -> None:
    labels, weights = problem(seed, table.n_rows)
    rounds = StumpRounds(table.fast(), labels, weights)
    twin = Twin(labels.astype(np.int64), weights)
    for number in range(1, 6):
        edges = rounds.candidates()
        place = int(np.argmax(edges))
        if edges[place] <= GRID:
            break
        rounds.run(lambda _, place=place: place, n_rounds=number, max_depth=max_depth)
        votes = votes_of(rounds, table.values)
        assert set(votes.tolist()) <= {-1, 1}
        # A tree begins with the best stump, and never falls behind it.
        if max_depth == 1 or place == 0:
            assert rounds.edges[-1] == edges[place]
        else:
            assert rounds.edges[-1] >= edges[place]
        if rounds.edges[-1] == 1.0:
            assert (votes == labels).all()
            break
        edge, alpha = twin.take(votes)
        assert rounds.edges[-1] == pytest.approx(edge, abs=1e-9)
        assert rounds.alphas[-1] == pytest.approx(alpha, rel=1e-7, abs=1e-8)


def test_a_missing_value_votes_by_its_own_sum() -> None:
    X = np.array([[0.0], [0.0], [1.0], [1.0], [np.nan], [np.nan]])
    for sign, goes_right in ((1, True), (-1, False)):
        labels = np.array([-1, -1, 1, 1, sign, sign], dtype=np.int8)
        rounds = StumpRounds(Bins(X, Schema.learn(X)), labels, np.ones(6))
        assert rounds.candidates()[1] == 1.0
        rounds.run(lambda edges: 1, n_rounds=1)
        forest = rounds.forest()
        assert forest is not None
        assert forest.route(0, float("nan")) == (2 if goes_right else 1)


def test_a_value_that_was_never_missing_goes_to_the_larger_side_when_it_is() -> None:
    X = np.array([[0.0], [1.0], [1.0]])
    rounds = StumpRounds(Bins(X, Schema.learn(X)), np.array([-1, 1, 1], dtype=np.int8), np.ones(3))
    rounds.run(lambda edges: 1, n_rounds=1)
    forest = rounds.forest()
    assert forest is not None
    assert Predictor(forest).predict(np.array([[np.nan]]))[0].ravel().tolist() == [1.0]


def test_categories_that_agree_still_make_a_stump() -> None:
    # All three categories lean to +1; the one that matters least must vote against its sign.
    X = np.array([["a"], ["a"], ["b"], ["b"], ["c"]], dtype=object)
    schema = Schema.learn(X)
    labels = np.ones(5, dtype=np.int8)
    rounds = StumpRounds(Bins(schema.encode(X).values, schema), labels, np.array([1.0, 1.0, 1.0, 1.0, 0.5]))
    assert rounds.candidates() == pytest.approx([1.0, 3.5 / 4.5])


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 511, 513, 1600])
def test_few_bins_are_summed_as_many_are(n_rows: int) -> None:
    """Columns of two or three bins go another way than wider ones, to the same integers."""
    rng = np.random.default_rng(n_rows)
    narrow = rng.integers(0, 3, size=(n_rows, 70)).astype(float)
    narrow[rng.random(narrow.shape) < 0.1] = np.nan
    narrow[:, ::2] = np.minimum(narrow[:, ::2], 1.0)
    labels, weights = problem(n_rows, n_rows)
    signed = labels * weights / weights.sum()
    bins = Bins(narrow, Schema.learn(narrow))
    got = StumpRounds(bins, labels, weights).candidates()
    expected = best_edges(bins, [False] * 70, signed)
    np.testing.assert_allclose(got[1:], expected, atol=1e-13)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_threads_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(700, 60)), rng.integers(0, 2, size=(700, 90))])
    labels, weights = problem(seed, 700)
    answers = []
    for n_threads in (1, 2, 3):
        rounds = StumpRounds(Bins(X, Schema.learn(X)), labels, weights, n_threads)
        rounds.run(lambda edges: int(np.argmax(edges)), n_rounds=8, max_depth=2)
        answers.append((rounds.edges, rounds.alphas, rounds.forest()))
    assert answers[0] == answers[1] == answers[2]


@given(tables(max_rows=40), SEEDS, st.integers(1, 3), st.booleans())
def test_boosting_in_one_call_takes_the_largest_edge_in_each_round(
    table: Table, seed: int, max_depth: int, intercept: bool
) -> None:
    bins = table.fast()
    labels, weights = problem(seed, table.n_rows)
    together, alone = (StumpRounds(bins, labels, weights) for _ in range(2))
    # More rounds than the core does in one call, in two parts.
    for n_rounds in (5, 40):
        together.boost(n_rounds=n_rounds, intercept=intercept, max_depth=max_depth)
        alone.run(
            lambda edges: int(np.argmax(edges)), n_rounds=n_rounds, intercept=intercept, max_depth=max_depth
        )
        assert together.edges == alone.edges
        assert together.alphas == alone.alphas
    one, other = together.forest(), alone.forest()
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert np.array_equal(one.feature, other.feature)
        assert np.array_equal(one.threshold, other.threshold)
        assert np.array_equal(one.value, other.value)
