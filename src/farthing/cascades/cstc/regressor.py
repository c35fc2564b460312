"""CSTC for numbers."""

from __future__ import annotations

from typing import Any, Literal

from farthing.base import ContractRegressor, TrainingSet, documented, register
from farthing.cascades.cstc.base import CSTCBase
from farthing.cascades.cstc.parameters import OVER_COLUMNS, TEXTS, grid
from farthing.cascades.cstc.tasks import Numbers
from farthing.cascades.score_tree import ScoreTreeRegressorModel
from farthing.costs import CostsLike
from farthing.learning.merged_rows import merged_rows


@register(grid=grid, auto=False, trials=[OVER_COLUMNS])
@documented(TEXTS)
class CSTCRegressor(CSTCBase, ContractRegressor):
    """A tree of linear regressions that are optimised together, under the expected price of their paths.

    See `CSTCClassifier`. The loss is half of the squared error, in units of the target's variance, so that a
    trade-off means the same for targets of any scale.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    {references}

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 4.0], [3.0, 1.0]] * 5)
    >>> model = CSTCRegressor([1.0, 10.0], depth=1).fit(X, 2 * X[:, 0])
    >>> model.predict(X[:4]).round(2), model.spend(X[:4])
    (array([0., 2., 4., 6.]), array([1., 1., 1., 1.]))
    """

    model_type = ScoreTreeRegressorModel

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        tradeoff: float = 0.01,
        learners: Literal["columns", "trees"] = "columns",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 4,
        tree_cost: float = 0.0,
        depth: int = 3,
        sparsity: float = 1e-4,
        steepness: float = 10.0,
        max_cycles: int = 10,
        tol: float = 1e-3,
        validation_fraction: float | None = 0.2,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.tradeoff = tradeoff
        self.learners = learners
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.tree_cost = tree_cost
        self.depth = depth
        self.sparsity = sparsity
        self.steepness = steepness
        self.max_cycles = max_cycles
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _learn(self, rows: TrainingSet) -> ScoreTreeRegressorModel:
        merged = merged_rows(rows)
        return self._model_of_numbers(merged, Numbers.of(merged))
