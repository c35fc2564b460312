"""The Greedy Miser for numbers."""

from __future__ import annotations

from farthing.base import ContractRegressor, TrainingSet, documented, register
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.boosting.greedy_miser.grid import miser_grid
from farthing.boosting.greedy_miser.model import GreedyMiserRegressorModel
from farthing.boosting.greedy_miser.parameters import SHARED
from farthing.learning.losses import SQUARED, Loss
from farthing.learning.unordered import UnorderedMixin


@register(
    grid=miser_grid,
    rank=2,
    time_rank=2,
    trials=[
        {"n_estimators": 12, "tradeoff": 0.01, "relative": True, "max_depth": 2},
        {"n_estimators": 8, "tradeoff": 0.1, "charge": "row", "budget": 2.5},
    ],
)
@documented(SHARED)
class GreedyMiserRegressor(UnorderedMixin, GreedyMiser, ContractRegressor):
    """Boosted regression trees on squared loss that weigh the gain of a feature against its cost.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Xu, Weinberger, Chapelle: The Greedy Miser: Learning under Test-time Budgets. ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[:, 2] = X[:, 0] + X[:, 1]
    >>> model = GreedyMiserRegressor(costs=[1, 1, 10], tradeoff=0.05, relative=True).fit(X, X[:, 2])
    >>> model.acquired(X).any(axis=0)
    array([ True,  True, False])
    """

    model_type = GreedyMiserRegressorModel
    fitted_: GreedyMiserRegressorModel

    def _loss(self, rows: TrainingSet) -> Loss:
        return SQUARED
