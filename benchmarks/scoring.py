"""Scores of a sweep: the default sweep over heart disease, under each of several scores and under accuracy.

Some twenty fits give some six hundred models, each with a score and its standard error. The rows are few, so
what a score costs beyond its arithmetic shows.
"""

from __future__ import annotations

from functools import partial

from benchmarks.measure import Line, race
from farthing import Frontier, sweep
from farthing.datasets import load_heart_disease

SCORES = ("balanced_accuracy", "neg_log_loss", "neg_brier_score", "f1", "roc_auc", "average_precision")


def run(threads: int) -> list[Line]:  # noqa: ARG001 - one fit after the other
    """Measure a sweep under each score."""
    heart = load_heart_disease()

    def under(scoring: str) -> Frontier:
        return sweep("auto", heart.X, heart.y, heart.costs, scoring=scoring)

    under("accuracy")  # warms up what all of them share
    return [
        race(
            f"sweep, {score}",
            "accuracy",
            partial(under, score),
            partial(under, "accuracy"),
            goal=1.5,
            warm_up=False,
        )
        for score in SCORES
    ]
