"""The falls of the loss that answers bring about, beside those that their reasons predicted.

Reasons are made from training rows, which a model fits better than new ones, and a boosted or averaged belief
moves less than the labels do. So the predicted falls ``f`` of the risk are off by about a factor, which is
the slope of the realised falls ``r`` of held-out rows over them, by least squares through zero. Its standard
error is that of whole rows, since the questions of one row depend on each other. With a normal prior around 1
the factor of few rows stays near 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.walks.reasoning import Reasoning
from farthing.walks.row_walk import RowWalk

# The predicted and the realised fall of each question of a row.
RowFalls: TypeAlias = list[tuple[float, float]]

# Standard deviation of the factor around 1 before any row is seen.
_PRIOR: Final = 0.5
_BOUNDS: Final = (0.1, 10.0)


def fall_factor(model: Any, values: NDArray[np.floating], truth: NDArray[Any]) -> tuple[float, int]:
    """Return the factor by which predicted falls of the risk have to be multiplied, and the questions seen.

    Parameters
    ----------
    model : FittedModel
        The model; its rows below are not among those that it learned from.
    values : ndarray, shape (n_rows, n_features)
        The encoded rows.
    truth : ndarray, shape (n_rows,)
        Labels or numbers.

    Returns
    -------
    factor : float
        1 if the model predicts no falls.
    n_questions : int
    """
    return factor_of(table_falls(model, values, truth))


def table_falls(model: Any, values: NDArray[np.floating], truth: NDArray[Any]) -> list[RowFalls]:
    """Return what `row_falls` gives for each row; parameters as in `fall_factor`."""
    return [row_falls(model, entries, label) for entries, label in zip(values, truth.tolist(), strict=True)]


def factor_of(pairs: Sequence[RowFalls]) -> tuple[float, int]:
    """Return the factor, and the number of questions, from what `row_falls` gave for some rows.

    Examples
    --------
    Many rows whose loss fell by half of what was predicted:

    >>> factor_of([[(0.2, 0.1)]] * 100)
    (0.5, 100)
    """
    top = np.array([sum(f * r for f, r in row) for row in pairs])
    bottom = np.array([sum(f * f for f, _ in row) for row in pairs])
    n_questions = sum(map(len, pairs))
    if not bottom.sum() > 0:
        return 1.0, 0
    slope = float(top.sum() / bottom.sum())
    variance = float(np.sum((top - slope * bottom) ** 2) / bottom.sum() ** 2)
    weight = _PRIOR**2 / (_PRIOR**2 + variance)
    return float(np.clip(1 + weight * (slope - 1), *_BOUNDS)), n_questions


def row_falls(model: Any, entries: NDArray[np.floating], truth: Any) -> RowFalls:
    """Walk a row; return the predicted and the realised fall of each question, or stage of questions."""
    walk = RowWalk(model.policy(None), RowLedger(model.costs, model.budget))
    reasoning = Reasoning(model, None, model.conclude_row, ())
    found = []
    while walk.column is not None:
        measure, fall = reasoning.expected(walk)
        before = _loss(reasoning.belief(walk), truth, measure)
        stage = _stage(walk)
        walk.buy(float(entries[walk.column]))
        # The answers of a stage are looked at together.
        while stage is not None and walk.column is not None and _stage(walk) == stage:
            walk.buy(float(entries[walk.column]))
        if fall is not None:
            found.append((fall, before - _loss(reasoning.belief(walk), truth, measure)))
    return found


def _stage(walk: RowWalk) -> int | None:
    """Return the stage that the question belongs to; None if answers are looked at one by one."""
    return getattr(walk.policy, "stage", None)


def _loss(belief: tuple[Any, dict[Any, float] | None], truth: Any, measure: str) -> float:
    prediction, likely = belief
    if measure == "error":
        return float(prediction != truth)
    if likely is None:
        return float((prediction - truth) ** 2)
    return float(sum((p - (label == truth)) ** 2 for label, p in likely.items()))
