"""The pages of results name the command and the commit that made them, and these exist."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from benchmarks.__main__ import NAMES
from experiments.lib import pages
from experiments.lib.pages import RESULTS, ROOT, made_by, options, parse, write_page

from farthing.cli.reproduce import experiments

# The index is kept by hand: test_results_index.py.
PAGES = sorted(set(RESULTS.glob("*.md")) - {RESULTS / "index.md"})
MADE = re.compile(r"Made by `([^`]+)` at commit ([0-9a-f]{7,40})(\+changes)?[.,]")
REPRODUCED = re.compile(r"farthing reproduce ([\w-]+)")
MODULE = re.compile(r"python -m ((?:experiments|benchmarks)\b[\w.]*)(?: ([a-z]\w*))?")


def unknown(text: str) -> list[str]:
    """Return the commands of a text that do not exist."""
    found = experiments(ROOT)
    missing = [name for name in REPRODUCED.findall(text) if name not in found]
    for module, name in MODULE.findall(text):
        if module == "benchmarks":
            missing += [name] if name and name not in NAMES else []
        elif not ROOT.joinpath(*module.split(".")).with_suffix(".py").is_file():
            missing.append(module)
    return missing


def lacks(text: str) -> str | None:
    """Say what a page lacks: the sentence that names its command and commit, or a command in it."""
    made = MADE.search(text)
    if made is None:
        return "no command and commit"
    return None if REPRODUCED.match(made[1]) or MODULE.match(made[1]) else f"no command in {made[1]!r}"


def test_there_are_pages():
    assert len(PAGES) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_commands_that_exist(page: Path):
    text = page.read_text(encoding="utf-8")
    assert unknown(text) == []
    assert lacks(text) is None
    made = MADE.search(text)
    assert made is not None
    name = page.stem.removeprefix("bench-")
    start = "python -m benchmarks" if page.stem.startswith("bench-") else "farthing reproduce"
    assert made[1].split(" --")[0] == f"{start} {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_and_pages_that_a_page_links_to_exist(page: Path):
    for target in re.findall(r"\]\(([\w.-]+\.(?:png|md))\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target


def test_what_is_wrong_is_seen():
    gone = "`farthing reproduce newton1687`, `python -m experiments.papers.gone`, `python -m benchmarks gone`"
    assert unknown(gone) == ["newton1687", "experiments.papers.gone", "gone"]
    assert unknown("`python -m benchmarks trees --threads 2`, `python -m experiments.papers.xu2012`") == []
    assert lacks("# A page\n") == "no command and commit"
    assert lacks("Made by `farthing reproduce xu2012`.") == "no command and commit"
    assert lacks("Made by `make` at commit abc1234.") == "no command in 'make'"
    assert lacks("Made by `farthing reproduce xu2012` at commit abc1234+changes.") is None


def test_the_commits_exist():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs the history of the source tree")
    commits = {MADE.search(page.read_text(encoding="utf-8"))[2] for page in PAGES}
    kinds = subprocess.run(
        ["git", "cat-file", "--batch-check=%(objecttype)"],
        input="\n".join(sorted(commits)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert kinds == ["commit"] * len(commits)


def test_a_page_says_how_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pages, "commit", lambda: "abc1234+changes")
    path = write_page(tmp_path / "new", "some", "# Some\n\nText.\n\n", "farthing reproduce xu2012")
    line = "Made by `farthing reproduce xu2012` at commit abc1234+changes."
    assert made_by("farthing reproduce xu2012") == line
    assert path.read_text() == f"# Some\n\n{line}\n\nText.\n"


def test_a_tiny_run_does_not_write_to_the_results(tmp_path: Path):
    given = parse(options("Text."), "some", ["--tiny"])
    assert RESULTS not in (given.out, *given.out.parents)
    assert given.kept.parent == given.out
    given = parse(options("Text."), "some", ["--tiny", "--out", str(tmp_path / "a")])
    assert given.out == tmp_path / "a"
    given = parse(options("Text."), "some", ["--kept", str(tmp_path / "b")])
    assert (given.out, given.kept) == (RESULTS, tmp_path / "b")
