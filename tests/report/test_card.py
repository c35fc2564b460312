"""Model cards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("skops", reason="the extra adaptive is not installed")

from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.report import audit, model_card

HEART = load_heart_disease()


def test_a_card_has_the_figures_of_the_audit(tmp_path: Path) -> None:
    model = BudgetTreeClassifier(costs=HEART.costs, max_depth=2).fit(HEART.X[:200], HEART.y[:200])
    X, y = HEART.X[200:], HEART.y[200:]
    card = model_card(model, X, y, description="Heart disease, yes or no.")
    card.save(tmp_path / "README.md")
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "Heart disease, yes or no." in text
    assert f"{audit(model, X).mean:.6g} CAD" in text
    assert f"{model.score(X, y):.6g}" in text
    assert "max_depth" in text
    bought = {name for name, used in zip(HEART.X, model.acquired(X).any(axis=0), strict=True) if used}
    table = text[text.index("# Features that are bought") :]
    assert set(re.findall(r"^\| +(\w+) +\|", table, re.MULTILINE)) == {"feature", *bought}


def test_a_card_without_targets_has_no_score_and_asks_for_a_description() -> None:
    model = MiserCascadeClassifier(HEART.costs, 20, n_estimators=5, random_state=0).fit(HEART.X, HEART.y)
    text = model_card(model, HEART.X).render()
    assert "Not described" in text
    assert "model.score" not in text
