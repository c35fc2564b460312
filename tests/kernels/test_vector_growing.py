"""Trees with a value for each output equal their naive twin, and with one output the trees of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels import naive
from tests.kernels.comparison import assert_same_tree, fast_and_slow
from tests.kernels.strategies import SEEDS, Table, limits, sheets, tables

from farthing.costs import CostSheet
from farthing.trees import Grower, RowLedgers


def of_outputs(
    n_outputs: int, n_rows: int, rng: np.random.Generator, hessians: str = "unit", l2: float = 0.0
) -> dict[str, Any]:
    """Return whole gradients, which are summed exactly, of several outputs; some hessians are zero."""
    some = rng.integers(0, 3, (n_outputs, n_rows)).astype(float)
    some[:, 0] = 1.0
    return {
        "gradients": rng.integers(-4, 5, (n_outputs, n_rows)).astype(float),
        "hessians": None if hessians == "unit" else some,
        "l2_regularization": l2,
    }


def softmax_like(n_outputs: int, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return gradients and hessians as those of the log loss of classes."""
    p = rng.dirichlet(np.ones(n_outputs), size=n_rows).T
    gradients = (rng.integers(0, n_outputs, n_rows) == np.arange(n_outputs)[:, np.newaxis]) - p
    return gradients, np.maximum(p * (1 - p), 0.1 * np.abs(gradients))


@given(st.data(), tables(max_rows=30, max_features=3), limits(), st.sampled_from([2, 3, 4, 5, 9]), SEEDS)
def test_trees_equal_the_twin(
    data: Any, table: Table, options: dict[str, Any], n_outputs: int, seed: int
) -> None:
    kind = data.draw(st.sampled_from([("unit", 0.0), ("unit", 1.0), ("given", 0.0), ("given", 0.5)]))
    target = of_outputs(n_outputs, table.n_rows, np.random.default_rng(seed), *kind)
    draws = {"number": data.draw(st.one_of(st.none(), st.integers(0, 2**62)))}
    assert_same_tree(*fast_and_slow(table, data.draw(sheets(table.n_features)), options, target, draws=draws))


