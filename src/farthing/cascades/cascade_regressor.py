"""The miser cascade for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractRegressor, documented, register
from farthing.boosting import GreedyMiserRegressor
from farthing.boosting.losses import SQUARED, Loss
from farthing.cascades.cascade_grid import cascade_auto, cascade_grid
from farthing.cascades.miser_cascade import TEXTS, BudgetKind, Floats, MiserCascade
from farthing.cascades.nursery import Booster, Nursery


@register(
    grid=cascade_grid,
    auto=cascade_auto,
    rank=1,
    trials=[{"n_stages": 2, "n_trees": 3, "max_depth": 2, "n_folds": 2, "learning_rate": 0.5}],
)
@documented(TEXTS)
class MiserCascadeRegressor(MiserCascade, ContractRegressor):
    """Stages that own more and more features, boosted trees at each, and exits by what going on would gain.

    As `MiserCascadeClassifier`, on squared error. How sure a number is cannot be read off it, so each set of
    features has a gate: trees over the same features that tell by how much the squared error would fall,
    grown on rows that the boosters have not seen. A row stops where that is at most the stage's threshold.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    The second feature tells the rest of the rows where the first is positive, and costs ten times as much.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> y = 5 * (X[:, 0] > 0) * (X[:, 1] > 0)
    >>> model = MiserCascadeRegressor(costs=[1, 10], budget=7, random_state=0).fit(X, y)
    >>> bool(model.spend(X)[X[:, 0] < 0].mean() < model.spend(X)[X[:, 0] > 0].mean())
    True
    """

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        kind: BudgetKind = "mean",
        n_stages: int = 20,
        n_trees: int = 100,
        patience: int | None = 10,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaves: int | None = None,
        min_rows_leaf: int = 1,
        l2: float = 1.0,
        max_bins: int = 255,
        n_folds: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs,
            budget,
            kind=kind,
            n_stages=n_stages,
            n_trees=n_trees,
            patience=patience,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaves=max_leaves,
            min_rows_leaf=min_rows_leaf,
            l2=l2,
            max_bins=max_bins,
            n_folds=n_folds,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._set_up(GreedyMiserRegressor())._check_parameters()

    def _loss(self) -> Loss:
        return SQUARED

    def _known_target(self, y: Any) -> NDArray[Any]:
        return self._learn_target(y)

    def _calibrate(self, nursery: Nursery, boosters: list[Booster]) -> None:
        """Numbers are what they say."""

    def _read(self, place: int, scores: Floats) -> Floats:  # noqa: ARG002
        return scores

    def _errors(self, target: NDArray[Any], outputs: Floats) -> Floats:
        return np.asarray((target - outputs[:, 0]) ** 2)

    def _check_stored(self) -> None:
        super()._check_stored()
        if len(self.prior_) != 2:
            raise ValueError(f"a number and its gate are two outputs; got {len(self.prior_)}")
