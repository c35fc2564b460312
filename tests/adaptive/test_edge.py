"""Edge devices: the objectives beside naive ones, what is sent and paid, and what a device runs."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tests.adaptive.device_columns import DEVICES

import farthing
from farthing import CostSheet, Group, store
from farthing.adaptive import EdgeClassifier, EdgeRegressor, Messages, run_device
from farthing.adaptive.edge.blocks import ACTIVATIONS, Blocks, Cloud
from farthing.adaptive.edge.devices import Devices
from farthing.adaptive.edge.projection import nearest_within
from farthing.adaptive.edge.relaxed import Relaxation, divergence
from farthing.errors import CostError, FileError, TableError, UnseenCategoryWarning, WalkError
from farthing.learning.linear_design import LinearDesign
from farthing.table import Schema

PRICES = [40, 3, 12, 27, 50, 8, 1, 33, 5, 19]


def small_cloud(activation="sigmoid", n_scores=3, seed=0, n_rows=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    shares = rng.random(n_rows)
    shares /= shares.sum()
    schema = Schema.learn(X)
    devices = Devices.of({"a": [0, 2], "b": [1], "c": [3]}, schema)
    blocks = Blocks.of(LinearDesign.of(X, schema, shares, 1 + n_scores), devices, n_scores)
    goal = rng.normal(size=(n_rows, n_scores))

    def loss(scores):
        off = scores - goal
        return float((off**2).sum(axis=1) @ shares), 2 * off * shares[:, None]

    return Cloud(blocks, loss, rng.normal(size=n_scores), 0.1), shares, rng.normal(size=blocks.shape).ravel()


# The objectives.


@pytest.mark.parametrize("activation", ["sigmoid", "relu"])
def test_the_gradient_of_the_direct_objective(activation):
    cloud, shares, params = small_cloud(activation)
    objective = cloud.direct(ACTIVATIONS[activation], 0.3 * shares[:, None] * np.array([1.0, 2.0, 0.5]))
    numeric = approx_fprime(params, lambda p: objective(p)[0], 1e-7)
    np.testing.assert_allclose(objective(params)[1], numeric, atol=1e-5)
    # The value itself, row by row and device by device.
    table, parts, expected = params.reshape(cloud.blocks.shape), cloud.blocks.parts, 0.0
    coefs, intercepts = cloud.blocks.split(params)
    for row in range(12):
        scores, paid = cloud.prior.copy(), 0.0
        for device, price in enumerate((1.0, 2.0, 0.5)):
            both = parts[device][row] @ coefs[device] + intercepts[device]
            opened = max(both[0], 0) if activation == "relu" else 1 / (1 + np.exp(-both[0]))
            scores, paid = scores + opened * both[1:], paid + 0.3 * price * opened
        alone = np.zeros((12, 3))
        alone[row] = scores
        expected += paid * shares[row]
    gates, local = cloud.blocks.scores(params)
    opened = ACTIVATIONS[activation].value(gates)
    penalised = (table[:-3] ** 2).sum() + (table[-3:, 1:] ** 2).sum()  # all but the gates' intercepts
    expected += cloud.loss_at(opened, local)[0] + 0.05 * penalised
    assert objective(params)[0] == pytest.approx(expected)


def test_the_gradient_of_the_relaxed_objective_and_of_settled_gates():
    cloud, shares, params = small_cloud()
    q = np.random.default_rng(1).random((12, 3))
    relaxed = Relaxation(cloud, shares, np.ones(3), 0.2, 1.0, 0.7)
    for objective in (relaxed.fit_objective(q), cloud.with_fixed_gates((q > 0.5).astype(float))):
        numeric = approx_fprime(params, lambda p, of=objective: of(p)[0], 1e-7)
        np.testing.assert_allclose(objective(params)[1], numeric, atol=1e-5)
    assert relaxed.fit_objective(q)(params)[0] == pytest.approx(relaxed.value(q, params))
    p, z = 0.3, 0.4
    sigma = 1 / (1 + np.exp(-z))
    naive = p * np.log(p / sigma) + (1 - p) * np.log((1 - p) / (1 - sigma))
    assert divergence(np.array([[p]]), np.array([[z]]))[0, 0] == pytest.approx(naive)


@pytest.mark.parametrize("limit", [0.6, 1.2, np.inf])
def test_openings_are_the_best_within_the_budget(limit):
    """Beside a solver for any convex problem; the objective of all alternations never rises."""
    cloud, shares, params = small_cloud(n_rows=5)
    prices = np.array([1.0, 2.0, 0.5])
    relaxed = Relaxation(cloud, shares, prices, 0.1, limit, 0.3)
    start = np.full((5, 3), min(0.5, limit / prices.sum()))
    q = relaxed.step_openings(start, params, max_steps=300)
    assert shares @ q @ prices <= limit * (1 + 1e-9)
    assert ((q >= 0) & (q <= 1)).all()
    room = {"type": "ineq", "fun": lambda flat: 1 - shares @ flat.reshape(5, 3) @ prices / min(limit, 3.5)}
    best = minimize(
        lambda flat: relaxed.value(flat.reshape(5, 3), params),
        start.ravel(),
        method="SLSQP",
        bounds=[(1e-9, 1 - 1e-9)] * 15,
        constraints=[room],
    )
    assert best.success
    assert relaxed.value(q, params) <= best.fun * (1 + 1e-4)
    _, history = relaxed.solve(params, 6, 20)
    assert (np.diff(history) <= 1e-9).all()


@pytest.mark.parametrize("equal", [True, False])
def test_the_projection_is_the_nearest_point(equal):
    """(7.5) by trying every set of scores to shut, with prices and row weights, too."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        scores, every = rng.normal(size=(3, 3)), np.array([*product([False, True], repeat=9)])
        shares = np.ones(3) if equal else rng.random(3)
        prices = np.ones(3) if equal else rng.choice([0.0, 0.7, 1.0, 2.0, 3.1], size=3)
        price, change = (np.outer(shares, prices)).ravel(), (shares[:, None] * scores**2).ravel()
        for limit in (0.0, 0.25 * price.sum(), 0.5 * price.sum(), price.sum()):
            ours = nearest_within(scores, shares, prices, limit)
            assert shares @ (ours > 0) @ prices <= limit * (1 + 1e-9)
            left = (~every * (scores.ravel() > 0)) @ price
            best = (every @ change)[left <= limit * (1 + 1e-9)].min()
            assert shares @ ((ours - scores) ** 2).sum(axis=1) == pytest.approx(best)