@given(st.data(), tables(max_rows=30, max_features=3), limits(), SEEDS)
def test_chosen_rows_columns_and_what_is_owned_already(
    data: Any, table: Table, options: dict[str, Any], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = np.union1d([0], np.flatnonzero(rng.random(table.n_rows) < 0.7))
    columns = np.flatnonzero(rng.random(table.n_features) < 0.7)
    owned = rng.integers(0, 2, table.n_features).astype(np.uint8)
    target = of_outputs(5, table.n_rows, rng)
    chosen = {"rows": rows, "columns": columns, "owned": owned}
    assert_same_tree(*fast_and_slow(table, data.draw(sheets(table.n_features)), options, target, **chosen))


@given(tables(max_rows=30, max_features=3), st.integers(-300, 300), SEEDS)
def test_gradients_that_need_rounding_are_summed_on_the_grid(table: Table, exponent: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gradients, hessians = softmax_like(6, table.n_rows, rng)
    target = {"gradients": np.ldexp(gradients, exponent), "hessians": hessians, "l2_regularization": 1.0}
    sheet = [1.0] * table.n_features
    options = {"max_leaf_nodes": 4}
    fast, slow = fast_and_slow(table, (CostSheet(sheet), naive.Sheet(sheet)), options, target)
    assert_same_tree(fast, slow)


@pytest.mark.parametrize("ledger", ["row", "model"])
def test_of_many_outputs_those_of_the_largest_gradients_find_the_splits(ledger: str) -> None:
    """The values are of all 40 outputs all the same."""
    rng = np.random.default_rng(5)
    table = Table(np.column_stack([rng.integers(0, 9, 80), rng.integers(0, 6, 80)]).astype(float), (0, 6))
    target = of_outputs(40, 80, rng)
    target["gradients"] *= rng.integers(1, 5, (40, 1))
    own = [3.0, 0.5]
    options = {"ledger": ledger, "tradeoff": 0.5, "max_leaf_nodes": 8}
    fast, slow = fast_and_slow(table, (CostSheet(own), naive.Sheet(own)), options, target)
    assert_same_tree(fast, slow)
    assert fast.tree.value.shape == (15, 40)


@given(tables(), limits(), st.booleans(), SEEDS)
def test_one_output_gives_the_tree_of_one_output(
    table: Table, options: dict[str, Any], unit: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    gradients, hessians = rng.normal(size=(1, table.n_rows)), rng.random((1, table.n_rows))
    grower = Grower(table.fast(), CostSheet(np.ones(table.n_features)), **options)
    one = grower.gradient(gradients, None if unit else hessians, step=0.1)
    assert one.tree == grower.gradient(gradients[0], None if unit else hessians[0], step=0.1).tree


def test_equal_outputs_give_the_structure_and_the_values_of_one() -> None:
    """The gain is the sum over the outputs, so copies of one output split where it splits alone."""
    rng = np.random.default_rng(6)
    table = Table(np.round(rng.normal(size=(400, 5)), 1), (0,) * 5)
    gradients, hessians = rng.integers(-9, 10, 400).astype(float), rng.integers(1, 4, 400).astype(float)
    grower = Grower(table.fast(), CostSheet([0.0] * 5), max_leaf_nodes=20)
    alone = grower.gradient(gradients, hessians, l2_regularization=1.0, step=0.3).tree
    copies = grower.gradient(np.tile(gradients, (3, 1)), hessians, l2_regularization=1.0, step=0.3).tree
    for name in ("feature", "threshold", "left", "right", "missing"):
        np.testing.assert_array_equal(getattr(copies, name), getattr(alone, name))
    np.testing.assert_array_equal(copies.value, np.tile(alone.value, (1, 3)))


@pytest.mark.parametrize("ledger", ["row", "model"])
def test_two_threads_give_the_bits_of_one(ledger: str) -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=(20_000, 6))
    values[:, 2] = rng.integers(0, 30, 20_000)
    values[rng.random(values.shape) < 0.05] = np.nan
    table = Table(values, (0, 0, 30, 0, 0, 0))
    gradients, hessians = softmax_like(7, 20_000, rng)
    sheet = CostSheet(np.arange(1.0, 7.0))
    one, two = (
        Grower(table.fast(n), sheet, max_leaf_nodes=12, ledger=ledger, tradeoff=1.0, n_threads=n).gradient(
            gradients, hessians
        )
        for n in (1, 2)
    )
    assert one.tree == two.tree
    assert one.tree.n_nodes == 23
    np.testing.assert_array_equal(one.leaf_of_row, two.leaf_of_row)


def test_rows_of_a_ledger_own_what_is_on_their_paths() -> None:
    rng = np.random.default_rng(8)
    table = Table(np.round(rng.normal(size=(200, 4)), 1), (0,) * 4)
    sheet = CostSheet([1.0, 2.0, 3.0, 4.0])
    bins = table.fast()
    ledgers = RowLedgers(bins, sheet, budget=5.0, weights=None, owned=None, n_threads=1)
    grower = Grower(bins, sheet, ledger="row", tradeoff=1e-3, max_depth=3)
    owned = np.zeros((200, 4), dtype=np.bool_)
    for _ in range(3):
        gradients, hessians = softmax_like(5, 200, rng)
        tree = grower.gradient(
            gradients, hessians, ledgers=ledgers, rows=np.arange(150), send_others=True
        ).tree
        for row, x in enumerate(table.values):
            node: int | None = 0
            while node is not None and tree.feature[node] >= 0:
                feature = int(tree.feature[node])
                afford = owned[row].copy()
                afford[feature] = True
                pays = sheet.total(afford) <= 5.0
                owned[row, feature] |= pays
                node = tree.route(node, x[feature] if pays else np.nan)
    bits = ledgers.owned()[:, :1] >> np.arange(4, dtype=np.uint64) & np.uint64(1)
    np.testing.assert_array_equal(bits.astype(np.bool_), owned)


def test_no_leaf_has_less_than_the_least_hessians() -> None:
    rng = np.random.default_rng(9)
    table = Table(rng.normal(size=(300, 3)), (0,) * 3)
    gradients, hessians = softmax_like(4, 300, rng)
    grower = Grower(table.fast(), CostSheet([0.0] * 3), max_leaf_nodes=30)
    for least in (0.0, 20.0):
        grown = grower.gradient(gradients, hessians, min_hessian=least)
        sums = np.bincount(grown.leaf_of_row, hessians.sum(axis=0))
        leaves = np.unique(grown.leaf_of_row)
        assert (sums[leaves] >= least).all()
        assert len(leaves) == 30 if least == 0 else 2 < len(leaves) < 30


@pytest.mark.parametrize(
    ("gradients", "hessians"),
    [(np.ones((3, 5)), None), (np.ones((3, 4)), np.ones((2, 4))), (np.full((3, 4), np.nan), None)],
)
def test_bad_gradients_are_refused(gradients: Any, hessians: Any) -> None:
    grower = Grower(Table(np.arange(4.0)[:, np.newaxis], (0,)).fast(), CostSheet([1.0]))
    with pytest.raises(ValueError, match=r"one for each output and row|not finite"):
        grower.gradient(gradients, hessians)
