"""ADAPT-GBRT beside the Greedy Miser that it is made of: 100 trees on Letters, 12,000 rows.

A fit is 10 turns of 100 trees each for gate and f1, after a Greedy Miser of 100 trees: 2,100 trees against
100. The expensive model is a Greedy Miser that is fitted before, and its own predictions are used
(``n_folds=None``), so its training is not part of the time; turns go on whether or not they still improve.
Predictions are those of gate and f1, 200 trees, for 100,000 rows, against a Greedy Miser of 200 trees:
``predict_proba`` of both, from the table to the probabilities, by a gate that sends no row on
(``send_share=0``).
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from experiments.lib.adaptive_runs import letters

from benchmarks.measure import Line, race
from farthing.adaptive import AdaptGbrtClassifier
from farthing.adaptive.adapt_gbrt import classifier as adapt_gbrt
from farthing.boosting import GreedyMiserClassifier

N_TREES, TURNS, GAMMA = 100, 10, 0.001


def run(threads: int) -> list[Line]:
    """Measure everything."""
    task = letters()
    X, y = task.train.X, task.train.y
    expensive = GreedyMiserClassifier(n_estimators=200, learning_rate=0.3, n_jobs=threads).fit(X, y)
    shared: dict[str, Any] = {
        "n_estimators": N_TREES,
        "learning_rate": 0.1,
        "relative": True,
        "n_jobs": threads,
    }

    def adapt() -> Any:
        model = AdaptGbrtClassifier(expensive, tradeoff=GAMMA, n_alternations=TURNS, n_folds=None, **shared)
        with patch.object(adapt_gbrt, "TOLERANCE", -np.inf):
            return model.fit(X, y)

    def miser() -> Any:
        return GreedyMiserClassifier(tradeoff=GAMMA, **shared).fit(X, y)

    fitted = adapt()
    stays = next(model for params, model in fitted.variants() if params == {"send_share": 0.0})
    turns = len(fitted.history_) // 2
    twice = GreedyMiserClassifier(tradeoff=GAMMA, **(shared | {"n_estimators": 2 * N_TREES})).fit(X, y)
    rows = np.random.default_rng(0).integers(len(X), size=100_000)
    fresh = X[rows] + np.random.default_rng(1).normal(scale=0.1, size=(100_000, X.shape[1]))
    return [
        race(f"fit, {turns} turns", "Greedy Miser, 100 trees", adapt, miser, goal=25),
        race(
            "gate and f1, 100,000 rows",
            "Greedy Miser, 200 trees",
            lambda: stays.predict_proba(fresh),
            lambda: twice.predict_proba(fresh),
            goal=1,
            turns=31,
        ),
    ]
