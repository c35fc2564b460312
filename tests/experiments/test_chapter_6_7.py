"""The pieces of the experiments of chapters 6 and 7.1 that could mislead if they were wrong."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments import edge, online_gate


def test_the_slope_of_a_known_power_is_found():
    rounds = np.array([500.0, 1000.0, 2000.0, 4000.0])
    noise = np.random.default_rng(0).normal(size=(4, 50))
    slope, error = online_gate.fit_line(rounds, 3 * rounds[:, None] ** (2 / 3) + noise)
    assert slope == pytest.approx(2 / 3, abs=4 * error)
    assert 0 < error < 0.01


@pytest.mark.parametrize("name", list(online_gate.STREAMS))
def test_asking_is_not_the_best_expert_and_someone_is_better_than_the_mean(name):
    scores, wrong = online_gate.STREAMS[name](2000, 0)
    assert scores.shape == wrong.shape == (2000, online_gate.N_EXPERTS)
    losses = np.where(scores > 0, online_gate.COST, wrong).sum(axis=0)
    assert losses.min() < 2000 * online_gate.COST
    again = online_gate.STREAMS[name](2000, 1)
    same = np.array_equal(again[1], wrong)
    assert same == (name == "leader")  # an oblivious adversary has one plan


def test_the_regret_of_a_run_is_counted_by_the_true_losses():
    n_rounds = 60
    scores = np.full((n_rounds, online_gate.N_EXPERTS), -1.0)
    wrong = np.ones((n_rounds, online_gate.N_EXPERTS), dtype=np.int64)
    wrong[:, 3] = 0
    regret = online_gate.regret((scores, wrong), 0, n_rounds)
    assert 0 < regret < n_rounds  # the best expert loses nothing


def test_relu_gates_recover_from_a_small_error(monkeypatch):
    monkeypatch.setattr(edge, "TURNS", 12)
    found = edge.recovery("relu", 0.01, seed=0)
    assert found["loss"][-1] < 1e-3 * found["loss"][0] + 1e-12
    assert max(found["V"][-1], found["W, b"][-1]) < 1e-3
