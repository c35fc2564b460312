"""Files of every released version load, and their models decide as they did then (docs/releases.md)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farthing
from farthing.base import get, registered
from farthing.walks import consult

RELEASED = Path(__file__).parent / "released"
FILES = sorted(RELEASED.glob("*/*.farthing"))
DECISIONS = {
    folder.name: json.loads((folder / "decisions.json").read_text(encoding="utf-8"))
    for folder in sorted(RELEASED.iterdir())
}


def check_table_row(model: Any, row: dict[str, Any]) -> None:
    """Compare what array calls decide, for devices, whose answers in a walk are messages."""
    values = [float("nan") if value is None else value for value in row["values"]]
    found = model.decide(np.array([values]))
    bought = [name for name, flag in zip(model.costs_.features, found.acquired[0], strict=True) if flag]
    assert bought == row["acquired"]
    assert found.spent[0] == row["spent"]
    if isinstance(row["prediction"], float):
        assert found.prediction[0] == pytest.approx(row["prediction"], rel=1e-9, abs=1e-12)
    else:
        assert found.prediction[0] == row["prediction"]
    if row["probabilities"] is not None:
        assert found.probabilities[0].tolist() == pytest.approx(row["probabilities"], abs=1e-9)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_released_file_decides_as_it_did(path: Path) -> None:
    model = farthing.load(path)
    rows: list[dict[str, Any]] = DECISIONS[path.parent.name][path.stem]
    assert rows
    for seed, row in enumerate(rows):
        if "values" in row:
            check_table_row(model, row)
            continue
        answers = {name: float("nan") if value is None else value for name, value in row["answers"].items()}
        decision = consult(model, answers, seed=seed)
        assert list(decision.acquired) == row["acquired"]
        assert decision.spent == row["spent"]
        # Libraries of linear algebra differ in the last bits of a product.
        if isinstance(row["prediction"], float):
            assert decision.prediction == pytest.approx(row["prediction"], rel=1e-9, abs=1e-12)
        else:
            assert decision.prediction == row["prediction"]
        if row["probabilities"] is not None:
            assert decision.probabilities is not None
            assert list(decision.probabilities.values()) == pytest.approx(row["probabilities"], abs=1e-9)


@pytest.mark.parametrize("version", DECISIONS)
def test_every_file_of_a_release_has_its_decisions(version: str) -> None:
    assert {path.stem for path in FILES if path.parent.name == version} == set(DECISIONS[version])
    assert {"GreedyMiserClassifier", "BudgetTreeClassifier", "BudgetedClassifier"} <= set(DECISIONS[version])


def test_this_version_has_a_file_of_every_method() -> None:
    """Until a version has its files, which the release stores, there is nothing to compare."""
    own = {name for name in registered() if get(name).__module__.startswith("farthing.")}
    lacking = own - set(DECISIONS.get(farthing.__version__, own))
    assert lacking == set(), f"store them: python tools/store_released_files.py {' '.join(sorted(lacking))}"
