"""FMCC: buy the feature with which a linear model is most often right on the nearest training rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, Self

from sklearn.utils.validation import check_is_fitted

from farthing.base import documented, register
from farthing.boosting import AdaBoostClassifier
from farthing.neighbors.margins import Unmeasured
from farthing.neighbors.neighborhoods import NEIGHBORS, NeighborhoodClassifier

# What one fit gives a sweep.
_CONFIDENCES: Final = (0.6, 0.75, 0.85, 0.95, 1.0)
# Gains that a feature of mean price must bring, in the settings that a sweep tries.
_WORTHS: Final = (0.0, 0.05, 0.2)
# Rows kept in a sweep, where each row to predict is compared with them all.
_SWEEP_ROWS: Final = 4000
# For checks of the contract.
_SMALL: Final = AdaBoostClassifier(n_rounds=20)


def _grid(ground: Any) -> dict[str, list[Any]]:
    """Return weights of the prices that suit the price list."""
    mean = ground.costs.total(ground.costs.features) / ground.n_features
    return {
        "alpha": [worth / mean if mean else worth for worth in _WORTHS],
        "max_rows": [None if ground.n_rows <= _SWEEP_ROWS else _SWEEP_ROWS],
    }


@register(
    grid=_grid,
    auto=False,
    trials=[
        {"estimator": _SMALL, "n_neighbors": "exact", "alpha": 0.02, "confidence": 1.0},
        {"estimator": _SMALL, "n_neighbors": 9, "alpha": 0.1, "unmeasured": "missing"},
    ],
)
@documented(NEIGHBORS)
class MarginNeighborsClassifier(NeighborhoodClassifier):
    """Margins of nearest neighbours say which feature to buy next and when to stop (FMCC), for two classes.

    A linear model f(x) = b + sum of m_j(x_j) is learned without regard to prices; a stump's vote is a margin
    of its feature. After each purchase the nearest training rows are found by what is measured of the row.
    The share of them that the votes of the measured features set right is the probability that the row's own
    vote is right (2.4); the same share with one more feature says what that feature would bring (2.5). The
    row buys the feature that maximises this share less ``alpha`` times its price, and ends when the share
    without it is above ``confidence``. Its prediction is the sign of the vote so far (2.1).

    Before the first purchase all training rows are neighbours. Features that the model gives no vote are
    never bought. Prices are what the row would pay now, so a shared cost counts once.

    The distance is Euclidean over the measured features. Different categories are as far apart as their
    indicators, sqrt(2); a training row without a value is as far from any value as two rows are on average; a
    value that was measured and is missing changes no distance, and votes as missing values do.

    Parameters
    ----------
    {estimator}
    alpha : float
        What a unit of price counts against a gain in the probability of being right.
    {confidence}
    {budget}
    {rows}
    random_state : int, RandomState or None
        Draws the rows kept.
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
        alpha: float = 0.0,
        confidence: float = 0.95,
        budget: float | None = None,
        standardize: bool = True,
        unmeasured: Unmeasured = "zero",
        max_rows: int | None = None,
        random_state: Any = None,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.confidence = confidence
        self.budget = budget
        self.standardize = standardize
        self.unmeasured = unmeasured
        self.max_rows = max_rows
        self.random_state = random_state
        self.costs = costs
        self.n_jobs = n_jobs

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield models that stop earlier or later, see `BudgetedEstimator.variants`; itself comes last."""
        check_is_fitted(self)
        for confidence in _CONFIDENCES:
            if confidence != self.confidence_:
                params = {"confidence": confidence}
                yield params, self._variant(params, confidence_=confidence)
        yield {}, self
