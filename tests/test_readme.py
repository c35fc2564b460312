"""The examples of the README print what it says, and its commands are there."""

import re
from pathlib import Path

import pytest
import typer

from farthing import CostSheet, load
from farthing.cli.commands import app

README = Path(__file__).parents[1] / "README.md"


def test_commands_and_options_of_the_page_are_there() -> None:
    page = README.read_text(encoding="utf-8")
    targets = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`make (\w+)`", page)):
        assert f"\n{target}:" in targets
    group = typer.main.get_command(app)
    commands = getattr(group, "commands", {})
    called = re.findall(r"^farthing (\w+)(.*?)(?:#.*)?$|`farthing (\w+)( [^`]*)?`", page, re.MULTILINE)
    named = {first or second for first, _, second, _ in called}
    assert {"fit", "predict", "ask", "serve", "demo", "doctor"} <= named <= set(commands)
    for first, rest, second, more in called:
        known = {option for each in commands[first or second].params for option in each.opts}
        given = set(re.findall(r"(?<!\S)-{1,2}[a-z][a-z-]*", rest + more))
        assert given - {"--help"} <= known, first or second


def test_a_stranger_sees_problem_picture_install_and_example_first() -> None:
    page = README.read_text(encoding="utf-8")
    top = page[: page.index("## Three tasks")]
    assert len(top.splitlines()) <= 60
    for part in (
        "**Prediction on a budget.**",
        "docs/consultation.svg",
        "pip install",
        "```python",
        "docs/frontier.png",
    ):
        assert part in top
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page)
    assert [path for path in pictures if not (README.parent / path).is_file()] == []


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
