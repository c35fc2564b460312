"""A browser, and a service with the models that the tests of the page open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.serving import running

from farthing import BudgetedClassifier
from farthing.adaptive import EdgeClassifier
from farthing.boosting import GradientBoostingRegressor
from farthing.costs import CostSheet
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.service import Settings

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
HEART = load_heart_disease()
N_COLUMNS = 20_000


def heart_tree() -> BudgetTreeClassifier:
    """Return a tree that asks for chest pain first; then, without symptoms, for vessels and pressure."""
    model = BudgetTreeClassifier(
        costs=HEART.costs, budget=110, cost_rule="penalty", tradeoff=0.001, max_depth=4
    )
    return model.fit(HEART.X[2:], HEART.y[2:]).with_labels(HEART.labels)


def _made(folder: Path) -> None:
    heart_tree().save(folder / "heart.farthing")
    rng = np.random.default_rng(0)
    # Two models that ask for the same column, of which one is a number and the other a category.
    number = pd.DataFrame({"x": rng.normal(size=60)})
    target = (number.x > 0).to_numpy().astype(int)
    BudgetTreeClassifier(costs=[0.0013], max_depth=2, budget=10).fit(number, target).save(
        folder / "number.farthing"
    )
    text = pd.DataFrame({"x": np.where(target == 1, "red", "blue")})
    BudgetTreeClassifier(max_depth=2, budget=10).fit(text, target).save(folder / "text.farthing")
    columns = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    costs = CostSheet({"a": 2, "b": 3}, resources={"minutes": {"a": 15, "b": 5}})
    GradientBoostingRegressor(n_estimators=5, costs=costs).fit(columns, columns.a + columns.b).save(
        folder / "regressor.farthing"
    )
    X = rng.normal(size=(200, 3))
    devices = {"wrist": [0, 1], "ankle": [2]}
    edge = EdgeClassifier(devices, costs=[2.0, 1.0], budget_share=0.6, max_steps=20, random_state=0)
    edge.fit(X, (X[:, 0] + X[:, 2] > 0).astype(int)).save(folder / "edge.farthing")
    wide = rng.normal(size=(40, N_COLUMNS))
    BudgetTreeClassifier(max_depth=1).fit(wide, (wide[:, 7] > 0).astype(int)).save(folder / "wide.farthing")
    swept = BudgetedClassifier(
        HEART.costs, budget=20, methods=["BudgetTreeClassifier"], cv=2, progress=False, random_state=0
    )
    swept.fit(HEART.X[:150], HEART.y[:150]).save(folder / "mean.farthing")


@pytest.fixture(scope="session")
def page_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page-models")
    _made(folder)
    return folder


@pytest.fixture(scope="session")
def url(page_models: Path) -> Iterator[str]:
    with running(Settings(sources=(str(page_models),))) as address:
        yield address


# Its event loop runs as long as it is there, so it ends with this folder: other tests start their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium; Debian, Ubuntu: apt install chromium")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--process-per-site"]
        )
        yield chromium
        chromium.close()


LOCALE = {"locale": "en-GB"}


# A context of its own takes a new process, which is half of the time of a short test.
@pytest.fixture(scope="package")
def shared(browser: Any, url: str) -> Iterator[Any]:
    """Return a context for the pages that need no options, with one that keeps its process alive."""
    context = browser.new_context(**LOCALE)
    context.new_page().goto(url)
    yield context
    context.close()


class Watched:
    """A page that must not complain, nor call anything but its own service."""

    def __init__(self, browser: Any, shared: Any, url: str, model: str | None = None, **options: Any) -> None:
        self.url = url
        self.home = url.partition("#")[0].rstrip("/")
        self.model = model
        self.own = browser.new_context(**{**LOCALE, **options}) if options else None
        self.context = self.own or shared
        self.faults: list[str] = []

    def __enter__(self) -> Any:
        page = self.page = self.context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", self.note)
        page.goto(self.url)
        if self.model is not None:
            page.select_option("#model", self.model)
            page.wait_for_selector(f'#card[data-model="{self.model}"]')
        return page

    def hear(self, said: Any) -> None:
        # A browser reports each 4xx by itself; whether the page shows it is for the tests to ask.
        if said.type == "error" and "Failed to load resource" not in said.text:
            self.faults.append(said.text)

    def note(self, request: Any) -> None:
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.faults.append(f"asked for {request.url}")

    def __exit__(self, kind: Any, *_: object) -> None:
        if self.own is None:
            self.page.evaluate("localStorage.clear()")  # the rest is the tab's own
        (self.own or self.page).close()
        assert kind is not None or self.faults == []


@pytest.fixture
def watched(browser: Any, shared: Any) -> Any:
    """Return a function that opens a page at an address, perhaps on a model."""

    def opened(url: str, model: str | None = None, **options: Any) -> Watched:
        return Watched(browser, shared, url, model, **options)

    return opened


@pytest.fixture
def page(watched: Any, url: str) -> Iterator[Any]:
    """Return the page on the heart model."""
    with watched(url, "heart") as opened:
        yield opened


def shoot(page: Any, name: str) -> None:
    """Leave a screenshot in the folder FARTHING_SHOTS; none are made without it."""
    if folder := os.environ.get("FARTHING_SHOTS"):
        page.evaluate("scrollTo(0, 0)")  # what sticks to the top would cover what is below it
        page.wait_for_timeout(300)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
