"""``farthing export``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from farthing.cli.commands import app
from farthing.forests import BudgetTreeClassifier
from farthing.neighbors import RandomOrderClassifier


def test_writes_the_files_and_says_their_sizes(tmp_path: Path) -> None:
    BudgetTreeClassifier(costs=[2, 5]).fit(np.eye(2), ["no", "yes"]).save(tmp_path / "m.farthing")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "m.farthing"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["model.c", "model.h"]
    assert "bytes of tables" in done.output
    assert "bytes for each walk" in done.output
    assert "bytes of stack" in done.output


def test_a_model_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    RandomOrderClassifier(costs=[2, 5]).fit(X, (X[:, 0] > 0).astype(int)).save(tmp_path / "m.farthing")
    done = CliRunner().invoke(app, ["export", str(tmp_path / "m.farthing"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "RandomOrderClassifier cannot be exported" in done.output
    assert not (tmp_path / "out").exists()
