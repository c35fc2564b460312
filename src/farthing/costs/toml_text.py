"""A price list as TOML, as `farthing.costs.readers` reads it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from farthing.costs.group import Group


def to_toml(
    costs: Mapping[str, float],
    groups: Mapping[str, Group],
    unit: str,
    *,
    default: float | None = None,
    strict: bool = True,
    resources: Mapping[str, Any] | None = None,
    comments: Iterable[str] = (),
) -> str:
    """Return the text of a price list.

    Parameters
    ----------
    costs, groups, unit, default, strict, resources
        As `CostSheet` takes them.
    comments : iterable of str
        Lines at the top.

    Examples
    --------
    >>> print(to_toml({"age": 1.0, "chol": 5.17}, {"blood": Group(2.1, ["chol"])}, "USD"), end="")
    unit = "USD"
    <BLANKLINE>
    [costs]
    "age" = 1.0
    "chol" = 5.17
    <BLANKLINE>
    [groups."blood"]
    cost = 2.1
    members = ["chol"]
    """
    lines = [f"# {_one_line(comment)}" for comment in comments]
    lines.append(f"unit = {_text(unit)}")
    lines += [] if default is None else [f"default = {default!r}"]
    lines += [] if strict else ["strict = false"]
    lines += ["", "[costs]", *(f"{_text(name)} = {price!r}" for name, price in costs.items())]
    for name, group in groups.items():
        members = ", ".join(map(_text, group.members))
        lines += ["", f"[groups.{_text(name)}]", f"cost = {group.cost!r}", f"members = [{members}]"]
    for name, taken in (resources or {}).items():
        for part in ("costs", "groups"):
            amounts = [f"{_text(each)} = {amount!r}" for each, amount in taken[part].items()]
            lines += ["", f"[resources.{_text(name)}.{part}]", *amounts]
    return "\n".join(lines) + "\n"


def _text(name: Any) -> str:
    # A string of JSON is one of TOML, but for the character DEL.
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(comment: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in comment)
