"""The definition of spending within a budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, overload

from farthing.costs.resources import MONEY
from farthing.typing import Flags, Floats

if TYPE_CHECKING:
    from farthing.costs.derived import Derivable
    from farthing.costs.sheet import CostSheet

SLACK: Final = 1e-12
"""Relative tolerance of a budget: the rounding error of a long sum of costs."""


@overload
def spending_limit(budget: float | None) -> float: ...
@overload
def spending_limit(budget: Floats) -> Floats: ...
def spending_limit(budget: float | Floats | None) -> float | Floats:
    """Return the largest spend that is within a budget: the budget with its slack.

    Parameters
    ----------
    budget : float, ndarray of float64 or None
        None means no limit.

    Examples
    --------
    >>> spending_limit(None), spending_limit(2.0) > 2
    (inf, True)
    """
    # Relative, so that costs and budget times a power of two give the same decisions. The compiled core has
    # the same expression, and a budget of 0 stays 0.
    return math.inf if budget is None else budget * (1 + SLACK)


def split_budget(budget: Any, sheet: CostSheet) -> tuple[Any, dict[str, Any]]:
    """Return the budget of the costs, and the caps of further resources.

    Parameters
    ----------
    budget : object
        A mapping from the unit of the sheet (``"cost"`` also stands for it) and the names of its resources to
        amounts, each optional; anything else is the budget of the costs.
    sheet : CostSheet
        The prices.

    Raises
    ------
    ValueError
        If the sheet has no such resource.

    Examples
    --------
    >>> from farthing.costs import CostSheet
    >>> sheet = CostSheet([1, 2], unit="USD", resources={"minutes": {"x1": 5}})
    >>> split_budget({"USD": 2, "minutes": 4}, sheet), split_budget(3, sheet)
    ((2, {'minutes': 4}), (3, {}))
    """
    # Not by isinstance alone: of an abstract class it takes as long as the rest of a short call.
    if budget is None or not isinstance(budget, Mapping):
        return budget, {}
    caps = {name: cap for name, cap in budget.items() if cap is not None}
    money = [caps.pop(name) for name in {sheet.unit, MONEY} - sheet.resources.keys() if name in caps]
    if unknown := [name for name in caps if name not in sheet.resources]:
        known = ", ".join(map(repr, [sheet.unit or MONEY, *sheet.resources]))
        raise ValueError(f"the budget has {unknown[0]!r}, which the cost sheet lacks; it has {known}")
    if len(money) > 1:
        raise ValueError(f"the budget has {MONEY!r} and {sheet.unit!r}, which are the same; give one of them")
    return (money[0] if money else None), caps


def money_name(sheet: Derivable) -> str:
    """Return the name of the costs among the resources of a weighted sheet.

    Examples
    --------
    >>> from farthing.costs import CostSheet
    >>> money_name(CostSheet([1, 2], unit="USD")), money_name(CostSheet([1, 2]))
    ('USD', 'money')
    """
    return sheet.unit or "money"


@overload
def within_budget(spent: float, budget: float | None) -> bool: ...
@overload
def within_budget(spent: Floats, budget: float | Floats | None) -> Flags: ...
def within_budget(spent: float | Floats, budget: float | Floats | None) -> bool | Flags:
    """Return whether a spend is within a budget, up to the rounding of a sum.

    Parameters
    ----------
    spent : float or ndarray of float64
        The amount paid.
    budget : float, ndarray of float64 or None
        The budget, one number or one for each of ``spent``; None means no limit.

    Returns
    -------
    bool or ndarray of bool

    Examples
    --------
    >>> within_budget(0.1 + 0.2, 0.3), within_budget(0.31, 0.3)
    (True, False)
    >>> import numpy as np
    >>> within_budget(np.array([1.0, 3.0]), 2.0)
    array([ True, False])
    """
    return spent <= spending_limit(budget)
