"""The fitted model of `BudgetedClassifier` and `BudgetedRegressor`: a wrapper around the chosen model."""

from __future__ import annotations

from collections.abc import Sequence
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
from farthing.walks import Expectation, Policy, Split, Stand, pass_refusal, split_of, stand_of
from farthing.walks.plans import Link, LinkStep, Plan


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
    optimism : float
        How much of the score was due to the choice; it is taken off the scores of ``chosen`` and ``path``.
    growth : float
        How much more new rows spend than those that a model learned from, as a factor.
    above : estimator or None
        A more expensive model of the same fit, for a share of the rows.
    share : float
        The share of the seeds that take it, 0 to 1.
    """

    model: BudgetedEstimator
    chosen: Point
    path: list[Point]
    frontier: Frontier
    optimism: float = 0.0
    growth: float = 1.0
    above: BudgetedEstimator | None = None
    share: float = 0.0

    def translate(self, outputs: NDArray[np.float64], within: FittedModel) -> NDArray[np.float64]:
        """Return the raw outputs of the wrapper, (n_rows, n_outputs), from those of an inner model."""
        concluded = within.conclude(outputs)
        return np.asarray(concluded[:, np.newaxis] if concluded.ndim == 1 else concluded)

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the inner models may read, shape (n_features,)."""
        may = self.model.fitted_.may_buy()
        return may if self.above is None else may | self.above.fitted_.may_buy()

    def policy(self, seed: int | None = None) -> Policy:
        """Return the policy of an inner model, with the outputs of the wrapper."""
        taken = self.model
        if seed is not None and self.above is not None and is_heads(np.array([seed]), self.share)[0]:
            taken = self.above
        return _TranslatedPolicy(self, taken.fitted_, taken.fitted_.policy(seed))

    def believe(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities or values from raw outputs of the inner model."""
        return self.conclude(self.translate(outputs, self.model.fitted_))

    def label_shares(self, stands: Sequence[Stand]) -> NDArray[np.float64] | None:
        """Return what the inner model knows of the labels where rows stand."""
        return self.model.fitted_.label_shares(stands)

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return the values of a column that the inner model tells."""
        return self.model.fitted_.likely_answers(column)

    def plan(self) -> Plan:
        """Return the plan of the inner model, which predicts where no seed is given."""
        return self.model.fitted_.plan()

    def link_steps(self) -> Link:
        """Return the steps of the inner model."""
        return self.model.fitted_.link_steps()

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # noqa: ARG002 - the inner model has its own number of jobs
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows as the inner models do; see `FittedModel.outputs`."""
        found = self._outputs_of(self.model, values, budget, seeds)
        if seeds is None or self.above is None:
            return found
        heads = is_heads(seeds, self.share)
        caps = None if budget is None else budget[heads]
        some = self._outputs_of(self.above, values[heads], caps, seeds[heads])
        for whole, part in zip(found, some, strict=True):
            whole[heads] = part
        return found

    def _outputs_of(
        self,
        model: BudgetedEstimator,
        values: NDArray[np.floating],
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        outputs, acquired = model.fitted_.outputs(
            values, budget=budget, seeds=seeds, n_threads=model.n_threads()
        )
        return self.translate(outputs, model.fitted_), acquired

    def check(self) -> None:
        """Raise ValueError unless columns, costs and prior are those of the inner model."""
        super().check()
        if not isinstance(self.frontier, Frontier) or not isinstance(self.chosen, Point):
            raise TypeError("frontier and chosen must be a Frontier and a Point")
        if not self.path or not all(isinstance(point, Point) for point in self.path):
            raise TypeError("path must be a list of points")
        if not 0 <= self.share <= 1 or not 0 < self.growth < np.inf or not np.isfinite(self.optimism):
            raise ValueError("share must be 0 to 1, growth above 0, and optimism a number")
        for model in [self.model, *([] if self.above is None else [self.above])]:
            within = model.fitted_
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

    def translate(self, outputs: NDArray[np.float64], within: FittedModel) -> NDArray[np.float64]:
        """Return the calibrated probabilities, shape (n_rows, n_classes)."""
        return temper(within.conclude(outputs), self.temperature)

    def link_steps(self) -> Link:
        """Return the steps of the inner model, and the calibration."""
        inner = super().link_steps()
        return inner if self.temperature == 1 else (*inner, LinkStep("temper", self.temperature))

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the raw outputs, which are probabilities."""
        return outputs

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature must be above zero; got {self.temperature!r}")
        super().check()
        models = [self.model, *([] if self.above is None else [self.above])]
        if not all(np.array_equal(model.fitted_.state()["classes_"], self.classes) for model in models):
            raise ValueError("the classes must be those of the inner model")


@dataclass(frozen=True, eq=False, kw_only=True)
class ChosenRegressorModel(ChosenModel, RegressorModel):
    """The raw output is the prediction of the inner model."""


class _TranslatedPolicy:
    """The policy of an inner model, with the outputs of the wrapper."""

    def __init__(self, model: ChosenModel, within: FittedModel, policy: Policy) -> None:
        self._model = model
        self._within = within
        self._policy = policy

    def wants(self, ledger: RowLedger) -> int | None:
        return self._policy.wants(ledger)

    def hear(self, column: int, value: float) -> None:
        self._policy.hear(column, value)

    def refuse(self, column: int) -> None:
        pass_refusal(self._policy, column)

    def expectation(self) -> Expectation | None:
        told = getattr(self._policy, "expectation", None)
        return None if told is None else told()

    def standing(self) -> tuple[str, float] | None:
        told = getattr(self._policy, "standing", None)
        return None if told is None else told()

    def why_ended(self) -> str | None:
        told = getattr(self._policy, "why_ended", None)
        return None if told is None else str(told())

    def split(self) -> Split | None:
        return split_of(self._policy)

    def stand(self) -> Stand | None:
        return stand_of(self._policy)

    def output(self) -> NDArray[np.float64]:
        return np.asarray(self._model.translate(self._policy.output()[np.newaxis], self._within)[0])


def is_heads(seeds: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Return how the coin of each seed falls, shape (n_rows,): heads for a share of all seeds.

    Examples
    --------
    >>> float(np.mean(is_heads(np.arange(10_000), 0.25)).round(2))
    0.25
    """
    # The finaliser of SplitMix64: seeds next to each other fall independently.
    z = seeds.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)) * 2.0**-53 < share)
