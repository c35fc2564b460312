"""The gate that learns online: its rounds beside the algorithm as it is written, its files, its errors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.kernels.naive.exp3 import exp3g

import farthing
from farthing import store
from farthing.adaptive import AdaptExperts, AdaptLinClassifier, OnlineGate, Panel
from farthing.adaptive.online_gate.exp3 import DOUBLING, bound
from farthing.errors import FileError, RoundError
from farthing.learning.random_numbers import random_bits

COST = 0.4


def stream(n_rounds=300, n_experts=5, seed=0):
    """Scores of gates, local predictions and labels, all at random; expert 2 is right more often."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_rounds, n_experts)) - 0.5
    y = rng.integers(0, 2, size=n_rounds)
    wrong = rng.random((n_rounds, n_experts)) < np.where(np.arange(n_experts) == 2, 0.1, 0.6)
    return scores, np.where(wrong, 1 - y[:, None], y[:, None]), y


def panel(scores, predictions):
    return Panel(lambda t: (scores[t], predictions[t]), scores.shape[1])


def play(gate, y, rounds):
    said = []
    for t in rounds:
        decision = gate.decide(t)
        said.append((decision.remote, decision.prediction, decision.expert))
        if decision.remote:
            gate.feedback(y[t])
    return said


@pytest.fixture(scope="module")
def adapt():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0, "up", "down")
    y[(X["b"] > 1).to_numpy()] = "up"
    return AdaptLinClassifier(GaussianNB(), n_alternations=2, random_state=0).fit(X, y), X, y


@pytest.mark.parametrize("horizon", [300, 40, None])
def test_the_rounds_are_those_of_the_algorithm_as_written(horizon):
    scores, predictions, y = stream()
    gate = OnlineGate(panel(scores, predictions), COST, horizon=horizon, random_state=3)
    said = play(gate, y, range(300))
    uniform = (random_bits(gate.state().key, np.arange(300, dtype=np.uint64)) >> np.uint64(11)) * 2.0**-53
    asks = np.column_stack([scores > 0, np.ones(300, dtype=bool)])
    losses = np.where(asks, COST, np.column_stack([predictions != y[:, None], np.ones(300)]))
    first = horizon or 1
    bounds = [*(begin for p in range(9) if (begin := (2**p - 1) * first) < 300), 300]
    drawn, estimates = [], 0
    for begin, end in pairwise(bounds):
        length = begin + first  # each phase is twice as long as the one before
        eta = COST ** (-1 / 3) * (np.log(6) / length) ** (2 / 3)
        gamma = min(1, COST ** (-2 / 3) * (np.log(6) / length) ** (1 / 3))
        part = slice(begin, end)
        experts, q, seen = exp3g(losses[part], asks[part], uniform[part], eta, gamma)
        drawn += experts.tolist()
        estimates = estimates + seen
    assert [expert for _, _, expert in said] == drawn
    assert gate.history_["expert"].tolist() == drawn
    np.testing.assert_allclose(gate.q_, q[-1], rtol=1e-9)
    np.testing.assert_allclose(gate.estimates_, estimates, rtol=1e-9)
    assert (gate.eta_, gate.gamma_) == pytest.approx((eta, gamma))
    remote = np.array([sent for sent, _, _ in said])
    assert np.array_equal(remote, asks[np.arange(300), drawn])
    local = np.flatnonzero(~remote)
    assert [said[t][1] for t in local] == [predictions[t, drawn[t]] for t in local]
    assert all(said[t][1] is None for t in np.flatnonzero(remote))


def test_the_best_expert_is_found_and_the_regret_is_tracked():
    scores, predictions, y = stream(4000)
    gate = OnlineGate(panel(scores, predictions), COST, horizon=4000, random_state=0)
    remote, said = gate.play(range(4000), y)
    assert gate.q_.argmax() == 2
    asks = np.column_stack([scores > 0, np.ones(4000, dtype=bool)])
    losses = np.where(asks, COST, np.column_stack([predictions != y[:, None], np.ones(4000)]))
    own = losses[np.arange(4000), gate.history_["expert"]].sum()
    regret = own - losses.sum(axis=0).min()
    assert regret < gate.regret_bound() == bound(4000, 6, COST)
    assert abs(gate.regret_estimate() - regret) < 0.25 * gate.regret_bound()
    assert all(value == y[t] for t, value in enumerate(said) if remote[t])
    assert np.array_equal(gate.history_["remote"], remote)
    assert np.array_equal(np.isnan(gate.history_["chance"]), ~remote)


