"""The examples of the guide run, and what they print is as it should be."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "guide.md"


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    printed = capsys.readouterr().out.split()
    assert "False" not in printed
    assert printed.count("True") == 18
    assert "7.27" in printed
    assert "5.17" in printed


def test_the_price_list_is_that_of_the_example(tmp_path: Path) -> None:
    from farthing import CostSheet  # noqa: PLC0415

    page = GUIDE.read_text(encoding="utf-8").split("## Prices and groups")[1]
    names: dict[str, object] = {}
    example, listed = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "toml"))
    assert example is not None
    assert listed is not None
    exec(example[1], names)
    (tmp_path / "prices.toml").write_text(listed[1], encoding="utf-8")
    assert CostSheet.read(tmp_path / "prices.toml") == names["sheet"]


def test_every_method_that_it_names_is_there() -> None:
    import farthing  # noqa: PLC0415
    from farthing.base import registered  # noqa: PLC0415

    table = GUIDE.read_text(encoding="utf-8").split("## Which method when")[1].split("##")[0]
    named = set(
        re.findall(r"[A-Z]\w+(?:Classifier|Regressor|Ranker)|EarlyExitClassifier\b|ErrorCosts", table)
    )
    assert named - set(registered()) - set(dir(farthing)) == set()
