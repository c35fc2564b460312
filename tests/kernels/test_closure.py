"""The closure solver against brute force over all closed sets, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from farthing._core import closure_path

Problem = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Return gains, costs and arcs of up to nine elements; large numbers need flows of 128 bits."""
    n = draw(st.integers(1, 9))
    unit = draw(st.sampled_from([1, 10**9, 10**16]))
    gain = draw(st.lists(st.integers(-4, 6), min_size=n, max_size=n))
    cost = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    arcs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=2 * n))
    arcs = sorted({(max(a, b), min(a, b)) for a, b in arcs if a != b})
    if draw(st.booleans()):
        arcs = [(n - 1 - a, n - 1 - b) for a, b in arcs]  # whichever way the numbers run
    tail, head = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
    noise = draw(st.integers(0, 3)) if unit > 1 else 0
    gains = np.array([g * unit + noise * (v % 3) for v, g in enumerate(gain)], dtype=np.int64)
    costs = np.array([c * unit + noise * (v % 2) for v, c in enumerate(cost)], dtype=np.int64)
    return gains, costs, np.ascontiguousarray(tail), np.ascontiguousarray(head)


def closed_sets(problem: Problem) -> list[tuple[int, int, frozenset[int]]]:
    """Return gain, cost and elements of every closed set."""
    gain, cost, tail, head = problem
    n = len(gain)
    found = []
    for mask in range(1 << n):
        if all(not mask >> u & 1 or mask >> v & 1 for u, v in zip(tail.tolist(), head.tolist(), strict=True)):
            members = [v for v in range(n) if mask >> v & 1]
            found.append(
                (sum(int(gain[v]) for v in members), sum(int(cost[v]) for v in members), frozenset(members))
            )
    return found


@given(problems())
def test_every_rate_has_the_largest_of_the_best_sets(problem: Problem) -> None:
    p, q, drop, _ = closure_path(*problem)
    rates = [Fraction(int(a), int(b)) for a, b in zip(p, q, strict=True)]
    assert rates == sorted(set(rates))
    sets = closed_sets(problem)
    edges = [Fraction(0), *rates, (rates[-1] if rates else Fraction(0)) + 1]
    for entry in range(len(rates) + 1):
        ours = frozenset(np.flatnonzero(drop > entry).tolist())
        middle = (edges[entry] + edges[entry + 1]) / 2
        # At the rate 0 the first entry may hold alone; just above it cheaper sets win.
        rate = Fraction(0) if entry == 0 else middle
        best = max(gain - rate * cost for gain, cost, _ in sets)
        largest = max((s for s in sets if s[0] - rate * s[1] == best), key=lambda s: len(s[2]))
        assert ours == largest[2]
    for entry, rate in enumerate(rates, 1):
        # At a breakpoint the set before and the set after are worth the same, and nothing is worth more.
        both = [frozenset(np.flatnonzero(drop > e).tolist()) for e in (entry - 1, entry)]
        worth = {members: gain - rate * cost for gain, cost, members in sets}
        assert worth[both[0]] == worth[both[1]] == max(worth.values())


def test_sums_that_do_not_fit_are_refused() -> None:
    large = np.array([2**61, 2**61], dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(OverflowError, match="2\\^62"):
        closure_path(large, np.ones(2, dtype=np.int64), none, none)
    with pytest.raises(OverflowError, match="2\\^62"):
        closure_path(np.ones(2, dtype=np.int64), large, none, none)


def test_arcs_and_costs_are_checked() -> None:
    one = np.ones(1, dtype=np.int64)
    with pytest.raises(ValueError, match="leads out"):
        closure_path(one, one, one * 0, one)
    with pytest.raises(ValueError, match="not negative"):
        closure_path(one, -one, one[:0], one[:0])
