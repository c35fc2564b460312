"""Thresholds against all thresholds there are, on few rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.learning.exits import ALWAYS, NEVER, ExitPath, Exits, stop_stages


def problem(seed, n_stages=3, n_rows=6):
    rng = np.random.default_rng(seed)
    costs = np.append(0.0, np.cumsum(rng.integers(1, 5, size=n_stages - 1))).astype(float)
    risks = rng.integers(0, 8, size=(n_stages, n_rows)) / 8
    errors = (rng.random(size=(n_stages, n_rows)) < risks).astype(float)
    return costs, risks, errors, rng.integers(1, 4, size=n_rows).astype(float)


def candidates(risks):
    return [NEVER, *np.unique(risks), ALWAYS]


def lagrangian(exits, thresholds, tradeoff):
    spend, error = exits.evaluate(np.asarray(thresholds, dtype=float))
    return error + tradeoff * spend


def brute_force(exits, risks, tradeoff):
    choices = itertools.product(*(candidates(risk) for risk in risks[:-1]))
    return min(lagrangian(exits, [*choice, ALWAYS], tradeoff) for choice in choices)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.01, 0.05, 0.2]))
def test_each_threshold_is_the_best_for_rows_that_begin_at_its_stage(seed, tradeoff):
    costs, risks, errors, weights = problem(seed)
    found = Exits(costs, risks, errors, weights).solve(tradeoff)
    for stage in range(len(costs) - 1):
        rest = Exits(costs[stage:], risks[stage:], errors[stage:], weights)
        reached = lagrangian(rest, found[stage:], tradeoff)
        for other in candidates(risks[stage]):
            changed = found[stage:].copy()
            changed[0] = other
            assert lagrangian(rest, changed, tradeoff) >= reached - 1e-12


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05, 0.2]))
def test_with_two_stages_the_solution_is_the_best_of_all(seed, tradeoff):
    costs, risks, errors, weights = problem(seed, n_stages=2, n_rows=8)
    exits = Exits(costs, risks, errors, weights)
    best = brute_force(exits, risks, tradeoff)
    assert lagrangian(exits, exits.solve(tradeoff), tradeoff) == pytest.approx(best, abs=1e-12)


def test_with_a_markov_chain_of_risks_the_solution_is_the_best_of_all():
    # Rows of one risk share their future in law: half of the rows at 0.4 come out at 0, half at 0.5.
    costs = np.array([0.0, 1.0, 3.0])
    risks = np.array([[0.1, 0.1, 0.4, 0.4, 0.4, 0.4], [0.05, 0.05, 0.0, 0.0, 0.5, 0.5], [0.0] * 6])
    exits = Exits(costs, risks, risks, np.ones(6))
    for tradeoff in (0.0, 0.02, 0.06, 0.1, 0.15, 0.3):
        best = brute_force(exits, risks, tradeoff)
        assert lagrangian(exits, exits.solve(tradeoff), tradeoff) == pytest.approx(best, abs=1e-12)


@given(st.integers(0, 10_000))
def test_the_path_descends_and_says_what_its_thresholds_do(seed):
    costs, risks, errors, weights = problem(seed, n_stages=4, n_rows=12)
    exits = Exits(costs, risks, errors, weights)
    path = ExitPath.of([exits])
    assert (np.diff(path.spend) > 0).all()
    assert (np.diff(path.risk) < 0).all()
    for spend, risk, thresholds in zip(path.spend, path.risk, path.thresholds, strict=True):
        assert exits.evaluate(thresholds) == (spend, risk)


def test_the_path_takes_the_better_chain_at_each_budget():
    weights = np.ones(2)
    cheap = Exits(np.array([0.0, 1.0]), np.full((2, 2), 0.3), np.array([[0.5, 0.5], [0.2, 0.2]]), weights)
    dear = Exits(np.array([0.0, 2.0]), np.full((2, 2), 0.3), np.array([[0.5, 0.5], [0.1, 0.1]]), weights)
    path = ExitPath.of([cheap, dear])
    assert path.spend.tolist() == [0.0, 1.0, 2.0]
    assert path.chain.tolist()[1:] == [0, 1]


def test_between_two_corners_the_riskiest_rows_go_on_first():
    n_rows = 100
    risks = np.vstack([np.linspace(0, 0.5, n_rows), np.zeros(n_rows)])
    exits = Exits(np.array([0.0, 1.0]), risks, risks, np.ones(n_rows))
    stops = stop_stages(risks, exits.between(np.array([ALWAYS, ALWAYS]), np.array([NEVER, ALWAYS]), 0.25))
    assert stops.tolist() == [0] * 75 + [1] * 25


# The thresholds by NumPy, one stage and one point after another.


def naive_threshold(risks, n_stopped):
    if n_stopped in (0, len(risks)):
        return ALWAYS if n_stopped else NEVER
    return (risks[n_stopped - 1] + risks[n_stopped]) / 2


def naive_solve(costs, risks, errors, weights, tradeoff):
    thresholds, value = np.full(len(costs), ALWAYS), errors[-1]
    for stage in range(len(costs) - 2, -1, -1):
        later = value + tradeoff * (costs[stage + 1] - costs[stage])
        order = np.argsort(risks[stage], kind="stable")
        ascending = risks[stage][order]
        sums = np.cumsum(((later - errors[stage]) * weights)[order])
        sums[np.append(ascending[1:] <= ascending[:-1], False)] = -np.inf
        last = int(np.argmax(sums))
        thresholds[stage] = naive_threshold(ascending, last + 1) if sums[last] >= 0 else NEVER
        value = np.where(risks[stage] <= thresholds[stage], errors[stage], later)
    return thresholds


def naive_between(risks, low, high, part):
    moved = high.copy()
    for stage in range(len(low) - 1):
        ascending = np.sort(risks[stage])
        ranks = np.searchsorted(ascending, [low[stage], high[stage]], side="right")
        moved[stage] = naive_threshold(ascending, round((1 - part) * ranks[0] + part * ranks[1]))
        if ranks[0] == len(ascending):
            break
    return moved


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 40))
def test_the_kernel_gives_the_thresholds_of_its_twin(seed, n_stages, n_rows):
    costs, risks, errors, weights = problem(seed, n_stages=n_stages, n_rows=n_rows)
    exits = Exits(costs, risks, errors, weights)
    found = [exits.solve(tradeoff) for tradeoff in (0.0, 0.02, 0.1, 0.5)]
    shares = weights / weights.sum()
    for tradeoff, thresholds in zip((0.0, 0.02, 0.1, 0.5), found, strict=True):
        assert np.array_equal(thresholds, naive_solve(costs, risks, errors, shares, tradeoff))
        stops = stop_stages(risks, thresholds)
        spend, error = exits.evaluate(thresholds)
        assert spend == pytest.approx(costs[stops] @ shares, rel=1e-14, abs=1e-16)
        assert error == pytest.approx(errors[stops, np.arange(n_rows)] @ shares, rel=1e-13, abs=1e-16)
    for part in (0.0, 0.25, 0.5, 0.9, 1.0):
        between = exits.between(found[-1], found[0], part)
        assert np.array_equal(between, naive_between(risks, found[-1], found[0], part))


@given(st.integers(0, 10_000))
def test_in_one_currency_the_path_has_the_least_total_cost(seed):
    """Prices of errors are some times those of the stages; with two stages no thresholds are better."""
    costs, risks, errors, weights = problem(seed, n_stages=2)
    price = 10.0 ** np.random.default_rng(seed).integers(-2, 6)
    exits = Exits(costs, price * risks, price * errors, weights, price=price)
    least = brute_force(exits, price * risks, 1.0)
    assert min(spend + error for spend, error, _ in exits.path()) == pytest.approx(least)


def test_another_unit_of_money_has_the_same_path():
    costs, risks, errors, weights = problem(3, n_stages=4, n_rows=40)
    one = Exits(costs, 7 * risks, 7 * errors, weights, price=7.0).path()
    other = Exits(1e6 * costs, 7e6 * risks, 7e6 * errors, weights, price=7e6).path()
    assert len(one) == len(other)
    for (spend, error, thresholds), (spend_too, error_too, scaled) in zip(one, other, strict=True):
        assert (1e6 * spend, 1e6 * error) == pytest.approx((spend_too, error_too))
        assert 1e6 * thresholds == pytest.approx(scaled)
