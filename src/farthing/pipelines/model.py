"""The fitted model of a pipeline: a transformer and a model of its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, ClassifierModel, FittedModel, RegressorModel
from farthing.costs import CostSheet
from farthing.pipelines.column_map import ColumnMap
from farthing.pipelines.output_costs import output_costs
from farthing.pipelines.policy import PipelinePolicy, PipelineQuestions


@dataclass(frozen=True, eq=False, kw_only=True)
class PipelineModel(FittedModel):
    """Predicts as the model of the outputs; columns, prices and the account are those of the inputs.

    Parameters
    ----------
    columns : ColumnMap
        The transformer, and which input each of its outputs depends on.
    model : estimator
        Fitted on the outputs.
    """

    columns: ColumnMap
    model: BudgetedEstimator

    @property
    def questions(self) -> PipelineQuestions:
        """How answers are encoded: as outputs of the transformer."""
        return PipelineQuestions(self.columns, self.model.fitted_.schema)

    no_plan: ClassVar[str] = "its columns come from transformers of scikit-learn"

    def policy(self, seed: int | None = None) -> PipelinePolicy:
        """Return the policy of the model, which asks for inputs."""
        return PipelinePolicy(self.columns, self.model.fitted_, seed)

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn raw outputs into probabilities or values, as the model does."""
        return self.model.fitted_.conclude(outputs)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Transform and predict many rows; see `FittedModel.outputs`."""
        return self._predict(values, None, budget=budget, seeds=seeds, n_threads=n_threads)

    def outputs_refused(
        self,
        values: NDArray[np.floating],
        refused: NDArray[np.bool_],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict rows some of whose inputs are refused, and with them all their outputs."""
        flags = refused[:, self.columns.sources]
        return self._predict(values, flags, budget=budget, seeds=seeds, n_threads=n_threads)

    def answer_of(self, column: int, entry: float) -> Any:
        """Return the encoded outputs of an input."""
        source = self.schema.columns[column]
        is_code = source.is_categorical and not np.isnan(entry)
        value = source.categories[int(entry)] if is_code else entry
        return self.questions.encode_value(column, value)

    def _predict(
        self, values: NDArray[np.floating], flags: NDArray[np.bool_] | None, **options: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        inner = self.model.fitted_
        table, invalid = self.columns.table(values)
        encoded = inner.schema.encode(table)
        if flags is None:
            outputs, bought = inner.outputs(encoded.values, **options)
        else:
            outputs, bought = inner.outputs_refused(encoded.values, flags, **options)
        n_outputs = inner.costs.n_columns
        encoded.check(bought[:, :n_outputs])
        acquired = self.columns.inputs_of(bought[:, :n_outputs])
        for (row, column), error in invalid.items():
            if acquired[row, column]:  # an entry that was not bought may be anything
                raise error
        return outputs, np.concatenate([acquired, bought[:, n_outputs:]], axis=1)

    def check(self) -> None:
        """Raise ValueError unless the transformer, the model and the prices fit together."""
        super().check()
        if not isinstance(self.columns, ColumnMap) or self.columns.schema != self.schema:
            raise ValueError("the transformer must be one of the same columns")
        self.columns.check()
        inner = getattr(self.model, "fitted_", None)
        if not isinstance(inner, FittedModel) or len(inner.schema) != len(self.columns.kept):
            raise ValueError("the model must be fitted on the outputs of the transformer")
        prices, calls = self.costs.without_calls(), self.costs.call_prices()
        if inner.ledger_names[: inner.costs.n_columns] != inner.schema.names:
            raise ValueError("the model must buy the outputs of the transformer")
        if inner.costs.without_calls() != output_costs(prices, self.columns):
            raise ValueError("the prices of the outputs must be those of their columns")
        if [*inner.costs.call_prices().values()] != [*calls.values()]:
            raise ValueError("the calls of the cost sheet must be those of the model")
        if not np.array_equal(inner.prior, self.prior):
            raise ValueError("prior must be that of the model of the outputs")


@dataclass(frozen=True, eq=False, kw_only=True)
class PipelineClassifierModel(PipelineModel, ClassifierModel):
    """A transformer and a classifier of its outputs."""

    def decide(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the label of each row, as the classifier chooses it."""
        inner = self.model.fitted_
        assert isinstance(inner, ClassifierModel)
        return inner.decide(probabilities)

    def check(self) -> None:
        """Raise ValueError unless the classes are those of the classifier."""
        super().check()
        inner = self.model.fitted_
        if not isinstance(inner, ClassifierModel) or not np.array_equal(inner.classes, self.classes):
            raise ValueError("the classes must be those of the classifier")


@dataclass(frozen=True, eq=False, kw_only=True)
class PipelineRegressorModel(PipelineModel, RegressorModel):
    """A transformer and a regressor of its outputs."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of the regressor, shape (n_rows,)."""
        return self.model.fitted_.conclude(outputs)

    def check(self) -> None:
        """Raise ValueError unless the model is a regressor."""
        super().check()
        if not isinstance(self.model.fitted_, RegressorModel):
            raise ValueError("the model must be a regressor")  # noqa: TRY004 - as for the other parts


def fields_of(model: BudgetedEstimator, costs: CostSheet) -> dict[str, Any]:
    """Return the fields of a pipeline's model that follow from the model of the outputs.

    Parameters
    ----------
    model : estimator
        The model of the outputs, fitted.
    costs : CostSheet
        The prices of the inputs.
    """
    inner = model.fitted_
    fields: dict[str, Any] = {"prior": inner.prior, "budget": inner.budget, "model": model}
    fields["costs"] = costs.with_calls(inner.costs.call_prices())
    return {**fields, "classes": inner.classes} if isinstance(inner, ClassifierModel) else fields
