"""The parameters that the classifier and the regressor share: what they may be, and their docstrings."""

from __future__ import annotations

from typing import Any, Final

from farthing.base.parameters import (
    BOOLEAN,
    NON_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    at_least,
    between,
    one_of,
)
from farthing.learning.guarantees.guaranteed import GUARANTEE, GUARANTEE_TEXT

CONSTRAINTS: Final[dict[str, Any]] = {
    "budget_kind": [one_of("mean", "hard")],
    "n_stages": [at_least(1)],
    "n_estimators": [at_least(1)],
    "n_iter_no_change": [at_least(1), None],
    "learning_rate": [POSITIVE],
    "max_depth": [at_least(0), None],
    "max_leaf_nodes": [at_least(1), None],
    "min_samples_leaf": [at_least(1)],
    "l2_regularization": [NON_NEGATIVE],
    "max_bins": [between(2, 255)],
    "guarantee": GUARANTEE,
    "n_folds": [at_least(1), None],
    "ensemble": [BOOLEAN],
    "random_state": [RANDOM_STATE],
}

TEXTS: Final = {
    "parameters": f"""costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, optional
        What a row may spend, see ``budget_kind``; None means no limit. `at` returns the model for another
        budget without refitting.
    budget_kind : {{"mean", "hard"}}
        Whether the budget limits the mean spend, as measured on held-out rows, or the spend of every row.
    n_stages : int
        Maximum number of stages that cost something; with as many as there are features, each may buy one.
    n_estimators : int
        Maximum number of boosting rounds per stage; held-out rows choose how many are kept.
    n_iter_no_change : int, optional
        Stop a booster after this many rounds without a lower loss on held-out rows; None runs all.
    learning_rate, max_depth, max_leaf_nodes, min_samples_leaf, l2_regularization, max_bins
        As in `GreedyMiserClassifier`.
    {GUARANTEE_TEXT}
    n_folds : int, optional
        Exits and calibration never use rows that the trees have seen: with 2 or more folds every row is held
        out once; with 1, one row in five is held out. None means 5 folds below 4,000 rows, else 1.
    ensemble : bool
        Whether a stage answers by the mean of the boosters of the folds, as in scikit-learn's
        ``CalibratedClassifierCV``: on few rows that is more accurate than one booster that is grown again on
        all rows, which is what False does, and what happens with one fold. It has as many trees more as there
        are folds.
    random_state : int, RandomState or None
        Seed of the held-out rows.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.""",
    "attributes": """forest_ : Forest
        The boosters of all sets of features, one after another.
    sets_ : ndarray of bool, shape (n_sets, n_features)
        The features of each booster. The first set costs nothing: it has the free features, or none.
    ends_ : ndarray of int64, shape (n_sets,)
        The end of each booster's trees.
    chains_ : ndarray of int64, shape (n_chains, n_stages)
        The sets of each chain, in the order of its stages; -1 after the end of a short one. The first is that
        of the miser, the second that of forward selection, the others are for small budgets.
    chain_ : ndarray of int64, shape (n_stages,)
        The chain of the budget.
    thresholds_ : ndarray of float64, shape (n_stages,)
        A row stops at the first stage where its risk is at most this.
    set_risks_ : ndarray of float64, shape (n_sets,)
        Mean risk of held-out rows if all of them stop there.
    path_spend_, path_risk_ : ndarray of float64, shape (n_points,)
        Mean spend, ascending, and mean risk of held-out rows, for every point of the path.
    path_chain_ : ndarray of int64, shape (n_points,)
        The chain of each point.
    path_thresholds_ : ndarray of float64, shape (n_points, n_stages)
        The thresholds of each point.""",
}
