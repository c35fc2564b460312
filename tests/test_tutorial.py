"""The tutorial runs from top to bottom, and what it claims is so."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"


def test_the_tutorial_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    printed = capsys.readouterr().out
    assert "False" not in printed
    assert printed.count("True\n") == 8
    assert "No drift found" in printed
    assert "answers of TSH" in printed
    assert "doubly robust" in printed
