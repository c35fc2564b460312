"""Files of every released version load, and their models decide as they did then (docs/releases.md)."""

import json
from pathlib import Path
from typing import Any

import pytest

import farthing
from farthing.walks import consult

RELEASED = Path(__file__).parent / "released"
FILES = sorted(RELEASED.glob("*/*.farthing"))
DECISIONS = {
    folder.name: json.loads((folder / "decisions.json").read_text(encoding="utf-8"))
    for folder in sorted(RELEASED.iterdir())
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_released_file_decides_as_it_did(path: Path) -> None:
    model = farthing.load(path)
    rows: list[dict[str, Any]] = DECISIONS[path.parent.name][path.stem]
    assert rows
    for seed, row in enumerate(rows):
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
