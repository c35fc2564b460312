"""Every experiment runs at its tiny size, in this process, and writes a page that says how it was made."""

import os
from importlib import import_module
from pathlib import Path

import pytest
from experiments.lib.pages import RESULTS, ROOT, commit

from farthing.cli.reproduce import experiments

mpl = pytest.importorskip("matplotlib")
pytest.importorskip("lightgbm")

FOUND = experiments(ROOT)
# These need no table but the bundled ones.
BUNDLED = {
    "nan2018_online_gate",
    "afa",
    "booster_trees",
    "cascade",
    "cascade_ablations",
    "class_trees",
    "default_set",
    "free_rider",
    "front_door",
    "guarantees",
    "hard_budgets",
    "miser_accuracy",
    "quoted_figures",
    "panels",
    "reasons",
    "lazy_limit",
    "refusal",
    "resources",
    "reprice",
    "fuzz",
    "hostile_load",
    "service_agreement",
}
NO_PAGE = {"hostile_load"}


def test_the_experiments_are_found():
    folders = {one.folder for one in FOUND.values()}
    assert folders == {"papers", "boards", "fuzz"}
    assert set(FOUND) >= BUNDLED


@pytest.fixture(autouse=True)
def plain_ticks():
    """Draw no labels at ticks: to place them takes longer than most runs, and no test reads them."""
    with mpl.rc_context({"xtick.labelbottom": False, "ytick.labelleft": False}):
        yield


@pytest.mark.parametrize("name", FOUND)
def test_tiny_run(name: str, tmp_path: Path):
    if name not in BUNDLED and not os.environ.get("FARTHING_DATA"):
        pytest.skip("needs the tables of FARTHING_DATA")
    main = import_module(f"experiments.{FOUND[name].folder}.{name}").main
    if name in NO_PAGE:
        assert main(["--tiny"]) == 0
        return
    before = {path: path.stat().st_mtime_ns for path in RESULTS.iterdir()}
    main(["--tiny", "--out", str(tmp_path)])
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    made = page.splitlines()[2]
    assert made.startswith(f"Made by `farthing reproduce {name}")
    assert made.endswith(f"` at commit {commit()}.")
    assert {path: path.stat().st_mtime_ns for path in RESULTS.iterdir()} == before
