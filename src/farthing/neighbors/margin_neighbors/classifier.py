"""FMCC: buy the feature with which an additive model is right on most of the nearest training rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Literal, Self

from sklearn.utils.validation import check_is_fitted

from farthing.base import SweepContext, documented, register
from farthing.boosting import AdaBoostClassifier
from farthing.costs import CostsLike, per_price
from farthing.neighbors.acquisition.margins import Unmeasured
from farthing.neighbors.acquisition.neighborhood import NEIGHBORS, NeighborhoodClassifier

# Confidences that one fit provides for a sweep.
_CONFIDENCES: Final = (0.6, 0.75, 0.85, 0.95, 1.0)
# The gains that a sweep requires of a feature of average price.
_GAINS: Final = (0.0, 0.05, 0.2)
# Maximum number of training rows in a sweep, since every row to predict is compared with all of them.
_SWEEP_ROWS: Final = 4000
# For the checks of the contract.
_SMALL: Final = AdaBoostClassifier(n_estimators=20)


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return trade-offs that suit the price list."""
    price = context.mean_price
    return {
        # With free features any trade-off gives the same model.
        "tradeoff": [float(per_price(gain, price)) if price else gain for gain in _GAINS],
        "max_rows": [None if context.n_rows <= _SWEEP_ROWS else _SWEEP_ROWS],
    }


@register(
    grid=_grid,
    auto=False,
    trials=[
        {"estimator": _SMALL, "n_neighbors": "exact", "tradeoff": 0.02, "confidence": 1.0},
        {
            "estimator": _SMALL,
            "n_neighbors": 9,
            "radius": 0.5,
            "tradeoff": 0.1,
            "unmeasured": "missing",
        },
    ],
)
@documented(NEIGHBORS)
class MarginNeighborsClassifier(NeighborhoodClassifier):
    """Buy features by their margins on the nearest training rows (FMCC); binary labels.

    An additive model f(x) = b + sum of m_j(x_j) is learned without regard to prices; the vote of a stump is
    a margin of its feature. After each purchase, the nearest training rows are found by the features measured
    so far. The share of them that the vote of these features classifies correctly estimates the probability
    that the row's own vote is right (equation 2.4); the same share with one more feature estimates that
    probability after its purchase (2.5). The row buys the feature that maximises the latter minus
    ``tradeoff`` times its price, and stops when the former is above ``confidence``. The prediction is the
    sign of the vote so far (2.1).

    Before the first purchase all training rows are neighbours. Features that the model does not use are never
    bought. Prices are those that the row would pay now, so a shared cost counts once.

    The distance is Euclidean over the measured features. The distance of different categories is that of
    their indicators, sqrt(2); that of a training row without a value is the mean distance of two rows. A
    measured value that is missing changes no distance, and has the margin of a missing value.

    Parameters
    ----------
    {estimator}
    tradeoff : float
        The weight of a unit of price against the probability of being right: a probability per unit of price.
    {confidence}
    {budget}
    {rows}
    random_state : int, RandomState or None
        Seed of the rows kept, if ``max_rows`` is set.
    {costs}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Chapter 2, algorithm 1.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = MarginNeighborsClassifier(n_neighbors=30, budget=60, costs=heart.costs)
    >>> model = model.fit(heart.X[1:], heart.y[1:])
    >>> walk = model.walk()
    >>> walk.ask
    Ask(feature='cp', price=1.0, group=None)
    >>> walk.tell(heart.X.iloc[0]["cp"])
    >>> bool(model.spend(heart.X).max() <= 60)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int | Literal["exact"] = 50,
        radius: float | None = None,
        tradeoff: float = 0.0,
        confidence: float = 0.95,
        budget: float | None = None,
        standardize: bool = True,
        unmeasured: Unmeasured = "zero",
        max_rows: int | None = None,
        random_state: Any = None,
        class_weight: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.tradeoff = tradeoff
        self.confidence = confidence
        self.budget = budget
        self.standardize = standardize
        self.unmeasured = unmeasured
        self.max_rows = max_rows
        self.random_state = random_state
        self.class_weight = class_weight
        self.costs = costs
        self.n_jobs = n_jobs

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield models that stop earlier or later, see `BudgetedEstimator.variants`; itself comes last."""
        check_is_fitted(self)
        # The confidence is read at prediction only, so no variant needs another fit.
        for confidence in _CONFIDENCES:
            if confidence != self.fitted_.confidence:
                model = replace(self.fitted_, confidence=confidence)
                yield {"confidence": confidence}, self.variant({"confidence": confidence}, model)
        yield {}, self
