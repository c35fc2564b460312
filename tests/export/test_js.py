"""The exported ES module walks as the library does, in Node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from experiments.lib.export_replays import replay_node, write_js
from experiments.lib.export_walks import record
from tests.export.walking import EXPORTED, fitted

from farthing.export import export_model

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@pytest.mark.parametrize("method", EXPORTED)
def test_walks_as_the_library(method: str, tmp_path: Path) -> None:
    for table, trial in enumerate((1, 2)):
        model, fresh = fitted(method, trial, table, n_classes=2 + table)
        write_js(model, record(model, fresh, 25), tmp_path)
        assert replay_node(tmp_path).questions > 0


def test_a_wrong_answer_is_an_error_that_names_the_feature(tmp_path: Path) -> None:
    model, _ = fitted("BudgetTreeClassifier", 0, 0)
    export_model(model, tmp_path, to="js")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    script = 'import { Walk } from "./model.js"; const w = new Walk(); try { w.tell("much"); } catch (e) { '
    (tmp_path / "wrong.js").write_text(script + "console.log(e.message, w.ask.feature, w.spent); }")
    ran = subprocess.run(["node", "wrong.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    feature = model.walk().ask.feature
    assert ran.stdout.strip() == (
        f"{feature} takes a finite number, or null if it is missing; got much {feature} 0"
    )
