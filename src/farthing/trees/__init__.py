"""Trees as flat node arrays: growing on binned tables with prices, prediction, pruning, import."""

from farthing.trees.cut_rules import MaxCuts, cut_rules
from farthing.trees.foreign import CodeSets, ForeignTable, ForeignTree, foreign_forest
from farthing.trees.forest import Forest
from farthing.trees.grow import CostRule, Grower, Grown, Impurity, LedgerKind
from farthing.trees.importances import explained_shares
from farthing.trees.imports import Imported, read_treelite
from farthing.trees.ledgers import RowLedgers
from farthing.trees.predict import Predictor
from farthing.trees.progress import Progress
from farthing.trees.project import projected
from farthing.trees.prune import pruned
from farthing.trees.sparse_rows import (
    NodeValues,
    SparseRows,
    compact,
    core_scores,
    dense_values,
    rows_of,
    same_values,
)
from farthing.trees.typical_values import just_above, typical_values

__all__ = [
    "CodeSets",
    "CostRule",
    "ForeignTable",
    "ForeignTree",
    "Forest",
    "Grower",
    "Grown",
    "Imported",
    "Impurity",
    "LedgerKind",
    "MaxCuts",
    "NodeValues",
    "Predictor",
    "Progress",
    "RowLedgers",
    "SparseRows",
    "compact",
    "core_scores",
    "cut_rules",
    "dense_values",
    "explained_shares",
    "foreign_forest",
    "just_above",
    "projected",
    "pruned",
    "read_treelite",
    "rows_of",
    "same_values",
    "typical_values",
]
