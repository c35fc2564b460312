"""The workflows call what there is: targets of the Makefile and scripts of this folder."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMMANDS = {path.name: re.findall(r"run:\s*(.+)", path.read_text(encoding="utf-8")) for path in WORKFLOWS}


def test_every_make_target_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = {
        target
        for lines in COMMANDS.values()
        for line in lines
        for target in re.findall(r"^make ([a-z-]+)", line)
    }
    assert {"lint", "linkcheck", "linkcheck-outside", "coverage", "sanitize", "fuzz", "bench"} <= called
    assert called - targets == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_script_and_folder_of_tests_is_there(name: str) -> None:
    words = [word for line in COMMANDS[name] for word in line.split()]
    named = [word for word in words if re.fullmatch(r"(tools|tests|src)/[\w/.]+", word)]
    assert [word for word in named if not (ROOT / word).exists()] == []


def test_a_release_writes_its_addresses_before_it_builds() -> None:
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    for builder in ("pypa/cibuildwheel", "python -m build --sdist"):
        before = text[: text.index(builder)]
        assert "tools/write_addresses.py" in before[before.rindex("runs-on") :], builder


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_checkout_leaves_its_token_to_later_steps(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    n_checkouts = text.count("actions/checkout@")
    kept = re.findall(r"actions/checkout@\S+\n\s+with: \{ persist-credentials: false \}", text)
    assert len(kept) == n_checkouts
