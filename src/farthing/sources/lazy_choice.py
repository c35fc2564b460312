"""Which of the models that one fit contains a lazy pipeline takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.walks import Decisions

_N_PARTS: Final = 5
# With fewer rows a part would be too small for a score.
_LEAST_ROWS: Final = 20


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
        How much worse it may be than a model that is chosen by its score alone does on other rows; see
        `score_of_choice`.
    sample_weight : array, shape (n_rows,), optional
    """
    found = list(_decided(model, table))
    predictions = [made.prediction for _, made in found]
    scores = [float(metric(y, prediction, sample_weight=sample_weight)) for prediction in predictions]
    spends = [float(np.average(made.spent, weights=sample_weight)) for _, made in found]
    least = score_of_choice(predictions, y, metric, sample_weight) - within
    good = [place for place, score in enumerate(scores) if score >= min(least, max(scores))]
    # Of equal spends the better one.
    return found[min(good, key=lambda place: (spends[place], -scores[place]))][0]


def score_of_choice(
    predictions: Sequence[NDArray[Any]],
    y: Any,
    metric: Callable[..., float],
    sample_weight: Any = None,
) -> float:
    """Return what the model of the best score has on rows that did not choose it.

    The best of many scores on the same rows is too high, as it is in part luck. So each fifth of the rows is
    scored by the model that is the best on the others. Where there are few rows it is the best score.

    Parameters
    ----------
    predictions : sequence of ndarray, shape (n_rows,)
        Of each model.
    y, metric, sample_weight
        As in `cheapest_model`.

    Examples
    --------
    >>> y = np.arange(40) % 2
    >>> score_of_choice([y, 1 - y], y, lambda y, p, sample_weight: (y == p).mean())
    1.0
    """
    truth = np.asarray(y)
    weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
    counted = np.flatnonzero(weights > 0)

    def score(prediction: NDArray[Any], rows: NDArray[np.int64]) -> float:
        return float(metric(truth[rows], prediction[rows], sample_weight=weights[rows]))

    if len(counted) < _LEAST_ROWS:
        return max(score(prediction, counted) for prediction in predictions)
    found, shares = [], []
    for part in range(_N_PARTS):
        rest = np.delete(counted, np.s_[part::_N_PARTS])
        scores = [score(prediction, rest) for prediction in predictions]
        rows = counted[part::_N_PARTS]
        found.append(score(predictions[int(np.argmax(scores))], rows))
        shares.append(float(weights[rows].sum()))
    return float(np.average(found, weights=shares))


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
