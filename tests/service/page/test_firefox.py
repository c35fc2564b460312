"""A whole consultation in Firefox: by mouse, by keys, and by touch on a narrow screen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.service.page import firefox

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
pytestmark = pytest.mark.skipif(FIREFOX is None, reason="no Firefox; Debian: apt install firefox-esr")


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[firefox.Page]:
    with firefox.running(str(FIREFOX), tmp_path_factory.mktemp("firefox")) as page:
        yield page


def begun(tab: firefox.Page, url: str) -> None:
    """Open the page on the heart model, with nothing left from another test."""
    tab.open(url)
    tab.find("sessionStorage.clear()")
    tab.open(f"{url}/?{os.urandom(4).hex()}")
    tab.wait("document.querySelector('#model')?.options.length > 0")
    tab.find(
        "(m => { m.value = 'heart'; m.dispatchEvent(new Event('change', {bubbles: true})); })"
        "(document.querySelector('#model'))"
    )
    asked(tab, "cp")


def asked(tab: firefox.Page, feature: str) -> None:
    tab.wait(f"document.querySelector('#card')?.dataset.feature === '{feature}'")


def decided(tab: firefox.Page) -> None:
    tab.wait("document.querySelector('#card.decision') !== null")
    assert tab.text("#question-title") == "heart disease"
    assert tab.text("#price") == "3 tests for 102.90 CAD"
    assert tab.faults == []


def shoot(tab: firefox.Page, name: str) -> None:
    if folder := os.environ.get("FARTHING_SHOTS"):
        tab.shoot(Path(folder) / f"{name}.png")


@pytest.mark.parametrize(("pointer", "width"), [("mouse", 1280), ("touch", 390)])
def test_by_pointer(tab: firefox.Page, url: str, pointer: str, width: int) -> None:
    tab.resize(width, 844)
    begun(tab, url)
    assert tab.find("document.documentElement.scrollWidth") <= width, "nothing sticks out"
    tab.click("#choices label:nth-child(4)", pointer)
    tab.click("#continue", pointer)
    for feature, value in (("ca", "3"), ("trestbps", "160")):
        asked(tab, feature)
        tab.click("#value", pointer)
        tab.keys(value)
        tab.click("#continue", pointer)
    decided(tab)
    shoot(tab, f"page-firefox-{pointer}")


def test_by_keys(tab: firefox.Page, url: str) -> None:
    tab.resize(1280, 844)
    begun(tab, url)
    tab.keys("4")
    tab.keys("Enter")
    for feature, value in (("ca", "3"), ("trestbps", "160")):
        asked(tab, feature)
        # Without a mouse in sight the question has the focus, so that no keyboard covers it.
        if tab.wait("document.activeElement.id") == "question-title":
            tab.keys("Tab")
        assert tab.find("document.activeElement.id") == "value"
        tab.keys(value)
        tab.keys("Enter")
    decided(tab)
