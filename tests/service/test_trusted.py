"""A model around a random forest: saving warns, and both commands serve it if its types are trusted."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.serving import DIRECT, running
from typer.testing import CliRunner

import farthing
from farthing.adaptive import AdaptLinClassifier
from farthing.cli.commands import app
from farthing.errors import FileError, TrustWarning
from farthing.service import ModelStore, Settings, server

TREE = "sklearn.tree._tree.Tree"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("adapt") / "adapt.farthing"
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    forest = RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0)
    model = AdaptLinClassifier(forest, costs=[1, 2, 3]).fit(X, (X["a"] + X["b"] > 0).astype(int))
    with pytest.warns(TrustWarning, match=rf"RandomForestClassifier.*trusted=\['{TREE}'\]"):
        model.save(path)
    X.to_csv(path.with_suffix(".csv"), index=False)
    return path


def test_predict(saved: Path) -> None:
    table = str(saved.with_suffix(".csv"))
    refused = CliRunner().invoke(app, ["predict", str(saved), table])
    assert refused.exit_code == 1
    assert "--trusted" in refused.output
    done = CliRunner().invoke(app, ["predict", str(saved), table, "--trusted", TREE, "--json"])
    assert done.exit_code == 0, done.output
    told = [row["prediction"] for row in json.loads(done.stdout)["predictions"]]
    model = farthing.load(saved, trusted=[TREE])
    assert told == model.predict(pd.read_csv(table)).tolist()


def test_serve(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError):
        farthing.load(saved)
    assert "trusted" in ModelStore([str(saved)]).faults["adapt"]
    told: list[Settings] = []
    monkeypatch.setattr(server, "serve", lambda settings, _: told.append(settings))
    done = CliRunner().invoke(app, ["serve", str(saved), "--trusted", TREE])
    assert done.exit_code == 0, done.output
    with running(told[0]) as url:
        step = httpx.post(f"{url}/v1/models/adapt/next", json={}, **DIRECT).json()
        assert step["ask"]["feature"] == farthing.load(saved, trusted=[TREE]).walk().ask.feature
