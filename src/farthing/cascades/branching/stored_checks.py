"""What must hold of a branching cascade that comes from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from farthing.cascades.branching.routing_tree import path
from farthing.trees.forest import MISSING_STAY

if TYPE_CHECKING:
    from farthing.cascades.branching.classifier import BranchingCascadeClassifier


def check_branches(model: BranchingCascadeClassifier) -> None:
    """Raise ValueError if the attributes of a cascade do not fit together."""
    n_features, n_branches, routes = len(model.schema_.names), len(model.ends_), model.routes_
    n_scores = 1 if len(model.classes_) == 2 else len(model.classes_)
    if len(model.prior_) != n_scores:
        raise ValueError(f"{len(model.classes_)} classes need {n_scores} scores; got {len(model.prior_)}")
    if (routes.n_trees, routes.n_features, routes.width) != (1, n_features, 1 + n_scores):
        raise ValueError("routes_ must be one tree of a branch and the scores over the table's features")
    leaves = routes.feature < 0
    if not np.isin(routes.value[leaves, 0], np.arange(n_branches)).all():
        raise ValueError("routes_ must end at branches")
    if (routes.missing[~leaves] == MISSING_STAY).any():
        raise ValueError("routes_ must send every row to a leaf")
    bought = model.bought_
    if bought.dtype != np.int64 or bought.shape != (n_branches, bought.shape[-1]):
        raise ValueError("bought_ must have columns for each branch")
    if not n_branches or bought.min() < -1 or bought.max() >= n_features:
        raise ValueError("bought_ must be of columns")
    ends = np.append(0, model.ends_)
    if ends.dtype != np.int64 or (np.diff(ends) <= 0).any() or ends[-1] != model.forest_.n_trees:
        raise ValueError("ends_ must ascend to the number of trees")
    _check_looks(model)


def _check_looks(model: BranchingCascadeClassifier) -> None:
    """Check that a branch asks for all that its routes and its trees test: no looking without paying."""
    for leaf in np.flatnonzero(model.routes_.feature < 0).tolist():
        branch = int(model.routes_.value[leaf, 0])
        begin = int(model.ends_[branch - 1]) if branch else 0
        nodes = slice(*model.forest_.offsets[[begin, int(model.ends_[branch])]].tolist())
        tested = np.unique(model.forest_.feature[nodes])
        known = [-1, *model._columns(branch).tolist()]
        if not np.isin([*tested.tolist(), *path(model.routes_, leaf)], known).all():
            raise ValueError("a branch tests a feature that it does not buy")
