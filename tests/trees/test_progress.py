"""Rows that go through a forest in legs end where those of one pass end, whoever leaves on the way."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.test_predicting import random_forest, random_rows

from farthing.costs import CostSheet, Group
from farthing.trees import Forest, Predictor, Progress

SHEET = CostSheet([1.0, 0.3, 0.7, 2.1], groups={"lab": Group(1.3, ["x1", "x3"])})


def first_trees(forest: Forest, n_trees: int) -> Forest:
    arrays = {name: array for name, array in forest.arrays().items() if name != "category_widths"}
    last = int(forest.offsets[n_trees])
    per_tree = {"offsets": forest.offsets[: n_trees + 1], "target": forest.target[:n_trees]}
    words = {"category_words": forest.category_words, "category_widths": forest.category_widths}
    nodes = {name: array[:last] for name, array in arrays.items() if name not in (*per_tree, *words)}
    return Forest.from_arrays(
        n_features=forest.n_features, n_outputs=forest.n_outputs, **per_tree, **words, **nodes
    )


@given(
    seed=st.integers(0, 10**6),
    capped=st.booleans(),
    n_threads=st.integers(1, 2),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_each_row_has_the_bits_of_the_trees_it_met(seed, capped, n_threads, dtype):
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, n_features=4, n_trees=7)
    with np.errstate(over="ignore"):
        X = random_rows(rng, 30, forest).astype(dtype)
    budget = rng.uniform(0, 6, size=30) if capped else None
    predictor = Predictor(forest)
    progress = Progress(X, forest.n_outputs, SHEET, budget=budget, n_threads=n_threads)
    met = np.zeros(30, dtype=int)
    alive = np.arange(30)
    cuts = [0, *sorted(rng.integers(0, 8, size=3).tolist()), 7]
    for begin, end in itertools.pairwise(cuts):
        predictor.advance(progress, begin, end, None if len(alive) == 30 else alive)
        met[alive] = end
        alive = alive[rng.random(len(alive)) < 0.7]
    for n_trees in set(met.tolist()) - {0}:
        rows = met == n_trees
        outputs, acquired = Predictor(first_trees(forest, n_trees)).predict(
            X[rows], sheet=SHEET, budget=None if budget is None else budget[rows]
        )
        assert progress.outputs[rows].tobytes() == outputs.tobytes()
        assert np.array_equal(progress.acquired[rows], acquired)


def test_what_was_refused_is_refused_for_good():
    # x3 costs 3.4 at first and is over the budget; when x1 has paid for the group it would be within it.
    def stump(feature):
        return Forest.from_arrays(
            n_features=4,
            feature=[feature, -1, -1],
            threshold=[0.0] * 3,
            left=[1, -1, -1],
            right=[2, -1, -1],
            value=[[0.0], [1.0], [2.0]],
        )

    predictor = Predictor(Forest.concat([stump(3), stump(1), stump(3)]))
    whole = predictor.predict(np.ones((1, 4)), sheet=SHEET, budget=np.array([3.3]))
    progress = Progress(np.ones((1, 4)), 1, SHEET, budget=np.array([3.3]))
    for tree in range(3):
        predictor.advance(progress, tree, tree + 1)
    assert progress.outputs.tolist() == whole[0].tolist() == [[2.0]]
    assert progress.acquired.tolist() == whole[1].tolist() == [[False, True, False, False]]


@pytest.mark.parametrize(
    ("begin", "end", "rows"),
    [(1, 0, None), (0, 9, None), (-1, 1, None), (0, 1, [1, 0]), (0, 1, [5]), (0, 1, [0, 0])],
)
def test_what_is_not_there_is_refused(begin, end, rows):
    forest = random_forest(np.random.default_rng(0), n_features=4, n_trees=3)
    progress = Progress(np.zeros((3, 4)), forest.n_outputs, SHEET)
    with pytest.raises(ValueError, match=r"trees|rows"):
        Predictor(forest).advance(progress, begin, end, None if rows is None else np.array(rows))
    assert not progress.outputs.any()


def test_no_rows_left_is_no_rows():
    forest = Forest.constant([1.0], n_features=4)
    progress = Progress(np.zeros((3, 4)), 1, SHEET)
    Predictor(forest).advance(progress, 0, 1, np.array([], dtype=np.int64))
    assert not progress.outputs.any()
