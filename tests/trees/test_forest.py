"""The flat node array: what it accepts, what it refuses, and where it sends a row."""

import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.trees import Forest

WIDTHS = [0, 0, 1, 2]  # two numeric features, two categorical ones


def random_tree(rng: np.random.Generator, n_splits: int, width: int = 1, **kwargs: Any) -> Forest:
    """Grow one tree by splitting random leaves, over the four features of WIDTHS."""
    feature, threshold, left, right, category = [-1], [0.0], [-1], [-1], [-1]
    words: list[int] = []
    for _ in range(n_splits):
        node = int(rng.choice(np.flatnonzero(np.array(feature) == -1)))
        feature[node] = int(rng.integers(len(WIDTHS)))
        left[node], right[node] = len(feature), len(feature) + 1
        threshold[node] = float(rng.normal())
        if (n_words := WIDTHS[feature[node]]) > 0:
            category[node] = len(words)
            goes_left = rng.integers(2**63, size=n_words, dtype=np.uint64)
            goes_right = rng.integers(2**63, size=n_words, dtype=np.uint64) & ~goes_left
            words += [int(w) for w in (*goes_left, *goes_right)]
        for column in (feature, left, right, category):
            column.extend([-1, -1])
        threshold.extend([0.0, 0.0])
    n_nodes = len(feature)
    return Forest.from_arrays(
        n_features=len(WIDTHS),
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        missing=rng.integers(3, size=n_nodes),
        category=category,
        category_words=np.array(words, dtype=np.uint64),
        category_widths=WIDTHS,
        value=rng.normal(size=(n_nodes, width)),
        cover=rng.integers(1, 99, size=n_nodes),
        **kwargs,
    )


@pytest.fixture
def forest() -> Forest:
    rng = np.random.default_rng(0)
    return Forest.concat([random_tree(rng, 6, n_outputs=3) for _ in range(4)])


def changed(forest: Forest, name: str, index: Any, entry: Any) -> Forest:
    array = getattr(forest, name).copy()
    array[index] = entry
    return dataclasses.replace(forest, **{"node_values" if name == "value" else name: array})


def naive_route(forest: Forest, node: int, value: float) -> int | None:
    """Route by the words of the specification: sets of codes as Python sets."""
    tree = max(t for t in range(forest.n_trees) if forest.offsets[t] <= node)
    side = None
    if forest.feature[node] < 0:
        return None
    if forest.category[node] >= 0:
        width = int(forest.category_widths[forest.feature[node]])
        words = [int(w) for w in forest.category_words[forest.category[node] :][: 2 * width]]
        bits = [(word >> bit) & 1 for word in words for bit in range(64)]
        lefts = {float(c) for c in range(64 * width) if bits[c]}
        rights = {float(c) for c in range(64 * width) if bits[64 * width + c]}
        code = math.floor(value) if math.isfinite(value) else None
        side = "left" if code in lefts else "right" if code in rights else None
    elif not math.isnan(value):
        side = "left" if value <= forest.threshold[node] else "right"
    if side is None:
        side = {0: "left", 1: "right", 2: None}[int(forest.missing[node])]
    return None if side is None else int(forest.offsets[tree] + getattr(forest, side)[node])


@given(seed=st.integers(0, 2**32 - 1), n_splits=st.integers(0, 20), n_trees=st.integers(1, 4))
def test_routes_as_the_naive_twin(seed: int, n_splits: int, n_trees: int) -> None:
    rng = np.random.default_rng(seed)
    forest = Forest.concat([random_tree(rng, n_splits) for _ in range(n_trees)]).validate()
    for node in range(forest.n_nodes):
        for value in (math.nan, math.inf, -math.inf, -1.0, float(rng.normal()), float(rng.integers(130))):
            assert forest.route(node, value) == naive_route(forest, node, value)
        at_threshold = float(forest.threshold[node])
        assert forest.route(node, at_threshold) == naive_route(forest, node, at_threshold)


def test_comparator_and_precision() -> None:
    def stump(**kwargs: Any) -> Forest:
        return Forest.from_arrays(
            n_features=1,
            feature=[0, -1, -1],
            threshold=[0.1, 0, 0],
            left=[1, -1, -1],
            right=[2, -1, -1],
            value=np.zeros((3, 1)),
            **kwargs,
        )

    assert stump().route(0, 0.1) == 1
    assert stump(comparator="<").route(0, 0.1) == 2
    # float32(0.1) is a little more than 0.1.
    assert stump(dtype="float32").route(0, 0.1) == 2
    assert stump(dtype="float32").route(0, 1e300) == 2


