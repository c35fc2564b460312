"""The pieces of the experiments of chapters 6 and 7.1 that could mislead if they were wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

pytest.importorskip("matplotlib")

from experiments.lib import gate_recovery
from experiments.lib.gate_streams import N_EXPERTS, STREAMS, check, lower_bound, regrets
from experiments.papers import nan2018_online_gate as online_gate

from farthing.adaptive.online_gate.exp3 import Rates


def test_the_slope_of_a_known_power_is_found():
    rounds = np.array([500.0, 1000.0, 2000.0, 4000.0])
    noise = np.random.default_rng(0).normal(size=(4, 50))
    slope, error = online_gate.fit_line(rounds, 3 * rounds[:, None] ** (2 / 3) + noise)
    assert slope == pytest.approx(2 / 3, abs=4 * error)
    assert 0 < error < 0.01


@pytest.mark.parametrize("name", list(STREAMS))
def test_runs_side_by_side_are_those_of_the_gate(name):
    for horizon in (700, None):
        lost, best, drawn = regrets(STREAMS[name], 700, horizon, n_runs=4, checked_rounds=500)
        check(STREAMS[name], 700, horizon, drawn, n_runs=4)
        assert lost.shape == best.shape == (4,)
        assert (lost > 0).all()


def test_the_lower_bound_is_on_the_instance_of_section_6_3():
    """Nobody but the last asks, at a cost of 1; one expert is wrong epsilon less often than half the time."""
    scores, wrong = next(lower_bound(20_000, 20_000, 2))
    assert (scores < 0).all()
    assert STREAMS["lower bound"].cost == 1.0
    means = np.sort(wrong.mean(axis=0), axis=1)
    epsilon = (np.log(N_EXPERTS) / (16 * 20_000)) ** (1 / 3)
    assert means[:, 0] == pytest.approx([0.5 - epsilon] * 2, abs=0.015)
    assert means[:, 1:].mean() == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize("mode", ["known", "doubling"])
def test_what_learning_costs_is_what_is_left_without_exploration(mode):
    # A regret made of its parts, with a = 2 and a best expert that loses 0.1 a round.
    n_rounds, best, regret, cost = 1000, 0.1, 0.0, 0.6
    phases = [(1000, 1000)] if mode == "known" else [(2**k, min(2**k, 1001 - 2**k)) for k in range(10)]
    for length, played in phases:
        gamma = Rates.of(length, N_EXPERTS + 1, cost).gamma
        regret += gamma * played * (cost - best) + 2 * (1 - gamma) * played ** (2 / 3)
    found = online_gate.learning(np.array([regret]), np.array([best * n_rounds]), n_rounds, mode, cost)
    assert found == pytest.approx([2 * n_rounds ** (2 / 3)])


@pytest.mark.parametrize("letter", "adg")
def test_the_steps_of_the_recovery_follow_the_gradient(letter):
    rng = np.random.default_rng(0)
    descent, *_ = gate_recovery.Descent.start(gate_recovery.PANELS[letter], rng)
    local, gates = descent.slopes()
    for name, slope in (("local", local), ("gates", gates)):
        start = getattr(descent, name).copy()

        def loss(flat, name=name, shape=start.shape):
            setattr(descent, name, flat.reshape(shape))
            return descent.loss()

        np.testing.assert_allclose(slope.ravel(), approx_fprime(start.ravel(), loss, 1e-7), atol=1e-4)
        setattr(descent, name, start)


def test_one_turn_is_fifty_plain_steps_for_each_half():
    panel = gate_recovery.PANELS["k"]
    quick, plain = (gate_recovery.Descent.start(panel, np.random.default_rng(1))[0] for _ in range(2))
    quick.step_local()
    quick.step_gates()
    for half in (0, 1):
        for _ in range(gate_recovery.STEPS):
            slope = plain.slopes()[half]
            if half == 0:
                plain.local = plain.local - panel.step * slope
            else:
                plain.gates = plain.gates - panel.step * slope
    np.testing.assert_allclose(quick.local, plain.local, rtol=1e-9)
    np.testing.assert_allclose(quick.gates, plain.gates, rtol=1e-9)


def test_relu_gates_recover_from_a_small_error():
    found = gate_recovery.recovery(gate_recovery.PANELS["i"], seed=0, n_turns=60)
    assert found["loss"][-1] < 1e-2 * found["loss"][0]
    assert max(found["V"][-1], found["W, b"][-1]) < 1e-3
