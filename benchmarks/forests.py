"""Growing forests: 40 trees on 36,603 rows of covtype, all features at each split, as in Nan's thesis.

Both sides draw bootstrap samples and grow until the leaves are pure. The rival sorts float32 values, we put
them into at most 255 bins. The errors on 58,101 other rows stand beside the times.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import Line, race
from farthing.datasets import load_table
from farthing.forests import BudgetForestClassifier

N_TRAIN, N_TEST, N_TREES = 36_603, 58_101, 40


def run(threads: int) -> list[Line]:
    """Measure growing with several settings, and the error."""
    if "FARTHING_DATA" not in os.environ:
        print("benchmarks.forests needs covtype: set FARTHING_DATA to a folder that has it")
        return []
    table = load_table("covtype")
    rows = np.random.default_rng(0).permutation(len(table.y))[: N_TRAIN + N_TEST]
    X, y = np.asarray(table.X, dtype=np.float64)[rows], np.asarray(table.y)[rows]
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)

    def ours(**settings: Any) -> BudgetForestClassifier:
        model = BudgetForestClassifier(n_estimators=N_TREES, n_jobs=threads, random_state=0, **settings)
        return model.fit(X[train], y[train])

    def theirs(**settings: object) -> RandomForestClassifier:
        model = RandomForestClassifier(N_TREES, criterion="entropy", max_features=None, n_jobs=threads)
        return model.set_params(**settings).fit(X[train], y[train])

    rival = "scikit-learn"
    error, rival_error = (float(1 - model.score(X[test], y[test])) for model in (ours(), theirs()))
    pairs = 1 - ours(impurity="pairs").score(X[test], y[test])
    return [
        race("40 trees of entropy, covtype", rival, ours, theirs, goal=1.0, warm_up=False),
        race(
            "40 trees of pairs, covtype",
            rival,
            lambda: ours(impurity="pairs"),
            theirs,
            warm_up=False,
            turns=2,
        ),
        race(
            "40 trees of entropy, 7 features per split",
            rival,
            lambda: ours(max_features="sqrt"),
            lambda: theirs(max_features="sqrt"),
            warm_up=False,
            turns=2,
        ),
        Line("error, entropy", rival, error, rival_error, error / rival_error, None, unit=""),
        Line("error, pairs", rival, pairs, rival_error, pairs / rival_error, None, unit=""),
    ]
