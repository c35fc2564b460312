"""A cost that several features share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from farthing.costs.validation import amount, nearest, quoted, text, unique
from farthing.errors import CostError


@dataclass(frozen=True, slots=True)
class Group:
    """A cost that several features share: the first one bought pays it, the others do not.

    Parameters
    ----------
    cost : float
        The shared cost, in the unit of the sheet; each member also has its own cost.
    members : iterable of str
        The features that share it, at least one.

    Examples
    --------
    >>> Group(2.10, ["chol", "fbs"])
    Group(cost=2.1, members=('chol', 'fbs'))
    """

    cost: float
    members: tuple[str, ...]

    def __init__(self, cost: float, members: Iterable[str]) -> None:
        object.__setattr__(self, "members", _members(members))
        object.__setattr__(
            self, "cost", amount(cost, f"the shared cost of the group of {quoted(self.members)}")
        )


def as_group(name: str, entry: object) -> Group:
    """Return a `Group` from a group, a pair ``(cost, members)`` or a mapping; errors name it."""
    if isinstance(entry, Group):
        return entry
    if isinstance(entry, Mapping):
        unknown = [key for key in entry if key not in ("cost", "members")]
        absent = [key for key in ("cost", "members") if key not in entry]
        if unknown or absent:
            fault = f"lacks {quoted(absent)}" if absent else f"has the unknown entry {quoted(unknown)}"
            raise CostError(f"group {name!r} {fault}; expected 'cost' and 'members'")
        cost, members = entry["cost"], entry["members"]
    elif isinstance(entry, (tuple, list)) and len(entry) == 2:
        cost, members = entry
    else:
        raise CostError(f"group {name!r} is of type {type(entry).__name__}; expected Group(cost, members)")
    try:
        return Group(cost, members)
    except CostError as error:
        raise CostError(f"group {name!r}: {error}") from None


def as_groups(groups: object, index: Mapping[str, int]) -> dict[str, Group]:
    """Return the groups of a sheet, with their members in the order of ``index``."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise CostError(
            f"groups is of type {type(groups).__name__}; expected a mapping from name to Group(cost, members)"
        )
    found: dict[str, Group] = {}
    group_of: dict[str, str] = {}
    for name, entry in zip(unique(groups, "group"), groups.values(), strict=True):
        group = as_group(name, entry)
        for member in group.members:
            if member not in index:
                hint = nearest(member, tuple(index))
                raise CostError(
                    f"group {name!r} has the unknown member {member!r}{hint}; "
                    "give it a cost of its own, or remove it"
                )
            if member in group_of:
                raise CostError(
                    f"feature {member!r} is in two groups, {group_of[member]!r} and {name!r}; keep it in one"
                )
            group_of[member] = name
        # Members in the order of the sheet, so that sheets with the same content are equal.
        found[name] = Group(group.cost, sorted(group.members, key=index.__getitem__))
    return found


def _members(members: object) -> tuple[str, ...]:
    if not isinstance(members, Iterable) or isinstance(members, (bytes, Mapping)):
        raise CostError(
            f"the members of a group are of type {type(members).__name__}; expected a list of features"
        )
    if isinstance(members, (set, frozenset)):  # the order of a set varies, and equal sheets need the same one
        members = sorted(members, key=lambda name: text(name, "a feature name"))
    found = unique(members)
    if not found:
        raise CostError("a group has no members; name the features that share its cost, or remove the group")
    return found
