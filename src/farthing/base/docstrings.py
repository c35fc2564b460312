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
                method.__doc__ = method.__doc__.replace(f"{{{name}}}", text)
        return method

    return fill
