"""The input of a pruning: a forest, prices, and the rows whose cost is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing._core import Pruning, path_curve
from farthing.base import ContractClassifier, Point, TreeModel, n_threads
from farthing.base.inputs import label_codes
from farthing.costs import CostSheet
from farthing.forests.budget_prune.integer_grid import (
    Gains,
    GridPrices,
    Risk,
    bag_gains,
    grid_prices,
    holds_class_weights,
    row_gains,
)
from farthing.forests.budget_prune.pruning_path import PruningPath
from farthing.table import encode
from farthing.table.bins import plain
from farthing.trees import Predictor, pruned
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class PruningProblem:
    """A forest to prune, the prices, and the rows whose cost is measured.

    Parameters
    ----------
    estimator : ContractClassifier
        A fitted classifier made of trees.
    model : TreeModel and ClassifierModel
        Its fitted model.
    costs : CostSheet
        The prices, in the order of the columns.
    values : ndarray of float, shape (n_rows, n_features)
        The rows, encoded.
    codes : ndarray of int64, shape (n_rows,)
        Their classes, as positions in ``model.classes``; -1 for labels that are no class.
    threads : int
        Threads to use; any number gives the same path.
    """

    estimator: ContractClassifier
    model: Any
    costs: CostSheet
    values: NDArray[np.floating]
    codes: NDArray[np.int64]
    threads: int

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, costs: Any, n_jobs: int | None) -> PruningProblem:
        """Check the arguments of the user."""
        if not (isinstance(estimator, ContractClassifier) and issubclass(estimator.model_type, TreeModel)):
            # A pipeline; its package builds on this one.
            remedy = "; prune its model_ on transform(X), and put the result back by with_model"
            raise TypeError(
                "only a classifier made of trees can be pruned, such as BudgetForestClassifier; got "
                f"{type(estimator).__name__}{remedy if hasattr(estimator, 'with_model') else ''}"
            )
        check_is_fitted(estimator)
        model: Any = estimator.fitted_
        if model.forest.width != len(model.classes):
            raise ValueError(
                "only trees that each predict all classes can be pruned: a forest, not a boosted model; "
                f"these give {model.forest.width} score(s) for {len(model.classes)} classes"
            )
        sheet = model.costs if costs is None else CostSheet.of(costs, model.schema.names)
        values, codes = _encoded(estimator, X, y)
        return cls(estimator, model, sheet, values, codes, n_threads(n_jobs))

    @cached_property
    def predictor(self) -> Predictor:
        """The compiled predictor of the trees; the kernels of pruning read all scores."""
        predictor: Predictor = self.model.predictor
        return predictor.dense()

    @property
    def error_costs(self) -> Floats | None:
        """The prices of errors that the forest was fitted with; None counts errors."""
        costs: Floats | None = getattr(self.model, "error_costs", None)
        return costs

    def gains(self, risk: Risk, X_error: Any, y_error: Any) -> Gains:
        """Return the risk that each split removes, measured on the class weights of the trees or on rows."""
        if (X_error is None) != (y_error is None):
            raise ValueError("X_error and y_error go together: give both or neither")
        if X_error is None:
            forest = self.predictor.forest
            # An imported forest does not hold its training rows, so errors are counted on those at hand.
            if risk == "error" and not holds_class_weights(forest):
                return row_gains(self.predictor, self.values, self.codes, self.error_costs)
            return bag_gains(forest, risk, self.error_costs)
        if risk != "error":
            raise ValueError(f"rows measure errors only: leave out X_error and y_error, or risk={risk!r}")
        return row_gains(self.predictor, *_encoded(self.estimator, X_error, y_error), self.error_costs)

    def prices(self, path_length_cost: float) -> GridPrices:
        """Return the prices as integers."""
        test = float(path_length_cost)
        if not 0 <= test < np.inf:
            raise ValueError(f"path_length_cost must be zero or more, and finite; got {path_length_cost!r}")
        trees = self.predictor.forest
        n_rows = len(self.values)
        # No row takes more tests in a tree than the deepest tree has.
        return grid_prices(self.costs, test, n_rows, n_rows * trees.n_trees * trees.depth())

    def closure(self, gains: Gains, prices: GridPrices) -> Pruning:
        """Return the maximum-weight closure problem, in the compiled core."""
        return Pruning.make(
            self.predictor.core,
            plain(self.values),
            gain=gains.steps,
            own=prices.own,
            shared=prices.shared,
            group_of=self.costs.group_of,
            test=prices.test,
        )

    def path(self, gains: Gains, tradeoffs: list[float], drop: NDArray[np.int64]) -> PruningPath:
        """Return the prunings of a nested path, measured on the rows.

        Parameters
        ----------
        gains : Gains
            The risk that each split removes.
        tradeoffs : list of float
            The trade-off from which each pruning is the best, ascending.
        drop : ndarray of int64, shape (n_nodes,)
            For each node, the first pruning in which it is no longer split.
        """
        trees, n_prunings = self.predictor.forest, len(tradeoffs)
        costs, errors, lengths = self._measure(self.values, self.codes, drop, n_prunings)
        # What is better if errors are few, or cheap.
        scores = 1.0 - errors if self.error_costs is None else -errors
        inner = trees.feature >= 0
        # Pruning j keeps the nodes that drop after j, so suffix sums over `drop` measure all prunings at
        # once.
        n_splits = _sums_after(np.bincount(drop[inner], minlength=n_prunings + 1))
        gain_at_drop = np.zeros(n_prunings + 1, dtype=np.int64)
        np.add.at(gain_at_drop, drop[inner], gains.steps[inner])
        # Exact until here: fractions become floats at the very end.
        objective = [float(gains.unsplit - int(saved) * gains.unit) for saved in _sums_after(gain_at_drop)]
        points = tuple(
            Point(
                method=type(self.estimator).__name__,
                params={"tradeoff": tradeoffs[j]},
                spend=float(costs[j]),
                max_spend=float("nan"),
                score=float(scores[j]),
                # There are no other rows: `PruningPath.curve` measures on any.
                test_spend=float(costs[j]),
                test_score=float(scores[j]),
                details={
                    "number": j,
                    "objective_error": objective[j],
                    "forest_error": float(errors[j]),
                    "n_leaves": int(trees.n_trees + n_splits[j]),
                    "path_length": float(lengths[j]),
                },
                source=partial(self._pruned, drop, j),
            )
            for j in range(n_prunings)
        )

        def measure(X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            return self._measure(*_encoded(self.estimator, X, y), drop, n_prunings)[:2]

        return PruningPath(
            points,
            score_name="accuracy" if self.error_costs is None else "cost of errors, negated",
            unit=self.costs.unit,
            full_cost=self.costs.total(self.costs.features),
            drop=drop,
            measure=measure,
        )

    def _measure(
        self, values: NDArray[np.floating], codes: NDArray[np.int64], drop: NDArray[np.int64], n_prunings: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean cost, the error and the mean number of tests of rows, for each pruning."""
        if self.error_costs is None:
            bought, tests, wrong = self._curve(self.predictor, values, codes, drop, n_prunings)
        else:
            bought, tests, wrong = self._priced_curve(self.error_costs, values, codes, drop, n_prunings)
        spent = np.zeros(n_prunings)
        for price, rows in zip((*self.costs.own, *self.costs.shared), bought, strict=True):
            spent += price * _sums_after(rows)
        return spent / len(values), wrong / len(values), _sums_after(tests) / len(values)

    def _curve(
        self,
        predictor: Predictor,
        values: NDArray[np.floating],
        codes: NDArray[np.int64],
        drop: NDArray[np.int64],
        n_prunings: int,
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return what rows buy, their tests, and how many have another class than theirs on top."""
        sheet, model = self.costs, self.model
        # One pass over the rows measures all prunings, since a node that is dropped once stays dropped.
        return path_curve(
            predictor.core,
            plain(values),
            drop=drop,
            n_entries=n_prunings,
            y=codes,
            # The class of rows that look at nothing.
            prior=int(model.decide(model.conclude(model.prior[np.newaxis]))[0]),
            group_of=sheet.group_of,
            n_groups=len(sheet.shared),
            n_threads=self.threads,
        )

    def _priced_curve(
        self,
        error_costs: Floats,
        values: NDArray[np.floating],
        codes: NDArray[np.int64],
        drop: NDArray[np.int64],
        n_prunings: int,
    ) -> tuple[NDArray[Any], NDArray[Any], Floats]:
        """Return the same with the sum of the prices of errors."""
        # The class on top is then the one of the least expected cost.
        predictor = Predictor(self.predictor.forest, -(self.predictor.dense_scores @ error_costs))
        bought, tests, _ = self._curve(predictor, values, codes, drop, n_prunings)
        # A label that is no class costs as much as the most expensive error.
        total = np.full(n_prunings, error_costs.max() * np.count_nonzero(codes < 0))
        for code, prices in enumerate(error_costs):
            rows = values[codes == code]
            for label, price in enumerate(prices.tolist()):
                if price and len(rows):
                    as_label = np.full(len(rows), label, dtype=np.int64)
                    others = self._curve(predictor, rows, as_label, drop, n_prunings)[2]
                    total += price * (len(rows) - others)
        return bought, tests, total

    def _pruned(self, drop: NDArray[np.int64], number: int) -> ContractClassifier:
        """Return the estimator of a pruning, with the prices that it was pruned by."""
        params = self.estimator.get_params(deep=False)
        # The pruned model must charge what it was pruned for, or its spend would not be that of the path.
        changed = {"costs": self.costs} if self.costs is not self.model.costs and "costs" in params else {}
        forest = pruned(self.predictor.forest, drop > number)
        return self.estimator.variant(changed, replace(self.model, forest=forest, costs=self.costs))


def _encoded(estimator: ContractClassifier, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Return an encoded table, and labels as positions in ``classes_``, -1 for those that are no class."""
    model = estimator.fitted_
    encoded = encode(model.schema, X, type(estimator).__name__)
    codes = label_codes(y, model.classes)
    check_consistent_length(encoded.values, codes)
    if not len(codes):
        raise ValueError("there are no rows to prune by")
    # Only entries that the trees look at are validated.
    _, acquired = model.outputs(encoded.values)
    encoded.check(acquired)
    return encoded.values, codes


def _sums_after(at_drop: NDArray[Any]) -> NDArray[np.int64]:
    """Sum what is dropped after each pruning: (n_prunings + 1,) to (n_prunings,)."""
    return np.asarray(np.cumsum(at_drop[::-1], dtype=np.int64)[::-1][1:])
