"""The exported page in a browser, opened from disk: a whole consultation without a service."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from farthing.datasets import load_heart_disease
from farthing.export import ConsultationWidget, export_model
from farthing.forests import BudgetTreeClassifier

api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# A patient who has heart disease.
ANSWERS = {"cp": "asymptomatic", "ca": "3", "trestbps": "160"}


pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; Debian, Ubuntu: apt install chromium")


@pytest.fixture(scope="module")
def model() -> Any:
    heart = load_heart_disease()
    made = BudgetTreeClassifier(
        costs=heart.costs, budget=110, cost_rule="penalty", tradeoff=0.001, max_depth=4
    )
    return made.fit(heart.X[2:], heart.y[2:]).with_labels(heart.labels)


@pytest.fixture(scope="module")
def browser() -> Any:
    with api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_consultation_from_disk_decides_as_the_library(
    tmp_path: Path, model: Any, browser: Any, width: int
) -> None:
    exported = export_model(model, tmp_path, to="html", name="heart")
    page = browser.new_page(viewport={"width": width, "height": 844}, locale="en-GB")
    faults = _watch(page)
    page.goto(exported.paths[0].as_uri())
    _consult(page, model)
    page.screenshot(path=str(tmp_path / f"{width}.png"), full_page=True)
    assert faults == []


def test_a_consultation_in_a_cell_of_a_notebook(tmp_path: Path, model: Any, browser: Any) -> None:
    cell = tmp_path / "cell.html"
    cell.write_text(
        f"<!doctype html><p>Out[1]:</p>{ConsultationWidget(model)._repr_html_()}", encoding="utf-8"
    )
    page = browser.new_page(viewport={"width": 1000, "height": 760}, locale="en-GB")
    faults = _watch(page)
    page.goto(cell.as_uri())
    _consult(page.frame_locator("iframe"), model)
    page.screenshot(path=str(tmp_path / "cell.png"), full_page=True)
    assert faults == []


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
            page.locator(f'#choices >> text="{answer}"').click()
            walk.tell(_category(model, ask.feature, answer))
        else:
            page.locator("#value").fill(answer)
            walk.tell(float(answer))
        page.locator("#continue").click()
    api.expect(page.locator("#card.decision")).to_be_visible()
    api.expect(page.locator("#main")).to_contain_text(f"{walk.decision.spent:.2f}")


def _category(model: Any, feature: str, shown: str) -> Any:
    """Return the category that the page shows by a label."""
    column = model.fitted_.schema.columns[model.fitted_.schema.index(feature)]
    labels = model.labels_.feature(feature).categories
    return next(each for each in column.categories if labels.get(str(each), str(each)) == shown)
