"""Models at the edges of what a fit gives, and names that C or HTML would read otherwise, walk alike."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from experiments.lib.export_replays import replay_c, replay_node, write_c, write_js
from experiments.lib.export_walks import record

from farthing.boosting import AdaBoostClassifier, GreedyMiserClassifier, GreedyMiserRegressor
from farthing.cascades import MiserCascadeClassifier
from farthing.costs import CostSheet, Group
from farthing.errors import ExportError
from farthing.export import export_model
from farthing.export.c_text import comment, identifier
from farthing.forests import BudgetTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
HOLES = np.where(RNG.random(X.shape) < 0.5, np.nan, X)
HOLES[:, 2] = np.nan
# What a comment of C would end with, begin with, or go on after; keywords; and what is not ASCII.
EVIL = ["*\\", "*é/", 'x"*/\n#error </script><!--']
LETTERS = np.array(["*é/", "/*b", "??/"])[RNG.integers(0, 3, 80)]


def frame(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(X, columns=names)


MISER: dict[str, Any] = {"n_estimators": 3}
MODELS: dict[str, tuple[Any, Any, Any]] = {
    "one class": (BudgetTreeClassifier(), X, np.zeros(80)),
    "one class, boosted": (GreedyMiserClassifier(**MISER), X, np.zeros(80)),
    "one class, votes": (AdaBoostClassifier(**MISER), X, np.zeros(80)),
    "one class, stages": (MiserCascadeClassifier(random_state=0), X, np.zeros(80)),
    "one feature": (GreedyMiserClassifier(**MISER), X[:, :1], Y),
    "nothing to learn": (GreedyMiserRegressor(**MISER), X, np.ones(80)),
    "no budget at all": (GreedyMiserClassifier(**MISER, budget=0), X, Y),
    "a budget without end": (GreedyMiserClassifier(**MISER, budget=float("inf")), X, Y),
    "everything is free": (GreedyMiserClassifier(**MISER, costs=[0, 0, 0]), X, Y),
    "a column of missing values": (GreedyMiserClassifier(**MISER), HOLES, Y),
    "values below the least normal number": (GreedyMiserRegressor(**MISER), X * 5e-323, X[:, 0]),
    "keywords and umlauts": (BudgetTreeClassifier(max_depth=3), frame(["int", "größe", "a b"]), Y),
    "names in comments": (BudgetTreeClassifier(max_depth=3), frame(EVIL), Y),
    "categories in comments": (
        BudgetTreeClassifier(max_depth=3),
        pd.DataFrame({"letter": LETTERS, "x??/": X[:, 1]}),
        (LETTERS == "/*b") ^ (X[:, 1] > 0),
    ),
    "labels, groups and units in comments": (
        BudgetTreeClassifier(
            max_depth=3,
            costs=CostSheet(
                {"int": 1, "größe": 2, "a b": 3}, groups={"*é/": Group(1.0, ["int"])}, unit="*€/"
            ),
        ),
        frame(["int", "größe", "a b"]),
        np.array(["*é/", "\\"])[Y],
    ),
    "numbers as categories": (
        GreedyMiserClassifier(**MISER),
        pd.DataFrame({"code": pd.Categorical((2 * X[:, 0]).round().astype(int)), "x": X[:, 1]}),
        Y,
    ),
    "more categories than a byte has": (
        BudgetTreeClassifier(max_depth=3),
        pd.DataFrame({"key": [f"k{i}" for i in RNG.permutation(300)], "x": RNG.normal(size=300)}),
        np.arange(300) % 2,
    ),
    "true and false": (GreedyMiserClassifier(**MISER), pd.DataFrame({"b": X[:, 0] > 0, "x": X[:, 1]}), Y > 0),
}


def fitted(name: str) -> tuple[Any, Any]:
    estimator, table, target = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(table, target), np.asarray(table, dtype=object)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("name", MODELS)
def test_in_c(name: str, tmp_path: Path) -> None:
    model, table = fitted(name)
    records = record(model, table, 40)
    write_c(model, records, tmp_path)
    assert replay_c(tmp_path, "gcc", ["-Os"]).walks == len(records)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("name", MODELS)
def test_in_javascript(name: str, tmp_path: Path) -> None:
    model, table = fitted(name)
    records = record(model, table, 40)
    write_js(model, records, tmp_path)
    assert replay_node(tmp_path).walks == len(records)


@pytest.mark.parametrize("to", ["js", "html"])
def test_labels_that_javascript_would_round(to: str, tmp_path: Path) -> None:
    numbers = BudgetTreeClassifier(max_depth=2).fit(X, Y + 2**53)
    with pytest.raises(ExportError, match="JavaScript has no number 9007199254740992; give such labels"):
        export_model(numbers, tmp_path, to=to)
    export_model(numbers, tmp_path, to="c")
    export_model(BudgetTreeClassifier(max_depth=2).fit(X, Y + 2**52), tmp_path, to=to)


@pytest.mark.parametrize("name", ["names in comments", "labels, groups and units in comments", "one class"])
def test_a_page_has_the_scripts_that_it_should(name: str, tmp_path: Path) -> None:
    """Names cannot end a script, nor begin a comment in one."""
    (path,) = export_model(fitted(name)[0], tmp_path, to="html").paths
    (plain,) = export_model(fitted("keywords and umlauts")[0], tmp_path, to="html", name="plain").paths
    text, other = path.read_text(encoding="utf-8"), plain.read_text(encoding="utf-8")
    for tag in ("<script", "</script", "<!--"):
        assert text.count(tag) == other.count(tag), tag


@pytest.mark.parametrize("text", [*EVIL, "/*b", "**//**", "/\\*", "*\u2028/", "a\r\nb"])
def test_no_name_ends_a_comment(text: str) -> None:
    found = comment(text)
    assert "*/" not in found
    assert "/*" not in found
    assert found.isascii()
    assert found.isprintable()


def test_names_that_are_the_same_in_c_are_told_apart() -> None:
    taken: set[str] = set()
    names = ["a b", "a_b", "a_b_2", "ä", "ö", "", "int"]
    found = [identifier(name, taken) for name in names]
    assert len(set(found)) == len(names)
    assert all(name.isidentifier() and name.isascii() for name in found)
