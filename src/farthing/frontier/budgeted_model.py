"""The fitted model of `BudgetedClassifier` and `BudgetedRegressor`: a wrapper around the chosen model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.base import (
    BudgetedEstimator,
    FittedModel,
    Frontier,
    Point,
    PricedErrorsModel,
    RegressorModel,
)
from farthing.costs import RowLedger
from farthing.learning.calibration import temper
from farthing.walks import Policy, pass_refusal


@dataclass(frozen=True, eq=False, kw_only=True)
class ChosenModel(FittedModel):
    """Predicts as the inner model; a raw output of the wrapper is a conclusion of the inner model.

    Parameters
    ----------
    model : estimator
        The chosen model, fitted on all rows.
    chosen : Point
        Its spend and score on new rows, as estimated.
    path : list of Point
        The same for each of its variants, with the parameters that the variant sets.
    frontier : Frontier
        The points of the sweep.
    """

    model: BudgetedEstimator
    chosen: Point
    path: list[Point]
    frontier: Frontier

    def translate(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the raw outputs of the wrapper, (n_rows, n_outputs), from those of the inner model."""
        concluded = self.model.fitted_.conclude(outputs)
        return np.asarray(concluded[:, np.newaxis] if concluded.ndim == 1 else concluded)

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the inner model may read, shape (n_features,)."""
        return self.model.fitted_.may_buy()

    def policy(self, seed: int | None = None) -> Policy:
        """Return the policy of the inner model, with the outputs of the wrapper."""
        return _TranslatedPolicy(self, self.model.fitted_.policy(seed))

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # noqa: ARG002 - the inner model has its own number of jobs
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows as the inner model does; see `FittedModel.outputs`."""
        within = self.model.fitted_
        outputs, acquired = within.outputs(
            values, budget=budget, seeds=seeds, n_threads=self.model.n_threads()
        )
        return self.translate(outputs), acquired

    def check(self) -> None:
        """Raise ValueError unless columns, costs and prior are those of the inner model."""
        super().check()
        if not isinstance(self.frontier, Frontier) or not isinstance(self.chosen, Point):
            raise TypeError("frontier and chosen must be a Frontier and a Point")
        if not self.path or not all(isinstance(point, Point) for point in self.path):
            raise TypeError("path must be a list of points")
        within = self.model.fitted_
        if within.schema != self.schema or within.costs != self.costs:
            raise ValueError("the columns and costs must be those of the inner model")
        # The best guess without looking is a share of the training rows, so it is not calibrated.
        if not np.array_equal(np.atleast_1d(within.conclude(within.prior[np.newaxis])[0]), self.prior):
            raise ValueError("prior must be that of the inner model")


@dataclass(frozen=True, eq=False, kw_only=True)
class ChosenClassifierModel(ChosenModel, PricedErrorsModel):
    """The raw output is the model's probabilities, calibrated.

    Parameters
    ----------
    temperature : float
        Above 1 flattens the probabilities of the inner model, below 1 sharpens them.
    """

    temperature: float

    def translate(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the calibrated probabilities, shape (n_rows, n_classes)."""
        return temper(self.model.fitted_.conclude(outputs), self.temperature)

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the raw outputs, which are probabilities."""
        return outputs

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature must be above zero; got {self.temperature!r}")
        super().check()
        if not np.array_equal(self.model.fitted_.state()["classes_"], self.classes):
            raise ValueError("the classes must be those of the inner model")


@dataclass(frozen=True, eq=False, kw_only=True)
class ChosenRegressorModel(ChosenModel, RegressorModel):
    """The raw output is the prediction of the inner model."""


class _TranslatedPolicy:
    """The policy of the chosen model, with the outputs of the wrapper."""

    def __init__(self, model: ChosenModel, policy: Policy) -> None:
        self._model = model
        self._policy = policy

    def wants(self, ledger: RowLedger) -> int | None:
        return self._policy.wants(ledger)

    def hear(self, column: int, value: float) -> None:
        self._policy.hear(column, value)

    def refuse(self, column: int) -> None:
        pass_refusal(self._policy, column)

    def output(self) -> NDArray[np.float64]:
        return np.asarray(self._model.translate(self._policy.output()[np.newaxis])[0])
