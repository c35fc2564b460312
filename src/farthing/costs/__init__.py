"""Prices, and who has paid.

``sheet`` is the price list, ``readers`` brings it in from files, ``ledger`` keeps the account of one row,
``budget`` says when a budget holds; ``validation`` checks what a user gives, ``group`` is a shared cost,
``display`` prints a sheet.
"""

from farthing.costs.budget import SLACK, spending_limit, within_budget
from farthing.costs.group import Group
from farthing.costs.ledger import RowLedger
from farthing.costs.sheet import CostSheet, CostsLike

__all__ = ["SLACK", "CostSheet", "CostsLike", "Group", "RowLedger", "spending_limit", "within_budget"]
