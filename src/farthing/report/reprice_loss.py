"""What is lost by moving a model to other prices in place of a new fit at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from farthing.base import BudgetedEstimator
from farthing.costs import CostsLike


@dataclass(frozen=True, slots=True)
class RepriceLoss:
    """A repriced model beside one that was fitted at the new prices, on the same rows.

    Attributes
    ----------
    n_rows : int
        Rows that both were measured on.
    spend, score : float
        Of the repriced model: mean spend at the new prices, and what its ``score`` returns.
    refit_spend, refit_score : float
        Of the new fit.
    """

    n_rows: int
    spend: float
    score: float
    refit_spend: float
    refit_score: float

    @property
    def loss(self) -> float:
        """By how much the score of the new fit is higher."""
        return self.refit_score - self.score

    def __str__(self) -> str:
        return (
            f"repriced: score {self.score:.4g} for {self.spend:.4g}; fitted at the new prices: "
            f"{self.refit_score:.4g} for {self.refit_spend:.4g}; loss {self.loss:+.4g} on {self.n_rows} rows"
        )


def reprice_loss(
    model: BudgetedEstimator, costs: CostsLike, learn: tuple[Any, Any], test: tuple[Any, Any]
) -> RepriceLoss:
    """Measure what ``model.reprice(costs)`` loses against a new fit.

    Parameters
    ----------
    model : estimator
        Fitted, of a method that can be repriced.
    costs : CostSheet, mapping, array, Series or path
        The new prices.
    learn : tuple of X and y
        The rows to fit on, usually those of the model's own fit.
    test : tuple of X and y
        Other rows, to measure both on.

    Returns
    -------
    RepriceLoss

    Examples
    --------
    >>> from farthing.cascades import MiserCascadeClassifier
    >>> from farthing.datasets import load_thyroid
    >>> data = load_thyroid()
    >>> learn, test = (data.X[:800], data.y[:800]), (data.X[800:1600], data.y[800:1600])
    >>> model = MiserCascadeClassifier(data.costs, 20.0, n_estimators=10, n_stages=4, random_state=0)
    >>> model = model.fit(*learn)
    >>> found = reprice_loss(model, data.costs, learn, test)
    >>> found.n_rows, found.loss
    (800, 0.0)
    """
    moved = model.reprice(costs)
    again = clone(model).set_params(costs=moved.fitted_.costs.without_calls()).fit(*learn)
    figures = [(float(np.mean(one.spend(test[0]))), float(one.score(*test))) for one in (moved, again)]
    return RepriceLoss(len(test[1]), *figures[0], *figures[1])
