"""No wrong answer can be entered: each of these was possible with the page of before."""

from __future__ import annotations

import shutil
import time
from typing import Any

import httpx
import pytest
from tests.service.page.conftest import HEART
from tests.service.page.steps import asked, assured, choose, enter, expect, text, to_the_end
from tests.serving import DIRECT, running

from farthing.forests import BudgetTreeClassifier
from farthing.service import Settings


def test_controls_are_those_of_the_model(watched: Any, url: str) -> None:
    with watched(url, "number") as page:
        assured(page.locator("input#value")).to_be_visible()
        page.select_option("#model", "text")
        assured(page.locator("#choices").get_by_text("red")).to_be_visible()
        assured(page.locator("input#value")).to_have_count(0)
        page.select_option("#model", "number")
        assured(page.locator("input#value")).to_be_visible()
        assured(page.locator("#choices")).to_have_count(0)


def test_unsent_text_does_not_stay_for_the_next_row(watched: Any, url: str) -> None:
    with watched(url, "number") as page:
        page.fill("#value", "77")
        page.click("#new-row")
        assured(page.locator("#value")).to_have_value("")


def test_enter_answers_and_erases_nothing_by_itself(page: Any) -> None:
    asked(page, "cp")
    for _ in range(3):
        page.keyboard.press("Enter")
    asked(page, "cp")
    assert text(page, "#spent") == "0.00 CAD"
    to_the_end(page)
    for _ in range(3):
        page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert page.locator("#answers li").count() == 3
    assert page.locator("dialog").count() == 0


def test_enter_does_not_pass_from_one_question_to_the_next(page: Any) -> None:
    choose(page, "asymptomatic")
    asked(page, "ca")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    asked(page, "trestbps")
    page.keyboard.press("Enter")
    expect(page, "#error", "Enter a value")
    assert text(page, "#spent") == "101.90 CAD"


def test_a_double_click_answers_one_question(page: Any) -> None:
    page.dblclick("#refuse")
    expect(page, "#answers", "not available")
    page.wait_for_timeout(400)
    assert page.locator("#answers li").count() == 1


@pytest.mark.parametrize(("typed", "shown"), [("1,5", "1.5"), ("1.5", "1.5"), ("-0,25", "-0.25")])
def test_a_decimal_comma_is_one(watched: Any, url: str, typed: str, shown: str) -> None:
    with watched(url, "number") as page:
        page.click("#value")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        assured(page.locator("#answers .said")).to_have_text(shown)


@pytest.mark.parametrize("typed", ["1,500", "1,5,2", "12a", "--3", "1e999"])
def test_what_is_no_number_is_refused_at_its_field(watched: Any, url: str, typed: str) -> None:
    with watched(url, "number") as page:
        enter(page, typed)
        expect(page, "#error", typed)
        field = page.locator("#value")
        assert field.get_attribute("aria-invalid") == "true"
        assert page.locator("#error").get_attribute("id") in field.get_attribute("aria-describedby").split()
        assured(page.locator("#answers")).to_have_count(0)


def test_devices_can_be_answered(watched: Any, url: str) -> None:
    with watched(url, "edge") as page:
        asked(page, "wrist")
        enter(page, "1,5")
        expect(page, "#error", "separated by spaces")
        enter(page, "1.5")
        asked(page, "ankle")
        expect(page, "#spent", "2.00")
        page.click("#missing")  # silent
        assured(page.locator("#card.decision")).to_be_visible()
        assert text(page, "#spent") == "2.00"
        assert "free" in text(page, '#answers li[data-feature="ankle"]')


def test_a_message_of_the_wrong_length_is_refused_at_its_field(watched: Any, url: str) -> None:
    with watched(url, "edge") as page:
        enter(page, "1.5 2 3 4")
        expect(page, "#error", "wrist")
        asked(page, "wrist")


def test_a_replaced_model_is_noticed(watched: Any, page_models: Any, tmp_path: Any) -> None:
    shutil.copy(page_models / "heart.farthing", tmp_path / "heart.farthing")
    settings = Settings(sources=(str(tmp_path),), reload_seconds=0.1)
    with running(settings) as address, watched(address, "heart") as page:
        choose(page, "asymptomatic")
        asked(page, "ca")

        def version() -> str:
            return str(httpx.get(f"{address}/v1/models/heart", **DIRECT).json()["version"])

        before = version()
        other = BudgetTreeClassifier(budget=110, max_depth=2).fit(HEART.X.drop(columns="ca"), HEART.y)
        other.save(tmp_path / "heart.farthing")
        while version() == before:
            time.sleep(0.05)
        enter(page, "3")
        expect(page, "dialog", "The model was replaced")
        assert text(page, "#spent") == "1.00 CAD", "no answer of the new model is taken for one of the old"
        page.click("#take-over")
        expect(page, "#notices", "The new model has taken over")
        expect(page, "#notices", "does not know: ca")
        expect(page, "#given, #answers, #unused", "4")  # the answer that both know
