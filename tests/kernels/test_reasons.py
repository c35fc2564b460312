"""The kernels of reasons against naive twins: foreseen answers, undone rounds, shares, falls, links."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.strategies import SEEDS

from farthing._core import (
    expected_fall,
    foresee,
    largest_spreads,
    mean_shares,
    normalise,
    round_shares,
    shift,
    swap_nodes,
    undo_rounds,
)
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet, RowLedger
from farthing.forests import BudgetForestClassifier
from farthing.trees import SparseRows, core_scores
from farthing.walks import ForestPolicy


def newton_targets(p, steps):
    """Return the share of a class from the Newton step (s - p) / (s a + (1 - s) b) of a leaf."""
    own, others = np.maximum(p * (1 - p), 0.1 * (1 - p)), np.maximum(p * (1 - p), 0.1 * p)
    return np.clip((p + steps * others) / np.maximum(1 - steps * (own - others), 1e-12), 0, 1)


@pytest.fixture(scope="module")
def forests():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int) + (np.nan_to_num(X[:, 1] * X[:, 2]) > 0)
    grown = BudgetForestClassifier(n_estimators=5, max_depth=4, random_state=0).fit(X, y)
    boosted = GreedyMiserClassifier(n_estimators=4, max_depth=3).fit(X, y)
    return X, [grown.fitted_, boosted.fitted_]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("which", [0, 1])
def test_answers_are_foreseen_as_a_second_policy_hears_them(forests, which, sparse):
    X, models = forests
    forest, scores = models[which].forest, models[which].node_scores()
    dense = scores.dense() if isinstance(scores, SparseRows) else scores
    scores = SparseRows.of(dense) if sparse else dense
    ledger = RowLedger(CostSheet(np.ones(4)))
    for row in X[:20]:
        policy = ForestPolicy(forest, scores)
        while (column := policy.wants(ledger)) is not None:
            answers = [-1.5, 0.0, 1.5, np.nan]
            before = policy.output()
            found = policy.foresee(column, answers, ledger)
            for place, answer in enumerate(answers):
                twin = policy.after(column, answer)
                assert found.columns[place] == twin.wants(ledger)
                assert np.array_equal(found.outputs[place], twin.output())
                stand, told = found.stands[place], twin.stand()
                assert np.array_equal(stand.nodes, told.nodes)
                assert np.array_equal(stand.trees, told.trees)
                assert np.array_equal(stand.output, told.output)
            assert np.array_equal(policy.output(), before)
            policy.hear(column, row[column])


def test_nodes_of_other_trees_and_wrong_sizes_are_refused(forests):
    _, models = forests
    forest, scores = models[0].forest, core_scores(models[0].node_scores())
    nodes, values, states = forest.offsets[:-1].copy(), np.zeros(4), np.zeros(4, dtype=np.uint8)
    given = forest.compiled, scores, values, states
    with pytest.raises(ValueError, match="each in its own tree"):
        foresee(*given, nodes[::-1].copy(), 0, 5, False, 0, [1.0])
    with pytest.raises(ValueError, match="column"):
        foresee(*given, nodes, 0, 5, False, 4, [1.0])
    with pytest.raises(ValueError, match="one for each feature"):
        foresee(forest.compiled, scores, values[:3], states, nodes, 0, 5, False, 0, [1.0])


def test_a_tree_at_another_node_adds_the_difference(forests):
    _, models = forests
    model = models[1]
    forest, scores = model.forest, model.node_scores()
    tree = forest.n_trees - 1
    here, there = int(forest.offsets[tree]), list(range(int(forest.offsets[tree]), int(forest.offsets[-1])))
    output = np.linspace(-1, 1, forest.n_outputs)
    found = swap_nodes(forest.compiled, scores, output, tree, here, there)
    for node, own in zip(there, found, strict=True):
        naive = output.copy()
        first = forest.target[tree]
        naive[first : first + scores.shape[1]] += scores[node] - scores[here]
        assert np.array_equal(own, naive)
    with pytest.raises(ValueError, match="own tree"):
        swap_nodes(forest.compiled, scores, output, tree, 0, there)


@given(
    st.lists(st.tuples(st.integers(-1, 4), st.sampled_from([0.0, 0.5, 1.0, 2.0])), max_size=12),
    st.integers(0, 4),
)
def test_the_largest_spread_of_each_feature(tests, other):
    features = np.array([feature for feature, _ in tests], dtype=np.int32)
    spreads = np.array([spread for _, spread in tests])
    naive = []
    for feature in set(features.tolist()) - {-1, other}:
        own = [(-spread, place) for place, (f, spread) in enumerate(tests) if f == feature and spread > 0]
        if own:
            least, place = min(own)
            naive.append((place, feature, -least))
    assert largest_spreads(features, spreads, other) == sorted(naive)


def test_the_last_round_is_undone(forests):
    _, models = forests
    model = models[1]
    forest, scores, rng = model.forest, model.node_scores(), np.random.default_rng(1)
    n_last = forest.n_outputs
    for _ in range(20):
        end = int(rng.integers(n_last, forest.n_trees))
        # The trees of a round, the last one perhaps of a later round, as for a runner-up.
        trees = np.append(np.arange(end - n_last + 1, end), rng.integers(end, forest.n_trees))
        nodes = np.array([rng.integers(forest.offsets[t], forest.offsets[t + 1]) for t in trees])
        outputs = rng.normal(size=(2, forest.n_outputs))
        starts = [0, 1, len(nodes)]
        before, steps, walked = undo_rounds(forest.compiled, scores, outputs, nodes, trees, starts, 0.25)
        for row, (begin, stop) in enumerate(pairwise(starts)):
            last = {int(forest.target[trees[i]]): nodes[i] for i in range(begin, stop)}
            for place in range(forest.n_outputs):
                added = scores[last[place], 0] if place in last else 0.0
                assert before[row, place] == outputs[row, place] - added
                assert steps[row, place] == added / 0.25
                assert walked[row, place] == (place in last)


@given(SEEDS, st.integers(2, 5))
def test_shares_that_a_round_was_fitted_to(seed, n_classes):
    rng = np.random.default_rng(seed)
    before = rng.dirichlet(np.ones(n_classes), size=3)
    steps, own = rng.normal(size=before.shape, scale=3), rng.random(before.shape) < 0.6
    naive = np.where(own, newton_targets(before, steps), 0.0)
    others = np.where(own, 0.0, before)
    left, rest = 1 - naive.sum(axis=1, keepdims=True), others.sum(axis=1, keepdims=True)
    naive += others * (np.maximum(left, 0) / np.maximum(rest, 1e-300))
    naive /= np.maximum(naive.sum(axis=1, keepdims=True), 1e-300)
    assert round_shares(before, steps, own.view(np.uint8)) == pytest.approx(naive, rel=1e-9, abs=1e-12)


def test_a_newton_step_gives_its_share_back():
    p, s = np.array([[0.3, 0.7]]), np.array([0.45, 0.55])
    own, others = np.maximum(p * (1 - p), 0.1 * (1 - p)), np.maximum(p * (1 - p), 0.1 * p)
    steps = (s - p) / (s * own + (1 - s) * others)
    assert round_shares(p, steps, np.ones((1, 2), dtype=np.uint8))[0] == pytest.approx(s)


@given(SEEDS, st.integers(1, 4), st.integers(1, 3))
def test_the_expected_fall(seed, n_classes, n_ways):
    rng = np.random.default_rng(seed)
    now, after = rng.random(n_classes), rng.random((n_ways, n_classes))
    labels, weights = rng.random((n_ways, n_classes)), rng.dirichlet(np.ones(n_ways))
    before = now @ now - 2 * labels @ now + 1
    then = (after * (after - 2 * labels)).sum(axis=1) + 1
    found = expected_fall(now, after, labels, weights.tolist())
    assert found == pytest.approx((weights @ before, weights @ (before - then)), abs=1e-12)
    with pytest.raises(ValueError, match="one row for each weight"):
        expected_fall(now, after, labels, [*weights.tolist(), 0.5])


@given(SEEDS, st.integers(1, 4), st.integers(1, 5))
def test_the_mean_of_shares(seed, n_rows, width):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, size=(9, width)).astype(float)
    groups = [rng.integers(0, 9, size=rng.integers(1, 6)) for _ in range(n_rows)]
    starts = [0, *np.cumsum([len(group) for group in groups]).tolist()]
    found = mean_shares(counts, np.concatenate(groups), starts)
    for own, group in zip(found, groups, strict=True):
        rows = [row / row.sum() if row.any() else np.full(width, 1 / width) for row in counts[group]]
        assert own == pytest.approx(np.mean(rows, axis=0))
    with pytest.raises(ValueError, match="each with counts"):
        mean_shares(counts, np.array([9]), [0, 1])


@given(SEEDS, st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_links_have_the_bits_of_sums_from_the_first_column_on(seed, n_rows, n_columns, turned):
    rng = np.random.default_rng(seed)
    counts = rng.choice([0.0, 1.0, 0.1, 1e-300, 3.7], size=(n_rows, n_columns))
    counts = np.asfortranarray(counts) if turned else counts
    filled = np.where((counts == 0).all(axis=1, keepdims=True), 1.0, counts)
    total = np.zeros(n_rows)
    for column in range(n_columns):
        total += filled[:, column]
    assert np.array_equal(normalise(counts), filled / total[:, np.newaxis])
    assert np.array_equal(shift(counts), counts - counts.max(axis=1, keepdims=True))
