"""The exported page in a browser, opened from disk: a whole consultation without a service."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from farthing.datasets import load_heart_disease
from farthing.export import export_model
from farthing.forests import BudgetTreeClassifier

api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# A patient who has heart disease.
ANSWERS = {"cp": "asymptomatic", "ca": "3", "trestbps": "160"}


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; Debian, Ubuntu: apt install chromium")
def test_a_consultation_from_disk_decides_as_the_library(tmp_path: Path) -> None:
    heart = load_heart_disease()
    model = BudgetTreeClassifier(
        costs=heart.costs, budget=110, cost_rule="penalty", tradeoff=0.001, max_depth=4
    )
    model = model.fit(heart.X[2:], heart.y[2:]).with_labels(heart.labels)
    exported = export_model(model, tmp_path, to="html", name="heart")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width in (1280, 390):
            page = browser.new_page(viewport={"width": width, "height": 844}, locale="en-GB")
            faults = _watch(page)
            page.goto(exported.paths[0].as_uri())
            _consult(page, model)
            page.screenshot(path=str(tmp_path / f"{width}.png"), full_page=True)
            assert faults == []
        browser.close()


def _watch(page: Any) -> list[str]:
    """Return a list that gets all errors of a page, and all that it asks of a network."""
    faults: list[str] = []
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("request", lambda call: faults.append(call.url) if call.url.startswith("http") else None)
    return faults


def _consult(page: Any, model: Any) -> None:
    """Answer each question in the page and in a walk of the library, and compare the ends."""
    walk = model.walk()
    while (ask := walk.ask) is not None:
        api.expect(page.locator(f'#card[data-feature="{ask.feature}"]')).to_be_visible()
        answer = ANSWERS[ask.feature]
        if ask.feature == "cp":
            page.click(f'#choices >> text="{answer}"')
            walk.tell(_category(model, ask.feature, answer))
        else:
            page.fill("#value", answer)
            walk.tell(float(answer))
        page.click("#continue")
    api.expect(page.locator("#card.decision")).to_be_visible()
    api.expect(page.locator("#main")).to_contain_text(f"{walk.decision.spent:.2f}")


def _category(model: Any, feature: str, shown: str) -> Any:
    """Return the category that the page shows by a label."""
    column = model.fitted_.schema.columns[model.fitted_.schema.index(feature)]
    labels = model.labels_.feature(feature).categories
    return next(each for each in column.categories if labels.get(str(each), str(each)) == shown)
