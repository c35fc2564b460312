"""The grower equals its naive twin: fixed-point sums, histograms, splits, prices, ledgers, limits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels import naive
from tests.kernels.comparison import assert_same_tree, fast_and_slow
from tests.kernels.strategies import SEEDS, Table, limits, sheets, tables

from farthing.costs import CostSheet
from farthing.trees import Grower

IMPURITIES = [
    ("entropy", 0.0, 2.0),
    ("gini", 0.0, 2.0),
    ("pairs", 0.0, 2.0),
    ("pairs", 1.0, 2.0),
    ("pairs", 0.5, 2.0),
    ("powers", 0.0, 2.0),
    ("powers", 0.0, 3.0),
    ("powers", 0.0, 2.5),
]
NO_LIMITS: dict[str, Any] = {}


def blind(n_features: int) -> tuple[CostSheet, naive.Sheet]:
    return CostSheet([0.0] * n_features), naive.Sheet([0.0] * n_features)


def of_classes(
    n_rows: int,
    rng: np.random.Generator,
    n_classes: int = 2,
    kind: tuple[str, float, float] = IMPURITIES[0],
    min_impurity: float = 0.0,
) -> dict[str, Any]:
    return {
        "labels": rng.integers(0, n_classes, n_rows),
        "weights": rng.integers(1, 4, n_rows).astype(float),
        "n_classes": n_classes,
        "kind": kind[0],
        "alpha": kind[1],
        "power": kind[2],
        "min_impurity": min_impurity,
    }


def of_gradients(
    n_rows: int, rng: np.random.Generator, hessians: str = "unit", l2_regularization: float = 0.0
) -> dict[str, Any]:
    some = rng.integers(0, 3, n_rows).astype(float)
    some[0] = 1.0
    return {
        "gradients": rng.integers(-4, 5, n_rows).astype(float),
        "hessians": None if hessians == "unit" else some,
        "l2_regularization": l2_regularization,
    }


@given(st.data(), tables(), limits(), SEEDS)
def test_squared_error_equals_the_twin(data: Any, table: Table, options: dict[str, Any], seed: int) -> None:
    hessians, l2_regularization = data.draw(
        st.sampled_from([("unit", 0.0), ("unit", 1.0), ("given", 0.0), ("given", 0.5)])
    )
    target = of_gradients(table.n_rows, np.random.default_rng(seed), hessians, l2_regularization)
    draws = {"number": data.draw(st.one_of(st.none(), st.integers(0, 2**62)))}
    assert_same_tree(*fast_and_slow(table, data.draw(sheets(table.n_features)), options, target, draws=draws))


@given(st.data(), tables(), limits(), SEEDS)
def test_classes_equal_the_twin(data: Any, table: Table, options: dict[str, Any], seed: int) -> None:
    kind, n_classes = data.draw(st.sampled_from(IMPURITIES)), data.draw(st.sampled_from([1, 2, 2, 3, 4]))
    least = data.draw(st.sampled_from([0.0, 0.0, 1.5, 8.0, 60.0]))
    target = of_classes(table.n_rows, np.random.default_rng(seed), n_classes, kind, least)
    assert_same_tree(*fast_and_slow(table, data.draw(sheets(table.n_features)), options, target))


@given(
    st.data(),
    tables(kinds=("few", "binary", "categories")),
    st.sampled_from([None, 2.5, 4.0, 6.0]),
    st.sampled_from([0.5, 1.0, 2.0]),
    SEEDS,
)
def test_after_a_purchase_all_open_leaves_rank_anew(
    data: Any, table: Table, budget: float | None, tradeoff: float, seed: int
) -> None:
    """Under the model ledger a feature that one leaf bought is free for all, and its group cheaper."""
    options = {"ledger": "model", "cost_rule": "penalty", "tradeoff": tradeoff, "budget": budget}
    target = of_gradients(table.n_rows, np.random.default_rng(seed))
    assert_same_tree(*fast_and_slow(table, data.draw(sheets(table.n_features)), options, target))


@given(st.data(), tables(), limits(), SEEDS)
def test_chosen_rows_columns_and_what_is_owned_already(
    data: Any, table: Table, options: dict[str, Any], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(table.n_rows) < 0.7)
    columns = np.flatnonzero(rng.random(table.n_features) < 0.7)
    owned = rng.integers(0, 2, table.n_features).astype(np.uint8)
    if not len(rows):
        rows = np.array([0])
    chosen = {"rows": rows, "columns": columns, "owned": owned}
    target = of_gradients(table.n_rows, rng)
    assert_same_tree(*fast_and_slow(table, data.draw(sheets(table.n_features)), options, target, **chosen))


@given(st.data(), tables(), limits(), SEEDS)
def test_drawn_columns_and_cuts_equal_the_twin(
    data: Any, table: Table, options: dict[str, Any], seed: int
) -> None:
    max_cuts, cuts_above = data.draw(
        st.sampled_from(
            [(None, 0), (1, 0), (1, 5), (3, 20), (255, 0), ([(40, 4), (10, 2), (0, 1)], 0), ([(5, 1)], 0)]
        )
    )
    draws = {
        "max_features": data.draw(st.sampled_from([None, 1, 2, 3])),
        "max_cuts": max_cuts,
        "cuts_above": cuts_above,
        "seed": seed,
        "stream": data.draw(st.integers(0, 2**62)),
    }
    kind = data.draw(st.sampled_from(IMPURITIES))
    target = of_classes(table.n_rows, np.random.default_rng(seed), 3, kind)
    prices = data.draw(sheets(table.n_features))
    options = {**options, "ledger": "row"}
    assert_same_tree(*fast_and_slow(table, prices, options, target, draws=draws))


def test_columns_are_drawn_evenly_and_anew_for_each_node_and_tree() -> None:
    """With one column drawn for a stump, each of six equal columns is taken in a sixth of the trees."""
    values = np.tile(np.arange(8.0)[:, None], 6)
    labels, weights = np.arange(8) % 2, np.ones(8)
    grower = Grower(Table(values, (0,) * 6).fast(), CostSheet([1.0] * 6))
    trees = [grower.classes(labels, weights, 2, max_features=1, seed=5, stream=t).tree for t in range(600)]
    roots = np.bincount([tree.feature[0] for tree in trees], minlength=6)
    assert roots.sum() == 600
    assert (np.abs(roots - 100) < 45).all()  # five standard deviations of a binomial
    inner = [set(tree.feature[tree.feature >= 0].tolist()) for tree in trees[:20]]
    assert min(map(len, inner)) > 1


def test_cuts_are_drawn_anew_for_each_node_and_tree() -> None:
    """One cut a node, between 100 bins: evenly drawn at the root."""
    labels = np.random.default_rng(0).integers(0, 2, 100)
    grower = Grower(Table(np.arange(100.0)[:, None], (0,)).fast(), CostSheet([1.0]), max_leaf_nodes=2)
    cuts = [
        grower.classes(labels, np.ones(100), 2, max_cuts=1, seed=1, stream=t).tree.threshold[0]
        for t in range(500)
    ]
    assert len(set(cuts)) > 80
    assert abs(np.mean(cuts) - 49) < 7  # five standard errors


def test_cuts_are_drawn_in_large_nodes_only() -> None:
    """One cut at random above 50 rows; below, the cut that parts the classes."""
    labels = (np.arange(100) >= 30).astype(np.int64)
    grower = Grower(Table(np.arange(100.0)[:, None], (0,)).fast(), CostSheet([1.0]), max_leaf_nodes=2)
    for rows, best in ((np.arange(100), False), (np.arange(50), True)):
        cuts = {
            grower.classes(
                labels, np.ones(100), 2, rows=rows, max_cuts=1, cuts_above=50, stream=t
            ).tree.threshold[0]
            for t in range(50)
        }
        assert (cuts == {29.5}) == best


def test_the_number_of_cuts_follows_the_weight_of_the_node() -> None:
    """80, 40 and 20 of the thesis, scaled down: the best of more cuts drawn is nearer to the boundary."""
    labels = (np.arange(200) >= 77).astype(np.int64)
    grower = Grower(Table(np.arange(200.0)[:, None], (0,)).fast(), CostSheet([1.0]), max_leaf_nodes=2)
    schedule = [(20, 2), (100, 8)]

    def missed(rows: np.ndarray, max_cuts: Any) -> list[float]:
        trees = [
            grower.classes(labels, np.ones(200), 2, rows=rows, max_cuts=max_cuts, stream=t).tree
            for t in range(60)
        ]
        return [abs(tree.threshold[0] - 76.5) for tree in trees]

    for rows, n_cuts in ((np.arange(200), 8), (np.arange(27, 127), 2), (np.arange(67, 87), None)):
        assert missed(rows, schedule) == missed(rows, n_cuts)
    assert np.mean(missed(np.arange(200), 8)) < np.mean(missed(np.arange(200), 2))
    assert max(missed(np.arange(67, 87), schedule)) == 0


def test_a_node_of_no_more_than_the_least_impurity_is_not_split() -> None:
    rng = np.random.default_rng(3)
    values, labels = rng.normal(size=(150, 3)), rng.integers(0, 3, 150)
    grower = Grower(Table(values, (0, 0, 0)).fast(), CostSheet([1.0] * 3))
    for kind, alpha, power in IMPURITIES:
        whole = grower.classes(labels, np.ones(150), 3, impurity=kind, alpha=alpha, power=power).tree
        impurity = [naive.impurity_of(value, kind=kind, alpha=alpha, power=power) for value in whole.value]
        least = float(np.sort(impurity)[len(impurity) * 3 // 4])
        tree = grower.classes(
            labels, np.ones(150), 3, impurity=kind, alpha=alpha, power=power, min_impurity=least
        ).tree
        found = [naive.impurity_of(value, kind=kind, alpha=alpha, power=power) for value in tree.value]
        # No draws and no limits, so every node that is split in the whole tree is split unless it may not be.
        assert (tree.feature >= 0).tolist() == [of > least for of in found]
        assert 1 < tree.n_nodes < whole.n_nodes


def test_a_threshold_lies_in_the_middle_of_the_gap_between_a_node_s_rows() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0, 10.0, 11.0])[:, None]
    labels = np.array([0, 0, 1, 0, 0, 1])
    grower = Grower(Table(values, (0,)).fast(), CostSheet([1.0]), max_leaf_nodes=2)
    tree = grower.classes(labels, np.ones(6), 2, rows=np.array([0, 1, 5])).tree
    assert tree.threshold[0] == 6.5  # of the edges 1.5, 2.5, 6.5, 10.5 the nearest to 6


def test_neither_columns_nor_cuts_may_be_drawn_under_the_model_ledger() -> None:
    grower = Grower(Table(np.arange(4.0)[:, None], (0,)).fast(), CostSheet([1.0]), ledger="model")
    with pytest.raises(ValueError, match="row ledger"):
        grower.classes(np.array([0, 1, 0, 1]), np.ones(4), 2, max_features=1)
    with pytest.raises(ValueError, match="row ledger"):
        grower.classes(np.array([0, 1, 0, 1]), np.ones(4), 2, max_cuts=1)


def cubes(counts: Any) -> Any:
    """Return an admissible polynomial (lemma 3.4.4): each term has two classes at least."""
    return float(sum(a * b**2 for i, a in enumerate(counts) for j, b in enumerate(counts) if i != j))


@given(st.data(), tables(max_rows=25, max_features=3), limits(), SEEDS)
def test_a_callable_impurity_equals_the_twin(
    data: Any, table: Table, options: dict[str, Any], seed: int
) -> None:
    target = of_classes(table.n_rows, np.random.default_rng(seed), 3, (cubes, 0.0, 2.0))
    assert_same_tree(*fast_and_slow(table, data.draw(sheets(table.n_features)), options, target))


@pytest.mark.parametrize(
    ("impurity", "error", "message"),
    [
        (lambda counts: 1 / 0, ZeroDivisionError, "division"),
        (lambda counts: "text", ValueError, "at least zero; got 'text'"),
        (lambda counts: -1.0, ValueError, "at least zero"),
        (lambda counts: np.nan, ValueError, "at least zero"),
        ("depth", ValueError, "impurity is"),
    ],
)
def test_an_impurity_that_fails_says_so(impurity: Any, error: type[Exception], message: str) -> None:
    grower = Grower(Table(np.arange(4.0)[:, None], (0,)).fast(), CostSheet([1.0]), n_threads=2)
    with pytest.raises(error, match=message):
        grower.classes(np.array([0, 1, 0, 1]), np.ones(4), 2, impurity=impurity)


@given(tables(), st.floats(1e-3, 1e3), st.integers(-900, 800), SEEDS)
def test_gradients_that_need_rounding_are_summed_on_the_grid(
    table: Table, scale: float, exponent: int, seed: int
) -> None:
    """The fixed-point grid keeps the same bits at every magnitude; squares may leave the range of a float."""
    rng = np.random.default_rng(seed)
    gradients = np.ldexp(rng.normal(size=table.n_rows) * scale, exponent)
    for hessians in (None, rng.random(table.n_rows)):
        target = {"gradients": gradients, "hessians": hessians, "l2_regularization": 0.0}
        assert_same_tree(*fast_and_slow(table, blind(table.n_features), {"max_leaf_nodes": 4}, target))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
@settings(deadline=None)
def test_the_grid_is_finer_than_a_float(gradients: list[float]) -> None:
    """The mean at the root is the exact mean up to the rounding of n values to the grid."""
    column = np.zeros((len(gradients), 1))
    grower = Grower(Table(column, (0,)).fast(), CostSheet([1.0]), max_leaf_nodes=1)
    value = grower.gradient(np.array(gradients)).tree.value[0, 0]
    exact = float(sum(map(Fraction, gradients)) / len(gradients))
    finest = 2.0**-1000
    assert abs(value - exact) <= 2.0**-40 * max(map(abs, gradients)) + finest


@pytest.mark.parametrize("kind", IMPURITIES)
def test_trees_of_many_leaves_equal_the_twin(kind: tuple[str, float, float]) -> None:
    """More open leaves than histograms: some siblings are subtracted, some are counted."""
    rng = np.random.default_rng(3)
    table = mixed_table(300, rng)
    target = of_classes(300, rng, 3, kind)
    fast, slow = fast_and_slow(table, blind(table.n_features), NO_LIMITS, target)
    assert_same_tree(fast, slow)
    assert len(slow.nodes) > (5 if kind[1] else 100)


@pytest.mark.parametrize("hessians", ["unit", "given"])
@pytest.mark.parametrize("ledger", ["row", "model"])
def test_regression_trees_of_many_leaves_equal_the_twin(hessians: str, ledger: str) -> None:
    rng = np.random.default_rng(4)
    table = mixed_table(300, rng)
    prices = CostSheet([3.0, 0.5, 1.0]), naive.Sheet([3.0, 0.5, 1.0])
    options = {"ledger": ledger, "tradeoff": 0.5, "min_samples_leaf": 2}
    fast, slow = fast_and_slow(table, prices, options, of_gradients(300, rng, hessians))
    assert_same_tree(fast, slow)
    assert len(slow.nodes) > 100


@pytest.mark.parametrize("ledger", ["row", "model"])
def test_indicators_are_counted_from_their_rare_entries(ledger: str) -> None:
    """Columns in which nearly all rows have one bin, beside others: the same trees as from all entries."""
    rng = np.random.default_rng(17)
    n_rows = 300
    indicators = (rng.integers(0, 12, n_rows)[:, np.newaxis] == np.arange(12)).astype(float)
    indicators[rng.random(indicators.shape) < 0.02] = np.nan
    rare = np.where(rng.random(n_rows) < 0.95, 2, rng.integers(0, 5, n_rows))
    table = Table(np.column_stack([indicators, rare, rng.integers(0, 20, n_rows)]), (0,) * 12 + (5, 0))
    own = [0.5, 1.0] * 7
    options = {"ledger": ledger, "tradeoff": 0.1, "max_leaf_nodes": 40}
    for target in (of_classes(n_rows, rng, 3), of_gradients(n_rows, rng), of_gradients(n_rows, rng, "given")):
        fast, slow = fast_and_slow(table, (CostSheet(own), naive.Sheet(own)), options, target)
        assert_same_tree(fast, slow)
        assert len(slow.nodes) > 20


def mixed_table(n_rows: int, rng: np.random.Generator) -> Table:
    values = np.column_stack(
        [rng.integers(0, 20, n_rows), rng.integers(0, 9, n_rows), rng.integers(0, 12, n_rows)]
    )
    values = values.astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    return Table(values, (0, 0, 12))


def test_more_categories_than_bins() -> None:
    rng = np.random.default_rng(5)
    n_rows = 900
    codes = np.minimum(rng.geometric(0.01, n_rows), 400) - 1.0
    table = Table(np.column_stack([codes, rng.integers(0, 5, n_rows)]).astype(float), (400, 0))
    for target in (of_classes(n_rows, rng, 2, ("gini", 0.0, 2.0)), of_gradients(n_rows, rng)):
        assert_same_tree(*fast_and_slow(table, blind(2), {"max_leaf_nodes": 6}, target))


def test_more_values_than_bins() -> None:
    rng = np.random.default_rng(15)
    table = Table(rng.normal(size=(700, 2)), (0, 0))
    for target in (of_classes(700, rng, 3, ("pairs", 0.0, 2.0)), of_gradients(700, rng, "given")):
        assert_same_tree(*fast_and_slow(table, blind(2), {"max_leaf_nodes": 6}, target))


def test_many_classes() -> None:
    rng = np.random.default_rng(16)
    table = Table(rng.integers(0, 6, (200, 2)).astype(float), (6, 0))
    target = of_classes(200, rng, 70, ("gini", 0.0, 2.0))
    assert_same_tree(*fast_and_slow(table, blind(2), {"max_leaf_nodes": 4}, target))


def test_weights_too_small_for_the_grid_are_zero_and_harm_nothing() -> None:
    """Categories whose rows all weigh nothing have no share of any class; they must not upset the sorting."""
    rng = np.random.default_rng(6)
    n_rows = 600
    codes = rng.integers(0, 60, n_rows).astype(float)
    weights = np.where(codes % 2 == 0, 1e-40, rng.integers(1, 5, n_rows) + 0.5)
    table = Table(codes[:, None], (60,))
    for n_classes in (2, 3):
        target = {**of_classes(n_rows, rng, n_classes), "weights": weights}
        assert_same_tree(*fast_and_slow(table, blind(1), {"max_leaf_nodes": 3}, target))


@pytest.mark.parametrize("kind", ["entropy", "gini", "pairs", "powers"])
def test_a_pure_node_is_never_split(kind: str) -> None:
    """Whatever the weights round to: one class leaves nothing to gain."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        n_rows = int(rng.integers(2, 30))
        table = Table(rng.normal(size=(n_rows, 2)), (0, 0))
        grower = Grower(table.fast(), CostSheet([1.0, 1.0]))
        weights = rng.random(n_rows) + 1e-3
        for label in (0, 1):
            labels = np.full(n_rows, label)
            assert grower.classes(labels, weights, 2, impurity=kind).tree.n_nodes == 1


