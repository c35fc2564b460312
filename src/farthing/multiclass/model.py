"""The fitted models of one class against the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, ClassifierModel, TreeModel, normalise
from farthing.costs import CostSheet
from farthing.multiclass.policy import OneVsRestPolicy
from farthing.walks import ForestPolicy, PaidTrees


@dataclass(frozen=True, eq=False, kw_only=True)
class OneVsRestModel(ClassifierModel):
    """A binary model for each class, which says how likely it is; two classes have a single one.

    The raw outputs of the models lie side by side. Probabilities are those of the models, divided by their
    sum.

    Parameters
    ----------
    models : list of estimators
        Fitted, in the order of the classes; the second of two classes if there are no more.
    """

    models: list[BudgetedEstimator]

    @cached_property
    def binary_models(self) -> tuple[ClassifierModel, ...]:
        """The fitted models of the estimators."""
        return tuple(checked_model(estimator) for estimator in self.models)

    @cached_property
    def ignore_prices(self) -> bool:
        """Whether every model walks its trees in a fixed order, whatever the row owns."""
        return all(
            isinstance(model, TreeModel) and isinstance(model.policy(), ForestPolicy | PaidTrees)
            for model in self.binary_models
        )

    no_plan: ClassVar[str] = "it walks one model for each class side by side"

    def policy(self, seed: int | None = None) -> OneVsRestPolicy:
        """Return a policy that walks the models one after another."""
        return OneVsRestPolicy(self.binary_models, seed)

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return the values of a column that the first model tells that knows some."""
        each = (model.likely_answers(column) for model in self.binary_models)
        return next((values for values in each if len(values)), ())

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each class, shape (n_rows, n_classes)."""
        if len(self.classes) == 1:
            return np.ones((len(outputs), 1))
        each = [model.conclude(part) for model, part in self._parts(outputs)]
        return each[0] if len(each) == 1 else normalise(np.column_stack([p[:, 1] for p in each]))

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows; see `FittedModel.outputs`."""
        # Without a budget, models that ignore prices do not affect each other: no need to walk.
        if budget is not None or not self.ignore_prices:
            return super().outputs(values, budget=budget, seeds=seeds, n_threads=n_threads)
        n_columns, outputs, calls = self.costs.n_columns, [], []
        acquired = np.zeros((len(values), n_columns), dtype=np.bool_)
        for model in self.binary_models:
            raw, bought = model.outputs(values, seeds=seeds, n_threads=n_threads)
            outputs.append(model.settle(raw, bought))
            acquired |= bought[:, :n_columns]
            calls.append(bought[:, n_columns:])
        return np.concatenate(outputs, axis=1), np.concatenate([acquired, *calls], axis=1)

    def check(self) -> None:
        """Raise ValueError if the models do not fit the classes, the table and each other."""
        super().check()
        n_models = 1 if len(self.classes) <= 2 else len(self.classes)
        if len(self.models) != n_models:
            raise ValueError(f"{len(self.classes)} classes need {n_models} models; got {len(self.models)}")
        for model in self.binary_models:
            if model.schema != self.schema or model.costs.without_calls() != self.costs.without_calls():
                raise ValueError("the columns and costs must be those of each binary model")
            if len(model.classes) != 2:
                raise ValueError(f"a binary model has two classes; got {len(model.classes)}")
            model.check_probabilities()
        if self.costs != with_calls_of(self.costs, self.binary_models):
            raise ValueError("the calls of the cost sheet must be those of the binary models")
        if not np.array_equal(np.concatenate([model.prior for model in self.binary_models]), self.prior):
            raise ValueError("prior must be those of the binary models")

    def _parts(self, outputs: NDArray[np.float64]) -> Iterator[tuple[ClassifierModel, NDArray[np.float64]]]:
        """Yield each model with its own raw outputs."""
        start = 0
        for model in self.binary_models:
            end = start + len(model.prior)
            yield model, np.ascontiguousarray(outputs[:, start:end])
            start = end


def with_calls_of(costs: CostSheet, models: Sequence[ClassifierModel]) -> CostSheet:
    """Return a cost sheet with the calls of the binary models, in their order."""
    return costs.with_calls(
        {
            f"model {number}: {name}": price
            for number, model in enumerate(models, start=1)
            for name, price in model.costs.call_prices().items()
        }
    )


def checked_model(estimator: object) -> ClassifierModel:
    """Return the fitted model of a classifier over columns; raise TypeError if it is something else."""
    model = getattr(estimator, "fitted_", None)
    if (
        not isinstance(model, ClassifierModel)
        or model.ledger_names[: model.costs.n_columns] != model.schema.names
    ):
        raise TypeError(f"a {type(estimator).__name__} is not a fitted classifier that buys columns")
    return model
