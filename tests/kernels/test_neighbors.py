"""The compiled neighbourhoods and local regressions against the twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.naive import neighbors as naive
from tests.kernels.strategies import SEEDS, sheets, tables

from farthing import _core
from farthing.costs import CostSheet
from farthing.trees.progress import unpack

Floats = NDArray[np.float64]


def random_reference(
    rng: np.random.Generator,
    values: Floats,
    categorical: list[bool],
    n_neighbors: int | None,
    radius: float = 0.0,
) -> naive.Reference:
    """Return training rows whose margins are quarters, so that ties and margins of zero are many."""
    n_rows, n_features = values.shape
    return naive.Reference(
        values=values,
        margins=rng.integers(-3, 4, values.shape) / 4,
        signs=rng.choice([-1.0, 1.0], n_rows),
        weights=rng.choice([0.5, 1.0, 1.0, 2.0], n_rows),
        intercept=float(rng.integers(-1, 2)) / 4,
        scale=np.where(categorical, 2.0, rng.choice([1.0, 0.3, 7.0], n_features)),
        gap=rng.choice([0.0, 1.0, 2.5], n_features),
        categorical=np.array(categorical),
        used=rng.random(n_features) < 0.9,
        n_neighbors=n_neighbors,
        radius=radius,
    )


def compiled(reference: naive.Reference, alpha: float, confidence: float) -> _core.KeptRows:
    return _core.KeptRows(
        values=np.ascontiguousarray(reference.values.T),
        margins=np.ascontiguousarray(reference.margins),
        intercepts=reference.signs * reference.intercept,
        intercept=reference.intercept,
        scale=reference.scale,
        gap=reference.gap,
        categorical=reference.categorical.astype(np.uint8),
        votes=reference.used.astype(np.uint8),
        weights=reference.weights,
        n_neighbors=None if reference.n_neighbors is None else float(reference.n_neighbors),
        radius=reference.radius,
        random_order=False,
        alpha=alpha,
        confidence=confidence,
    )


def predict(
    rows: Any, X: Floats, votes: Floats, sheet: CostSheet, budgets: Floats, n_threads: int = 1
) -> tuple[Floats, NDArray[np.bool_]]:
    outputs, words = rows.predict(
        X,
        votes,
        budgets=budgets,
        seeds=np.zeros(len(X), dtype=np.int64),
        own=sheet.own,
        shared=sheet.shared,
        group_of=sheet.group_of,
        n_threads=n_threads,
    )
    return outputs, unpack(words, X.shape[1])


def assert_as_naive(
    reference: naive.Reference, X: Floats, votes: Floats, sheet: CostSheet, budgets: Floats, **terms: float
) -> None:
    outputs, bought = predict(compiled(reference, **terms), X, votes, sheet, budgets)
    for row, x in enumerate(X):
        account = naive.Account(sheet, float(budgets[row]))
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values are among those to compare
            expected = naive.fmcc(reference, x, votes[row], account, **terms)
        assert set(np.flatnonzero(bought[row])) == set(account.bought)
        assert tuple(outputs[row]) == expected


@given(
    table=tables(max_features=5),
    neighbors=st.sampled_from([(None, 0.0), (1, 0.0), (3, 0.0), (8, 2.0), (100, 0.0), (1, 1.5), (1, 5.0)]),
    alpha=st.sampled_from([0.0, 0.02, 0.25]),
    confidence=st.sampled_from([0.6, 0.9, 1.0]),
    seed=SEEDS,
    data=st.data(),
)
def test_neighborhoods(table, neighbors, alpha, confidence, seed, data):
    rng = np.random.default_rng(seed)
    categorical = [n > 0 for n in table.n_categories]
    reference = random_reference(rng, table.values, categorical, *neighbors)
    X = table.values[rng.integers(table.n_rows, size=4)]
    X = np.where(rng.random(X.shape) < 0.2, rng.integers(-2, 3, X.shape), X)
    sheet, _ = data.draw(sheets(table.n_features))
    budgets = rng.choice([0.0, 1.0, 3.5, np.inf], len(X))
    votes = rng.integers(-3, 4, X.shape) / 4
    assert_as_naive(reference, X, votes, sheet, budgets, alpha=alpha, confidence=confidence)


@pytest.mark.parametrize(("n_neighbors", "radius"), [(5, 0.0), (60, 2.5), (900, 0.0), (2500, 0.0), (1, 3.0)])
@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_neighborhoods_among_many_rows(n_neighbors, radius, few, weighted):
    """The first bound of a search is from a sample of the distances, the next from the last candidates."""
    rng = np.random.default_rng(n_neighbors + few)
    shape = 3003, 11  # features by eight, by two and alone; rows by eight and a rest
    values = rng.integers(0, 5, shape) * 1.0 if few else rng.normal(size=shape)
    values[rng.random(len(values)) < 0.2, 3] = np.nan
    values[:, 6] = rng.integers(0, 3, len(values))
    reference = random_reference(rng, values, [feature == 6 for feature in range(11)], n_neighbors, radius)
    if not weighted:
        reference.weights[:] = 1.0
    X, votes = values[:3] + 0.25, rng.integers(-3, 4, (3, 11)) / 4
    X[:, 6] = 0.0, 1.0, 3.0
    X[0, 1] = np.nan
    sheet, budgets = CostSheet(np.ones(11)), np.full(3, np.inf)
    assert_as_naive(reference, X, votes, sheet, budgets, alpha=0.0, confidence=1.0)


def test_a_misleading_sample_of_distances_costs_time_only():
    rng = np.random.default_rng(0)
    values = np.where(np.arange(2048) % 8 == 0, 0.0, 10.0)[:, np.newaxis]  # the sample is every eighth row
    reference = random_reference(rng, values, [False], 500)
    reference.weights[:] = 1.0
    reference.used[:] = True
    X, votes = np.zeros((1, 1)), np.ones((1, 1))
    assert_as_naive(reference, X, votes, CostSheet([1.0]), np.array([np.inf]), alpha=0.0, confidence=1.0)
    assert len(reference.neighborhood({0: 0.0})) == 2048


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    reference = random_reference(rng, rng.integers(0, 9, (500, 6)) * 1.0, [False] * 6, 20)
    X, votes = rng.integers(0, 9, (50, 6)) * 1.0, rng.normal(size=(50, 6))
    rows = compiled(reference, 0.01, 0.9)
    sheet, budgets = CostSheet(np.arange(6.0)), np.full(50, 9.0)
    once = predict(rows, X, votes, sheet, budgets)
    twice = predict(rows, X, votes, sheet, budgets, n_threads=2)
    assert np.array_equal(once[0], twice[0])
    assert np.array_equal(once[1], twice[1])


def local(
    values: Floats, labels: Floats, weights: Floats, ridge: float, alpha: float
) -> _core.LocalRegression:
    given_ = {"ridge": ridge, "alpha": alpha, "confidence": 1.0}
    return _core.LocalRegression(_core.LocalRows(values=values, labels=labels, weights=weights, **given_), 0)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 40), st.integers(1, 4), st.sampled_from([0.1, 0.5, 20.0]), SEEDS)
def test_local_regressions(n_rows, n_features, ridge, seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(n_rows, n_features)), int(rng.integers(0, 3)))
    signs, weights = rng.choice([-1.0, 1.0], n_rows), rng.choice([0.5, 1.0, 3.0], n_rows)
    row = local(values, signs, weights, ridge, alpha=0.0)
    measured: dict[int, float] = {}
    refused = set()
    for j in rng.permutation(n_features).tolist():
        g, worth = naive.local_regression(values, signs, weights, ridge, measured)
        gains = row.gains()
        assert row.output() == pytest.approx([g, 0.5 + 0.5 * min(1.0, abs(g))], abs=1e-9)
        left = sorted(set(range(n_features)) - set(measured) - refused)
        assert gains[left] == pytest.approx(worth[left], abs=1e-7)
        assert np.isnan(gains[sorted({*measured, *refused})]).all()
        everything = np.ones(n_features, dtype=np.uint8)
        assert row.next(np.ones(n_features), everything) == left[int(np.argmax(gains[left]))]
        x = float(np.round(rng.normal(), 1))
        if rng.random() < 0.2:
            refused.add(j)
            row.hear(j, np.nan, np.nan)
        else:
            measured[j] = x
            row.hear(j, x, x)


def test_a_local_regression_ends_when_nothing_is_worth_its_price():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 2))
    row = local(values, np.sign(values[:, 0]), np.ones(200), ridge=0.5, alpha=1.0)
    both = np.ones(2, dtype=np.uint8)
    worth = row.gains()[0]
    assert row.next(np.array([worth * 0.99, 1.0]), both) == 0
    assert row.next(np.array([worth * 1.01, 1.0]), both) == -1
    assert row.next(np.array([0.0, 0.0]), np.array([0, 1], dtype=np.uint8)) == 1
