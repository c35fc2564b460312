"""Branch and bound over sets of columns, against all sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.base import TrainingSet
from farthing.base.error_costs import ErrorPrices
from farthing.costs import CostSheet, Group
from farthing.neighbors.lookahead.set_search import SetSearch
from farthing.neighbors.lookahead.subset_booster import SubsetBooster, label_losses

NONE = np.zeros((0, 6), dtype=np.bool_)


class Problem:
    """Random losses of all sets of six columns, and prices with a group; some columns are in no set."""

    def __init__(self, seed: int, floor: float = 0.0) -> None:
        rng = np.random.default_rng(seed)
        self.floor = floor
        self.table = floor + rng.choice([0.0, 0.25, 0.5, 1.0], size=2**6) * rng.uniform(size=2**6)
        own = dict(zip("abcdef", rng.choice([0.0, 0.1, 0.3, 1.0], size=6).tolist(), strict=True))
        self.costs = CostSheet(own, groups={"panel": Group(float(rng.choice([0.0, 0.2])), ["b", "e"])})
        self.columns = np.sort(rng.permutation(6)[: rng.integers(1, 7)])
        self.max_size = int(rng.integers(1, 6))
        self.start = np.zeros(6, dtype=np.bool_)
        self.start[rng.permutation(6)[: rng.integers(0, 2)]] = True
        self.nothing = float(rng.uniform(0.2, 2.0))
        self.asked: list[bytes] = []

    def losses(self, sets):
        self.asked += [one.tobytes() for one in sets]
        return self.table[sets @ (1 << np.arange(6))]

    def search(self, width: int | None) -> SetSearch:
        return SetSearch(self.losses, self.costs.total_rows, self.columns, self.floor, width, self.max_size)

    def totals(self) -> dict[bytes, float]:
        """Return the total of every set that the search may find, by trying all of them."""
        found = {}
        free = [column for column in self.columns.tolist() if not self.start[column]]
        room = max(0, self.max_size - int(self.start.sum()))
        for size in range(min(room, len(free)) + 1):
            for columns in combinations(free, size):
                one = self.start.copy()
                one[list(columns)] = True
                price = self.costs.total([name for name, there in zip("abcdef", one, strict=True) if there])
                found[one.tobytes()] = self.table[one @ (1 << np.arange(6))] + price
        return found


@given(seed=st.integers(0, 2**32 - 1), floor=st.sampled_from([0.0, 0.4]))
def test_without_a_width_no_set_costs_less(seed, floor):
    problem = Problem(seed, floor)
    every = problem.totals()
    sets, totals = problem.search(None).best(problem.start, NONE, problem.nothing)
    # If no set is better than none, sets may be cut off that are better than others.
    least = min(problem.nothing, *every.values())
    assert min(problem.nothing, totals.min()) == pytest.approx(least, abs=1e-12)
    for one, total in zip(sets, totals.tolist(), strict=True):
        assert total == pytest.approx(every[one.tobytes()], abs=1e-12)
    assert len(problem.asked) == len(set(problem.asked)) <= len(every)


@given(seed=st.integers(0, 2**32 - 1), width=st.integers(1, 3))
def test_with_a_width_fewer_sets_are_tried_and_none_is_wrong(seed, width):
    problem, exact = Problem(seed), Problem(seed)
    every = problem.totals()
    search = problem.search(width)
    sets, totals = search.best(problem.start, NONE, problem.nothing)
    best = exact.search(None).best(exact.start, NONE, exact.nothing)[1].min()
    assert totals.min() >= best - 1e-12
    for one, total in zip(sets, totals.tolist(), strict=True):
        assert total == pytest.approx(every[one.tobytes()], abs=1e-12)
    # A step tries at most the supersets of so many sets.
    assert len(search.tried) == len(problem.asked) == len(set(problem.asked)) <= 1 + width * 6 * 6


@given(seed=st.integers(0, 2**32 - 1))
def test_a_width_that_does_not_bind_changes_nothing(seed):
    wide, exact = Problem(seed), Problem(seed)
    found = wide.search(20).best(wide.start, NONE, wide.nothing)
    expected = exact.search(None).best(exact.start, NONE, exact.nothing)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert wide.asked == exact.asked


def test_branches_above_the_best_total_are_cut_off():
    problem = Problem(0)
    problem.start[:] = False
    problem.columns, problem.max_size = np.arange(6), 6
    problem.costs = CostSheet(dict.fromkeys("abcdef", 1.0))
    problem.table[:] = 5.0
    problem.table[0b000011] = 0.5  # a and b together, 2.5 with their prices
    search = problem.search(None)
    sets, totals = search.best(problem.start, NONE, 5.0)
    np.testing.assert_array_equal(sets[totals.argmin()], [True, True, False, False, False, False])
    # All sets of two columns or fewer; those of three cost 3 alone.
    assert len(search.tried) == 1 + 6 + 15
    problem.floor = 0.5
    search = problem.search(None)
    search.best(problem.start, NONE, 2.5)
    assert len(search.tried) == 1 + 6  # a floor of a half and two columns are not below 2.5


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 3))
def test_no_loss_is_below_its_floor(seed, n_classes):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, n_classes, 5)
    table = rng.uniform(0, 3, size=(n_classes, n_classes))
    rows = TrainingSet.of(np.zeros((5, 1)), target, classes=np.arange(n_classes))
    numbers = np.arange(5)
    for errors in (None, ErrorPrices(table, table[target])):
        object.__setattr__(rows, "errors", errors)
        least = SubsetBooster(rows, np.zeros(5, dtype=np.int64), (), 1).least_losses(numbers)
        shares = rng.dirichlet(np.full(n_classes, 0.3), size=5)
        assert (label_losses(rows, numbers, shares) >= least - 1e-6).all()
