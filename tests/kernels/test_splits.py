"""The split that is taken is the best of all, by brute force over features and thresholds of the raw data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels import naive
from tests.kernels.strategies import SEEDS, Table, tables

from farthing.costs import CostSheet
from farthing.trees import Forest, Grower

NUMERIC = ("few", "some", "wild", "constant", "missing", "binary")
Impurity = Callable[[list[Any]], Any]


def parts_of(column: NDArray[np.float64]) -> Iterator[NDArray[np.bool_]]:
    """Yield every set of rows that a threshold of the raw values sends left, missing ones on either side."""
    missing = np.isnan(column)
    for threshold in np.unique(column[~missing]):
        yield column <= threshold
        yield (column <= threshold) | missing


def counts_of(labels: NDArray[np.int64], weights: list[Fraction], part: NDArray[np.bool_]) -> list[Fraction]:
    counts = [Fraction(0)] * 3
    for i in np.flatnonzero(part):
        counts[labels[i]] += weights[i]
    return counts


def gain_of(
    impurity: Impurity,
    labels: NDArray[np.int64],
    weights: list[Fraction],
    part: NDArray[np.bool_],
    minimax: bool,
) -> Any:
    whole = impurity(counts_of(labels, weights, np.ones(len(part), dtype=bool)))
    children = [impurity(counts_of(labels, weights, side)) for side in (part, ~part)]
    return whole - (max(children) if minimax else sum(children))


def best_gain(
    table: Table, impurity: Impurity, labels: NDArray[np.int64], weights: list[Fraction], minimax: bool
) -> Any:
    return max(
        gain_of(impurity, labels, weights, part, minimax)
        for j in range(table.n_features)
        for part in itertools.chain(parts_of(table.values[:, j]), [np.zeros(table.n_rows, dtype=bool)])
        if not part.all()
    )


def stump(table: Table, labels: NDArray[np.int64], weights: NDArray[np.float64], **kind: Any) -> Forest:
    grower = Grower(table.fast(), CostSheet([1.0] * table.n_features), max_leaf_nodes=2)
    return grower.classes(labels, weights, 3, **kind).tree


def left_part(table: Table, tree: Forest) -> NDArray[np.bool_]:
    """Return the rows that a stump sends left, by its thresholds and not by bins."""
    return np.array([naive.turn(tree, 0, x) == naive.LEFT for x in table.values[:, tree.feature[0]]])


@given(
    tables(max_rows=25, kinds=NUMERIC),
    st.sampled_from([("pairs", 0, 2), ("pairs", 1, 2), ("powers", 0, 2), ("powers", 0, 3), ("gini", 0, 2)]),
    SEEDS,
)
@settings(deadline=None)
def test_the_split_is_exactly_the_best_of_all(table: Table, kind: tuple[str, int, int], seed: int) -> None:
    table = Table(table.values, table.n_categories)  # few values: all have bins of their own
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, table.n_rows)
    weights = rng.integers(1, 4, table.n_rows)
    exact = [Fraction(int(w)) for w in weights]
    tree = stump(table, labels, weights.astype(float), impurity=kind[0], alpha=kind[1], power=kind[2])

    def impurity(counts: list[Any]) -> Any:
        return naive.impurity_of(counts, *kind)

    minimax = kind[0] != "gini"
    best = best_gain(table, impurity, labels, exact, minimax)
    if tree.n_nodes == 1:
        assert best == 0
    else:
        assert gain_of(impurity, labels, exact, left_part(table, tree), minimax) == best


@given(tables(max_rows=25, kinds=NUMERIC), st.sampled_from(["entropy", "gini", "pairs", "powers"]), SEEDS)
@settings(deadline=None)
def test_with_any_weights_the_split_is_the_best_up_to_rounding(table: Table, kind: str, seed: int) -> None:
    table = Table(table.values, table.n_categories)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, table.n_rows)
    weights = rng.random(table.n_rows) + 0.01
    exact = [Fraction(float(w)) for w in weights]
    power = 2.5 if kind == "powers" else 2.0

    def impurity(counts: list[Any]) -> float:
        return naive.impurity_of([float(c) for c in counts], kind, 0.0, power)

    tree = stump(table, labels, weights, impurity=kind, power=power)
    minimax = kind in ("pairs", "powers")
    best = best_gain(table, impurity, labels, exact, minimax)
    whole = impurity(counts_of(labels, exact, np.ones(table.n_rows, dtype=bool)))
    found = gain_of(impurity, labels, exact, left_part(table, tree), minimax) if tree.n_nodes > 1 else 0.0
    assert math.isclose(found, best, rel_tol=1e-9, abs_tol=1e-9 * whole)


@given(tables(max_rows=25, kinds=NUMERIC), st.booleans(), st.sampled_from([0.0, 0.5, 3.0]), SEEDS)
@settings(deadline=None)
def test_the_regression_split_is_the_best_of_all(
    table: Table, given_hessians: bool, l2_regularization: float, seed: int
) -> None:
    table = Table(table.values, table.n_categories)
    rng = np.random.default_rng(seed)
    gradients = rng.normal(size=table.n_rows)
    hessians = rng.random(table.n_rows) + 0.1 if given_hessians else None
    h = np.ones(table.n_rows) if hessians is None else hessians
    grower = Grower(table.fast(), CostSheet([1.0] * table.n_features), max_leaf_nodes=2)
    tree = grower.gradient(gradients, hessians, l2_regularization=l2_regularization).tree

    def explained(part: NDArray[np.bool_]) -> float:
        return gradients[part].sum() ** 2 / (h[part].sum() + l2_regularization) / 2

    everything = np.ones(table.n_rows, dtype=bool)
    gains = [
        explained(part) + explained(~part) - explained(everything)
        for j in range(table.n_features)
        for part in parts_of(table.values[:, j])
        if not part.all()
    ]
    best = max([0.0, *gains])
    part = left_part(table, tree) if tree.n_nodes > 1 else everything
    found = explained(part) + explained(~part) - explained(everything) if tree.n_nodes > 1 else 0.0
    assert math.isclose(found, best, rel_tol=1e-9, abs_tol=1e-9)
    for node, rows in ((0, everything), (1, part), (2, ~part)):
        if node < tree.n_nodes:
            expected = gradients[rows].sum() / (h[rows].sum() + l2_regularization)
            assert math.isclose(tree.value[node, 0], expected, rel_tol=1e-9, abs_tol=1e-9)


@given(st.integers(1, 40), st.sampled_from(["gradient", "entropy", "gini"]), SEEDS)
@settings(deadline=None)
def test_the_categories_are_parted_as_well_as_any_subset_parts_them(
    n_rows: int, kind: str, seed: int
) -> None:
    """For squared error and two classes some prefix of the order by means is the best subset (Fisher)."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, n_rows)
    table = Table(codes[:, None].astype(float), (6,))
    labels = rng.integers(0, 2, n_rows)
    grower = Grower(table.fast(), CostSheet([1.0]), max_leaf_nodes=2)
    if kind == "gradient":
        target: naive.Target = naive.Gradients(labels.astype(float))
        tree = grower.gradient(labels.astype(float)).tree
    else:
        target = naive.Classes(labels, np.ones(n_rows), 2, kind=kind)
        tree = grower.classes(labels, np.ones(n_rows), 2, impurity=kind).tree

    def gain(chosen: tuple[int, ...]) -> float:
        left = np.isin(codes, chosen)
        return target.gain(target.cells[left].sum(axis=0), target.cells[~left].sum(axis=0))

    subsets = [chosen for size in range(7) for chosen in itertools.combinations(range(6), size)]
    best = max(gain(chosen) for chosen in subsets)
    left_codes, _ = naive.code_sets(tree, 0)
    found = gain(tuple(left_codes)) if left_codes else 0.0
    assert math.isclose(found, best, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("side", [naive.LEFT, naive.RIGHT])
def test_missing_values_go_with_those_like_them(side: int) -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0, np.nan, np.nan])
    like = 1.0 if side == naive.RIGHT else -1.0
    table = Table(values[:, None], (0,))
    tree = (
        Grower(table.fast(), CostSheet([1.0]), max_leaf_nodes=2)
        .gradient(np.array([-1, -1, 1, 1, like, like]))
        .tree
    )
    assert tree.missing[0] == side
    assert tree.threshold[0] == 1.5


def test_missing_against_known_is_a_split_too() -> None:
    table = Table(np.array([[1.0], [2.0], [np.nan]]), (0,))
    tree = Grower(table.fast(), CostSheet([1.0]), max_leaf_nodes=2).gradient(np.array([-1.0, -1.0, 5.0])).tree
    assert tree.threshold[0] == math.inf
    assert tree.missing[0] == naive.RIGHT
    assert tree.value.ravel().tolist() == [1.0, -1.0, 5.0]
