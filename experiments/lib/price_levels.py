"""How many features of each price a boosted model uses: figure 2 of Xu, Weinberger, Chapelle (ICML 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class PriceLevel:
    """The features of one price, and how many of them a model uses.

    Attributes
    ----------
    price : float
        The price of a feature bought alone, shared cost included.
    n_features, n_bought : int
        Features of this price, and those of them that some tree tests.
    """

    price: float
    n_features: int
    n_bought: int


def bought_by_price(model: Any, n_rounds: int | None = None) -> list[PriceLevel]:
    """Count the features that the trees of a boosted model test, by their price.

    Parameters
    ----------
    model : GreedyMiserClassifier, GreedyMiserRegressor, GreedyMiserRanker or GradientBoostingRegressor
        Fitted.
    n_rounds : int, optional
        Look at the first so many rounds only.

    Returns
    -------
    list of PriceLevel
        By ascending price.

    Examples
    --------
    >>> from farthing.boosting import GreedyMiserRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = GreedyMiserRegressor(costs=[1.0, 1.0, 5.0], tradeoff=0.1, relative=True).fit(X, X[:, 0])
    >>> bought_by_price(model)
    [PriceLevel(price=1.0, n_features=2, n_bought=1), PriceLevel(price=5.0, n_features=1, n_bought=0)]
    """
    forest, costs = model.forest_, model.costs_
    rounds = model.n_rounds_ if n_rounds is None else min(n_rounds, model.n_rounds_)
    # One tree of one node for each output comes before the rounds.
    n_outputs = forest.n_trees // (model.n_rounds_ + 1)
    tested = forest.feature[: forest.offsets[(rounds + 1) * n_outputs]]
    bought = np.zeros(forest.n_features, dtype=np.bool_)
    bought[tested[tested >= 0]] = True
    prices = np.array([costs.price(name) for name in costs.features])
    return [
        PriceLevel(float(p), int((prices == p).sum()), int((bought & (prices == p)).sum()))
        for p in np.unique(prices)
    ]
