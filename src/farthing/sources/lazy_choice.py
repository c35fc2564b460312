"""Which of the models that one fit contains a lazy pipeline takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from farthing.walks import Decisions


def cheapest_model(
    model: Any, table: Any, y: Any, *, metric: Callable[..., float], within: float, sample_weight: Any = None
) -> Any:
    """Return the model of a fit that spends least, of those that are nearly as good as the best.

    Parameters
    ----------
    model : estimator
        Fitted; its `variants`, and the points of its ``path()`` if it has one, are tried.
    table : array or frame, shape (n_rows, n_features)
        Rows that it was not fitted on.
    y : array, shape (n_rows,)
        Their labels or numbers.
    metric : callable
        The score, as in scikit-learn; larger is better.
    within : float
        How much worse than the best score it may be.
    sample_weight : array, shape (n_rows,), optional
    """
    found = [
        (
            float(metric(y, made.prediction, sample_weight=sample_weight)),
            float(np.average(made.spent, weights=sample_weight)),
            one,
        )
        for one, made in _decided(model, table)
    ]
    best = max(score for score, _, _ in found)
    # Of equal spends the better one.
    return min((each for each in found if each[0] >= best - within), key=lambda e: (e[1], -e[0]))[2]


def _decided(model: Any, table: Any) -> Iterator[tuple[Any, Decisions]]:
    """Yield the models that a fit contains, with their decisions about the rows of a table."""
    for _, variant, made in model.decide_variants(table):
        yield variant, made
    if not hasattr(model, "path"):
        return
    decide = model.decider(table)
    for point in model.path().points:
        moved = point.model
        yield moved, decide(moved)
