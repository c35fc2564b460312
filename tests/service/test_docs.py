"""The guide's example runs, and its answer is what the service answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving import DIRECT, running

import farthing
from farthing.service import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "service.md").read_text(encoding="utf-8")


def test_the_example_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save, consult = re.findall(r"```python\n((?:from|import).*?)```", PAGE, re.DOTALL)
    exec(save, {})
    body = re.search(r"-d '(.*?)'", PAGE)
    answer = re.search(r"```json\n(\{\n.*?\})\n```", PAGE, re.DOTALL)
    assert body is not None
    assert answer is not None
    with running(Settings(sources=("heart.farthing",))) as url:
        said = httpx.post(f"{url}/v1/models/heart/next", json=json.loads(body[1]), **DIRECT).json()
        names: dict[str, Any] = {}
        exec(consult.replace("http://127.0.0.1:8000", url), names)
    assert names["decision"] == farthing.consult(
        farthing.load("heart.farthing"), {"cp": 4, "ca": 3, "trestbps": 160}
    )
    shown = json.loads(answer[1])
    del said["version"], shown["version"]  # it may change with the library's own
    said["decision"]["probabilities"] = [round(share, 2) for share in said["decision"]["probabilities"]]
    assert said == shown


def test_every_option_of_the_guide_is_one() -> None:
    from typer.main import get_command  # noqa: PLC0415

    from farthing.cli.commands import app  # noqa: PLC0415

    options = {name for option in get_command(app).commands["serve"].params for name in option.opts}  # type: ignore[attr-defined]
    named = set(re.findall(r"`(--[a-z-]+)`", PAGE))
    assert named == {name for name in options if name.startswith("--")}
