"""Budgets as amounts: numbers, shares of what all features cost, and mappings of several resources."""

from __future__ import annotations

import re
from typing import Any, Final

from farthing.base.inputs import check_cap
from farthing.costs import CostSheet, split_budget

_SHARE: Final = re.compile(r"\s*([0-9][0-9.eE+-]*)\s*%\s*")


def budget_of(budget: Any, sheet: CostSheet) -> float | None:
    """Return a budget of the costs as a number; "20%" is a share of the cost of all features.

    Parameters
    ----------
    budget : float, str, mapping or None
        A mapping from the unit and from resources to caps gives that of the costs, None if it has none.
    sheet : CostSheet
        The prices.

    Examples
    --------
    >>> budget_of("20%", CostSheet([3.0, 7.0]))
    2.0
    """
    budget, _ = split_budget(budget, sheet)
    if isinstance(budget, str):
        found = _SHARE.fullmatch(budget)
        if found is None:
            raise ValueError(f"budget must be a number or a share such as '20%'; got {budget!r}")
        prices = sheet.without_calls()
        return check_cap(float(found[1]) / 100 * prices.total(prices.features))
    return check_cap(budget)


def resource_caps(budget: Any, sheet: CostSheet) -> dict[str, float]:
    """Return the caps of further resources as numbers.

    Examples
    --------
    >>> sheet = CostSheet([1, 2], unit="USD", resources={"minutes": {"x0": 5, "x1": 15}})
    >>> resource_caps({"USD": 2, "minutes": "20%"}, sheet), resource_caps(2, sheet)
    ({'minutes': 4.0}, {})
    """
    found = {
        name: budget_of(cap, sheet.resources[name]) for name, cap in split_budget(budget, sheet)[1].items()
    }
    return {name: cap for name, cap in found.items() if cap is not None}