# What is learned.


def test_with_nothing_to_pay_it_is_logistic_regression(gated):
    (X, y), (fresh, _) = gated
    model = EdgeClassifier({"a": [0, 1, 2], "b": [3, 4]}, tradeoff=0.0, l2_regularization=0.01).fit(X, y)
    assert model.acquired(fresh).all()
    scaler = StandardScaler().fit(X)
    plain = LogisticRegression(C=1 / (0.01 * len(X)), tol=1e-8, max_iter=2000).fit(scaler.transform(X), y)
    expected = plain.predict_proba(scaler.transform(fresh))
    np.testing.assert_allclose(model.predict_proba(fresh), expected, atol=2e-4)


@pytest.mark.parametrize(
    "params",
    [
        {"tradeoff": 0.05},
        {"activation": "relu"},
        {"training": "relaxed", "tradeoff": 0.0},
        {"solver": "adam", "n_epochs": 30, "learning_rate": 0.02},
    ],
    ids=str,
)
def test_half_of_the_messages_are_as_good_as_all(gated, params):
    """Gates know when to speak, so that half of the messages beat the plain sum of all of them."""
    (X, y), (fresh, truth) = gated
    two = {"wrist": [0, 1], "ankle": [2, 3, 4]}
    given = y != "none"
    model = EdgeClassifier(two, budget_share=0.5, max_steps=80, random_state=0, **params)
    model.fit(X[given], y[given])
    kept = truth != "none"
    everyone = EdgeClassifier(two, tradeoff=0.0).fit(X[given], y[given])
    assert model.acquired(fresh[kept]).mean() == pytest.approx(0.5, abs=0.08)
    assert model.score(fresh[kept], truth[kept]) > everyone.score(fresh[kept], truth[kept])


