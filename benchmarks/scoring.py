"""Scores of a sweep: the default sweep over heart disease, under each of several scores and under accuracy.

Some twenty fits give some six hundred models, each with a score and its standard error. The rows are few, so
what a score costs beyond its arithmetic shows. The second part is a regression, diabetes, against the mean
squared error. Scores of one's own are plain functions; the first sees labels, the others probabilities or
numbers. Seconds are those of the processor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import fbeta_score, make_scorer

from benchmarks.measure import Line, race
from farthing import Frontier, sweep
from farthing.datasets import load_heart_disease


def _mean_recall(model: Any, X: Any, y: Any) -> float:
    said = model.predict(X)
    return float(np.mean([np.mean(said[y == label] == label) for label in np.unique(y)]))


def _mean_certainty(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict_proba(X)[np.arange(len(y)), y.astype(int)]))


def _within_fifty(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(np.abs(model.predict(X) - y) < 50))


# By the name on the page: the score, and the goal of the ratio.
LABELS: Final[dict[str, tuple[Any, float]]] = {
    **{
        name: (name, 1.5)
        for name in (
            *("balanced_accuracy", "neg_log_loss", "neg_brier_score", "f1", "roc_auc", "average_precision"),
            "neg_mean_squared_error",
        )
    },
    "jaccard": ("jaccard", 2.0),
    "F2, by make_scorer": (make_scorer(fbeta_score, beta=2.0), 2.0),
    "own, of labels": (_mean_recall, 2.0),
    "own, of probabilities": (_mean_certainty, 2.0),
}
NUMBERS: Final[dict[str, tuple[Any, float]]] = {
    "r2": ("r2", 1.5),
    "neg_median_absolute_error": ("neg_median_absolute_error", 2.0),
    "own, of numbers": (_within_fifty, 2.0),
}


def run(threads: int) -> list[Line]:  # noqa: ARG001 - one fit after the other
    """Measure a sweep under each score."""
    heart = load_heart_disease()
    X, y = load_diabetes(return_X_y=True)

    def labels(scoring: Any) -> Frontier:
        return sweep("auto", heart.X, heart.y, heart.costs, scoring=scoring)

    def numbers(scoring: Any) -> Frontier:
        return sweep("auto", X, y, scoring=scoring)

    return [
        *_against("accuracy", "heart", labels, LABELS),
        *_against("neg_mean_squared_error", "diabetes", numbers, NUMBERS),
    ]


def _against(
    rival: str, table: str, under: Callable[[Any], Frontier], scores: dict[str, tuple[Any, float]]
) -> list[Line]:
    under(rival)  # warms up what all of them share
    return [
        race(
            f"{table}, {name}",
            rival,
            partial(under, score),
            partial(under, rival),
            goal=goal,
            warm_up=False,
            clock=time.process_time,
        )
        for name, (score, goal) in scores.items()
    ]
