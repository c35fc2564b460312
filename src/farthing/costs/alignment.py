"""Match the entries of a price list with the columns of a table."""

import re
import warnings
from collections.abc import Mapping, Sequence

from farthing.costs import validation
from farthing.costs.group import Group
from farthing.errors import CostError


def align_entries(
    prices: Mapping[str, float],
    groups: Mapping[str, Group],
    columns: Sequence[str],
    *,
    default: float | None,
    strict: bool,
) -> tuple[dict[str, float], dict[str, Group]]:
    """Return own costs and groups for the columns of a table, in the order of the columns.

    Parameters
    ----------
    prices : mapping of str to float
        The own costs that the list has.
    groups : mapping of str to Group
        Its groups.
    columns : sequence of str
        The columns of the table.
    default : float or None
        The cost of a column that is not listed; None raises an error.
    strict : bool
        Whether a listed feature that is no column raises an error; otherwise it is left out.

    Examples
    --------
    >>> align_entries({"age": 1.0, "shoe": 2.0}, {}, ["sex", "age"], default=5.0, strict=False)
    ({'sex': 5.0, 'age': 1.0}, {})
    """
    wanted = set(columns)
    unlisted = [name for name in columns if name not in prices]
    spare = [name for name in prices if name not in wanted]
    faults = []
    if unlisted and default is None:
        names = validation.quoted(unlisted)
        faults.append(
            f"no cost is given for the column {names}; add it, 0 if it is free"
            if len(unlisted) == 1
            else f"no cost is given for the columns {names}; add them, 0 for what is free"
        )
    if spare and (strict or faults):
        faults.append(_spare_fault(spare, unlisted or columns, strict=strict))
    if faults:
        raise CostError("; ".join(faults))
    if default is not None and spare:
        _warn_of_misspelt(spare, unlisted, default)
    own = {name: default if default is not None and name not in prices else prices[name] for name in columns}
    if not spare:
        return own, dict(groups)
    kept = {
        name: Group(group.cost, [member for member in group.members if member in wanted])
        for name, group in groups.items()
        if not wanted.isdisjoint(group.members)
    }
    return own, kept


def _spare_fault(spare: Sequence[str], candidates: Sequence[str], *, strict: bool) -> str:
    hint = validation.nearest(spare[0], candidates)
    remedy = "; remove or rename it" + (", or set strict = false" if strict else "")
    if "default" in spare:
        remedy += "; the default price belongs above [costs]"
    return f"the price list has {validation.quoted(spare)}, which is not a column of the table{hint}{remedy}"


def _warn_of_misspelt(spare: Sequence[str], unlisted: Sequence[str], default: float) -> None:
    """Warn if a column gets the default price although the list has a name much like it."""
    for name in spare:
        hint = validation.nearest(name, unlisted)
        # Names such as x1 and x10 are alike and yet no mistake.
        others = {re.sub(r"\d", "", column) for column in unlisted}
        if hint and re.sub(r"\d", "", name) not in others:
            warnings.warn(
                f"the price list has {name!r}, which is not a column of the table{hint}; "
                f"the column has the default price, {default:g}",
                stacklevel=4,
            )
