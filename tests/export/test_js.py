"""The exported ES module walks as the library does, in Node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from experiments.lib.export_replays import replay_node, replay_page, write_js
from experiments.lib.export_walks import record
from tests.export.walking import EXPORTED, KINDS, fitted

from farthing.export import export_model

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
# The compiler that the page of the service is checked with.
TSC = Path(__file__).parents[2] / "web" / "node_modules" / ".bin" / "tsc"


@pytest.mark.parametrize("method", EXPORTED)
def test_walks_as_the_library(method: str, tmp_path: Path) -> None:
    for table, trial in enumerate((1, 2)):
        model, fresh = fitted(method, trial, table, n_classes=2 + table)
        write_js(model, record(model, fresh, 25), tmp_path)
        assert replay_node(tmp_path).questions > 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    command = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if command is None:
        pytest.skip("no Chromium; Debian, Ubuntu: apt install chromium")
    with api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=command, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.mark.parametrize("kind", KINDS)
def test_walks_as_the_library_in_a_browser(kind: str, browser: Any, tmp_path: Path) -> None:
    model, fresh = fitted(*KINDS[kind])
    write_js(model, record(model, fresh, 25), tmp_path)
    assert replay_page(tmp_path, browser).questions > 0


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


@pytest.mark.parametrize("kind", KINDS)
def test_the_types_name_what_the_module_exports(kind: str, tmp_path: Path) -> None:
    model, _ = fitted(*KINDS[kind])
    export_model(model, tmp_path, to="js")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "names.js").write_text(
        'import * as model from "./model.js";\n'
        "const own = Object.getOwnPropertyNames(model.Walk.prototype);\n"
        "console.log(JSON.stringify([Object.keys(model), own]));\n"
    )
    ran = subprocess.run(["node", "names.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    exported, members = json.loads(ran.stdout)
    types = (tmp_path / "model.d.ts").read_text()
    assert set(exported) == set(re.findall(r"^export (?:class|const) (\w+)", types, re.MULTILINE))
    (walk,) = re.findall(r"^export class Walk \{(.*?)^\}", types, re.MULTILINE | re.DOTALL)
    assert set(members) == set(re.findall(r"^  (?:get )?(\w+)\(", walk, re.MULTILINE))


_TYPED = """import { Walk, features, classes, unit, type Ask, type Decision, type Value } from "./model.js";

export function consult(row: Record<string, Value>): Decision {
  const walk = new Walk({ budget: 50, known: { age: 63, sex: null }, seed: 2n ** 60n });
  for (let ask: Ask | null = walk.ask; ask !== null; ask = walk.ask) {
    const value = row[ask.feature];
    if (value === undefined || ask.price > 100) walk.refuse();
    else walk.tell(value);
  }
  const { prediction, probabilities, spent, acquired } = walk.decision;
  const sure: number | undefined = probabilities?.find(({ label }) => label === prediction)?.probability;
  console.log(sure, spent + walk.spent, acquired.join(), unit.length, classes?.length);
  return walk.decision;
}

export const names: string[] = features.map(({ name, categories }) => name + categories.length);
new Walk({ budget: null }).tell([0.2, 0.8]);
// @ts-expect-error: a misspelt option
new Walk({ budgets: 50 });
// @ts-expect-error: no value of a table
new Walk().tell(new Date());
// @ts-expect-error: the account is not for writing
new Walk().spent = 3;
"""


@pytest.mark.skipif(not TSC.exists(), reason="TypeScript is not installed; in web: npm ci")
def test_typescript_takes_the_types(tmp_path: Path) -> None:
    model, _ = fitted(*KINDS["message"])
    export_model(model, tmp_path, to="js")
    sent = 'import { devices } from "./model.js";\n'
    sent += "export const sent: (number[] | null)[] = "
    sent += "Object.values(devices).map(({ message, readings }) => message({ [readings[0] ?? '']: 1 }));\n"
    (tmp_path / "use.ts").write_text(_TYPED)
    (tmp_path / "devices.ts").write_text(sent)
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "es2022"]
    options += ["--moduleResolution", "bundler", "--lib", "es2022,dom"]
    ran = subprocess.run(
        [str(TSC), *options, "use.ts", "devices.ts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