@given(seed=st.integers(0, 2**32 - 1))
def test_what_validates_is_safe_to_follow(seed: int) -> None:
    """Break one entry at random: either it is refused, or every walk ends in bounds."""
    rng = np.random.default_rng(seed)
    forest = Forest.concat([random_tree(rng, int(rng.integers(6))) for _ in range(3)])
    name = str(rng.choice([n for n, a in forest.arrays().items() if a.size]))
    array = getattr(forest, name).copy().reshape(-1)
    if array.dtype.kind == "f":
        array[rng.integers(array.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0])
    else:
        info = np.iinfo(array.dtype)
        near = [int(v) for v in rng.integers(-3, 30, size=4) if info.min <= v <= info.max]
        entries = [*near, 0, int(info.max), int(info.min)]
        array[rng.integers(array.size)] = entries[rng.integers(len(entries))]
    array = array.reshape(getattr(forest, name).shape)
    broken = dataclasses.replace(forest, **{"node_values" if name == "value" else name: array})
    try:
        broken.validate()
    except ValueError:
        return
    assert 0 <= broken.depth() < broken.n_nodes
    assert np.isfinite(broken.value).all()
    for start, end, target in zip(broken.offsets[:-1], broken.offsets[1:], broken.target, strict=True):
        assert 0 <= target <= broken.n_outputs - broken.width
        for _ in range(20):
            node: int | None = int(start)
            while node is not None:
                assert start <= node < end
                previous, node = (
                    node,
                    broken.route(node, float(rng.choice([np.nan, *rng.normal(size=3) * 40]))),
                )
                assert node is None or node > previous


@pytest.mark.parametrize(
    ("name", "index", "entry", "message"),
    [
        ("offsets", 0, 1, "offsets must run"),
        ("offsets", -1, 5, "offsets must run"),
        ("offsets", 1, 0, "at least one node"),
        ("offsets", 1, -(2**63), "at least one node"),
        ("target", 2, 3, "target must lie between 0 and 2; tree 2"),
        ("target", 0, -1, "target must lie"),
        ("target", 0, 2**63 - 1, "target must lie"),
        ("feature", 0, 4, "feature must lie between -1 and 3; node 0"),
        ("feature", 0, -2, "feature must lie"),
        ("feature", 0, -1, "-1 at leaves"),
        ("left", 0, -1, "left must be -1 at leaves"),
        ("right", 0, 0, "right must come after its parent"),
        ("left", 0, 13, "same tree"),
        ("left", 0, 2**63 - 1, "same tree"),
        ("left", 0, -(2**63), "after its parent"),
        ("left", 0, 2, "exactly one node"),
        ("missing", 3, 3, "missing must be 0"),
        ("threshold", 0, np.nan, "threshold must not be NaN"),
        ("value", (5, 0), np.nan, "value must be finite; node 5"),
        ("value", (5, 0), np.inf, "value must be finite"),
        ("cover", 5, -np.inf, "cover must be finite"),
        ("category", 0, -2, "category must be"),
        ("category_widths", 0, -1, "category_widths must lie"),
        ("category_widths", 3, 2**62, "category_widths must lie"),
        ("category_widths", 2, 1000, "lie within category_words"),
        ("category_widths", 2, 0, "must be not empty"),
    ],
)
def test_broken_arrays_are_refused(forest: Forest, name: str, index: Any, entry: Any, message: str) -> None:
    forest.validate()
    with pytest.raises(ValueError, match=message):
        changed(forest, name, index, entry).validate()


def test_a_leaf_has_no_category(forest: Forest) -> None:
    leaf = int(np.flatnonzero(forest.feature == -1)[0])
    with pytest.raises(ValueError, match="category must be -1 at leaves"):
        changed(forest, "category", leaf, 0).validate()


def test_code_sets_end_within_the_words(forest: Forest) -> None:
    node = int(np.flatnonzero(forest.category >= 0)[0])
    width = int(forest.category_widths[forest.feature[node]])
    last = len(forest.category_words) - 2 * width
    changed(forest, "category", node, last).validate()
    for beyond in (last + 1, 2**63 - 1):
        with pytest.raises(ValueError, match=f"node {node} must be not empty"):
            changed(forest, "category", node, beyond).validate()


