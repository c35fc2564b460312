"""What is proved about EXP3.G: its estimates of losses are unbiased, and its regret stays under the bound.

Seeds are fixed, so each test gives the same numbers every time. Under the claim, a new seed would fail one of
them with a probability of at most 1 in 1000, by the normal approximation; the bounds of Bonferroni are for
the experts together. `experiments.papers.nan2018_online_gate` has the longer study.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from farthing.adaptive import OnlineGate, Panel
from farthing.adaptive.online_gate.exp3 import DOUBLING, Rates, Weights, bound

SIGNIFICANCE = 1e-3


def table(n_rounds, n_experts, seed):
    """Losses and gates that do not depend on the player's draws: an oblivious adversary."""
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random((n_rounds, n_experts)) < 0.2, 1.0, -1.0)
    best = np.where(np.arange(n_rounds) < n_rounds // 2, 0, 1)  # changes half way
    rates = np.where(np.arange(n_experts) == best[:, None], 0.1, 0.5)
    return scores, (rng.random((n_rounds, n_experts)) < rates).astype(int)


def losses_of(scores, wrong, cost):
    asks = np.column_stack([scores > 0, np.ones(len(scores), dtype=bool)])
    return np.where(asks, cost, np.column_stack([wrong, np.ones(len(wrong))]))


def test_the_chance_of_seeing_a_loss_is_that_of_drawing_one_who_asks():
    """E[estimate] = loss to the last digits: draws select each expert by the length of its interval."""
    weights = Weights(5, Rates(eta=0.3, gamma=0.15))
    rng = np.random.default_rng(0)
    for _ in range(20):
        asks = np.append(rng.random(4) < 0.4, True)
        p = (1 - 0.15) * weights.q + 0.15 * (np.arange(5) == 4)
        assert weights.chance(asks) == pytest.approx(p[asks].sum(), rel=1e-12)
        edges = np.concatenate([[0.0, 0.15], 0.15 + 0.85 * np.cumsum(weights.q)])
        for number, (low, high) in enumerate(pairwise(edges)):
            expected = 4 if number == 0 else number - 1
            assert weights.draw((low + high) / 2) == expected
        losses = rng.random(5)
        assert weights.mean(losses) == pytest.approx(p @ losses, rel=1e-12)
        weights.learn(losses)


@pytest.mark.parametrize("horizon", [40, None])
def test_estimates_of_losses_are_unbiased(horizon):
    n_runs, cost = 800, 0.5
    scores, wrong = table(40, 3, seed=1)
    panel = Panel(lambda t: (scores[t], wrong[t]), 3)
    runs = np.empty((n_runs, 4))
    for run in range(n_runs):
        gate = OnlineGate(panel, cost, horizon=horizon, random_state=run)
        gate.play(range(40), [0] * 40)
        runs[run] = gate.estimates_
    truth = losses_of(scores, wrong, cost).sum(axis=0)
    z = (runs.mean(axis=0) - truth) / (runs.std(axis=0, ddof=1) / np.sqrt(n_runs))
    limit = NormalDist().inv_cdf(1 - SIGNIFICANCE / 2 / 4)
    assert np.abs(z).max() < limit
    assert runs.std(axis=0).min() > 1  # it is the mean that is right, not each run


@pytest.mark.parametrize("horizon", [600, None])
def test_the_mean_regret_stays_under_its_bound(horizon):
    n_runs, n_rounds, cost = 60, 600, 0.3
    scores, wrong = table(n_rounds, 4, seed=2)
    losses = losses_of(scores, wrong, cost)
    assert n_rounds >= np.log(5) / cost**2
    panel = Panel(lambda t: (scores[t], wrong[t]), 4)
    regrets = []
    for run in range(n_runs):
        gate = OnlineGate(panel, cost, horizon=horizon, random_state=run)
        gate.play(range(n_rounds), [0] * n_rounds)
        regrets.append(losses[np.arange(n_rounds), gate.history_["expert"]].sum() - losses.sum(axis=0).min())
    above = np.mean(regrets) + NormalDist().inv_cdf(1 - SIGNIFICANCE) * np.std(regrets) / np.sqrt(n_runs)
    assert above < gate.regret_bound()
    # Without learning the regret would be far larger: that of always asking, or of a random expert.
    assert np.mean(regrets) < 0.7 * (losses.mean(axis=1).sum() - losses.sum(axis=0).min())


@pytest.mark.parametrize(("horizon", "n_rounds"), [(2, 2000), (100, 1500)])
def test_the_bound_holds_past_the_horizon(horizon, n_rounds):
    """Rates of a horizon of 2 explore most rounds: kept, they would lose 0.9 a round."""
    losses = np.ones((n_rounds, 4))
    losses[:, 1] = 0.0  # one expert is always right; asking costs 1
    panel = Panel(lambda t: (np.full(3, -1.0), np.array([1, 0, 1])), 3)
    regrets = []
    for run in range(10):
        gate = OnlineGate(panel, 1.0, horizon=horizon, random_state=run)
        gate.play(range(n_rounds), [0] * n_rounds)
        regrets.append(losses[np.arange(n_rounds), gate.history_["expert"]].sum())
    above = np.mean(regrets) + NormalDist().inv_cdf(1 - SIGNIFICANCE) * np.std(regrets) / np.sqrt(10)
    assert above < gate.regret_bound()
    assert gate.regret_bound() == gate.regret_bound(n_rounds) > gate.regret_bound(horizon)
    assert gate.regret_bound(n_rounds) <= DOUBLING * bound(n_rounds, 4, 1.0)


def test_asks_without_an_answer_are_learned_from():
    """The remote model never answers, so only asking costs: the gate stops asking, within the bound."""
    gate = OnlineGate(
        [(lambda _: 1.0, lambda _: 0), (lambda _: -1.0, lambda _: 0)], 1.0, horizon=2000, random_state=0
    )
    remote, _ = gate.play(range(2000), [None] * 2000)
    assert remote.sum() < gate.regret_bound()
    assert gate.regret_estimate() == pytest.approx(remote.sum(), rel=1e-9)
    assert gate.q_[1] > 0.99