@pytest.mark.parametrize(
    "params", [{}, {"training": "relaxed", "coupling": 0.01, "n_alternations": 20}, {"training": "projected"}]
)
def test_numbers_that_two_gated_devices_add_up(params):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = 5 + np.where(X[:, 0] > 0, 3 * X[:, 1], 0) + np.where(X[:, 2] > 0, 2 * X[:, 3], 0)
    devices = {"wrist": [0, 1], "ankle": [2, 3]}
    model = EdgeRegressor(devices, budget_share=0.5, tradeoff=0.0, random_state=0, **params).fit(
        X[:400], y[:400]
    )
    assert model.score(X[400:], y[400:]) > 0.9
    plain = EdgeRegressor(devices, tradeoff=0.0).fit(X[:400], y[:400])
    assert plain.score(X[400:], y[400:]) < 0.6
    assert EdgeRegressor(devices).fit(X[:50], y[:50]).predict(X, budget=0) == pytest.approx(y[:50].mean())


@pytest.mark.parametrize("prices", ["equal", "unequal"])
def test_a_real_table_at_the_defaults(prices):
    """Messages of 9,000 and -9,000 cancelled on training rows, where both spoke, and not elsewhere."""
    X, y = load_diabetes(return_X_y=True)
    costs = None if prices == "equal" else {f"x{k}": price for k, price in enumerate(PRICES)}
    for seed in (2, 4):
        learn, test = train_test_split(np.arange(len(y)), test_size=0.4, random_state=seed)
        model = EdgeRegressor(costs=costs).fit(X[learn], y[learn])
        assert model.score(X[test], y[test]) > (0.3 if costs is None else -0.02)
        intercepts = [pair.intercept[1] for pair in model.pairs_]
        assert np.abs(intercepts).max() < 2 * y.std()


