"""Trees of linear scores: what ASTC and CSTC learn, and how a row walks down one."""

from farthing.cascades.score_tree.model import (
    ScoreTreeClassifierModel,
    ScoreTreeModel,
    ScoreTreeRegressorModel,
    calibration_step,
    single_tree,
    tree_temperature,
)
from farthing.cascades.score_tree.tree import ScoreTree

__all__ = [
    "ScoreTree",
    "ScoreTreeClassifierModel",
    "ScoreTreeModel",
    "ScoreTreeRegressorModel",
    "calibration_step",
    "single_tree",
    "tree_temperature",
]
