"""The stump search on several classes against brute force over all sides and all votes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.naive.boosting import Twin, best_class_edges
from tests.kernels.strategies import SEEDS, Table, tables

from farthing.base import TrainingSet
from farthing.learning.voting import vote_targets
from farthing.learning.voting.stump_rounds import StumpRounds
from farthing.learning.voting.tree_vote_model import GRID
from farthing.table import Bins, Schema
from farthing.trees import Predictor


def problem(seed: int, n_rows: int, k: int = 3) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    rows = TrainingSet.of(
        np.zeros((n_rows, 1)),
        rng.integers(0, k, n_rows),
        rng.choice([1.0, 2.0, 0.25, 7.0], size=n_rows),
        classes=np.arange(k),
    )
    return vote_targets(rows)


@given(tables(max_rows=16), SEEDS)
def test_the_edges_are_the_largest_there_are(table: Table, seed: int) -> None:
    labels, weights = problem(seed, table.n_rows)
    bins = table.fast()
    got = StumpRounds(bins, labels, weights).candidates()
    signed = labels * weights / weights.sum()
    categorical = [n > 0 for n in table.n_categories]
    best = np.maximum(best_class_edges(bins, categorical, signed), 0.0)
    assert got[0] == pytest.approx(np.abs(signed.sum(axis=0)).sum(), abs=1e-14)
    for edge, most, is_set in zip(got[1:], best, categorical, strict=True):
        # Sets of categories are searched from one start per class: a local optimum.
        assert edge == pytest.approx(most, abs=1e-13) or (is_set and edge < most)


def test_sets_of_categories_are_nearly_the_best() -> None:
    rng = np.random.default_rng(0)
    found = []
    for seed in range(60):
        X = rng.integers(0, 5, size=(40, 1)).astype(str).astype(object)
        schema = Schema.learn(X)
        bins = Bins(schema.encode(X).values, schema)
        labels, weights = problem(seed, 40)
        edge = StumpRounds(bins, labels, weights).candidates()[1]
        found.append(edge / best_class_edges(bins, [True], labels * weights / weights.sum())[0])
    assert max(found) <= 1 + 1e-12
    assert np.mean(np.array(found) > 1 - 1e-12) > 0.9


@given(tables(max_rows=30), SEEDS, st.integers(1, 3))
def test_what_is_taken_has_the_edge_it_was_chosen_for(table: Table, seed: int, max_depth: int) -> None:
    labels, weights = problem(seed, table.n_rows)
    rounds = StumpRounds(table.fast(), labels, weights)
    twin = Twin(labels.astype(np.int64).ravel(), weights.ravel())
    for number in range(1, 5):
        edges = rounds.candidates()
        place = int(np.argmax(edges))
        if edges[place] <= GRID:
            break
        rounds.run(lambda _, place=place: place, n_rounds=number, max_depth=max_depth)
        forest = rounds.forest()
        assert forest is not None
        votes = Predictor(forest.trees(number - 1, number)).predict(table.values)[0]
        assert set(votes.ravel().tolist()) <= {-1.0, 1.0}
        # A tree begins with the best stump, and never falls behind it.
        if max_depth == 1 or place == 0:
            assert rounds.edges[-1] == edges[place]
        else:
            assert rounds.edges[-1] >= edges[place]
        if rounds.edges[-1] == 1.0:
            assert (votes == labels).all()
            break
        edge, alpha = twin.take(votes.astype(np.int64).ravel())
        assert rounds.edges[-1] == pytest.approx(edge, abs=1e-9)
        assert rounds.alphas[-1] == pytest.approx(alpha, rel=1e-7, abs=1e-8)


@given(tables(max_rows=30), SEEDS)
def test_two_classes_have_the_edges_of_one_vote(table: Table, seed: int) -> None:
    """Each side votes for one of the two classes and against the other, so the cases come in pairs."""
    rng = np.random.default_rng(seed)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=table.n_rows)
    weights = rng.choice([1.0, 2.0, 0.25], size=table.n_rows)
    one = StumpRounds(table.fast(), signs, weights).candidates()
    two = StumpRounds(
        table.fast(), np.column_stack([-signs, signs]), np.column_stack([weights, weights])
    ).candidates()
    # Where all votes agree, two outputs turn the vote on one class only, which costs half as much.
    assert (two >= one - 1e-12).all()
    split = two > two[0] + 1e-12
    np.testing.assert_allclose(two[split], one[split], atol=1e-12)


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(500, 30)), rng.integers(0, 2, size=(500, 30))])
    answers = []
    for n_threads in (1, 2, 3):
        rounds = StumpRounds(Bins(X, Schema.learn(X)), *problem(0, 500, 4), n_threads)
        rounds.run(lambda edges: int(np.argmax(edges)), n_rounds=5, max_depth=2)
        answers.append((rounds.edges, rounds.alphas, rounds.forest()))
    assert answers[0] == answers[1] == answers[2]
