"""The kernels of linear models against their definitions in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from farthing import _core
from farthing.costs import CostSheet, RowLedger
from farthing.learning.forward_regression import ForwardRegression
from farthing.learning.linear_design import standardised
from farthing.learning.moments import Moments
from farthing.table import Schema


def explained(X: np.ndarray, y: np.ndarray, weights: np.ndarray, places: list[int]) -> float:
    """R squared of a full fit with an intercept, summed over the outputs."""
    roots = np.sqrt(weights)[:, np.newaxis]
    left = np.column_stack([np.ones(len(X)), X[:, places]]) * roots
    fitted = left @ np.linalg.lstsq(left, y * roots, rcond=1e-12)[0]
    total = (weights[:, np.newaxis] * (y - np.average(y, axis=0, weights=weights)) ** 2).sum()
    return float(1 - ((y * roots - fitted) ** 2).sum() / total)


def naive_selection(
    X: np.ndarray,
    columns: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    ledger: RowLedger,
    min_gain: float,
) -> list[int]:
    """Buy the largest gain per price, by full fits and the ledger of a row."""
    bought: list[int] = []
    while True:
        owned = ledger.owned
        now = explained(X, y, weights, np.flatnonzero(owned[columns]).tolist())
        best: tuple[tuple[bool, float], int] | None = None
        for column in range(int(columns.max()) + 1):
            if owned[column] or not ledger.affords(column):
                continue
            after = owned.copy()
            after[column] = True
            gain = explained(X, y, weights, np.flatnonzero(after[columns]).tolist()) - now
            price = ledger.price(column)
            key = (price == 0, gain if price == 0 else gain / price)
            if gain > 1e-9 and gain >= min_gain and (best is None or key > best[0]):
                best = key, column
        if best is None:
            return bought
        ledger.buy(best[1])
        bought.append(best[1])


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, CostSheet]:
    """Terms of which some share a column, one depends on others, and prices with a group and a zero."""
    random = np.random.default_rng(seed)
    columns = np.array([0, 1, 1, 1, 2, 3, 4, 4, 5])
    X = random.normal(size=(80, 9)) + 0.7 * random.normal(size=(80, 1))
    X[:, [1, 2, 3]] = np.eye(3)[random.integers(3, size=80)]
    X[:, 8] = X[:, 0] - 2 * X[:, 4]
    y = X @ random.normal(size=(9, 1 + seed % 3)) + 2 * random.normal(size=(80, 1 + seed % 3))
    # No two alike: once x0 is owned, x2 and x5 span the same, and at one price only rounding would choose.
    own = random.permutation(np.arange(1.0, 9.0))[:6]
    own[seed % 6] = 0.0
    names = [f"x{k}" for k in range(6)]
    sheet = CostSheet(
        dict(zip(names, own.tolist(), strict=True)), groups={"g": {"cost": 3.0, "members": ["x1", "x3"]}}
    )
    return X, columns, y, random.uniform(0.5, 2.0, size=80), sheet


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("budget", "min_gain"), [(9.0, 0.0), (25.0, 0.02), (1000.0, 0.0)])
def test_selection_is_that_of_full_fits_and_a_ledger(seed: int, budget: float, min_gain: float) -> None:
    X, columns, y, weights, sheet = problem(seed)
    owned = [[], [3], [1, 4]][seed % 3]
    regression = ForwardRegression(X, columns, y, weights)
    ledger = RowLedger(sheet, budget + sheet.total([f"x{k}" for k in owned]))
    for column in owned:
        regression.take(column)
        ledger.buy(column)
    found = regression.select(sheet, owned, ledger.budget, min_gain)
    assert found == naive_selection(X, columns, y, weights, ledger, min_gain)
    taken = np.flatnonzero(np.isin(columns, [*owned, *found])).tolist()
    assert regression.explained == pytest.approx(explained(X, y, weights, taken), abs=1e-10)


def test_taking_a_column_returns_its_terms_that_are_not_dependent() -> None:
    X, columns, y, weights, _ = problem(0)
    moments = Moments.of(np.vstack([X.T, y.T]), 9, weights)
    core = _core.ForwardRegression(
        moments.terms.copy(), moments.along.copy(), moments.squares[:9], columns, 1.0
    )
    assert core.take(1) == [1, 2]  # the categories of a column add up to one
    assert [core.take(column) for column in (0, 2, 5)] == [[0], [4], []]


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_places", [0, 1, 4, 7, 9])
def test_scores_have_the_bits_of_predictions(n_outputs: int, n_places: int) -> None:
    random = np.random.default_rng(n_places)
    X = random.normal(size=(700, 9))
    X[random.random(X.shape) < 0.1] = np.nan
    zeros, entries = standardised(X, Schema.learn(X), np.full(700, 1 / 700), n_outputs)
    places, rows = (
        np.sort(random.choice(9, n_places, replace=False)),
        np.flatnonzero(random.random(700) < 0.6),
    )
    coef, intercept = random.normal(size=(n_places, n_outputs)), random.normal(size=n_outputs)
    whole = np.zeros((9, n_outputs))
    whole[places] = coef
    expected = zeros.scorer(whole, intercept)(X[rows])
    np.testing.assert_array_equal(_core.term_scores(entries, rows, places, coef, intercept), expected.T)


@pytest.mark.parametrize("seed", range(6))
def test_moved_rows_are_in_one_of_two_sets(seed: int) -> None:
    random = np.random.default_rng(seed)
    before, after = (np.flatnonzero(random.random(50) < share) for share in random.random(2))
    rows, signs = _core.moved_rows(before, after)
    np.testing.assert_array_equal(rows, np.setxor1d(before, after))
    np.testing.assert_array_equal(signs, np.where(np.isin(rows, after), 1.0, -1.0))


def test_offsets_are_entries_less_a_centre() -> None:
    random = np.random.default_rng(0)
    table, kept, rows, centre = (
        random.normal(size=(5, 30)),
        np.array([4, 0]),
        np.array([7, 7, 29]),
        np.ones(2),
    )
    expected = table[np.ix_(kept, rows)] - centre[:, np.newaxis]
    np.testing.assert_array_equal(_core.row_offsets(table, kept, rows, centre), expected)


@pytest.mark.parametrize("rows", [[7, 7, 29, *range(3, 15)], list(range(4, 22)), []])
@pytest.mark.parametrize("kept", [[4, 0], [1, 2, 3], []])
@pytest.mark.parametrize("weighted", [False, True])
def test_weighed_offsets_have_a_further_entry_of_one(
    rows: list[int], kept: list[int], weighted: bool
) -> None:
    random = np.random.default_rng(1)
    table = random.normal(size=(5, 30))
    places, numbers = np.array(kept, dtype=np.int64), np.array(rows, dtype=np.int64)
    centre, weights = random.normal(size=len(kept)), random.normal(size=len(rows))
    offsets, weighed = _core.weighed_offsets(table, places, numbers, centre, weights if weighted else None)
    expected = np.vstack([table[np.ix_(places, numbers)] - centre[:, np.newaxis], np.ones(len(rows))])
    np.testing.assert_array_equal(offsets, expected)
    np.testing.assert_array_equal(weighed, expected * weights if weighted else expected)


@pytest.mark.parametrize(("n_terms", "n_outputs"), [(0, 2), (1, 1), (9, 1), (30, 4)])
@pytest.mark.parametrize("penalty", [0.0, 2.5])
def test_ridge_slopes_solve_the_normal_equations(n_terms: int, n_outputs: int, penalty: float) -> None:
    rows = np.random.default_rng(n_terms).normal(size=(80, n_terms + n_outputs))
    products = rows.T @ rows
    expected = np.linalg.solve(
        products[:n_terms, :n_terms] + penalty * np.eye(n_terms), products[:n_terms, n_terms:]
    )
    np.testing.assert_allclose(_core.ridge_slopes(products, n_terms, penalty), expected, rtol=1e-10)


def test_ridge_slopes_of_dependent_terms_are_none() -> None:
    products = np.ones((3, 3))
    assert _core.ridge_slopes(products, 2, 0.0) is None
    assert _core.ridge_slopes(np.full((2, 2), np.nan), 1, 0.0) is None
    np.testing.assert_allclose(_core.ridge_slopes(products, 2, 1.0), np.full((2, 1), 1 / 3))


@pytest.mark.parametrize("n_items", [0, 1, 2, 101])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_items_are_divided_in_their_order(n_items: int, dtype: type) -> None:
    random = np.random.default_rng(n_items)
    items, projection = random.integers(0, 99, n_items).astype(dtype), random.integers(0, 9, n_items) / 2
    for threshold in (-1.0, 1.5, 9.0):
        lower, upper = _core.divided(items, projection, threshold)
        np.testing.assert_array_equal(lower, items[projection <= threshold])
        np.testing.assert_array_equal(upper, items[projection > threshold])
        assert lower.dtype == upper.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 7, 8, 129, 5000])
def test_terms_are_standardised_over_the_rows_that_have_a_value(dtype: type, n_rows: int) -> None:
    random = np.random.default_rng(n_rows)
    values = (1e3 + random.normal(size=(n_rows, 5))).astype(dtype)
    values[:, 1] = 7.0  # a scale of 1
    values[:, 2] = random.integers(0, 3, n_rows)
    values[random.random((n_rows, 5)) < [0.0, 0.0, 0.2, 0.2, 1.0]] = np.nan
    values[0, 3] = np.inf
    columns, category = np.array([0, 1, 2, 2, 3, 4]), np.array([np.nan, np.nan, 0.0, 2.0, np.nan, np.nan])
    weights = random.uniform(0.5, 2.0, n_rows)
    for table in (values, np.asfortranarray(values)):
        mean, scale, terms = _core.standard_terms(table, columns, category, weights, 2)
        assert terms.shape == (8, n_rows)
        for term, (column, code) in enumerate(zip(columns, category, strict=True)):
            wide = table[:, column].astype(np.float64)
            seen = np.isfinite(wide)
            found = wide[seen] if np.isnan(code) else (wide[seen] == code).astype(np.float64)
            expected_mean = np.average(found, weights=weights[seen]) if seen.any() else 0.0
            spread = (
                np.sqrt(np.average((found - expected_mean) ** 2, weights=weights[seen])) if seen.any() else 0
            )
            expected_scale = spread if spread > 1e-12 * max(1.0, abs(expected_mean)) else 1.0
            np.testing.assert_allclose([mean[term], scale[term]], [expected_mean, expected_scale], rtol=1e-12)
            np.testing.assert_array_equal(terms[term, seen], (found - mean[term]) / scale[term])
            assert not terms[term, ~seen].any()


@pytest.mark.parametrize("n_rows", [1, 40])
def test_scores_of_a_run_of_rows_are_those_of_scattered_ones(n_rows: int) -> None:
    random = np.random.default_rng(2)
    table, places, coef = random.normal(size=(6, 60)), np.array([0, 1, 3, 4, 5]), random.normal(size=(5, 2))
    run = np.arange(7, 7 + n_rows)
    scores = _core.term_scores(table, run, places, coef, np.ones(2))
    scattered = _core.term_scores(table, np.append(run, 0), places, coef, np.ones(2))
    np.testing.assert_array_equal(scores, scattered[:, :-1])


ENTRIES, NUMBERS, NONE = np.ones((2, 3)), np.arange(2), np.arange(0)


@pytest.mark.parametrize(
    ("call", "arguments", "named"),
    [
        ("row_offsets", (ENTRIES, np.array([2]), NUMBERS, np.ones(1)), "kept"),
        ("row_offsets", (ENTRIES, NUMBERS, np.array([3]), np.ones(2)), "rows"),
        ("row_offsets", (ENTRIES, NUMBERS, NUMBERS, np.ones(1)), "centre"),
        ("weighed_offsets", (ENTRIES, np.array([2]), NUMBERS, np.ones(1), None), "kept"),
        ("weighed_offsets", (ENTRIES, NUMBERS, np.array([3]), np.ones(2), None), "rows"),
        ("weighed_offsets", (ENTRIES, NUMBERS, NUMBERS, np.ones(1), None), "centre"),
        ("weighed_offsets", (ENTRIES, NUMBERS, NUMBERS, np.ones(2), np.ones(3)), "weights"),
        ("ridge_slopes", (np.ones((2, 3)), 1, 0.0), "products"),
        ("ridge_slopes", (np.eye(2), 3, 0.0), "n_terms"),
        ("divided", (NUMBERS, np.ones(3), 0.0), "projection"),
        ("standard_terms", (np.ones((2, 1)), np.array([1]), np.ones(1), np.ones(2), 0), "columns"),
        ("standard_terms", (np.ones((2, 1)), np.array([0]), np.ones(2), np.ones(2), 0), "category"),
        ("standard_terms", (np.ones((2, 1)), np.array([0]), np.ones(1), np.ones(3), 0), "weights"),
        ("term_scores", (ENTRIES, np.array([-1]), NONE, np.ones((0, 1)), np.ones(1)), "rows"),
        ("term_scores", (ENTRIES, NUMBERS, np.array([2]), np.ones((1, 1)), np.ones(1)), "places"),
        ("term_scores", (ENTRIES, NUMBERS, NUMBERS, np.ones((1, 1)), np.ones(1)), "coef"),
        ("ForwardRegression", (np.eye(2), np.ones((3, 1)), np.ones(2), NUMBERS, 1.0), "products"),
        ("ForwardRegression", (np.eye(2), np.ones((2, 1)), np.ones(1), NUMBERS, 1.0), "starts"),
        ("ForwardRegression", (np.eye(2), np.ones((2, 1)), np.ones(2), NUMBERS - 1, 1.0), "columns"),
    ],
)
def test_wrong_shapes_are_refused(call: str, arguments: tuple[Any, ...], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        getattr(_core, call)(*arguments)


def test_a_selection_refuses_wrong_columns() -> None:
    regression = ForwardRegression(np.eye(3), np.arange(3), np.arange(3.0)[:, np.newaxis], np.ones(3))
    with pytest.raises(ValueError, match="own costs"):
        regression.select(CostSheet([1.0, 1.0]), [], 1.0, 0.0)
    with pytest.raises(ValueError, match="owned"):
        regression.select(CostSheet([1.0, 1.0, 1.0]), [3], 1.0, 0.0)
    with pytest.raises(ValueError, match="column"):
        regression.take(3)
