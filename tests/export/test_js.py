"""The exported ES module walks as the library does, in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.walking import EXPORTED, fitted, random_walks

from farthing.export import export_model
from farthing.walks import REFUSED

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")

# Replays walks of the library; the first difference is an error.
_REPLAY = """
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { Walk } from "./model.js";

const close = (a, b) => assert.ok(a === b || Math.abs(a - b) <= 1e-14 * Math.abs(b), `${a} is not ${b}`);

function compare(walk, expected) {
  const { prediction, probabilities, spent, acquired } = walk.decision;
  assert.equal(spent, expected.spent);
  assert.deepEqual(acquired, expected.acquired);
  if (probabilities === null) return close(prediction, expected.prediction);
  assert.equal(prediction, expected.prediction);
  probabilities.forEach(({ probability }, i) => close(probability, expected.probabilities[i]));
}

let questions = 0;
for (const { budget, known, steps, end } of JSON.parse(readFileSync("walks.json", "utf8"))) {
  const walk = new Walk({ budget, known });
  for (const { ask, price, answer, refused, decision } of steps) {
    questions += 1;
    compare(walk, decision);
    assert.deepEqual(walk.ask, { feature: ask, price });
    if (refused) walk.refuse();
    else walk.tell(answer);
  }
  compare(walk, end);
  assert.equal(walk.ask, null);
  assert.throws(() => walk.tell(1), /has ended/);
}
console.log(questions);
"""


def transcript(model: Any, fresh: Any, n_walks: int) -> list[dict[str, Any]]:
    """Return walks of the library, question by question."""
    rng = np.random.default_rng(0)
    walks = []
    for row, budget, known, refuses in random_walks(model, fresh, n_walks, seed=0):
        walk = model.walk(budget=budget, known=known)
        steps = []
        while (ask := walk.ask) is not None:
            refused = bool(rng.random() < refuses)
            steps.append(
                {
                    "ask": ask.feature,
                    "price": ask.price,
                    "answer": _plain(row[ask.feature]),
                    "refused": refused,
                    "decision": _decision(walk),
                }
            )
            walk.tell(REFUSED if refused else row[ask.feature])
        cap = model.fitted_.budget if budget is None else budget
        owned = {name: _plain(value) for name, value in known.items()}
        walks.append({"budget": cap, "known": owned, "steps": steps, "end": _decision(walk)})
    return walks


def _plain(value: Any) -> Any:
    return None if value is None or value != value else value  # noqa: PLR0124


def _decision(walk: Any) -> dict[str, Any]:
    decision = walk.decision
    shares = None if decision.probabilities is None else list(decision.probabilities.values())
    return {
        "prediction": decision.prediction,
        "probabilities": shares,
        "spent": decision.spent,
        "acquired": list(decision.acquired),
    }


def replay(model: Any, fresh: Any, folder: Path, n_walks: int = 25) -> int:
    """Replay walks of the library in Node; return the number of questions."""
    export_model(model, folder, to="js")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "replay.js").write_text(_REPLAY)
    (folder / "walks.json").write_text(json.dumps(transcript(model, fresh, n_walks)))
    ran = subprocess.run(["node", "replay.js"], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


@pytest.mark.parametrize("method", EXPORTED)
def test_walks_as_the_library(method: str, tmp_path: Path) -> None:
    for table, trial in enumerate((1, 2)):
        model, fresh = fitted(method, trial, table, n_classes=2 + table)
        assert replay(model, fresh, tmp_path) > 0


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
