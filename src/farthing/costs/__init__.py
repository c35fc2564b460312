"""Feature prices and ledgers.

``sheet`` is the price list, ``readers`` reads it from files, ``ledger`` tracks the purchases of one row,
``budget`` defines when a budget holds, ``ratios`` gain per price; ``validation`` checks user input, ``group``
is a shared cost, ``display`` prints a sheet.
"""

from farthing.costs.budget import SLACK, spending_limit, within_budget
from farthing.costs.group import Group
from farthing.costs.ledger import RowLedger
from farthing.costs.ratios import per_price
from farthing.costs.sheet import CostSheet, CostsLike

__all__ = [
    "SLACK",
    "CostSheet",
    "CostsLike",
    "Group",
    "RowLedger",
    "per_price",
    "spending_limit",
    "within_budget",
]