def test_relaxed_training_ends_where_a_larger_budget_is_no_worse():
    """Unpenalised intercepts of nearly shut gates took the objective to zero at any budget."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, size=240)
    X = np.hstack([rng.normal(size=(6, 3))[y] + rng.normal(size=(240, 3)) for _ in range(4)])
    devices = {f"device {k}": [3 * k, 3 * k + 1, 3 * k + 2] for k in range(4)}

    def history(share, **params):
        shared = {"training": "relaxed", "tradeoff": 0.0, "l2_regularization": 0.01, "max_steps": 50}
        model = EdgeClassifier(devices, budget_share=share, **shared, **params)
        return model.fit(X[:120], y[:120], validation=(X[120:], y[120:])).history_

    every = [history(share) for share in (0.25, 0.5)]
    assert (np.diff([one[-1] for one in every]) < 0).all()
    for one in every:
        assert one[-3] - one[-1] <= 1e-5 * one[-1] < one[-5] - one[-3]
    # More alternations than it takes change nothing.
    assert history(0.25, n_alternations=1000)[-1] == every[0][-1]


def test_weights_are_repeated_rows(gated):
    (X, y), (fresh, _) = gated
    for params in ({"training": "relaxed"}, {"activation": "relu"}):
        model = EdgeClassifier(DEVICES, max_steps=10, n_alternations=2, **params)
        weights = np.arange(60) % 3
        weighed = clone(model).fit(X[:60], y[:60], sample_weight=weights)
        rows = np.repeat(np.arange(60), weights)
        again = model.fit(X[rows], y[rows])
        np.testing.assert_allclose(weighed.predict_proba(fresh), again.predict_proba(fresh), atol=1e-5)


def test_the_same_seed_gives_the_same_batches(gated):
    (X, y), (fresh, _) = gated
    fits = [
        EdgeClassifier(DEVICES, solver="adam", n_epochs=2, max_steps=5, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    said = [fit.predict_proba(fresh) for fit in fits]
    assert np.array_equal(said[0], said[1])
    assert not np.array_equal(said[0], said[2])
    assert len(fits[0].history_) == 3


# Budgets and prices.


def test_refused_devices_are_those_refused_in_a_walk(edge_model, gated):
    _, (fresh, _) = gated
    messages, names = edge_model.messages(fresh), edge_model.devices_.names
    flags = np.random.default_rng(0).random((len(fresh), 3)) < 0.4
    for refused in (["ankle"], flags, pd.DataFrame(flags, columns=names)[[*names[::-1]]]):
        gone = np.tile([False, True, False], (len(fresh), 1)) if isinstance(refused, list) else flags
        for budget in (None, 1.0):
            decisions = edge_model.decide(fresh, refused=refused, budget=budget)
            assert not (decisions.acquired & gone).any()
            for row in range(0, len(fresh), 50):
                walk = edge_model.walk(budget=budget)
                while walk.ask is not None:
                    device = names.index(walk.ask.feature)
                    walk.refuse() if gone[row, device] else walk.tell(messages.row(row)[walk.ask.feature])
                assert walk.decision.prediction == decisions.prediction[row]
                assert walk.decision.spent == decisions.spent[row]
        assert np.array_equal(
            edge_model.predict(messages, refused=refused), edge_model.predict(fresh, refused=refused)
        )
    # What a refused device measures need not be there.
    table = pd.DataFrame(fresh, columns=[f"x{k}" for k in range(5)])
    named = EdgeClassifier(DEVICES, max_steps=5).fit(table[:200], gated[0][1][:200])
    without = named.predict(table.drop(columns=["x2", "x3"]), refused=["ankle"])
    assert np.array_equal(without, named.predict(table, refused=["ankle"]))
    with pytest.raises(TableError, match="unknown device 'x0'"):
        edge_model.predict(fresh, refused=["x0"])
    with pytest.raises(TableError, match="a column for each of the 3"):
        edge_model.predict(fresh, refused=np.zeros((len(fresh), 5), dtype=bool))


def test_the_budget_holds_on_validation_rows_and_is_used_up(gated):
    (X, y), (fresh, truth) = gated
    sheet = CostSheet(
        {"wrist": 1.0, "ankle": 2.0, "hip": 0.5}, groups={"hub": Group(1.5, ["ankle", "hip"])}, unit="mJ"
    )
    total = sheet.total(sheet.features)
    for share in (0.0, 0.3, 0.7, 1.0):
        model = EdgeClassifier(DEVICES, costs=sheet, budget_share=share, max_steps=10)
        model.fit(X, y, validation=(fresh, truth))
        spent = model.spend(fresh).mean() / total
        assert spent <= share * (1 + 1e-12)
        assert spent > share - 2 * total / len(fresh)  # the next gate would be over it
    assert model.acquired(fresh).all()
    assert model.costs_.unit == "mJ"


def test_dear_devices_keep_silent(gated):
    (X, y), (fresh, _) = gated
    dear = EdgeClassifier(DEVICES, costs={"wrist": 100, "ankle": 0.1, "hip": 0.1}, max_steps=50).fit(X, y)
    shares = dear.acquired(fresh).mean(axis=0)
    assert shares[0] < 0.05 < shares[1]


def test_a_walk_asks_devices_and_silence_is_free(edge_model, gated):
    _, (fresh, _) = gated
    messages = edge_model.messages(fresh)
    row = next(i for i in range(len(fresh)) if messages.sent[i].tolist() == [True, False, True])
    walk = edge_model.walk()
    assert walk.ask.feature == "wrist"
    with pytest.raises(TableError, match=r"'wrist'.*list of 3 finite numbers"):
        walk.tell(0.5)
    for wrong in ([1.0, 2.0], [1.0, 2.0, np.nan], "far", {"x0": 1.0}):
        with pytest.raises(TableError, match="'wrist'"):
            walk.tell(wrong)
    walk.tell(messages.row(row)["wrist"])
    assert walk.ask.feature == "ankle"
    walk.tell(None)
    assert (walk.spent, walk.decision.acquired) == (1.0, ("wrist",))
    walk.tell(messages.row(row)["hip"])
    assert walk.decision.prediction == edge_model.predict(fresh[row : row + 1])[0]
    assert (
        list(walk.decision.probabilities.values())
        == edge_model.predict_proba(fresh[row : row + 1])[0].tolist()
    )
    assert walk.decision.spent == edge_model.spend(fresh[row : row + 1])[0] == 2.0
    assert walk.answers["ankle"] is None
    with pytest.raises(WalkError):
        walk.tell(None)
    known = edge_model.walk(known={"wrist": messages.row(row)["wrist"], "ankle": None})
    assert known.ask.feature == "hip"
    with pytest.raises(TableError, match="unknown device 'knee'"):
        edge_model.walk(known={"knee": None})
    decision = farthing.consult(edge_model, messages.row(row))
    assert decision == walk.decision


def test_all_silent_is_the_prior(edge_model, gated):
    (_, y), _ = gated
    silent = Messages.of([{}], DEVICES, 3)
    _, counts = np.unique(y, return_counts=True)
    np.testing.assert_allclose(edge_model.predict_proba(silent)[0], counts / counts.sum())
    assert edge_model.spend(silent)[0] == 0


# Messages, and what devices run.


def test_the_cloud_needs_the_messages_alone(edge_model, gated):
    _, (fresh, _) = gated
    messages = edge_model.messages(fresh)
    assert messages.scores.shape == (400, 3, 3)
    assert np.array_equal(messages.sent, edge_model.acquired(fresh))
    odd = replace(messages, scores=np.where(messages.sent[:, :, None], messages.scores, np.nan))
    collected = Messages.of([messages.row(i) for i in range(len(messages))], edge_model.devices_.names, 3)
    for received in (messages, odd, collected):
        for budget in (None, 1.0):
            assert np.array_equal(
                edge_model.predict_proba(received, budget=budget),
                edge_model.predict_proba(fresh, budget=budget),
            )
            assert np.array_equal(
                edge_model.acquired(received, budget=budget), edge_model.acquired(fresh, budget=budget)
            )
    assert edge_model.acquired(fresh, budget=1.0).sum(axis=1).max() == 1
    with pytest.raises(TableError, match="expected wrist, ankle, hip with 3"):
        edge_model.predict(Messages.of([{}], ["wrist", "hip"], 3))
    with pytest.raises(TableError, match="unknown device 'knee'"):
        Messages.of([{"knee": [1.0]}], ["wrist"], 1)
    with pytest.raises(TableError, match="shape"):
        Messages(("wrist",), np.zeros((2, 1, 1)), np.zeros((3, 1), dtype=bool))
    with pytest.raises(TableError, match="1 devices, expected 2"):
        Messages(("wrist", "hip"), np.zeros((2, 1, 1)), np.zeros((2, 1), dtype=bool))


def test_a_device_runs_its_dict_to_the_last_bit():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["heat", "noise", "light"])
    frame["mode"] = rng.choice(["idle", "walk", "run"], size=300)
    frame.loc[rng.random(300) < 0.1, "noise"] = np.nan
    frame.loc[rng.random(300) < 0.1, "mode"] = None
    y = np.where(frame["mode"] == "run", 2.0, 0.0) + frame["heat"] * (frame["light"] > 0)
    devices = {"outside": ["light", "heat"], "inside": ["mode", "noise"]}
    model = EdgeRegressor(devices, budget_share=0.5, max_steps=30, random_state=0).fit(frame[:200], y[:200])
    exported = json.loads(json.dumps(model.device_models_))
    assert list(exported) == ["outside", "inside"]
    fresh = frame[200:].reset_index(drop=True)
    fresh.loc[0, "mode"] = "swim"  # never seen
    fresh.loc[1, "heat"] = np.inf
    with pytest.warns(UnseenCategoryWarning, match="column 'mode': 1 of 100 values"):
        messages = model.messages(fresh)
    assert 0 < messages.sent.mean() < 1
    for row in range(len(fresh)):
        reading = fresh.iloc[row].to_dict()
        assert {name: run_device(device, reading) for name, device in exported.items()} == messages.row(row)
    assert run_device(exported["inside"], {}) == run_device(
        exported["inside"], {"mode": None, "noise": float("nan")}
    )


def test_columns_of_no_device_are_not_looked_at(gated):
    (X, y), (fresh, _) = gated
    model = EdgeClassifier({"wrist": [1, 0], "hip": ["x4"]}, max_steps=10).fit(X, y)
    assert model.devices_.columns == ((0, 1), (4,))
    odd = fresh.astype(object)
    odd[:, [2, 3]] = "text"
    assert np.array_equal(model.predict_proba(odd), model.predict_proba(fresh))
    odd[7, 4] = "text"
    with pytest.raises(TableError, match="x4"):
        model.predict(odd)


# What cannot be.


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"devices": ["x0"]}, "mapping"),
        ({"devices": {}}, "mapping"),
        ({"devices": {"a": "x0"}}, r"write \['x0'\]"),
        ({"devices": {"a": ["x0"], "b": [0, 1]}}, "column 'x0' belongs to two devices, 'a' and 'b'"),
        ({"devices": {"a": ["x9"]}}, "x9"),
        ({"devices": {"a": [7]}}, "the table has 5"),
        ({"devices": {"a": []}}, "at least one column"),
        ({"devices": {3: [0]}}, "must be a string"),
        ({"training": "projected"}, r"{('direct', 'relaxed'|'relaxed', 'direct')}. Got 'projected'"),
        ({"activation": "tanh"}, r"{('relu', 'sigmoid'|'sigmoid', 'relu')}. Got 'tanh'"),
        ({"solver": "sgd"}, r"{('adam', 'lbfgs'|'lbfgs', 'adam')}. Got 'sgd'"),
        ({"budget_share": 1.5}, r"'budget_share' .* range \[0.0, 1.0\] .* Got 1.5"),
        ({"tradeoff": -1.0}, "tradeoff"),
        ({"coupling": 0.0}, "coupling"),
        ({"max_steps": 0}, "max_steps"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
    ],
)
def test_parameters_that_cannot_be(gated, params, message):
    (X, y), _ = gated
    with pytest.raises(ValueError, match=message):
        EdgeClassifier(**({"devices": DEVICES} | params)).fit(X, y)


def test_prices_go_by_device(gated):
    (X, y), _ = gated
    with pytest.raises(CostError, match="'x0'"):
        EdgeClassifier(DEVICES, costs={"x0": 1.0, "x1": 1.0}).fit(X, y)


def test_a_file_holds_all_of_it(tmp_path, edge_model, gated):
    _, (fresh, _) = gated
    edge_model.save(tmp_path / "edge")
    loaded = farthing.load(tmp_path / "edge")
    assert loaded.get_params()["devices"] == {"wrist": ["x0", "x1"], "ankle": ["x2", "x3"], "hip": ["x4"]}
    assert loaded.device_models_ == edge_model.device_models_
    assert np.array_equal(loaded.predict_proba(fresh), edge_model.predict_proba(fresh))


@pytest.mark.parametrize(
    "change",
    [
        lambda fitted: {"pairs_": fitted["pairs_"][:2]},
        lambda fitted: {"pairs_": [1, 2, 3]},
        lambda fitted: {"pairs_": fitted["pairs_"][::-1]},
        lambda fitted: {"pairs_": [replace(pair, n_features=9) for pair in fitted["pairs_"]]},
        lambda fitted: {
            "pairs_": [replace(pair, category=np.zeros(len(pair.category))) for pair in fitted["pairs_"]]
        },
        lambda fitted: {"devices_": Devices(("wrist", "ankle", "hip"), ((0, 1), (2, 3), (5,)))},
        lambda fitted: {"devices_": Devices(("wrist", "ankle"), ((0, 1), (2, 3)))},
        lambda fitted: {"threshold_": float("nan")},
        lambda fitted: {"history_": np.zeros((1, 1))},
        lambda fitted: {"prior_": np.zeros(2)},
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(tmp_path, edge_model, change):
    edge_model.save(tmp_path / "sound")
    kind, state = store.read(tmp_path / "sound")
    state["fitted"] |= change(state["fitted"])
    store.write(tmp_path / "odd", kind, state)
    with pytest.raises(FileError):
        farthing.load(tmp_path / "odd")


@pytest.mark.parametrize("value", [1e308, -1e308, np.inf])
@pytest.mark.parametrize("method", [EdgeClassifier, EdgeRegressor])
def test_huge_and_infinite_values(method, value):
    """The largest floats are numbers like others; an infinite one is missing."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    X[3, 1] = value
    model = method(devices={"wrist": ["x0", "x1"], "ankle": ["x2", "x3"]}).fit(X, y)
    outputs = model.predict_proba(X) if method is EdgeClassifier else model.predict(X)
    assert np.isfinite(outputs).all()
