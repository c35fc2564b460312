"""Trees as flat node arrays: grown on bins, with prices, and asked about whole tables."""

from farthing.trees.forest import Forest
from farthing.trees.grow import CostRule, Grower, Grown, Impurity, LedgerKind
from farthing.trees.ledgers import RowLedgers
from farthing.trees.predict import Predictor
from farthing.trees.progress import Progress

__all__ = [
    "CostRule",
    "Forest",
    "Grower",
    "Grown",
    "Impurity",
    "LedgerKind",
    "Predictor",
    "Progress",
    "RowLedgers",
]
