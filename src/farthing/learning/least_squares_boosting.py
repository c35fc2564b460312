"""Gradient boosting of the squared loss: trees fitted to residuals, one after another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from farthing.collective import save, saved
from farthing.learning.booster import Boosting, Weighting
from farthing.learning.losses import SQUARED
from farthing.trees import Forest, Grower, Grown
from farthing.typing import Floats


def boost(
    grower: Grower,
    target: Floats,
    weights: Floats,
    *,
    start: float,
    n_estimators: int,
    learning_rate: float,
    l2_regularization: float = 0.0,
    after: Callable[[list[Forest]], Floats] | None = None,
) -> list[Forest]:
    """Fit one tree after another to the residuals of the target.

    Parameters
    ----------
    grower : Grower
        Grows on the binned table of the rows.
    target, weights : ndarray of float64, shape (n_rows,)
        The target, and the weight of each row.
    start : float
        The prediction before the first tree.
    n_estimators, learning_rate, l2_regularization
        As in `farthing.boosting.GradientBoostingRegressor`.
    after : callable, optional
        From trees to the predictions after them, shape (n_rows,): a fit that lost a peer continues from the
        trees that it has saved.

    Returns
    -------
    list of Forest
        One tree each, its values multiplied by the learning rate.
    """
    weighting = Weighting.of(weights)
    before: list[Forest] = [] if after is None else saved()
    scores = np.full((1, len(target)), start)
    if after is not None and before:
        scores[0] = after(before)
    boosting = Boosting(SQUARED, target, weighting, scores, learning_rate, n_before=len(before))

    def grow(gradients: Floats, hessians: Floats | None, number: int, step: float) -> Grown:
        # `Weighting` takes the common factor of the weights out of all sums, and so out of the penalty.
        return grower.gradient(
            gradients,
            hessians,
            l2_regularization=l2_regularization / weighting.unit,
            step=step,
            number=number,
        )

    for _ in range(len(before), n_estimators):
        # Without a split the residuals stay as they are, and so would every further tree.
        trees = boosting.round(grow, must_split=True)
        if not trees:
            break
        save(trees[0])
    return [*before, *boosting.trees]
