"""Further resources of a price list, such as minutes: what each feature and each group takes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from farthing.costs.group import Group, as_group
from farthing.costs.validation import amount, nearest, quoted, text
from farthing.errors import CostError

MONEY: Final = "cost"
"""The name of the costs themselves where a sheet has no unit."""


class Amounts(NamedTuple):
    """What features and groups take of one resource.

    Attributes
    ----------
    own : dict of str to float
        By feature; one that is not there takes nothing.
    shared : dict of str to float
        By group.
    """

    own: dict[str, float]
    shared: dict[str, float]


def as_resources(
    resources: object, columns: tuple[str, ...], groups: dict[str, Group], unit: str
) -> dict[str, Amounts]:
    """Return the amounts of each resource; groups that the sheet lacks are added to it, at a cost of zero.

    Parameters
    ----------
    resources : mapping of str to object, or None
        By name: amounts by feature, or a mapping with ``costs`` and ``groups``, where a group that the sheet
        has is given by its shared amount, and another one as a `Group`.
    columns : tuple of str
        The features of the sheet.
    groups : dict of str to Group
        The groups of the sheet; changed in place.
    unit : str
        The unit of the sheet, which no resource may have as its name.

    Examples
    --------
    >>> groups = {"blood": Group(2.1, ["chol"])}
    >>> as_resources({"minutes": {"costs": {"age": 1}, "groups": {"blood": 5}}}, ("age", "chol"), groups, "")
    {'minutes': Amounts(own={'age': 1.0}, shared={'blood': 5.0})}
    """
    if not resources:
        return {}
    if not isinstance(resources, Mapping):
        raise CostError(
            f"resources is of type {type(resources).__name__}; expected a mapping from the name of a "
            "resource to what each feature takes of it"
        )
    found = {}
    for key, given in resources.items():
        name = text(key, "the name of a resource")
        if not name or name in {MONEY, unit}:
            raise CostError(
                f"a resource is called {name!r}; that is the name of the costs themselves, or empty"
            )
        found[name] = _amounts(name, given, columns, groups)
    return found


def _amounts(name: str, given: Any, columns: tuple[str, ...], groups: dict[str, Group]) -> Amounts:
    if not isinstance(given, Mapping):
        raise CostError(
            f"resource {name!r} is of type {type(given).__name__}; expected what each feature takes of it, "
            "by name"
        )
    costs: Mapping[str, Any] = given
    shared: Mapping[str, Any] = {}
    # A feature may itself be called costs; then its entry is a number.
    if isinstance(given.get("costs"), Mapping):
        costs, shared = given["costs"], given.get("groups") or {}
        if unknown := [key for key in given if key not in ("costs", "groups")]:
            raise CostError(
                f"resource {name!r} has the unknown entry {quoted(unknown)}; expected 'costs', 'groups'"
            )
    for feature in costs:
        if feature not in columns:
            hint = nearest(feature, columns)
            raise CostError(
                f"resource {name!r} has {feature!r}, which has no cost{hint}; add it, 0 if it is free"
            )
    own = {feature: amount(taken, f"the {name} of {feature!r}") for feature, taken in costs.items()}
    return Amounts(
        own, {place: _shared(name, place, taken, columns, groups) for place, taken in shared.items()}
    )


def _shared(name: str, place: str, given: Any, columns: tuple[str, ...], groups: dict[str, Group]) -> float:
    """Return the shared amount of a group, and add the group if the sheet lacks it."""
    if not isinstance(given, (Group, Mapping, tuple, list)):
        if place not in groups:
            hint = nearest(place, tuple(groups))
            raise CostError(
                f"resource {name!r} has the group {place!r}, which the costs lack{hint}; "
                "give it as Group(amount, members)"
            )
        return amount(given, f"the shared {name} of the group {place!r}")
    group = as_group(place, given)
    if place in groups:
        if set(group.members) != set(groups[place].members):
            raise CostError(f"group {place!r} of resource {name!r} has other members than that of the costs")
        return group.cost
    taken = {member: other for other, each in groups.items() for member in each.members}
    for member in group.members:
        if member not in columns or member in taken:
            why = f"is in the group {taken[member]!r}" if member in taken else "has no cost"
            raise CostError(f"group {place!r} of resource {name!r} has the member {member!r}, which {why}")
    groups[place] = Group(0.0, sorted(group.members, key=columns.index))
    return group.cost
