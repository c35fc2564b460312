"""The example of the README prints what the README says."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    page = README.read_text(encoding="utf-8")
    example = re.search(r"```python\n(from farthing\.datasets.*?)```.*?```\n(.*?)```", page, re.DOTALL)
    assert example is not None
    exec(example[1], {})
    assert capsys.readouterr().out == example[2]
