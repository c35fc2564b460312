"""Binning equals its naive twin: edges, codes, samples, every layout of memory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels import naive
from tests.kernels.strategies import Table, schema_of, tables

from farthing.table import Bins

FLOATS = st.floats(allow_nan=True, allow_infinity=True)


def assert_same_bins(table: Table) -> None:
    fast = table.fast()
    for j, slow in enumerate(table.slow()):
        assert fast.n_bins(j) == slow.n_bins
        assert fast.edges(j).tolist() == slow.edges
        np.testing.assert_array_equal(fast.codes()[j], slow.codes)


@given(tables())
@settings(deadline=None)
def test_bins_of_mixed_tables_equal_the_twins(table: Table) -> None:
    assert_same_bins(table)


@given(st.lists(FLOATS, min_size=1, max_size=60), st.integers(2, 255))
@settings(deadline=None)
def test_edges_of_any_floats_equal_the_twins(column: list[float], max_bins: int) -> None:
    assert_same_bins(Table(np.array(column)[:, None], (0,), max_bins))


@given(st.lists(FLOATS, min_size=1, max_size=60), st.integers(2, 8))
@settings(deadline=None)
def test_an_edge_parts_the_bins_exactly(column: list[float], max_bins: int) -> None:
    values = np.array(column)[:, None]
    bins = Bins(values, schema_of((0,)), max_bins=max_bins)
    edges, codes = bins.edges(0), bins.codes()[0]
    assert (np.diff(edges) > 0).all()
    for b, edge in enumerate(edges):
        known = ~np.isnan(values[:, 0])
        np.testing.assert_array_equal(codes[known] <= b, values[known, 0] <= edge)
    assert set(codes[~np.isnan(values[:, 0])]) <= set(range(bins.n_bins(0)))


@pytest.mark.parametrize("n_distinct", [254, 255, 256, 257, 1000])
@pytest.mark.parametrize("max_bins", [255, 16])
def test_more_values_than_bins(n_distinct: int, max_bins: int) -> None:
    rng = np.random.default_rng(n_distinct)
    even = rng.permutation(n_distinct * 3) % n_distinct
    heavy = np.minimum(rng.geometric(0.01, n_distinct * 3), n_distinct)  # some values fill bins by themselves
    table = Table(np.column_stack([even, heavy]).astype(float), (0, 0), max_bins)
    assert_same_bins(table)
    assert table.fast().n_bins(0) == min(n_distinct, max_bins)


@pytest.mark.parametrize(("n_codes", "max_bins"), [(255, 255), (256, 255), (300, 255), (700, 255), (9, 4)])
def test_more_categories_than_bins(n_codes: int, max_bins: int) -> None:
    rng = np.random.default_rng(n_codes)
    codes = np.minimum(rng.geometric(8 / n_codes, 2000), n_codes) - 1.0
    codes[rng.random(2000) < 0.1] = np.nan
    table = Table(codes[:, None], (n_codes,), max_bins)
    assert_same_bins(table)
    assert table.fast().n_bins(0) == min(n_codes, max_bins)


def test_a_code_beyond_the_categories_is_missing() -> None:
    bins = Bins(np.array([[0.0], [1.0], [2.0], [-1.0], [1e300], [np.inf]]), schema_of((2,)))
    assert bins.codes()[0].tolist() == [0, 1, 2, 2, 2, 2]


def test_columns_without_anything_to_part() -> None:
    bins = Bins(np.array([[7.0, np.nan], [7.0, np.nan]]), schema_of((0, 0)))
    assert [bins.n_bins(0), bins.n_bins(1)] == [1, 1]
    assert bins.codes().tolist() == [[0, 0], [1, 1]]


def test_infinities_have_bins_of_their_own() -> None:
    column = np.array([-np.inf, -1e308, 1e308, np.inf])
    bins = Bins(column[:, None], schema_of((0,)))
    assert bins.codes()[0].tolist() == [0, 1, 2, 3]
    assert bins.edges(0).tolist() == [-math.inf, 0.0, 1e308]


def test_every_layout_of_memory_gives_the_same_bins() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6)).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < 0.1] = np.nan
    schema = schema_of((0,) * 6)
    strided = np.empty((1400, 12))[::2, ::2]
    strided[:] = X
    backwards = X[::-1, ::-1].copy()[::-1, ::-1]
    swapped = X.astype(X.dtype.newbyteorder())
    layouts = [np.asfortranarray(X), X.astype(np.float32), strided, backwards, swapped]
    layouts.append(np.asfortranarray(X.astype(np.float32)))
    expected = Bins(X, schema)
    for layout in layouts:
        bins = Bins(layout, schema)
        np.testing.assert_array_equal(bins.codes(), expected.codes())
        for j in range(6):
            np.testing.assert_array_equal(bins.edges(j), expected.edges(j))


def test_sampled_rows_are_spread_over_the_table() -> None:
    rows = naive.sample_rows(200_001, 65_536)
    assert len(rows) == 65_536
    assert (np.diff(rows) > 0).all()
    assert np.abs(np.array(rows) - np.linspace(0, 200_001, 65_536)).max() < 5


@pytest.mark.parametrize("n_rows", [65_536, 65_537, 100_000])
def test_bins_of_many_rows_are_learned_from_the_sample(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    numbers = rng.normal(size=n_rows)
    numbers[rng.random(n_rows) < 0.05] = np.nan
    codes = np.minimum(rng.geometric(0.02, n_rows), 400) - 1.0
    assert_same_bins(Table(np.column_stack([numbers, codes]), (0, 400)))


def test_two_threads_bin_as_one_does() -> None:
    rng = np.random.default_rng(1)
    table = Table(rng.normal(size=(70_000, 12)).astype(np.float32), (0,) * 12)
    one, two = table.fast(1), table.fast(2)
    np.testing.assert_array_equal(one.codes(), two.codes())
    for j in range(12):
        np.testing.assert_array_equal(one.edges(j), two.edges(j))
