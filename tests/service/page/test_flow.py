"""Consultations in a real browser, by mouse, keys and touch; edits, undo, money, reload, what-if, export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.service.page.conftest import HEART, N_COLUMNS, shoot
from tests.service.page.steps import asked, assured, choose, enter, expect, text, to_the_end
from tests.serving import running

from farthing.service import Settings

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_by_mouse(page: Any) -> None:
    expect(page, "#question-title", "What kind of chest pain")
    expect(page, "#price", "1.00")
    # Answers, classes and features by what they are called, not by their codes.
    expect(page, "#reason", "asymptomatic (48%): heart disease 73%, then Major vessels")
    shoot(page, "page-desk-light-question")
    to_the_end(page)
    assert text(page, "#question-title") == "heart disease"
    assert text(page, "#price") == "3 tests for 102.90 CAD"
    everything = HEART.costs.total(HEART.costs.features)
    expect(page, "#saved", f"All 13 tests together would have cost {everything:.2f}")
    assert f"{everything - 102.9:.2f}" in text(page, "#saved")
    assert page.locator("#chart circle").count() == 4, "a point before any answer, and one after each"
    shoot(page, "page-desk-light-decision")


def test_by_keys_alone(page: Any) -> None:
    asked(page, "cp")
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    asked(page, "ca")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    asked(page, "trestbps")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    asked(page, "ca")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page, '#answers li[data-feature="ca"]', "not available")
    page.keyboard.press("d")
    if (
        page.locator("#card.decision").count() == 0
    ):  # the next question is a number, whose field has the focus
        page.keyboard.press("Escape")
        page.keyboard.press("d")
    expect(page, "#why-decided", "")
    page.keyboard.press("n")
    expect(page, "dialog", "End this consultation?")
    page.keyboard.press("Enter")  # the safe answer has the focus
    assured(page.locator("dialog")).to_have_count(0)
    assert page.locator("#answers li").count() == 2
    page.keyboard.press("n")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    asked(page, "cp")
    assert text(page, "#spent") == "0.00 CAD"


def title_in_sight(page: Any) -> None:
    """Check that the title of the card is between the strip at the top and the end of the screen."""
    title, strip = page.locator("#question-title").bounding_box(), page.locator(".strip").bounding_box()
    assert title["y"] >= strip["y"] + strip["height"]
    assert title["y"] + title["height"] <= PHONE["viewport"]["height"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_by_touch_on_a_phone(watched: Any, url: str, scheme: str) -> None:
    with watched(url, "heart", color_scheme=scheme, **PHONE) as page:
        asked(page, "cp")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["viewport"]["width"], "nothing sticks out"
        for button in page.locator("button:visible").all():
            assert button.bounding_box()["height"] >= 44, "large enough for a finger"
        shoot(page, f"page-phone-{scheme}-question")
        page.tap('#choices >> text="asymptomatic"')
        page.tap("#continue")
        asked(page, "ca")
        title_in_sight(page)
        page.tap("#value")
        page.keyboard.type("3")
        page.tap("#continue")
        asked(page, "trestbps")
        title_in_sight(page)
        page.tap("#value")
        page.keyboard.type("160")
        page.tap("#continue")
        assured(page.locator("#card.decision")).to_be_visible()
        title_in_sight(page)
        assert text(page, "#spent") == "102.90 CAD"
        shoot(page, f"page-phone-{scheme}-decision")


def test_unusual_values_are_asked_back_and_impossible_ones_refused(page: Any) -> None:
    choose(page, "asymptomatic")
    asked(page, "ca")
    enter(page, "7")
    expect(page, "#error", "7 vessels is not possible here: 0 to 3")
    enter(page, "3")
    asked(page, "trestbps")
    page.fill("#value", "195")
    for _ in range(3):
        page.keyboard.press("Enter")  # asks back each time, and accepts nothing
    expect(page, ".doubt", "195 mm Hg is unusual: most are 102 to 173")
    shoot(page, "page-desk-light-doubt")
    page.click('.doubt >> text="Yes, it is 195 mm Hg"')
    expect(page, '#answers li[data-feature="trestbps"]', "195 mm Hg")


def test_an_edited_answer_replays_the_walk_and_says_what_changed(page: Any) -> None:
    to_the_end(page)
    page.click('#answers li[data-feature="cp"] >> text="Edit"')
    page.click('dialog >> text="non-anginal pain"')
    page.click('dialog >> text="Save"')
    expect(page, "#notices", "Prediction: heart disease >\u200999%, now")
    expect(page, "#notices", "No longer asked for:")
    expect(page, "#unused", "Major vessels coloured by fluoroscopy")
    shoot(page, "page-desk-light-changed")
    page.click('#notices >> text="Undo"')
    expect(page, "#question-title", "heart disease")
    assert text(page, "#spent") == "102.90 CAD"
    assured(page.locator("#unused")).to_have_count(0)


def test_rows_sum_to_the_total_and_the_shared_part_is_named(watched: Any, url: str) -> None:
    with watched(url, "heart") as page:
        page.click("#add-known")
        page.fill("#known-search", "choles")
        page.click('dialog .results >> text="Serum cholesterol"')
        page.fill("#known-value", "233")
        page.click('dialog >> text="Save"')
        expect(page, "#given", "233 mg/dl")
        page.click("#tests-card summary")
        # Blood is drawn already, so that sugar costs only itself.
        expect(page, '#tests tr[data-feature="fbs"] td.number', "3.10")
        page.click('#given >> text="Remove"')
        expect(page, '#tests tr[data-feature="fbs"] td.number', "5.20")
        expect(page, '#tests tr[data-feature="fbs"] td.number', "blood, shared: 2.10")
        to_the_end(page)
        rows = [float(cell.split()[0]) for cell in page.locator("#receipt tbody td").all_inner_texts()]
        assert sum(rows) == pytest.approx(102.9)
        assert text(page, "#receipt tfoot td") == "102.90 CAD"
        paid = [float(cell.split()[0]) for cell in page.locator("#answers .cost").all_inner_texts()]
        assert sum(paid) == pytest.approx(102.9)


def test_small_prices_and_large_values_have_all_their_digits(watched: Any, url: str) -> None:
    with watched(url, "number") as page:
        expect(page, "#price", "0.0013 to pay now")
        expect(page, "#reason", "Expected Brier score")
        enter(page, "1234567.25")
        assured(page.locator("#card.decision")).to_be_visible()
        assured(page.locator("#answers .said")).to_have_text("1,234,567.25")
        assured(page.locator("#answers .cost")).to_have_text("0.0013")
        assert text(page, "#receipt tbody td") == text(page, "#receipt tfoot td") == "0.0013"


def test_nothing_is_called_saved_before_the_end(page: Any) -> None:
    choose(page, "asymptomatic")
    asked(page, "ca")
    assert "saved" not in text(page, "main").lower()
    assured(page.locator("#saved")).to_have_count(0)


def test_a_mean_budget_is_shown_as_one(watched: Any, url: str) -> None:
    with watched(url, "mean") as page:
        expect(page, "#mean-budget", "set to spend 20.00 CAD on average")
        expect(page, "#left", "no limit")


def test_a_budget_of_this_consultation(page: Any) -> None:
    choose(page, "asymptomatic")
    asked(page, "ca")
    enter(page, "3")
    asked(page, "trestbps")
    page.fill("#budget", "a lot")
    page.press("#budget", "Enter")
    expect(page, "#budget-error", "Enter an amount")
    page.fill("#budget", "16,2")
    page.press("#budget", "Enter")
    expect(page, "#unused", "Major vessels")
    assert text(page, "#spent") == "1.00 CAD"
    page.fill("#budget", "")
    page.press("#budget", "Enter")
    expect(page, "#spent", "101.90")


def test_reload_and_back_keep_the_consultation(page: Any) -> None:
    choose(page, "asymptomatic")
    asked(page, "ca")
    enter(page, "3")
    asked(page, "trestbps")
    page.reload()
    asked(page, "trestbps")
    assert text(page, "#spent") == "101.90 CAD"
    page.go_back()
    asked(page, "ca")
    page.go_forward()
    asked(page, "trestbps")


def test_a_consultation_in_the_address(watched: Any, page: Any) -> None:
    page.click("#options")
    page.select_option("#keep", "address")
    choose(page, "asymptomatic")
    asked(page, "ca")
    with watched(page.url) as other:
        asked(other, "ca")
        expect(other, "#answers", "asymptomatic")


def test_it_is_confirmed_before_a_consultation_is_lost(page: Any) -> None:
    choose(page, "asymptomatic")
    asked(page, "ca")
    page.select_option("#model", "number")
    page.click('dialog >> text="Keep it"')
    assured(page.locator("#model")).to_have_value("heart")
    asked(page, "ca")
    page.select_option("#model", "number")
    page.click('dialog >> text="End it"')
    asked(page, "x")


def test_what_if_compares_and_changes_nothing(page: Any) -> None:
    asked(page, "cp")
    before = text(page, "#belief")
    page.click("#what-if")
    assured(page.locator("dialog thead th")).to_have_count(5)  # now, and the four kinds of pain
    expect(page, "dialog", "Major vessels coloured by fluoroscopy")
    shoot(page, "page-desk-light-what-if")
    page.click('dialog >> text="Close"')
    assert text(page, "#belief") == before
    assert text(page, "#spent") == "0.00 CAD"
    choose(page, "asymptomatic")
    asked(page, "ca")
    page.click("#what-if")
    page.fill("#what-if-value", "0")
    page.click('dialog >> text="Compare"')
    assured(page.locator("dialog thead th")).to_have_count(2)


def test_export_and_print(page: Any) -> None:
    to_the_end(page)
    with page.expect_download() as waiting:
        page.click("#export")
    made = json.loads(Path(waiting.value.path()).read_text())
    assert [step["feature"] for step in made["steps"]] == ["cp", "ca", "trestbps"]
    assert made["decision"]["prediction"] == 1
    assert sum(line["cost"] for line in made["receipt"]) == pytest.approx(102.9)
    page.emulate_media(media="print")
    assert page.locator("#print-note").is_visible()
    assert not page.locator("#options").is_visible()
    assert page.locator("#receipt").is_visible()


def test_german(watched: Any, url: str) -> None:
    with watched(url, "number", locale="de-DE") as page:
        expect(page, "#continue", "Weiter")
        assert page.locator("html").get_attribute("lang") == "de"
        enter(page, "1.500")
        expect(page, "#error", "auf zwei Arten")
        enter(page, "1,5")
        assured(page.locator("#answers .said")).to_have_text("1,5")
        page.click("#options")
        page.select_option("#language", "en")
        expect(page, "#new-row", "New")


def test_many_columns_stay_light(watched: Any, url: str) -> None:
    with watched(url, "wide") as page:
        asked(page, "x7")
        page.click("#tests-card summary")
        expect(page, "#tests-count", f"of {N_COLUMNS:,} shown")
        assert page.evaluate("document.querySelectorAll('*').length") < 800
        page.fill("#tests-search", "x19999")
        assured(page.locator("#tests tr")).to_have_count(1)


def test_a_regressor(watched: Any, url: str) -> None:
    with watched(url, "regressor", color_scheme="dark") as page:
        assert text(page, "#price") in ("2.00 + 15 minutes to pay now", "3.00 + 5 minutes to pay now")
        while page.locator("#card.decision").count() == 0:
            count = page.locator("#answers li").count()
            page.click("#missing")
            assured(page.locator("#answers li")).to_have_count(count + 1)
        float(text(page, "#question-title"))
        assert text(page, "#spent") == "5.00 + 20 minutes"
        shoot(page, "page-desk-dark-regressor")


@pytest.mark.parametrize("slash", ["", "/"])
def test_under_a_path(watched: Any, page_models: Path, slash: str) -> None:
    settings = Settings(sources=(str(page_models / "heart.farthing"),))
    with running(settings, prefix="/tools/farthing") as address, watched(address + slash) as page:
        to_the_end(page)


def test_a_token_is_asked_for(watched: Any, page_models: Path) -> None:
    settings = Settings(sources=(str(page_models / "heart.farthing"),), token="open")
    with running(settings) as address, watched(address) as page:
        page.fill("#token", "shut")
        page.press("#token", "Enter")
        expect(page, "#token-error", "did not accept")
        page.fill("#token", "open")
        page.press("#token", "Enter")
        asked(page, "cp")


def test_text_of_a_model_is_never_markup(watched: Any, tmp_path: Path) -> None:
    from tests.service.page.conftest import heart_tree  # noqa: PLC0415 - a model of its own

    bad = "<img src=x onerror=alert(1)>"
    labels = {
        "features": {"cp": {"title": bad, "question": bad, "categories": {1: bad}}},
        "classes": {"1": bad},
    }
    heart_tree().with_labels(labels).save(tmp_path / "bad.farthing")
    with running(Settings(sources=(str(tmp_path),))) as address, watched(address) as page:
        expect(page, "#question-title", bad)
        expect(page, "#choices", bad)
        assert page.locator("img").count() == 0


def test_a_panel_fits_a_phone(watched: Any, url: str) -> None:
    with watched(url, "heart", locale="de-DE", **PHONE) as page:
        asked(page, "cp")
        page.tap("#order-panel")
        assured(page.locator(".panel-test")).to_have_count(3)
        sizes = page.evaluate("[document.querySelector('dialog').scrollWidth, innerWidth]")
        assert sizes[0] <= sizes[1]
        for part in page.locator("dialog .unit").all():
            box = part.bounding_box()
            assert box["x"] + box["width"] <= page.locator("dialog").bounding_box()["width"], "not cut off"


def test_answers_come_before_reasons_on_a_phone(watched: Any, url: str) -> None:
    with watched(url, "heart", **PHONE) as page:
        asked(page, "cp")
        assert not page.locator("#reason ul").is_visible()
        box = page.locator("#continue").bounding_box()
        assert box["y"] + box["height"] < PHONE["viewport"]["height"], "the next action needs no scrolling"
        page.tap("#reason summary")
        assert page.locator("#reason ul").is_visible()


def test_classes_without_names_are_called_classes(watched: Any, url: str) -> None:
    with watched(url, "number") as page:
        assert text(page, "#bars .top .name").startswith("class ")
        expect(page, "#reason", "class ")


def test_the_prediction_is_so_far_until_the_end(page: Any) -> None:
    assert text(page, "#belief-title") == "Prediction so far"
    to_the_end(page)
    assert text(page, "#belief-title") == "Prediction"


def test_no_estimate_is_called_certain(page: Any) -> None:
    to_the_end(page)
    assert text(page, ".sure") == "probability > 99%"
    assert "100%" not in text(page, "#belief")


def test_several_tests_are_ordered_at_once(page: Any) -> None:
    asked(page, "cp")
    page.click("#order-panel")
    page.select_option("#panel-count", "2")
    tests = page.locator(".panel-test")
    assured(tests).to_have_count(2)
    ordered = [one.get_attribute("data-feature") for one in tests.all()]
    assert ordered[0] == "cp"
    price = HEART.costs.total(ordered)
    expect(page, "#panel-sum", f"2 tests, {price:.2f} CAD to pay now".replace(" CAD", "\u00a0CAD"))
    shoot(page, "page-desk-light-panel")
    page.click("#panel-form button.main")
    expect(page, '.panel-test[data-feature="cp"]', "Choose an answer")
    assured(page.locator("#answers")).to_have_count(0)
    page.click('.panel-test[data-feature="cp"] >> text="asymptomatic"')
    page.select_option(f'.panel-test[data-feature="{ordered[1]}"] > select', "missing")
    page.click("#panel-form button.main")
    assured(page.locator("dialog")).to_have_count(0)
    assured(page.locator("#answers li")).to_have_count(2)
    # Both are paid for, whether the model needs them or not, and the lines sum to the total.
    assert text(page, "#spent") == f"{price:.2f} CAD"
    assert text(page, "#receipt tfoot td") == f"{price:.2f} CAD"
    page.reload()
    assured(page.locator("#answers li")).to_have_count(2)
    assert text(page, "#spent") == f"{price:.2f} CAD"
    page.click(f'#answers li[data-feature="{ordered[1]}"] >> text="Remove"')
    assured(page.locator("#answers li")).to_have_count(1)
    page.click('#notices >> text="Undo"')
    assured(page.locator("#answers li")).to_have_count(2)
