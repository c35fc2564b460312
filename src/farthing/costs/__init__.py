"""Feature prices and ledgers.

``sheet`` is the price list, ``readers`` reads it from files, ``ledger`` tracks the purchases of one row,
``blocks`` are parts of a pipeline that are computed as a whole, ``measuring`` times them,
``budget`` defines when a budget holds, ``ratios`` gain per price; ``validation`` checks user input, ``group``
is a shared cost, ``superpixels`` that of the pixels of a square, ``resources`` are what features take beside
money, ``display`` prints a sheet.
"""

from farthing.costs.blocks import Block, as_table, blocks_of, n_rows_of, named_block, select, take_rows
from farthing.costs.budget import SLACK, money_name, spending_limit, split_budget, within_budget
from farthing.costs.group import Group
from farthing.costs.ledger import RowLedger
from farthing.costs.measuring import BlockTimes, Measurement, Times, measure
from farthing.costs.ratios import per_price
from farthing.costs.sheet import CostSheet, CostsLike
from farthing.costs.superpixels import superpixels

__all__ = [
    "SLACK",
    "Block",
    "BlockTimes",
    "CostSheet",
    "CostsLike",
    "Group",
    "Measurement",
    "RowLedger",
    "Times",
    "as_table",
    "blocks_of",
    "measure",
    "money_name",
    "n_rows_of",
    "named_block",
    "per_price",
    "select",
    "spending_limit",
    "split_budget",
    "superpixels",
    "take_rows",
    "within_budget",
]
