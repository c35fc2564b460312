"""Claims of a paper, each with what our figures say of it and a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

HOLDS: Final = "**Holds.**"
FAILS: Final = "**Does not hold.**"


def claim(said: str, found: str, holds: bool) -> str:
    """Return a claim with its verdict, as an item of a list.

    Examples
    --------
    >>> claim("Table 1: A is cheaper", "2 against 3", True)
    '- Table 1: A is cheaper. Here: 2 against 3. **Holds.**'
    """
    return f"- {said}. Here: {found}. {HOLDS if holds else FAILS}"


def failing_first(claims: Iterable[str]) -> str:
    """Return a list of claims in Markdown, those that do not hold at its head.

    Examples
    --------
    >>> print(failing_first([claim("A", "a", True), claim("B", "b", False)]))
    - B. Here: b. **Does not hold.**
    - A. Here: a. **Holds.**
    """
    return "\n".join(sorted(claims, key=lambda line: line.endswith(HOLDS)))
