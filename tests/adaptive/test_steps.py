"""The closed forms and solvers, each against a numeric optimiser."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import entr, expit, logit

from farthing.adaptive.adapt.objective import Problem
from farthing.adaptive.adapt.projection import project
from farthing.adaptive.adapt_lstsq import symmetric_divergence as symmetric
from farthing.costs import CostSheet, Group
from farthing.learning.group_penalty import GroupPenalty
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.proximal_descent import proximal_descent
from farthing.table import Schema

SHEET = CostSheet([1.0, 0.5, 2.0, 0.0], groups={"lab": Group(0.7, ["x1", "x2"])})
COLUMNS = np.array([0, 1, 1, 2, 3])


def rows(seed, n=12):
    rng = np.random.default_rng(seed)
    shares = rng.random(n) + 0.1
    return rng.normal(scale=2, size=n), shares / shares.sum()


@pytest.mark.parametrize("p_full", [0.05, 0.3, 0.9, 1.0])
def test_the_q_step_is_the_optimum_of_opt1(p_full):
    excess, shares = rows(1)
    q, beta = project(excess, shares, p_full)

    def opt1(u):
        q = expit(u)
        return (-q * excess - entr(q) - entr(1 - q)) @ shares

    found = minimize(
        opt1,
        np.full(len(excess), logit(p_full / 2)),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda u: p_full - expit(u) @ shares},
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    assert opt1(logit(q)) <= found.fun + 1e-9
    assert np.abs(q - expit(found.x)).max() < 1e-3
    assert q @ shares <= p_full
    slack = expit(excess) @ shares <= p_full
    assert (beta == 0) == slack
    if not slack:
        assert q @ shares == pytest.approx(p_full, rel=1e-9)


def test_a_share_of_zero_sends_nobody():
    q, beta = project(*rows(2), 0.0)
    assert not q.any()
    assert beta == np.inf


@given(st.integers(0, 10_000), st.floats(1e-6, 1.0))
def test_the_share_is_never_passed(seed, p_full):
    excess, shares = rows(seed)
    assert project(50 * excess, shares, p_full)[0] @ shares <= p_full


@pytest.mark.parametrize("tradeoff", [0.1, 0.5, 2.0])
def test_the_prox_step_is_the_optimum(tradeoff):
    rng = np.random.default_rng(3)
    coef = rng.normal(size=(len(COLUMNS), 3))
    penalty = GroupPenalty(SHEET, tradeoff, COLUMNS)

    def objective(flat):
        w = flat.reshape(coef.shape)
        return ((w - coef) ** 2).sum() / 2 + 0.8 * penalty.value(w)

    mine = penalty.prox(coef, 0.8)
    starts = (coef, mine, mine + 1e-3 * rng.normal(size=coef.shape), np.zeros_like(coef))
    for start in starts:
        options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000, "adaptive": True}
        found = minimize(objective, start.ravel(), method="Nelder-Mead", options=options)
        assert objective(mine.ravel()) <= found.fun + 1e-9
    found = minimize(objective, coef.ravel(), method="BFGS")
    assert objective(mine.ravel()) == pytest.approx(found.fun, abs=1e-5)


def test_the_penalty_counts_own_and_shared_prices():
    coef = np.zeros((5, 2))
    coef[1], coef[3] = (3.0, 4.0), (0.0, 12.0)
    expected = 0.5 * (0.5 * 5 + 2.0 * 12 + 0.7 * 13)
    assert GroupPenalty(SHEET, 0.5, COLUMNS).value(coef) == pytest.approx(expected)


def test_free_columns_are_not_shrunk_and_dear_ones_vanish():
    coef = np.ones((5, 2))
    kept = GroupPenalty(SHEET, 10.0, COLUMNS).prox(coef, 1.0)
    assert (kept[4] == 1).all()
    assert not kept[:4].any()


def test_the_descent_reaches_the_optimum_and_never_rises():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=80) > 0).astype(np.int64)
    shares = np.full(80, 1 / 80)
    design = LinearDesign.of(X, Schema.learn(X), shares, 2)
    penalty = GroupPenalty(CostSheet([1.0, 1.0, 1.0]), 0.02, design.zeros.columns)

    def smooth(scores):
        p = expit(scores)
        loss = (np.logaddexp(0, scores) - y * scores) @ shares
        return float(loss.sum()), (p - y) * shares

    def objective(flat):
        coef, intercept = flat[:6].reshape(3, 2), flat[6:]
        return smooth((design.terms @ coef + intercept).T)[0] + penalty.value(coef)

    seen = []

    def watched(scores):
        value = smooth(scores)
        seen.append(value[0])
        return value

    pair = proximal_descent(design, design.zeros, watched, 0.25, penalty, max_iter=2000, tol=1e-14)
    mine = objective(np.concatenate([pair.coef.ravel(), pair.intercept]))
    found = minimize(objective, np.full(8, 0.1), method="BFGS", options={"gtol": 1e-10})
    assert mine == pytest.approx(found.fun, abs=1e-7)
    few = proximal_descent(design, design.zeros, smooth, 0.25, penalty, max_iter=3)
    assert mine <= objective(np.concatenate([few.coef.ravel(), few.intercept])) <= objective(np.zeros(8))
    assert len(seen) > 3


@pytest.mark.parametrize("p_full", [0.1, 0.3, 0.5])
def test_admm_reaches_the_optimum_of_opt5(p_full):
    """Against the dual: for each multiplier the rows are apart; the one that meets the share is found."""
    rng = np.random.default_rng(5)
    excess, gate = rng.normal(size=40), rng.normal(size=40)
    shares = rng.random(40) + 0.1
    shares /= shares.sum()
    u = np.linspace(-15, 15, 6_001)[:, np.newaxis]

    def best(beta):
        values = -expit(u) * (excess - beta) + (u - gate) ** 2
        return expit(u[values.argmin(axis=0), 0])

    low, high = 0.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if best(middle) @ shares > p_full else (low, middle)
    expected = best(high)
    q = symmetric.solve_q(excess, gate, shares, p_full)
    assert q @ shares <= p_full * (1 + 1e-9)
    assert np.abs(q - expected).max() < 1e-3
    lower = symmetric.objective(expected, excess, gate, shares)
    assert symmetric.objective(q, excess, gate, shares) <= lower + 1e-3


def test_admm_leaves_a_slack_share_alone():
    excess, shares = rows(6)
    q = symmetric.solve_q(excess, np.zeros(12), shares, 1.0)
    moved = symmetric.solve_q(excess, np.zeros(12), shares, 0.99)
    assert np.array_equal(q, moved)
    assert not symmetric.solve_q(excess, np.zeros(12), shares, 0.0).any()


def test_the_bound_is_opt_without_its_costs():
    """By hand: losses under q, and the divergence between q and the gate."""
    problem = Problem(np.array([0, 1]), np.array([1.0, 3.0]), np.log([0.9, 0.6]), 2)
    q, scores = np.array([0.2, 0.7]), np.array([[0.5, -1.0], [2.0, 1.0]])
    f1 = -np.log([1 - expit(2.0), expit(1.0)])
    gate = expit(scores[0])
    divergence = q * np.log(q / gate) + (1 - q) * np.log((1 - q) / (1 - gate))
    expected = ((1 - q) * f1 + q * -problem.own_log_proba + divergence) @ [0.25, 0.75]
    assert problem.bound(q, scores) == pytest.approx(expected, abs=1e-12)


def test_the_excess_is_a_minus_b():
    problem = Problem(np.array([1]), np.ones(1), np.log([0.8]), 2)
    scores = np.array([[0.7], [-0.4]])
    a = np.logaddexp(0, 0.4) + np.logaddexp(0, 0.7)
    b = -np.log(0.8) + np.logaddexp(0, -0.7)
    assert problem.excess(scores) == pytest.approx(a - b)


def test_linear_scores_refuse_what_does_not_fit():
    good = {
        "columns": np.array([0]),
        "category": np.array([np.nan]),
        "mean": np.zeros(1),
        "scale": np.ones(1),
        "coef": np.zeros((1, 2)),
        "intercept": np.zeros(2),
        "n_features": 1,
    }
    LinearScores(**good)
    bad = ({"columns": np.array([1])}, {"scale": np.zeros(1)}, {"coef": np.zeros((2, 2))}, {"mean": [np.inf]})
    for change in bad:
        with pytest.raises((ValueError, AttributeError)):
            LinearScores(**(good | change))
