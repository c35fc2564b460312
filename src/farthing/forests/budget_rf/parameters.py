"""The parameters that the forests of BudgetRF share: documented and constrained here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base.parameters import FRACTION, NON_NEGATIVE, at_least, between, one_of
from farthing.forests.budget_rf.growth import MAX_FEATURES
from farthing.trees import Impurity

ImpurityLike: TypeAlias = Impurity | Callable[[NDArray[np.float64]], float]

CONSTRAINTS: Final[dict[str, Any]] = {
    "impurity": [one_of("entropy", "gini", "pairs", "powers"), callable],
    "alpha": [NON_NEGATIVE, "array-like"],
    "power": [NON_NEGATIVE],
    "min_impurity": [NON_NEGATIVE],
    "cost_rule": [one_of("ratio", "penalty")],
    "tradeoff": [NON_NEGATIVE, None],
    "n_estimators": [at_least(1)],
    "max_features": MAX_FEATURES,
    "max_cuts": [at_least(1), "array-like", None],
    "cuts_above": [NON_NEGATIVE],
    "bootstrap": ["boolean"],
    "validation_fraction": [FRACTION, None],
    "max_depth": [at_least(0), None],
    "max_leaf_nodes": [at_least(1), None],
    "min_samples_leaf": [at_least(1)],
    "max_bins": [between(2, 255)],
    "random_state": ["random_state"],
}
"""What the shared parameters may be."""

# Indented as the class docstrings that `documented` inserts these texts into.
SHARED: Final = {
    "splits": """impurity : {"entropy", "gini", "pairs", "powers"} or callable
        The impurity to reduce; see `BudgetTreeClassifier`. A callable takes the weight of each class in a
        node, a float64 array of shape (n_classes,), and returns the node's impurity, a number of at least
        zero; like "pairs", a split is scored by the decrease for the worse child. For the guarantee of
        ``max_cost_`` it must be admissible, as is any polynomial with non-negative coefficients each of whose
        terms has at least two classes (lemma 3.4.4). It is called from the compiled grower for every
        threshold, in one thread, so it is slow and suits small tables only. A file holds only its name.
    alpha : float or sequence of float
        Threshold of "pairs": classes of at most this weight in a node count as noise, so that trees stop
        earlier and cost less. If several are given, the one whose forest has the least validation error is
        chosen; ties go to the cheaper forest, then to the earlier alpha.
    power : float
        Exponent of "powers", at least 2 for the guarantee.
    min_impurity : float
        A node whose impurity is at most this is not split, as in `BudgetTreeClassifier`.
    cost_rule, tradeoff
        As in `BudgetTreeClassifier`; gains are relative to the impurity of all training rows.
    budget : float, optional
        Limit on the mean cost of the validation rows. It does not cap single rows; `predict` takes such a
        cap. If the first tree alone costs more, the forest is empty and predicts the prior, and `fit` warns.
    n_estimators : int
        Maximum number of trees.
    max_features : int, float, {"sqrt", "log2"} or None
        Columns that are considered for each split, drawn anew for each node: a number, a share, or all. If
        none of them gives a split, the others are tried one by one.
    max_cuts : int, sequence of (weight, cuts) or None
        Number of thresholds of a numeric column that are tried in a node, drawn anew for each node; None
        means all. Few thresholds make the trees more diverse, which can help the forest at a slightly higher
        cost. Pairs are a schedule: a node heavier than several of the weights tries the cuts of the largest
        of them, and one that is heavier than none tries all. That of the thesis is
        ``[(2000, 80), (500, 40), (0, 20)]``.
    cuts_above : float
        A single number of ``max_cuts`` applies to nodes with more weight than this; lighter ones try all
        thresholds. "pairs" splits every node near its middle, so random thresholds are needed near the root
        for diverse trees, while near the leaves they cost accuracy.
    bootstrap : bool
        Whether each tree learns from rows drawn with replacement, rather than from all rows.""",
    "limits": """max_depth, max_leaf_nodes, min_samples_leaf, max_bins
        Limits of each tree, as in `BudgetTreeClassifier`; a row that is drawn several times counts once for
        ``min_samples_leaf``.
    random_state : int, RandomState or None
        Seed of all draws. The draws of a tree are a pure function of the seed, the number of the tree and the
        position of the node in it, so the number of threads and the order of the rows do not matter.""",
    "costs": """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Trees grown at the same time, as in joblib; any number gives the same forest.""",
    "attributes": """n_trees_ : int
        Number of trees.
    alpha_ : float
        The threshold that was chosen.
    validation_cost_ : float or None
        Mean cost of the validation rows; None without a budget.
    max_cost_ : ndarray of float64, shape (n_trees,)
        What the most expensive path of each tree costs. Theorem 3.4.2 of the thesis: let OPT be the least
        max-cost of any tree whose leaves have no impurity F and that tests no feature twice on a path. With
        an admissible F ("pairs", "powers" of at least 2, the polynomials of lemma 3.4.4),
        ``cost_rule="ratio"``, all features at each split and no limit on the growth, GreedyTree on the rows S
        costs at most (1 + ln F(S)) * OPT, where F is scaled so that its smallest value above zero is 1.
        Entropy and Gini are not monotone, so there is no such bound for them.""",
}
"""What the docstrings of the estimators share."""
