"""Exports of gates, devices and drawn votes: what is asked, answered and refused beyond a single number."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from experiments.lib.export_replays import replay_node, write_js
from experiments.lib.export_walks import record
from sklearn.linear_model import LogisticRegression
from tests.export.walking import assert_same_walks, compile_c, fitted

from farthing.adaptive.edge import run_device
from farthing.boosting import AdaBoostRSClassifier
from farthing.errors import ExportError
from farthing.export import export_model

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@pytest.mark.parametrize("sampling", ["weight", "cost", "free_rider", "top"])
def test_votes_of_a_linear_model_are_drawn_alike(sampling: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[rng.random(X.shape) < 0.05] = 0.0
    y = (X @ [1.0, -2.0, 0.5, 0.0, 3.0] + rng.normal(size=120) > 0).astype(int)
    model = AdaBoostRSClassifier(
        estimator=LogisticRegression(), sampling=sampling, costs=[1.0, 2.0, 3.0, 1.0, 0.0], random_state=0
    ).fit(X, y)
    assert assert_same_walks(model, X, tmp_path, 60) > 0
    if shutil.which("node"):
        write_js(model, record(model, X, 60), tmp_path)
        assert replay_node(tmp_path).questions > 0


def test_what_lookahead_distills_walks_as_the_library(tmp_path: Path) -> None:
    model, fresh = fitted("LookaheadClassifier", 0)
    with pytest.raises(ExportError, match="export the tree that `distill` returns"):
        export_model(model, tmp_path)
    assert assert_same_walks(model.distill(max_depth=3), fresh, tmp_path, 40) > 0


@needs_node
def test_devices_send_what_the_library_computes(tmp_path: Path) -> None:
    model, fresh = fitted("EdgeClassifier", 1)
    exported = export_model(model, tmp_path)
    rows = [dict(zip(model.fitted_.schema.names, row, strict=True)) for row in np.asarray(fresh, object)[:20]]
    headers = [path for path in exported.paths if path.suffix == ".h" and path.stem != "model"]
    assert len(headers) == len(model.device_models_)
    for header, (name, device) in zip(headers, model.device_models_.items(), strict=True):
        message = _compiled(header.with_suffix(".c"), tmp_path)
        plan = next(each for each in model.fitted_.plan().devices if each.name == name)
        for row in rows:
            expected = run_device(device, row)
            readings = [_code(model, feature, row[feature]) for feature in plan.readings]
            assert message(readings, len(plan.scores.intercept) - 1) == expected
    _same_in_node(model, rows, tmp_path)


def _code(model: Any, feature: str, value: Any) -> float:
    schema = model.fitted_.schema
    return float(schema.encode_value(schema.index(feature), value))


def _compiled(source: Path, folder: Path) -> Any:
    shared = folder / f"{source.stem}.so"
    compile_c(source, "gcc", ["-shared", "-fPIC", "-O2"], shared)
    function = getattr(ctypes.CDLL(str(shared)), f"{source.stem}_message")

    def message(readings: list[float], n: int) -> list[float] | None:
        sent = (ctypes.c_double * n)()
        return list(sent) if function((ctypes.c_double * max(1, len(readings)))(*readings), sent) else None

    return message


def _same_in_node(model: Any, rows: list[dict[str, Any]], folder: Path) -> None:
    export_model(model, folder, to="js")
    plain = [{name: None if pd.isna(value) else value for name, value in row.items()} for row in rows]
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "run.js").write_text(
        'import { devices } from "./model.js";\n'
        f"const rows = {json.dumps(plain)};\n"
        "const sent = rows.map((row) => Object.values(devices).map(({ message }) => message(row)));\n"
        "console.log(JSON.stringify(sent));\n"
    )
    ran = subprocess.run(["node", "run.js"], cwd=folder, capture_output=True, text=True, check=True)
    expected = [[run_device(device, row) for device in model.device_models_.values()] for row in rows]
    assert json.loads(ran.stdout) == expected


@pytest.mark.parametrize(
    ("method", "who"), [("EdgeClassifier", "devices"), ("L1GateClassifier", "the expensive model")]
)
def test_a_page_asks_nobody_for_lists_of_numbers(method: str, who: str, tmp_path: Path) -> None:
    model, _ = fitted(method, 1)
    with pytest.raises(ExportError, match=f"^{method} cannot be a page: {who} would have to answer"):
        export_model(model, tmp_path, to="html")


@needs_node
def test_a_list_of_the_wrong_length_is_an_error(tmp_path: Path) -> None:
    model, _ = fitted("EdgeClassifier", 1)
    export_model(model, tmp_path, to="js")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(
        'import { Walk } from "./model.js"; const w = new Walk();\n'
        "for (const wrong of [1, [1, 2, 3, 4, 5, 6, 7], [NaN]])\n"
        "  try { w.tell(wrong); } catch (e) { console.log(e.message, w.spent); }\n"
    )
    ran = subprocess.run(["node", "run.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    width = len(model.fitted_.prior)
    lines = ran.stdout.splitlines()
    assert len(lines) == 3
    assert all(
        f"takes a list of {width} finite numbers; got" in line and line.endswith(" 0") for line in lines
    )
