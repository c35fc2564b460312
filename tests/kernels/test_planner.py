"""The compiled planner of sets against its naive twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.naive.planner import Plans

from farthing._core import PlanRows
from farthing.costs import CostSheet, Group


def random_plans(rng: np.random.Generator, n_rows: int, n_features: int, n_sets: int) -> Plans:
    """Return rows of few values, losses in quarters and prices in halves, so that ties are many."""
    values = rng.integers(0, 4, (n_rows, n_features)).astype(np.float64)
    values[rng.random(values.shape) < 0.1] = np.nan
    names = [f"x{j}" for j in range(n_features)]
    groups = {"g": Group(1.5, names[:2])} if n_features > 2 and rng.random() < 0.5 else {}
    members = rng.random((n_sets, n_features)) < 0.4
    members[0] = False
    return Plans(
        values=values,
        codes=rng.integers(0, 3, values.shape).astype(np.uint8),
        scale=rng.choice([0.5, 1.0, 2.0], n_features),
        gap=rng.choice([0.0, 1.0], n_features),
        categorical=rng.random(n_features) < 0.3,
        weights=rng.choice([0.5, 1.0, 2.0], n_rows),
        half=rng.integers(0, 2, n_rows).astype(np.uint8),
        losses=(rng.integers(0, 5, (n_rows, n_sets)) / 4).astype(np.float32),
        members=members,
        sheet=CostSheet(
            dict(zip(names, (rng.integers(0, 5, n_features) / 2).tolist(), strict=True)), groups=groups
        ),
        n_neighbors=float(rng.integers(1, 9)),
        tradeoff=float(rng.choice([0.0, 0.05, 0.3])),
        shrinkage=float(rng.choice([0.0, 4.0])),
    )


def compiled(plans: Plans) -> PlanRows:
    return PlanRows(
        values=np.ascontiguousarray(plans.values.T),
        codes=plans.codes,
        scale=plans.scale,
        gap=plans.gap,
        categorical=plans.categorical.astype(np.uint8),
        weights=plans.weights,
        half=plans.half,
        losses=plans.losses,
        members=plans.members.astype(np.uint8),
        own=plans.sheet.own,
        shared=plans.sheet.shared,
        group_of=plans.sheet.group_of,
        n_neighbors=plans.n_neighbors,
        tradeoff=plans.tradeoff,
        shrinkage=plans.shrinkage,
    )


@given(st.integers(0, 2**32 - 1))
def test_choices_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_features, n_sets = int(rng.integers(2, 30)), int(rng.integers(1, 6)), int(rng.integers(1, 12))
    plans = random_plans(rng, n_rows, n_features, n_sets)
    heard = rng.random(n_features) < 0.4
    owned = heard | (rng.random(n_features) < 0.1)
    affordable = rng.random(n_features) < 0.9
    known = np.where(heard & (rng.random(n_features) < 0.8), rng.integers(0, 4, n_features), np.nan)
    left = float(rng.choice([np.inf, 1.0, 3.0]))
    # A row of which nothing is known is compared with all rows.
    skipped = int(rng.integers(-1, n_rows)) if not np.isnan(known).all() and n_rows > 1 else -1
    column, cost, stop = compiled(plans).choose(
        known[np.newaxis],
        heard[np.newaxis].astype(np.uint8),
        owned[np.newaxis].astype(np.uint8),
        affordable[np.newaxis].astype(np.uint8),
        np.array([left]),
        np.array([skipped]),
        n_threads=1,
    )
    costs, expected_stop = plans.choose(known, heard, owned, affordable, left, skipped)
    assert stop[0] == pytest.approx(expected_stop)
    finite = {key: value for key, value in costs.items() if np.isfinite(value)}
    if not finite:
        assert column[0] == -1
        return
    assert cost[0] == pytest.approx(min(finite.values()))
    assert finite[int(column[0])] == pytest.approx(min(finite.values()))


def test_threads_give_the_same_choices():
    rng = np.random.default_rng(0)
    plans = random_plans(rng, 200, 5, 12)
    heard = rng.random((60, 5)) < 0.4
    known = np.where(heard, rng.integers(0, 4, heard.shape), np.nan)
    flags = heard.astype(np.uint8)
    arguments = known, flags, flags, np.ones_like(flags), np.full(60, np.inf), None
    one, two = (compiled(plans).choose(*arguments, n_threads=threads) for threads in (1, 2))
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("half", np.full(9, 2, dtype=np.uint8), "half"),
        ("weights", np.zeros(9), "weights"),
        ("losses", np.zeros((9, 2), dtype=np.float32), "losses"),
        ("codes", np.zeros((8, 3), dtype=np.uint8), "codes"),
        ("scale", np.zeros(2), "scale"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(field, value, message):
    plans = random_plans(np.random.default_rng(0), 9, 3, 4)
    setattr(plans, field, value)
    with pytest.raises(ValueError, match=message):
        compiled(plans)