def test_bounds_with_and_without_a_horizon():
    gate = OnlineGate([(lambda x: 1, lambda x: 0)] * 4, 1.0)
    assert gate.regret_bound(1000) == DOUBLING * 3 * np.log(5) ** (1 / 3) * 1000 ** (2 / 3)
    known = OnlineGate([(lambda x: 1, lambda x: 0)] * 4, 1.0, horizon=1000)
    assert known.regret_bound(10) == known.regret_bound() == gate.regret_bound(1000) / DOUBLING
    assert known.regret_bound(1001) == gate.regret_bound(1001)


@pytest.mark.parametrize("horizon", [1, 7, 100])
def test_the_bounds_of_the_phases_add_up_to_less_than_the_bound(horizon):
    """Each phase that has begun adds at most the bound of its whole length."""
    gate = OnlineGate([(lambda x: 1, lambda x: 0)] * 4, 0.5, horizon=horizon)
    for n_rounds in range(1, 40 * horizon):
        begun = [2**p * horizon for p in range(9) if (2**p - 1) * horizon < n_rounds]
        assert sum(bound(length, 5, 0.5) for length in begun) <= gate.regret_bound(n_rounds) * (1 + 1e-12)


@pytest.mark.parametrize("horizon", [200, 30, None])
@pytest.mark.parametrize("pause", [0, 1, 90, 127])
def test_a_gate_from_a_file_goes_on_bit_by_bit(tmp_path, horizon, pause):
    scores, predictions, y = stream(200)
    experts = panel(scores, predictions)
    gate = OnlineGate(experts, COST, horizon=horizon, random_state=1)
    play(gate, y, range(pause))
    path = tmp_path / "gate.farthing"
    gate.save(path)
    again = OnlineGate.load(path, experts=experts)
    assert play(again, y, range(pause, 200)) == play(gate, y, range(pause, 200))
    assert again.q_.tobytes() == gate.q_.tobytes()
    assert again.estimates_.tobytes() == gate.estimates_.tobytes()
    assert again.regret_estimate() == gate.regret_estimate()
    for name, column in gate.history_.items():
        assert column.tobytes() == again.history_[name].tobytes()


def test_a_row_that_waits_for_its_label_waits_in_the_file(tmp_path, adapt):
    model, X, y = adapt
    gate = OnlineGate(AdaptExperts(model, 7), COST, random_state=0)
    row = next(t for t in range(len(X)) if gate.decide(X.iloc[t]).remote)
    path = tmp_path / "gate.farthing"
    gate.save(path)
    again = farthing.load(path)
    with pytest.raises(RoundError, match="waiting for its label"):
        again.decide(X.iloc[row])
    for one in (gate, again):
        one.feedback(y[row])
    both = [one.play(X[row + 1 :], y[row + 1 :]) for one in (gate, again)]
    assert both[0][1] == both[1][1]
    assert again.q_.tobytes() == gate.q_.tobytes()
    gate.save(tmp_path / "a")
    again.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_thresholds_over_a_fitted_gate(adapt):
    model, X, _ = adapt
    experts = AdaptExperts(model, [-np.inf, -1.0, 0.0, 1.0, np.inf])
    gate = model.gate_scores(X)
    stays = model.with_threshold(np.inf).predict(X)
    rows = (X.iloc[4], X.iloc[4].to_dict(), X.iloc[4].to_list(), X[4:5])
    for x in rows:
        scores, predictions = experts.look(x).all()
        assert np.array_equal(scores > 0, gate[4] > experts.thresholds)
        assert predictions.tolist() == [stays[4]] * 5
    for row, look in enumerate(experts.looks(X)):
        assert (look.one(2)[0] > 0) == model.with_threshold(0.0).sent(X)[row]
    assert OnlineGate(model).n_experts == 22  # 21 thresholds, and the one that always asks


def test_experts_may_be_models_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    local, gate = (LogisticRegression().fit(X, X[:, k] > 0) for k in (0, 1))
    look = OnlineGate([(gate, local)], 0.5).experts.look(X[7])
    assert look.one(0) == (gate.decision_function(X[7:8])[0], local.predict(X[7:8])[0])


