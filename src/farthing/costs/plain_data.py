"""A cost sheet as lists, numbers and strings, for files and pickles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from farthing.costs import validation
from farthing.costs.group import Group
from farthing.errors import CostError


def to_dict(
    features: Iterable[str],
    own: Iterable[float],
    groups: Mapping[str, Group],
    unit: str,
    *,
    default: float | None = None,
    strict: bool = True,
    calls: Mapping[str, float] | None = None,
    resources: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the content of a sheet; ``default``, ``strict``, ``calls`` and ``resources`` only if set.

    Examples
    --------
    >>> to_dict(["x0"], [1.0], {}, "ms")
    {'features': ['x0'], 'costs': [1.0], 'groups': [], 'unit': 'ms'}
    """
    return {
        "features": list(features),
        "costs": list(own),
        # A list, since the order of the groups matters (it is that of the sums) and a mapping may lose it.
        "groups": [
            {"name": name, "cost": group.cost, "members": list(group.members)}
            for name, group in groups.items()
        ],
        "unit": unit,
        # Sheets of fitted models list every column, so files have neither.
        **({} if default is None else {"default": default}),
        **({} if strict else {"strict": False}),
        **({"calls": [{"name": name, "cost": cost} for name, cost in calls.items()]} if calls else {}),
        **({"resources": [{"name": name, **each} for name, each in resources.items()]} if resources else {}),
    }


def from_dict(plain: Any) -> tuple[dict[str, float], dict[str, Group], str, dict[str, Any]]:
    """Return costs, groups, unit, and ``default``, ``strict`` and ``calls`` if set, from `to_dict`'s output.

    Anything else raises `CostError`.
    """
    expected: dict[str, type] = {"features": list, "costs": list, "groups": list, "unit": str}
    optional = {
        name: kind
        for name, kind in (("default", float), ("strict", bool), ("calls", list), ("resources", list))
        if isinstance(plain, dict) and name in plain
    }
    plain = validation.fields(plain, {**expected, **optional}, "a stored sheet")
    features = validation.unique(plain["features"])
    if len(features) != len(plain["costs"]):
        raise CostError(f"a stored sheet has {len(features)} features, but {len(plain['costs'])} costs")
    for group in plain["groups"]:
        validation.fields(group, {"name": str, "cost": float, "members": list}, "a stored group")
    names = validation.unique((group["name"] for group in plain["groups"]), "group")
    groups = {
        name: Group(group["cost"], group["members"])
        for name, group in zip(names, plain["groups"], strict=True)
    }
    costs = dict(zip(features, plain["costs"], strict=True))
    rest = {name: plain[name] for name in optional}
    if "calls" in rest:
        for call in rest["calls"]:
            validation.fields(call, {"name": str, "cost": float}, "a stored call")
        called = validation.unique((call["name"] for call in rest["calls"]), "call")
        rest["calls"] = dict(zip(called, (call["cost"] for call in plain["calls"]), strict=True))
    if "resources" in rest:
        for each in rest["resources"]:
            validation.fields(each, {"name": str, "costs": dict, "groups": dict}, "a stored resource")
        named = validation.unique((each["name"] for each in rest["resources"]), "resource")
        rest["resources"] = {
            name: {"costs": each["costs"], "groups": each["groups"]}
            for name, each in zip(named, plain["resources"], strict=True)
        }
    return costs, groups, plain["unit"], rest
