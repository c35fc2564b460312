"""The page in a real browser: a consultation by clicks and by keys, refusal, undo, early decision, budget."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving import running

from farthing.datasets import load_heart_disease
from farthing.service import Settings

HEART = load_heart_disease()

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; Debian, Ubuntu: apt install chromium")
# Where to leave screenshots to look at; none are made without it.
SHOTS = os.environ.get("FARTHING_SHOTS")
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any, http: httpx.Client) -> Iterator[Any]:
    """Return the page on the heart model, which must not have complained, nor called anyone else."""
    with watched(browser, str(http.base_url)) as opened:
        opened.select_option("#model", "heart")
        api.expect(opened.locator("#feature")).to_have_text("cp")
        yield opened


class watched:  # noqa: N801 - used as a function
    """A page that must not complain, nor call anything but its own service."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.url = url.rstrip("/")
        self.context = browser.new_context(**options)
        self.faults: list[str] = []

    def __enter__(self) -> Any:
        page = self.context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", self.note)
        page.goto(self.url)
        return page

    def hear(self, said: Any) -> None:
        # A browser reports each 4xx by itself; whether the page shows it is for the tests to ask.
        if said.type == "error" and "Failed to load resource" not in said.text:
            self.faults.append(said.text)

    def note(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:")):
            self.faults.append(f"asked for {request.url}")

    def __exit__(self, kind: Any, *_: object) -> None:
        self.context.close()
        assert kind is not None or self.faults == []


def shoot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def text(page: Any, place: str) -> str:
    return str(page.locator(place).inner_text()).replace("\u00a0", " ")


def expect(page: Any, place: str, said: str) -> None:
    api.expect(page.locator(place)).to_contain_text(said)


def test_a_consultation_by_clicks(page: Any) -> None:
    expect(page, "#price", "1")
    page.click('#choices button:has-text("4")')
    expect(page, "#feature", "ca")
    assert text(page, "#spent") == "1 CAD"
    assert text(page, "#left") == "109 CAD"
    page.fill("#value", "3")
    page.click('#choices button:has-text("Answer")')
    expect(page, "#feature", "trestbps")
    shoot(page, "asking")
    page.fill("#value", "160")
    page.press("#value", "Enter")
    expect(page, "#next-title", "Decision")
    assert text(page, "#feature") == "1"
    assert "for 102.9 CAD" in text(page, "#price")
    assert text(page, "#spent") == "102.9 CAD"
    assert "10 not bought" in text(page, "#tests-caption")
    everything = HEART.costs.total(HEART.costs.features)
    assert text(page, "#saved") == f"{everything - 102.9:.2f} CAD"
    bought = page.locator('tr[data-state="bought"] th').all_inner_texts()
    assert sorted(bought) == ["ca", "cp", "trestbps"]
    assert page.locator("#chart ellipse").count() == 4, "a point before any answer, and one after each"
    shoot(page, "decided")


def test_refuse_undo_and_missing(page: Any) -> None:
    before = text(page, "#bars")
    page.click("#refuse")
    expect(page, 'tr[data-feature="cp"]', "not available")
    assert text(page, "#spent") == "0 CAD"
    page.click("#undo")
    expect(page, "#feature", "cp")
    assert text(page, "#bars") == before
    assert page.locator("#undo").is_disabled()
    page.click("#missing")
    expect(page, 'tr[data-feature="cp"]', "bought: missing")
    assert text(page, "#spent") == "1 CAD"


def test_decide_early_and_go_on(page: Any) -> None:
    page.click('#choices button:has-text("4")')
    expect(page, "#feature", "ca")
    page.click("#decide")
    expect(page, "#next-title", "Decision")
    expect(page, "#price", "decided early")
    assert text(page, "#feature") in ("0", "1")
    assert page.locator("#refuse").is_hidden()
    page.click("#resume")
    expect(page, "#feature", "ca")


def test_by_keys_alone(page: Any) -> None:
    page.keyboard.press("4")  # the fourth category
    expect(page, "#feature", "ca")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page, "#feature", "trestbps")
    page.keyboard.press("u")
    expect(page, "#feature", "ca")
    page.keyboard.press("r")
    expect(page, 'tr[data-feature="ca"]', "not available")
    page.keyboard.press("n")
    expect(page, "#feature", "cp")
    page.keyboard.press("d")
    expect(page, "#next-title", "Decision")
    page.keyboard.press("d")
    expect(page, "#next-title", "Next test")


def test_the_budget_slides(page: Any) -> None:
    page.click('#choices button:has-text("4")')
    expect(page, "#feature", "ca")
    page.fill("#value", "3")
    page.press("#value", "Enter")
    expect(page, "#feature", "trestbps")
    page.fill("#budget", "5")
    expect(page, "#budget-text", "16.2")  # a twentieth of what all tests cost
    expect(page, "#unused", "not asked for at this budget: ca")
    assert text(page, "#spent") == "1 CAD"
    shoot(page, "budget")
    page.fill("#budget", "100")
    expect(page, "#spent", "101.9")


def test_what_is_known_is_free(page: Any) -> None:
    page.click('summary:has-text("Known from the start")')
    page.select_option("#given-feature", "cp")
    page.fill("#given-value", "4")
    page.click("#given-form button")
    expect(page, "#feature", "ca")
    assert text(page, "#spent") == "0 CAD"
    expect(page, 'tr[data-feature="cp"]', "known: 4")
    page.select_option("#given-feature", "chol")
    page.fill("#given-value", "a lot")
    page.click("#given-form button")
    expect(page, "#error", "column 'chol': got the string 'a lot', expected a number")
    expect(page, 'tr[data-feature="chol"]', "not bought")
    page.fill("#value", "0")
    page.press("#value", "Enter")
    expect(page, 'tr[data-feature="ca"]', "bought: 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(browser: Any, http: httpx.Client, scheme: str) -> None:
    options = {"viewport": PHONE, "color_scheme": scheme, "has_touch": True, "is_mobile": True}
    with watched(browser, str(http.base_url), **options) as page:
        page.select_option("#model", "forest")
        expect(page, "#feature", "thal")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], "nothing sticks out"
        for button in page.locator("button:visible").all():
            assert button.bounding_box()["height"] >= 44, "large enough for a finger"
        page.tap('#choices button:has-text("7")')
        expect(page, 'tr[data-feature="thal"]', "bought: 7")
        shoot(page, f"phone-{scheme}")


def test_a_regressor_and_a_desk_in_the_dark(browser: Any, http: httpx.Client) -> None:
    with watched(browser, str(http.base_url), color_scheme="dark") as page:
        api.expect(page.locator("#feature")).to_have_text(re.compile("x[01]"))  # of the first model, colour
        while text(page, "#next-title").lower() == "next test":
            asked = text(page, "#feature")
            page.click("#missing")
            expect(page, f'tr[data-feature="{asked}"]', "bought: missing")
        shoot(page, "dark")
        float(text(page, "#bars .verdict").replace(",", ""))


def test_a_token_is_asked_for(browser: Any, models: Path) -> None:
    settings = Settings(sources=(str(models / "heart.farthing"),), token="open")
    with running(settings) as url, watched(browser, url) as page:
        expect(page, "#error", "The service needs a token.")
        page.fill("#token", "open")
        page.press("#token", "Enter")
        expect(page, "#feature", "cp")
