"""A whole method in one file: a list of one-sided rules, learned greedily.

It shows what a new method has to provide, and gives the tests a model without the compiled core.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import (
    BudgetedEstimator,
    BudgetKind,
    ClassifierModel,
    ContractClassifier,
    ContractRegressor,
    FittedModel,
    RegressorModel,
    TrainingSet,
    normalise,
    register,
)
from farthing.costs import RowLedger


class RulePolicy:
    """Ask rule by rule; the first that fires ends the walk, a missing value never fires."""

    def __init__(self, rules: NDArray[np.float64], leaves: NDArray[np.float64]) -> None:
        self.rules, self.leaves = rules, leaves
        self.rule, self.fired = 0, False

    def wants(self, ledger: RowLedger) -> int | None:
        return None if self.fired or self.rule == len(self.rules) else int(self.rules[self.rule, 0])

    def hear(self, column: int, value: float) -> None:
        _, threshold, above = self.rules[self.rule]
        self.fired = value > threshold if above else value <= threshold
        self.rule += not self.fired

    def output(self) -> NDArray[np.float64]:
        return np.asarray(self.leaves[int(self.fired), self.rule])


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpListModel(FittedModel):
    """The rules, and the raw output of each way to end.

    Parameters
    ----------
    rules : ndarray of float64, shape (n_rules, 3)
        Column, threshold, and whether the rule fires above it.
    leaves : ndarray of float64, shape (2, n_rules + 1, n_outputs)
        Outputs of a walk that is still open, or that ended by the rule.
    """

    rules: NDArray[np.float64]
    leaves: NDArray[np.float64]

    def policy(self, seed: int | None = None) -> RulePolicy:
        return RulePolicy(self.rules, self.leaves)

    def check(self) -> None:
        super().check()
        n_rules = len(self.rules)
        if self.rules.shape != (n_rules, 3) or self.leaves.shape != (2, n_rules + 1, len(self.prior)):
            raise ValueError("rules and leaves do not match")
        if not set(self.rules[:, 0]) <= set(range(len(self.schema.names))):
            raise ValueError("a rule tests a column that is not there")


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpListClassifierModel(StumpListModel, ClassifierModel):
    """The raw outputs are class counts."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return normalise(outputs)


@dataclass(frozen=True, eq=False, kw_only=True)
class StumpListRegressorModel(StumpListModel, RegressorModel):
    """The raw output is a mean."""


class StumpList(BudgetedEstimator):
    """What the classifier and the regressor share: the rules are those that purify most for their price."""

    model_type: ClassVar[type[StumpListModel]]
    budget_kind: BudgetKind = "hard"

    def __init__(
        self, costs: Any = None, budget: float | None = None, tradeoff: float = 0.0, n_rules: int = 12
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.tradeoff = tradeoff
        self.n_rules = n_rules

    def _learn(self, rows: TrainingSet) -> StumpListModel:
        values, moments, cap = rows.values, self._moments(rows), self.hard_cap()
        ledger = RowLedger(rows.costs, cap)
        rules: list[tuple[float, float, float]] = []
        leaves = np.zeros((2, self.n_rules + 1, len(rows.prior())))
        for rule in range(self.n_rules + 1):
            leaves[0, rule] = self._summary(moments)
            best = self._best_rule(values, moments, ledger)
            if best is None or rule == self.n_rules:
                break
            column, threshold, above = best
            ledger.buy(column)
            seen = values[:, column]
            fires = seen > threshold if above else seen <= threshold
            leaves[1, rule] = self._summary(moments[fires])
            rules.append((column, threshold, above))
            values, moments = values[~fires], moments[~fires]
        return self.model_type(
            **rows.header(budget=cap),
            rules=np.array(rules).reshape(-1, 3),
            leaves=leaves[:, : len(rules) + 1],
        )

    def _best_rule(
        self, values: NDArray[Any], moments: NDArray[np.float64], ledger: RowLedger
    ) -> tuple[int, float, bool] | None:
        best, highest = None, 1e-9
        total = moments.sum(axis=0)
        for column in range(values.shape[1]):
            present = np.flatnonzero(~np.isnan(values[:, column]))
            order = present[np.argsort(values[present, column], kind="stable")]
            seen = values[order, column]
            cuts = np.flatnonzero(seen[1:] > seen[:-1])
            if not len(cuts) or not ledger.affords(column):
                continue
            below = np.cumsum(moments[order], axis=0)
            for above in (False, True):
                fired = below[-1] - below[cuts] if above else below[cuts]
                # Of two equal splits the one whose fired side is pure: those rows are never asked again.
                left_over = self._impurity(fired) * (1 + 1e-6) + self._impurity(total - fired)
                gains = self._impurity(total) - left_over
                worth = gains - self.tradeoff * ledger.price(column)
                at = int(np.argmax(worth))
                if worth[at] > highest + 1e-9:
                    best, highest = (column, float(seen[cuts[at]]), above), float(worth[at])
        return best

    def _moments(self, rows: TrainingSet) -> NDArray[np.float64]:
        raise NotImplementedError

    def _impurity(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _summary(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError


@register(grid={"n_rules": [1, 4, 16]})
class StumpListClassifier(StumpList, ContractClassifier):
    """A list of rules, the class counts behind each."""

    model_type = StumpListClassifierModel

    def _moments(self, rows: TrainingSet) -> NDArray[np.float64]:
        return np.asarray(np.eye(rows.n_classes)[rows.target] * rows.weights[:, None])

    def _impurity(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        size = moments.sum(axis=-1)
        return np.asarray(size - (moments**2).sum(axis=-1) / np.maximum(size, 1e-300))

    def _summary(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(moments.sum(axis=0))


@register()
class StumpListRegressor(StumpList, ContractRegressor):
    """A list of rules, the mean behind each."""

    model_type = StumpListRegressorModel

    def _moments(self, rows: TrainingSet) -> NDArray[np.float64]:
        weights, target = rows.weights, rows.target
        return np.stack([weights, weights * target, weights * target**2], axis=1)

    def _impurity(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        return moments[..., 2] - moments[..., 1] ** 2 / np.maximum(moments[..., 0], 1e-300)

    def _summary(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        weight, first, _ = moments.sum(axis=0)
        return np.array([first / max(weight, 1e-300)])
