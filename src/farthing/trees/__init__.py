"""Trees as flat node arrays: grown on bins, with prices, and asked about whole tables."""

from farthing.trees.forest import Forest
from farthing.trees.grow import CostRule, Grower, Grown, Impurity, LedgerKind
from farthing.trees.imports import Imported, read_treelite
from farthing.trees.predict import Predictor
from farthing.trees.prune import pruned

__all__ = [
    "CostRule",
    "Forest",
    "Grower",
    "Grown",
    "Imported",
    "Impurity",
    "LedgerKind",
    "Predictor",
    "pruned",
    "read_treelite",
]
