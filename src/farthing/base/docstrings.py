"""Docstrings of estimators that share parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Method = TypeVar("Method", bound=type)


def documented(texts: Mapping[str, str]) -> Callable[[Method], Method]:
    """Return a class decorator that fills ``{name}`` in a docstring with the text of that name.

    Examples
    --------
    >>> @documented({"costs": "Prices of the features."})
    ... class Oracle:
    ...     '''{costs}'''
    >>> Oracle.__doc__
    'Prices of the features.'
    """

    def fill(method: Method) -> Method:
        for name, text in texts.items():
            if method.__doc__ is not None:  # python -OO drops docstrings
                method.__doc__ = _filled(method.__doc__, f"{{{name}}}", text)
        return method

    return fill


def _filled(doc: str, place: str, text: str) -> str:
    """Put a text in a place, and lines of it that begin at the margin at the place's own indentation."""
    first, *others = text.split("\n")
    at_margin = any(line and not line.startswith(" ") for line in others)
    lines = []
    for line in doc.split("\n"):
        margin = line[: len(line) - len(line.lstrip())] if at_margin else ""
        indented = [margin + other if other else "" for other in others]
        lines.append(line.replace(place, "\n".join([first, *indented])))
    return "\n".join(lines)
