"""The miser cascade for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from farthing.base import (
    BudgetKind,
    ContractRegressor,
    Guarantee,
    RegressorModel,
    TrainingSet,
    documented,
    register,
)
from farthing.cascades.miser_cascade.base import MiserCascadeBase
from farthing.cascades.miser_cascade.grid import cascade_auto, cascade_grid
from farthing.cascades.miser_cascade.model import MiserCascadeModel
from farthing.cascades.miser_cascade.parameters import TEXTS
from farthing.cascades.miser_cascade.readout import NumberReadout
from farthing.costs import CostsLike
from farthing.learning.losses import SQUARED, Loss
from farthing.learning.out_of_fold import OutOfFoldBooster, OutOfFoldTrainer
from farthing.learning.unordered import UnorderedMixin


@dataclass(frozen=True, eq=False, kw_only=True)
class MiserCascadeRegressorModel(MiserCascadeModel, RegressorModel):
    """A miser cascade whose raw outputs are a number and the output of the gate."""

    @property
    def readout(self) -> NumberReadout:
        """The interpretation of a stage's scores."""
        return NumberReadout()

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        if len(self.prior) != 2:
            raise ValueError(f"a number and its gate are two outputs; got {len(self.prior)}")


@register(
    grid=cascade_grid,
    auto=cascade_auto,
    rank=1,
    time_rank=6,
    trials=[{"n_stages": 2, "n_estimators": 3, "max_depth": 2, "n_folds": 2, "learning_rate": 0.5}],
)
@documented(TEXTS)
class MiserCascadeRegressor(UnorderedMixin, MiserCascadeBase[NumberReadout], ContractRegressor):
    """Stages that own more and more features, boosted trees at each, and exits by the gain of going on.

    Like `MiserCascadeClassifier`, but on squared error. A predicted number carries no confidence, so each set
    of features has a gate: trees over the same features that predict by how much the squared error would
    fall, grown on rows that the boosters have not seen. A row stops where that is at most the stage's
    threshold.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    The second feature matters only where the first is positive, and costs ten times as much.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> y = 5 * (X[:, 0] > 0) * (X[:, 1] > 0)
    >>> model = MiserCascadeRegressor(costs=[1, 10], budget=7, random_state=0).fit(X, y)
    >>> bool(model.spend(X)[X[:, 0] < 0].mean() < model.spend(X)[X[:, 0] > 0].mean())
    True
    """

    model_type = MiserCascadeRegressorModel

    fitted_: MiserCascadeRegressorModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        budget_kind: BudgetKind = "mean",
        n_stages: int = 20,
        n_estimators: int = 100,
        n_iter_no_change: int | None = 10,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 1.0,
        max_bins: int = 255,
        guarantee: Guarantee | None = None,
        n_folds: int | None = None,
        ensemble: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs,
            budget,
            budget_kind=budget_kind,
            n_stages=n_stages,
            n_estimators=n_estimators,
            n_iter_no_change=n_iter_no_change,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            l2_regularization=l2_regularization,
            max_bins=max_bins,
            guarantee=guarantee,
            n_folds=n_folds,
            ensemble=ensemble,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def _loss(self, rows: TrainingSet) -> Loss:
        return SQUARED

    def _readout(
        self,
        trainer: OutOfFoldTrainer,  # numbers need no calibration
        boosters: list[OutOfFoldBooster],
    ) -> NumberReadout:
        return NumberReadout()

    def _make_model(self, readout: NumberReadout, fields: dict[str, Any]) -> MiserCascadeRegressorModel:
        return MiserCascadeRegressorModel(**fields)
