"""A model that asks devices, over HTTP and at the terminal: messages are lists, silence is null."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

from farthing.adaptive import AdaptLinClassifier, EdgeClassifier, OnlineGate
from farthing.cli.commands import app
from farthing.service.bulk_predictions import predict_rows
from farthing.service.model_description import describe
from farthing.service.model_store import ModelStore
from farthing.service.request_body import BadRequestError
from farthing.service.request_limits import Limits
from farthing.service.schemas import NextRequest, PredictRequest
from farthing.service.walk_steps import next_step


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    devices = {"wrist": [0, 1], "ankle": [2]}
    return EdgeClassifier(devices, costs=[2.0, 1.0], budget_share=0.6, max_steps=20, random_state=0).fit(
        X, y
    ), X


def test_the_next_device_is_asked_until_all_have_answered(fitted):
    model, X = fitted
    sent = model.messages(X)
    first = next_step(model, NextRequest(), Limits())
    assert first["ask"] == {"feature": "wrist", "price": 2.0, "group": None}
    row = next(i for i in range(len(X)) if sent.sent[i].tolist() == [False, True])
    step = next_step(model, NextRequest(known=sent.row(row)), Limits())
    assert step["ask"] is None
    assert (step["spent"], step["unused"], step["unseen"]) == (1.0, [], [])
    assert step["decision"]["prediction"] == model.predict(X[row : row + 1])[0]
    for known in ({"wrist": 0.5}, {"wrist": [1.0, 2.0]}, {"knee": None}, {"x0": 1.0}):
        with pytest.raises(BadRequestError):
            next_step(model, NextRequest(known=known), Limits())


def test_rows_in_bulk_are_messages(fitted):
    model, X = fitted
    sent = model.messages(X)
    rows = [sent.row(i) for i in range(len(X))]
    decisions, unseen = predict_rows(model, PredictRequest(rows=rows, budget=2.0), Limits())
    assert [one["prediction"] for one in decisions] == model.predict(X, budget=2.0).tolist()
    assert [one["spent"] for one in decisions] == model.spend(X, budget=2.0).tolist()
    assert unseen == {}


def test_the_description_lists_devices(fitted):
    about = describe(fitted[0])
    assert [(one["name"], one["kind"], one["cost"]) for one in about["features"]] == [
        ("wrist", "device", 2.0),
        ("ankle", "device", 1.0),
    ]
    assert about["total"] == 3.0


def test_messages_are_typed_at_the_terminal(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path / "edge.farthing")
    run = CliRunner().invoke(app, ["ask", str(tmp_path / "edge.farthing")], input="[1.5]\n\n")
    assert run.exit_code == 0, run.output
    assert "wrist" in run.output
    assert "ankle" in run.output


def test_a_gate_on_line_is_not_put_on_the_shelf(tmp_path):
    gate = OnlineGate([(lambda x: 1, lambda x: 0)])
    gate.save(tmp_path / "gate.farthing")
    run = CliRunner().invoke(app, ["ask", str(tmp_path / "gate.farthing")])
    assert run.exit_code == 1
    store = ModelStore([str(tmp_path)])
    assert not store.models
    assert "functions" in store.faults["gate"]  # that no file can hold
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    adapt = AdaptLinClassifier(GaussianNB(), n_alternations=1, random_state=0).fit(X, X[:, 0] > 0)
    OnlineGate(adapt).save(tmp_path / "gate.farthing")
    store.refresh()
    assert "not a model of a table" in store.faults["gate"]