def test_one_row_is_one_leaf() -> None:
    table = Table(np.array([[1.0, np.nan]]), (0, 0))
    grown = Grower(table.fast(), CostSheet([1.0, 1.0])).gradient(np.array([3.0]))
    assert grown.tree.value.tolist() == [[3.0]]
    assert grown.leaf_of_row.tolist() == [0]


def test_a_grower_carries_nothing_from_one_tree_to_the_next() -> None:
    rng = np.random.default_rng(8)
    table = mixed_table(200, rng)
    grower = Grower(table.fast(), CostSheet([1.0] * 3), max_leaf_nodes=20)
    gradients, labels = rng.normal(size=200), rng.integers(0, 3, 200)
    some_rows = np.arange(0, 200, 3)
    first = grower.gradient(gradients).tree
    grower.classes(labels, np.ones(200), 3)
    grower.gradient(gradients, rows=some_rows)
    assert grower.gradient(gradients).tree == first


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(bad: float) -> None:
    grower = Grower(Table(np.zeros((2, 1)), (0,)).fast(), CostSheet([1.0]))
    with pytest.raises(ValueError, match="not finite"):
        grower.gradient(np.array([1.0, bad]))
    with pytest.raises(ValueError, match="not finite"):
        grower.gradient(np.array([1.0, 1.0]), np.array([1.0, bad]))
    with pytest.raises(ValueError, match="not finite"):
        grower.classes(np.array([0, 1]), np.array([1.0, bad]), 2)


@pytest.mark.parametrize("most", [2**40, 2**62, 2**63 - 1])
def test_huge_limits_are_no_limits(most: int) -> None:
    table = Table(np.arange(8.0)[:, None], (0,))
    gradients = np.arange(8.0)
    free = Grower(table.fast(), CostSheet([1.0])).gradient(gradients).tree
    limited = Grower(table.fast(), CostSheet([1.0]), max_depth=most, max_leaf_nodes=most)
    assert limited.gradient(gradients).tree == free
    crowded = Grower(table.fast(), CostSheet([1.0]), min_samples_leaf=most)
    assert crowded.gradient(gradients).tree.n_nodes == 1
