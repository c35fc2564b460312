"""A whole method in one file: a list of one-sided rules, learned greedily.

It is here to show what a new method must bring, and to give the tests a model without the compiled core.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractClassifier, ContractRegressor, normalise, register
from farthing.costs import CostSheet, RowLedger


class RulePolicy:
    """Ask rule by rule; the first that fires ends the walk, a missing value never fires."""

    def __init__(self, rules: NDArray[np.float64], outputs: NDArray[np.float64]) -> None:
        self.rules, self.outputs = rules, outputs
        self.rule, self.fired = 0, False

    def wants(self, ledger: RowLedger) -> int | None:
        return None if self.fired or self.rule == len(self.rules) else int(self.rules[self.rule, 0])

    def hear(self, column: int, value: float) -> None:
        _, threshold, above = self.rules[self.rule]
        self.fired = value > threshold if above else value <= threshold
        self.rule += not self.fired

    def output(self) -> NDArray[np.float64]:
        return np.asarray(self.outputs[int(self.fired), self.rule])


class StumpList:
    """What the classifier and the regressor share: the rules are those that purify most for their price."""

    _hard_budget: ClassVar[bool] = True
    _stored: ClassVar[Mapping[str, type | UnionType]] = {"rules_": np.ndarray, "outputs_": np.ndarray}
    rules_: NDArray[np.float64]  # (n_rules, 3): column, threshold, whether it fires above
    outputs_: NDArray[np.float64]  # (2, n_rules + 1, n_outputs): walk still open, or ended by the rule
    prior_: NDArray[np.float64]

    def __init__(
        self, costs: Any = None, budget: float | None = None, tradeoff: float = 0.0, n_rules: int = 12
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.tradeoff = tradeoff
        self.n_rules = n_rules

    def _policy(self, seed: int | None) -> RulePolicy:
        return RulePolicy(self.rules_, self.outputs_)

    def _check_stored(self) -> None:
        n_rules = len(self.rules_)
        if self.rules_.shape != (n_rules, 3) or self.outputs_.shape != (2, n_rules + 1, len(self.prior_)):
            raise ValueError("rules and outputs do not match")
        if not set(self.rules_[:, 0]) <= set(range(self.n_features_in_)):  # type: ignore[attr-defined]
            raise ValueError("a rule tests a column that is not there")

    def _learn_rules(self, values: NDArray[Any], moments: NDArray[np.float64], sheet: CostSheet) -> None:
        ledger = RowLedger(sheet, self.budget)
        rules: list[tuple[float, float, float]] = []
        outputs = np.zeros((2, self.n_rules + 1, len(self.prior_)))
        for rule in range(self.n_rules + 1):
            outputs[0, rule] = self._summary(moments)
            best = self._best_rule(values, moments, ledger)
            if best is None or rule == self.n_rules:
                break
            column, threshold, above = best
            ledger.buy(column)
            seen = values[:, column]
            fires = seen > threshold if above else seen <= threshold
            outputs[1, rule] = self._summary(moments[fires])
            rules.append((column, threshold, above))
            values, moments = values[~fires], moments[~fires]
        self.rules_ = np.array(rules).reshape(-1, 3)
        self.outputs_ = outputs[:, : len(rules) + 1]

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

    def _impurity(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _summary(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError


@register(grid={"n_rules": [1, 4, 16]})
class StumpListClassifier(StumpList, ContractClassifier):
    """A list of rules, the class counts behind each."""

    def _fit(
        self, values: NDArray[Any], target: NDArray[Any], weights: NDArray[np.float64], sheet: CostSheet
    ) -> None:
        self._learn_rules(values, np.eye(len(self.classes_))[target] * weights[:, None], sheet)

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return normalise(outputs)

    def _impurity(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        size = moments.sum(axis=-1)
        return np.asarray(size - (moments**2).sum(axis=-1) / np.maximum(size, 1e-300))

    def _summary(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(moments.sum(axis=0))


@register()
class StumpListRegressor(StumpList, ContractRegressor):
    """A list of rules, the mean behind each."""

    def _fit(
        self, values: NDArray[Any], target: NDArray[Any], weights: NDArray[np.float64], sheet: CostSheet
    ) -> None:
        self._learn_rules(values, np.stack([weights, weights * target, weights * target**2], axis=1), sheet)

    def _impurity(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        return moments[..., 2] - moments[..., 1] ** 2 / np.maximum(moments[..., 0], 1e-300)

    def _summary(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        weight, first, _ = moments.sum(axis=0)
        return np.array([first / max(weight, 1e-300)])
