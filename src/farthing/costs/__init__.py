"""Prices, and who has paid.

``sheet`` is the price list, ``readers`` brings it in from files, ``ledger`` keeps the account of one row;
``entries`` checks what a user gives, ``group`` is a shared cost, ``display`` prints a sheet.
"""

from farthing.costs.group import Group
from farthing.costs.ledger import RowLedger
from farthing.costs.sheet import CostSheet

__all__ = ["CostSheet", "Group", "RowLedger"]
