"""The page for everybody: axe-core finds nothing, keys can be turned off, changes are announced."""

from __future__ import annotations

from typing import Any

import pytest
from tests.service.page.steps import asked, assured, choose, enter, expect, to_the_end

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Any, within: str = "html") -> list[str]:
    """Return what axe-core finds, in the light, and of the contrasts in the dark.

    Contrasts take nine tenths of the time, so where only a part of the page is new, only that is looked at.
    """
    assured(page.locator(".settling")).to_have_count(0)
    if page.evaluate("window.axe === undefined"):
        page.evaluate(axe.Axe().axe_script)
    light = run_axe(page, RULES, within)
    page.emulate_media(color_scheme="dark")
    dark = run_axe(page, {"type": "rule", "values": ["color-contrast"]}, within)
    page.emulate_media(color_scheme="light")
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in [*light, *dark]]


def run_axe(page: Any, rules: Any, within: str) -> list[Any]:
    # Only what is violated: to describe what is not takes longer than to look.
    script = "([within, options]) => axe.run(within, options).then(found => found.violations)"
    options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
    return page.evaluate(script, [within, options])


@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(watched: Any, url: str, width: int) -> None:
    with watched(url, "heart", viewport={"width": width, "height": 900}) as page:
        asked(page, "cp")
        page.click("#continue")  # without an answer
        expect(page, "#error", "Choose an answer")
        assert violations(page) == []
        choose(page, "asymptomatic")
        asked(page, "ca")
        enter(page, "3")
        asked(page, "trestbps")
        enter(page, "195")
        expect(page, ".doubt", "unusual")
        page.click("#tests-card summary")
        assert violations(page) == []
        enter(page, "160")
        assured(page.locator("#card.decision")).to_be_visible()
        assert violations(page) == []


def test_axe_finds_nothing_in_dialogues(watched: Any, url: str) -> None:
    with watched(url, "heart") as page:
        asked(page, "cp")
        for opener in ("#options", "#add-known", "#what-if", "#order-panel"):
            page.click(opener)
            assured(page.locator("dialog")).to_be_visible()
            assert violations(page, "dialog") == [], opener
            page.keyboard.press("Escape")
            assured(page.locator("dialog")).to_have_count(0)
        to_the_end(page)
        page.click('#answers li[data-feature="ca"] >> text="Edit"')
        page.fill("#edit-value", "0")
        assert violations(page, "dialog") == []
        page.click('dialog >> text="Save"')
        expect(page, "#notices", "What changed")
        assert violations(page, "#notices") == []
        page.click("#new-row")
        expect(page, "dialog", "End this consultation?")
        assert violations(page, "dialog") == []


def test_axe_finds_nothing_about_devices_and_numbers(watched: Any, url: str) -> None:
    for model in ("edge", "regressor"):
        with watched(url, model) as page:
            assert violations(page, "main") == [], model


def test_keys_can_be_turned_off(page: Any) -> None:
    asked(page, "cp")
    assert page.locator("#refuse").get_attribute("aria-keyshortcuts") == "r"
    page.click("#options")
    page.uncheck("#keys")
    page.click('dialog >> text="Close"')
    asked(page, "cp")
    assert page.locator("#refuse").get_attribute("aria-keyshortcuts") is None
    page.locator("#question-title").focus()
    for key in "rmd4":
        page.keyboard.press(key)
    page.wait_for_timeout(200)
    asked(page, "cp")
    assured(page.locator("#answers")).to_have_count(0)
    assured(page.locator("#choices :checked")).to_have_count(0)


def test_a_key_in_a_field_is_text(page: Any) -> None:
    choose(page, "asymptomatic")
    asked(page, "ca")
    page.keyboard.type("rum")
    assured(page.locator("#value")).to_have_value("rum")
    asked(page, "ca")


def test_changes_are_announced_and_the_focus_follows(page: Any) -> None:
    expect(page, "#status", "Chest pain. 1.00")
    choose(page, "asymptomatic")
    asked(page, "ca")
    expect(page, "#status", "Prediction: heart disease 73%")
    assured(page.locator("#value")).to_be_focused()
    enter(page, "x")
    assert page.locator("#error").get_attribute("role") == "alert"
    assured(page.locator("#value")).to_be_focused()
    enter(page, "3")
    asked(page, "trestbps")
    enter(page, "160")
    assured(page.locator("#question-title")).to_be_focused()


def test_the_order_of_focus_is_that_of_the_page(page: Any) -> None:
    asked(page, "cp")
    page.locator("#question-title").focus()
    visited = []
    for _ in range(6):
        page.keyboard.press("Tab")
        visited.append(page.evaluate("document.activeElement.id || document.activeElement.type"))
    assert visited == ["radio", "continue", "missing", "refuse", "reason-title", "what-if"]