def test_a_loss_of_ones_own(tmp_path):
    def loss(y, said):
        return min(1.0, abs(y - said))

    experts = [(lambda x: -1, lambda x, k=k: k) for k in (0.0, 0.5, 1.0)]
    gate = OnlineGate(experts, 0.5, horizon=400, loss=loss, random_state=0)
    gate.play(range(400), [0.5] * 400)
    assert gate.q_.argmax() == 1
    np.testing.assert_allclose(gate.estimates_[0], gate.estimates_[2])
    gate.save(tmp_path / "gate")
    with pytest.raises(FileError, match="loss="):
        OnlineGate.load(tmp_path / "gate", experts=experts)
    assert OnlineGate.load(tmp_path / "gate", experts=experts, loss=loss).n_rounds == 400
    odd = OnlineGate(experts, 0.5, loss=lambda y, said: 2.0, random_state=0)
    assert odd.decide(0).remote  # the first rounds explore
    with pytest.raises(ValueError, match="between 0 and 1"):
        odd.feedback(0.5)


def test_labels_are_given_in_turn():
    gate = OnlineGate([(lambda x: -1, lambda x: x)], 1.0, horizon=10**6, keep_history=False, random_state=0)
    with pytest.raises(RoundError, match="no row is waiting"):
        gate.feedback(1)
    while not gate.decide(0).remote:
        with pytest.raises(RoundError, match="no row is waiting"):
            gate.feedback(1)
    with pytest.raises(RoundError, match="feedback"):
        gate.decide(0)
    with pytest.raises(RoundError, match="feedback"):
        gate.play([0], [0])
    gate.feedback(None)  # the remote model failed
    assert gate.q_[0] > gate.q_[1]  # who asks has lost the cost, who does not has lost nothing that is known
    assert gate.estimates_[0] == 0 < gate.estimates_[1]
    assert gate.regret_estimate() == pytest.approx(1.0)  # the cost of one ask
    assert len(gate.history_["expert"]) == 0


def test_what_cannot_be_is_refused(adapt):
    model, _, _ = adapt
    pair = [(lambda x: 1, lambda x: 0)]
    for cost in (0, -1, 1.5, np.nan):
        with pytest.raises(ValueError, match="cost must be above 0"):
            OnlineGate(pair, cost)
    with pytest.raises(ValueError, match="horizon"):
        OnlineGate(pair, horizon=0)
    with pytest.raises(ValueError, match="at least one expert"):
        OnlineGate([])
    with pytest.raises(ValueError, match="pair"):
        OnlineGate([lambda x: 1])
    with pytest.raises(TypeError, match="a gate must be"):
        OnlineGate([(3, lambda x: 0)])
    with pytest.raises(TypeError, match="Adapt"):
        AdaptExperts(GaussianNB())
    for thresholds in (1, [], [np.nan], [[0.0]]):
        with pytest.raises(ValueError, match="thresholds"):
            AdaptExperts(model, thresholds)
    with pytest.raises(ValueError, match="3 scores"):
        Panel(lambda x: ([1.0], [0]), 3).look(0)


@pytest.mark.parametrize(
    "change",
    [
        {"n_rounds": -1},
        {"n_rounds": 7},
        {"key": 0.5},
        {"cost": 2.0},
        {"logs": np.zeros(3)},
        {"logs": np.full(8, np.nan)},
        {"estimates": None},
        {"paid": float("nan")},
        {"n_experts": 3},
        {"pending": {"asks": np.zeros(8, dtype=bool), "predictions": ["up"] * 7, "chance": 0.5}},
        {"pending": {"asks": np.ones(8, dtype=bool), "predictions": ["up"] * 7, "chance": 0.0}},
        {"pending": {"asks": np.ones(8, dtype=bool), "predictions": "upupupu", "chance": 0.5}},
        {"pending": {}},
        {"history": {}},
        {"experts": None},
        {"more": 1},
    ],
    ids=str,
)
def test_a_file_that_does_not_fit_together_is_refused(tmp_path, adapt, change):
    gate = OnlineGate(AdaptExperts(adapt[0], 7), COST, random_state=0)
    gate.save(tmp_path / "sound")
    _, state = store.read(tmp_path / "sound")
    store.write(tmp_path / "odd", "OnlineGate", state | change)
    for read in (farthing.load, OnlineGate.load):
        with pytest.raises(FileError):
            read(tmp_path / "odd")


def test_a_file_of_a_model_is_no_gate(tmp_path, adapt):
    adapt[0].save(tmp_path / "model")
    with pytest.raises(FileError, match="not an OnlineGate"):
        OnlineGate.load(tmp_path / "model")
