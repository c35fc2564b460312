"""The example of the README prints what the README says."""

import re
from pathlib import Path

import pytest

from farthing import CostSheet, load

README = Path(__file__).parents[1] / "README.md"


def test_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    page = README.read_text(encoding="utf-8")
    example = re.search(r"```python\n(from farthing\.datasets.*?)```.*?```\n(.*?)```", page, re.DOTALL)
    assert example is not None
    exec(example[1], {})
    assert capsys.readouterr().out == example[2]


def test_the_price_list_of_the_page_is_valid(tmp_path: Path) -> None:
    block = re.search(r"```toml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    path = tmp_path / "prices.toml"
    path.write_text(block[1], encoding="utf-8")
    sheet = CostSheet.of(path, ["age", "cp", "chol", "fbs"])
    assert sheet.own.tolist() == [1, 1, 5.17, 3.10]
    assert sheet.price("fbs", owned=["chol"]) == 3.10


def test_the_lightgbm_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = README.read_text(encoding="utf-8")
    example = re.search(r"```python\n(import lightgbm.*?)```\n\nIt prints `(.*?)`", page, re.DOTALL)
    assert example is not None
    monkeypatch.chdir(tmp_path)
    exec(example[1], {})
    assert capsys.readouterr().out == f"{example[2]}\n"
    assert load(tmp_path / "cheap.farthing").budget == 60
