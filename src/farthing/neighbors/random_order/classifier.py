"""Features in random order: the baseline of the neighbour methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from farthing.base import documented, register
from farthing.boosting import AdaBoostClassifier
from farthing.costs import CostsLike
from farthing.neighbors.acquisition.margins import Unmeasured
from farthing.neighbors.acquisition.neighborhood import NEIGHBORS, NeighborhoodClassifier, NeighborhoodModel


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomOrderModel(NeighborhoodModel):
    """A neighbourhood model that buys features in a random order given by the seed."""

    random_order: ClassVar[bool] = True


@register(
    trials=[{"estimator": AdaBoostClassifier(n_estimators=20), "n_neighbors": 9, "confidence": 0.8}],
)
@documented(NEIGHBORS)
class RandomOrderClassifier(NeighborhoodClassifier):
    """Buy features in random order, regardless of cost, and vote as `MarginNeighborsClassifier` does.

    The order depends on the seed alone. Rows share the model's seed, so equal rows get equal labels;
    ``seeds=`` of the array calls gives each row its own order. The stopping rule is the same.

    Parameters
    ----------
    {estimator}
    {confidence}
    {budget}
    {rows}
    random_state : int, RandomState or None
        Seed of the order, and of the rows kept if ``max_rows`` is set.
    {costs}

    Attributes
    ----------
    {attributes}
    seed_ : int
        The model's seed.

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Section 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = RandomOrderClassifier(confidence=1.0, random_state=0).fit(X, X.sum(axis=1) > 0)
    >>> model.acquired(X, budget=1, seeds=np.arange(100)).sum(axis=0)  # one feature each
    array([...])
    """

    model_type = RandomOrderModel

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int | Literal["exact"] = 50,
        radius: float | None = None,
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
        self.confidence = confidence
        self.budget = budget
        self.standardize = standardize
        self.unmeasured = unmeasured
        self.max_rows = max_rows
        self.random_state = random_state
        self.class_weight = class_weight
        self.costs = costs
        self.n_jobs = n_jobs
