"""The page on agreement has a row for every method: what was compared, or why it cannot be exported."""

from __future__ import annotations

import re
from pathlib import Path

from tests.export.walking import EXPORTED, NOT_EXPORTED, OURS

PAGE = Path(__file__).parents[2] / "docs" / "results" / "export_agreement.md"


def test_every_registered_method_is_on_the_page() -> None:
    compared, _, refused = PAGE.read_text(encoding="utf-8").partition("What cannot be exported, and why:")
    with_walks = set(re.findall(r"^\| (\w+) \| 1000 \|.* none \|$", compared, re.MULTILINE))
    with_reasons = set(re.findall(r"^\| (\w+) \| \w.* \|$", refused, re.MULTILINE))
    assert with_walks >= set(EXPORTED)
    assert with_reasons - {"method"} == NOT_EXPORTED
    assert with_walks | with_reasons >= OURS
