"""The fitted model of `BudgetedClassifier` and `BudgetedRegressor`: a wrapper around the chosen model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from farthing._core import Judged, SplitJudge, Ways
from farthing.base import (
    BudgetedEstimator,
    FittedModel,
    Frontier,
    Point,
    PricedErrorsModel,
    RegressorModel,
)
from farthing.base.model_fields import OPTIONAL
from farthing.costs import CostSheet, RowLedger, money_name
from farthing.errors import ExportError
from farthing.learning.calibration import temper
from farthing.walks import Expectation, Foresight, Policy, Split, Stand, pass_refusal, split_of, stand_of
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
    weights : dict of str to float
        What a unit of each resource counted in learning, in units of the costs: the inner model has the
        weighted prices, of which costs and resources are resources. Empty if the costs alone counted.
    resource_caps : dict of str to float
        Hard caps of further resources.
    """

    model: BudgetedEstimator
    chosen: Point
    path: list[Point]
    frontier: Frontier
    optimism: float = 0.0
    growth: float = 1.0
    above: BudgetedEstimator | None = None
    share: float = 0.0
    weights: dict[str, float] = field(default_factory=dict, metadata=OPTIONAL)
    resource_caps: dict[str, float] = field(default_factory=dict, metadata=OPTIONAL)

    def own_caps(self) -> dict[str, float]:
        """Return the hard caps of further resources."""
        return self.resource_caps

    @cached_property
    def learned_costs(self) -> CostSheet:
        """The prices that the inner model learned by."""
        return self.costs.weighted(self.weights) if self.weights else self.costs

    @property
    def feature_importances(self) -> NDArray[np.float64]:
        """Those of the chosen model, shape (n_features,); models that are not made of trees have none."""
        found: NDArray[np.float64] = self.model.feature_importances_
        return found

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

    def split_judge(self) -> SplitJudge | None:
        """Return that of the chosen model, unless rows are shared out among two, or it is calibrated."""
        plain = self.above is None and getattr(self, "temperature", 1.0) == 1
        return self.model.fitted_.split_judge() if plain else None

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return the values of a column that the inner model tells."""
        return self.model.fitted_.likely_answers(column)

    def plan(self) -> Plan:
        """Return the plan of the inner model, which predicts where no seed is given."""
        if self.resource_caps:
            raise ExportError("its walk has hard caps of several resources; programs know one budget")
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
        n_threads: int = 1,  # the inner model has its own number of jobs
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

    def outputs_capped(
        self,
        values: NDArray[np.floating],
        caps: Mapping[str, NDArray[np.float64]],
        refused: NDArray[np.bool_] | None = None,
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows within caps of further resources; see `FittedModel.outputs_capped`."""
        if self.above is not None:
            return super().outputs_capped(
                values, caps, refused, budget=budget, seeds=seeds, n_threads=n_threads
            )
        return self._capped_outputs_of(self.model, values, caps, refused=refused, budget=budget, seeds=seeds)

    def _outputs_of(
        self,
        model: BudgetedEstimator,
        values: NDArray[np.floating],
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if self.weights and budget is not None:
            return self._capped_outputs_of(model, values, {}, refused=None, budget=budget, seeds=seeds)
        if self.weights:
            budget = self._inner_budget(model, len(values))
        outputs, acquired = model.fitted_.outputs(
            values, budget=budget, seeds=seeds, n_threads=model.n_threads()
        )
        return self.translate(outputs, model.fitted_), acquired

    def _inner_budget(self, model: BudgetedEstimator, n_rows: int) -> NDArray[np.float64] | None:
        """Return the hard budget of the weighted sum that the inner model has, for each row."""
        cap = model.fitted_.budget
        return None if cap is None else np.full(n_rows, cap)

    def _capped_outputs_of(
        self,
        model: BudgetedEstimator,
        values: NDArray[np.floating],
        caps: Mapping[str, NDArray[np.float64]],
        *,
        refused: NDArray[np.bool_] | None,
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        money = self._inner_budget(model, len(values)) if self.weights else budget
        if self.weights and budget is not None:  # at weighted prices the costs are one of the resources
            caps = {money_name(self.costs): budget, **caps}
        outputs, acquired = model.fitted_.outputs_capped(
            values, caps, refused, budget=money, seeds=seeds, n_threads=model.n_threads()
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
        for named in (self.weights, self.resource_caps):
            if not isinstance(named, dict) or any(
                name not in self.costs.resources or not isinstance(amount, float) or not amount >= 0
                for name, amount in named.items()
            ):
                raise ValueError("weights and resource_caps must be amounts of resources that the costs have")
        for model in [self.model, *([] if self.above is None else [self.above])]:
            within = model.fitted_
            if within.schema != self.schema or within.costs != self.learned_costs:
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
        self._answered: set[int] = set()
        self._too_expensive: set[int] = set()

    def wants(self, ledger: RowLedger) -> int | None:
        if not self._model.weights:
            return self._policy.wants(ledger)
        inner = self._weighted(ledger)
        while (column := self._policy.wants(inner)) is not None:
            over = column not in self._answered and ledger.affords(column) and not inner.affords(column)
            if not over and column not in self._too_expensive:
                break
            # Over the hard budget of the inner model, which the walk does not know: missing, for good.
            self._too_expensive.add(column)
            self._policy.hear(column, np.nan)
        return column

    def _weighted(self, ledger: RowLedger) -> RowLedger:
        """Return the ledger at the prices that the inner model knows, with its budget and the same limits."""
        sheet, cap, bought = self._within.costs, self._within.budget, ledger.bought
        known = np.flatnonzero(ledger.owned & ~bought).tolist()
        money = {} if ledger.budget is None else {money_name(self._model.costs): ledger.budget}
        if cap is not None:  # a panel may have bought ahead
            cap = max(cap, sheet.total(bought, owned=ledger.owned & ~bought))
        inner = RowLedger(sheet, cap, known, {**money, **ledger.caps})
        inner.buy_all(np.flatnonzero(bought).tolist())
        return inner

    def hear(self, column: int, value: float) -> None:
        self._answered.add(column)
        self._policy.hear(column, value)

    def refuse(self, column: int) -> None:
        self._answered.add(column)
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

    def foresee(self, column: int, answers: Sequence[float], ledger: RowLedger) -> Foresight | None:
        told = None if self._model.weights else getattr(self._policy, "foresee", None)
        found: Foresight | None = None if told is None else told(column, answers, ledger)
        if found is None:
            return None
        return found._replace(outputs=self._model.translate(found.outputs, self._within))

    def judged(self, judge: SplitJudge, ways: Ways, looked: bool) -> Judged | None:
        told = None if self._model.weights else getattr(self._policy, "judged", None)
        found: Judged | None = None if told is None else told(judge, ways, looked)
        return found

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