def test_infinite_thresholds_are_fine(forest: Forest) -> None:
    changed(forest, "threshold", slice(None), np.inf).validate()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"feature": np.zeros(3, np.int32)}, ValueError, "entries"),
        ({"left": np.zeros(52, np.int32)}, ValueError, "left must be a C-contiguous array of int64"),
        ({"left": np.zeros(52, ">i8")}, ValueError, "left must be"),
        ({"left": np.zeros(104, np.int64)[::2]}, ValueError, "C-contiguous"),
        ({"left": [0] * 52}, TypeError, "left must be a NumPy array; got list"),
        ({"node_values": np.zeros(52)}, ValueError, "2 dimension"),
        ({"node_values": np.zeros((52, 0))}, ValueError, "value must have 1 to"),
        ({"node_values": np.zeros((52, 4))}, ValueError, "value must have 1 to"),
        ({"n_features": 5}, ValueError, "category_widths must have 5 entries; got 4"),
        ({"n_features": 0}, ValueError, "n_features must lie"),
        ({"n_features": True}, TypeError, "n_features must be an integer"),
        ({"n_outputs": 2**40}, ValueError, "n_outputs must lie"),
        ({"n_outputs": 1.5}, TypeError, "n_outputs must be an integer"),
        ({"comparator": ">"}, ValueError, "comparator must be one of"),
        ({"dtype": "float16"}, ValueError, "dtype must be one of"),
        ({"offsets": np.zeros(0, np.int64)}, ValueError, "offsets must have 5 entries"),
    ],
)
def test_the_constructor_checks_types_and_lengths(
    forest: Forest, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    assert forest.n_nodes == 52
    with pytest.raises(error, match=message):
        dataclasses.replace(forest, **change)


def test_concat_keeps_each_tree() -> None:
    rng = np.random.default_rng(3)
    trees = [random_tree(rng, n) for n in (5, 0, 9)]
    joined = Forest.concat([Forest.concat(trees[:2]), trees[2]]).validate()
    assert joined == Forest.concat(trees)
    assert joined.offsets.tolist() == [0, 11, 12, 31]
    assert joined.depth() == max(tree.depth() for tree in trees)
    for tree, start in zip(trees, joined.offsets, strict=False):
        for node in range(tree.n_nodes):
            for value in (math.nan, 0.3, 2.0, 17.0, 100.0):
                alone = tree.route(node, value)
                together = joined.route(int(start) + node, value)
                assert together == (None if alone is None else start + alone)


def test_concat_refuses_what_does_not_fit() -> None:
    rng = np.random.default_rng(3)
    one = random_tree(rng, 2)
    with pytest.raises(ValueError, match="different comparator: '<=' and '<'"):
        Forest.concat([one, random_tree(rng, 2, comparator="<")])
    with pytest.raises(ValueError, match="different n_outputs"):
        Forest.concat([one, random_tree(rng, 2, n_outputs=2)])
    with pytest.raises(ValueError, match="category_widths"):
        Forest.concat([one, changed(one, "category_widths", 0, 1)])
    with pytest.raises(ValueError, match="at least one"):
        Forest.concat([])


def test_depth_is_the_longest_path() -> None:
    def naive(forest: Forest, node: int) -> int:
        if forest.feature[node] < 0:
            return 0
        return 1 + max(naive(forest, int(forest.left[node])), naive(forest, int(forest.right[node])))

    rng = np.random.default_rng(5)
    for n_splits in range(12):
        tree = random_tree(rng, n_splits)
        assert tree.depth() == naive(tree, 0)


def test_equality_is_of_bits(forest: Forest) -> None:
    same = changed(forest, "threshold", 0, forest.threshold[0])
    assert same == forest
    assert hash(same) == hash(forest)
    assert changed(forest, "cover", 0, 0.0) != changed(forest, "cover", 0, -0.0)
    assert changed(forest, "cover", 0, np.nan) == changed(forest, "cover", 0, np.nan)
    assert dataclasses.replace(forest, comparator="<") != forest
    assert forest != "a forest"


def test_copies_are_equal_and_read_only(forest: Forest) -> None:
    for twin in (pickle.loads(pickle.dumps(forest)), copy.copy(forest), copy.deepcopy(forest)):
        assert twin == forest
        assert hash(twin) == hash(forest)
        with pytest.raises(ValueError, match="read-only"):
            twin.left[0] = 5


def test_the_callers_arrays_stay_writeable() -> None:
    value = np.zeros((1, 1))
    Forest.from_arrays(n_features=1, feature=[-1], threshold=[0], left=[-1], right=[-1], value=value)
    value[0, 0] = 1.0


def test_a_forest_without_trees_is_valid() -> None:
    empty = Forest.from_arrays(
        n_features=2, offsets=[0], feature=[], threshold=[], left=[], right=[], value=np.zeros((0, 2))
    )
    assert empty.validate().n_trees == 0
    assert empty.depth() == 0


def test_a_long_chain_is_validated_in_linear_time() -> None:
    n_splits = 200_000
    n_nodes = 2 * n_splits + 1
    own = np.arange(n_nodes)
    inner = (own % 2 == 0) & (own < n_nodes - 1)
    chain = Forest.from_arrays(
        n_features=1,
        feature=np.where(inner, 0, -1),
        threshold=np.zeros(n_nodes),
        left=np.where(inner, own + 1, -1),
        right=np.where(inner, own + 2, -1),
        value=np.zeros((n_nodes, 1)),
    )
    chain.validate()


def test_the_first_trees_of_a_forest():
    sets = Forest.from_arrays(
        n_features=2,
        feature=[1, -1, -1],
        threshold=[0, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        category=[0, -1, -1],
        category_words=[1, 2],
        category_widths=[0, 1],
        value=[[0.0], [1.0], [2.0]],
    )
    leaf = Forest.constant([5.0], 2, [0, 1])
    for parts in ([sets, leaf, sets], [leaf, leaf, sets], [sets]):
        for n in range(1, len(parts) + 1):
            assert Forest.concat(parts).trees(0, n) == Forest.concat(parts[:n])
    with pytest.raises(ValueError, match="trees 0 to 2; got 0 to 3"):
        Forest.concat([sets, leaf]).trees(0, 3)
