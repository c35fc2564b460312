"""What a user of the page does, in one line each."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect as assured


def text(page: Any, place: str) -> str:
    return str(page.locator(place).inner_text()).replace("\u00a0", " ").replace("\u2009", " ")


def expect(page: Any, place: str, said: str) -> None:
    assured(page.locator(place)).to_contain_text(said)


def asked(page: Any, feature: str) -> None:
    """Wait for the question about a feature."""
    assured(page.locator(f'#card[data-feature="{feature}"]')).to_be_visible()


def choose(page: Any, choice: str) -> None:
    page.click(f'#choices >> text="{choice}"')
    page.click("#continue")


def enter(page: Any, value: str) -> None:
    page.fill("#value", value)
    page.click("#continue")


def to_the_end(page: Any) -> None:
    """Answer as a patient who has heart disease."""
    choose(page, "asymptomatic")
    asked(page, "ca")
    enter(page, "3")
    asked(page, "trestbps")
    enter(page, "160")
    assured(page.locator("#card.decision")).to_be_visible()
