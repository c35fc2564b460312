"""What is pruned: a model, its prices, and rows that pay."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing._core import Pruning, path_curve
from farthing.base import ContractClassifier, TreesMixin, n_threads
from farthing.base.inputs import label_codes
from farthing.costs import CostSheet
from farthing.forests.budget_prune.integer_grid import (
    Gains,
    GridPrices,
    Risk,
    bag_gains,
    grid_prices,
    row_gains,
)
from farthing.forests.budget_prune.pruning_path import PruningPath
from farthing.table.bins import plain
from farthing.trees import Predictor, pruned


@dataclass(frozen=True)
class Case:
    """A model, its prices, and rows that pay."""

    model: Any
    sheet: CostSheet
    predictor: Predictor
    values: NDArray[np.floating]
    codes: NDArray[np.int64]
    threads: int

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, costs: Any, n_jobs: int | None) -> Case:
        """Check what a user gave."""
        if not (isinstance(model, TreesMixin) and isinstance(model, ContractClassifier)):
            raise TypeError(
                "only a classifier made of trees can be pruned, such as BudgetForestClassifier; got "
                f"{type(model).__name__}"
            )
        check_is_fitted(model)
        if model.forest_.width != len(model.classes_):
            raise ValueError(
                "only trees that each tell all classes apart can be pruned: a forest, not a boosted model; "
                f"these give {model.forest_.width} score(s) for {len(model.classes_)} classes"
            )
        sheet = model.costs_ if costs is None else CostSheet.of(costs, model.schema_.names)
        predictor = model._ready()
        values, codes = _rows(model, X, y)
        return cls(model, sheet, predictor, values, codes, n_threads(n_jobs))

    def gains(self, risk: Risk, X_error: Any, y_error: Any) -> Gains:
        """Return what each split saves."""
        if (X_error is None) != (y_error is None):
            raise ValueError("X_error and y_error go together: give both or neither")
        if X_error is None:
            return bag_gains(self.predictor.forest, risk)
        if risk != "error":
            raise ValueError(f"rows tell errors only: leave out X_error and y_error, or risk={risk!r}")
        return row_gains(self.predictor, *_rows(self.model, X_error, y_error))

    def prices(self, path_length_cost: float) -> GridPrices:
        """Return the prices on their grid."""
        test = float(path_length_cost)
        if not 0 <= test < np.inf:
            raise ValueError(f"path_length_cost must be zero or more, and finite; got {path_length_cost!r}")
        trees = self.predictor.forest
        n_rows = len(self.values)
        return grid_prices(self.sheet, test, n_rows, n_rows * trees.n_trees * trees.depth())

    def problem(self, gains: Gains, prices: GridPrices) -> Pruning:
        """Return the closure problem."""
        return Pruning.make(
            self.predictor.core,
            plain(self.values),
            gain=gains.steps,
            own=prices.own,
            shared=prices.shared,
            group_of=self.sheet.group_of,
            test=prices.test,
        )

    def path(self, gains: Gains, lambdas: list[float], drop: NDArray[np.int64]) -> PruningPath:
        """Return the prunings of a nested path, measured on the rows that pay."""
        trees, n_entries = self.predictor.forest, len(lambdas)
        costs, errors, lengths = self._measure(self.values, self.codes, drop, n_entries)
        inner = trees.feature >= 0
        kept = _later(np.bincount(drop[inner], minlength=n_entries + 1))
        lost = np.zeros(n_entries + 1, dtype=np.int64)
        np.add.at(lost, drop[inner], gains.steps[inner])
        objective = [float(gains.unsplit - int(saved) * gains.unit) for saved in _later(lost)]

        def measure(X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            return self._measure(*_rows(self.model, X, y), drop, n_entries)[:2]

        return PruningPath(
            lambdas=np.array(lambdas),
            costs=costs,
            objective_errors=np.array(objective),
            forest_errors=errors,
            n_leaves=trees.n_trees + kept,
            path_lengths=lengths,
            drop=drop,
            build=self.build,
            measure=measure,
            unit=self.sheet.unit,
        )

    def _measure(
        self, values: NDArray[np.floating], codes: NDArray[np.int64], drop: NDArray[np.int64], n_entries: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean cost, the error and the mean number of tests of rows, for each pruning."""
        sheet = self.sheet
        bought, tests, wrong = path_curve(
            self.predictor.core,
            plain(values),
            drop=drop,
            n_entries=n_entries,
            y=codes,
            prior=int(np.argmax(self.model._conclude(self.model.prior_[np.newaxis])[0])),
            group_of=sheet.group_of,
            n_groups=len(sheet.shared),
            n_threads=self.threads,
        )
        spent = np.zeros(n_entries)
        for price, rows in zip((*sheet.own, *sheet.shared), bought, strict=True):
            spent += price * _later(rows)
        return spent / len(values), wrong / len(values), _later(tests) / len(values)

    def build(self, kept: NDArray[np.bool_]) -> Any:
        """Return the model with fewer splits and, if they are not its own, the prices of the pruning."""
        model = copy.copy(self.model)
        model.forest_ = pruned(self.predictor.forest, kept)
        if self.sheet is not self.model.costs_:
            model.costs_ = self.sheet
            if "costs" in model.get_params(deep=False):
                model.set_params(costs=self.sheet)
        return model


def _rows(model: Any, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Return an encoded table, and labels as places in ``classes_``, -1 for those of no class."""
    encoded = model.schema_.encode(X, type(model).__name__)
    codes = label_codes(y, model.classes_)
    check_consistent_length(encoded.values, codes)
    if not len(codes):
        raise ValueError("there are no rows to prune by")
    _, acquired = model._ready().predict(encoded.values)
    encoded.check(acquired)
    return encoded.values, codes


def _later(at_drop: NDArray[Any]) -> NDArray[np.int64]:
    """Sum what drops after each entry: (n_entries + 1,) to (n_entries,)."""
    return np.asarray(np.cumsum(at_drop[::-1], dtype=np.int64)[::-1][1:])
