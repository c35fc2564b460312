"""What the pipelines of classifiers and of regressors have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetedEstimator, TrainingSet
from farthing.costs import CostSheet, CostsLike
from farthing.pipelines.column_map import ColumnMap, as_array
from farthing.pipelines.model import PipelineModel, fields_of
from farthing.pipelines.output_costs import output_costs
from farthing.pipelines.raw_table import raw_table
from farthing.table import PreparedTable, Schema, encode

#: What `farthing.base.documented` puts in.
TEXTS: Final = {
    "parameters": """transformer : transformer of scikit-learn, optional
        Each of its outputs must depend on one column alone: StandardScaler, SimpleImputer, OrdinalEncoder,
        OneHotEncoder, KBinsDiscretizer, a FunctionTransformer of single entries, a ColumnTransformer or a
        Pipeline of these. `fit` finds out by changing one entry at a time, and raises TableError if columns
        are mixed, as by PCA. It is given numbers as floats and categories by name, NaN where missing. None
        passes all columns through.
    estimator : {kind}, optional
        The model of the outputs, of this library; None means a `{default}` at its defaults.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the columns of the table, in place of the estimator's; None keeps those. Several outputs of
        a column, as of a OneHotEncoder, are paid once.
    n_jobs : int, optional
        Threads, in place of the estimator's; any number gives the same bits.""",
    "attributes": """columns_ : ColumnMap
        The fitted transformer, and which column each output depends on.
    model_ : {kind}
        The fitted estimator.""",
}


def _moves(estimator: PipelineBase) -> bool:
    """Return whether the fitted model can be moved to another budget."""
    return hasattr(estimator, "fitted_") and hasattr(estimator.fitted_.model, "at")


class PipelineBase(BudgetedEstimator):
    """A transformer of single columns, and a model of its outputs."""

    model_type: ClassVar[type[PipelineModel]]
    fitted_: PipelineModel

    def __init__(self, transformer: Any, estimator: Any, costs: CostsLike, n_jobs: int | None) -> None:
        self.transformer = transformer
        self.estimator = estimator
        self.costs = costs
        self.n_jobs = n_jobs

    @abstractmethod
    def _checked_estimator(self) -> BudgetedEstimator:
        """Return a copy of the estimator, or of the default; raise TypeError if it is of the wrong kind."""

    def _learn(self, rows: TrainingSet) -> PipelineModel:
        estimator, transformer = self._checked_estimator(), self._checked_transformer()
        target = rows.target if rows.classes is None else rows.classes[rows.target]
        outputs = as_array(transformer.fit_transform(raw_table(rows.schema, rows.values), target))
        columns = ColumnMap.learn(transformer, rows.schema, rows.values)
        params = {"costs": output_costs(rows.costs, columns), "n_jobs": self.n_jobs}
        # Methods without threads have no n_jobs.
        names = estimator.get_params(deep=False)
        estimator.set_params(**{k: v for k, v in params.items() if v is not None and k in names})
        model = estimator.fit(PreparedTable.of(outputs[:, columns.kept]), target, sample_weight=rows.weights)
        header: dict[str, Any] = {"schema": rows.schema, "columns": columns}
        return self.model_type(**header, **fields_of(model, rows.costs))

    def _checked_transformer(self) -> Any:
        if self.transformer is None:
            return FunctionTransformer()
        if not hasattr(self.transformer, "fit_transform") or not hasattr(self.transformer, "transform"):
            raise TypeError(
                f"transformer must have fit_transform and transform; got {type(self.transformer).__name__}"
            )
        return clone(self.transformer)

    def _cost_sheet(self, schema: Schema) -> CostSheet:
        costs = getattr(self.estimator, "costs", None) if self.costs is None else self.costs
        return CostSheet.of(costs, schema.names)

    @available_if(_moves)  # type: ignore[untyped-decorator]
    def at(self, budget: float | None) -> Self:
        """Return the pipeline for another budget, if the estimator has ``at``; it shares the learned parts.

        Parameters
        ----------
        budget : float or None
            As the estimator's parameter; None means no limit.
        """
        check_is_fitted(self)
        return self._around(self.fitted_.model.at(budget), {"budget": budget})

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the pipeline around each variant of the estimator; see `BudgetedEstimator.variants`."""
        check_is_fitted(self)
        # The default has no name under which its parameters could be changed.
        if self.estimator is not None:
            for params, model in self.fitted_.model.variants():
                if params:
                    named = {f"estimator__{name}": value for name, value in params.items()}
                    yield named, self._around(model, params)
        yield {}, self

    def transformed(self, X: Any) -> NDArray[Any]:
        """Return the outputs of the transformer, the table that ``model_`` learned from.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            The table.

        Returns
        -------
        ndarray of float64 or object, shape (n_rows, n_outputs)
            Without the outputs that are constant on the rows of `fit`.
        """
        check_is_fitted(self)
        encoded = encode(self.fitted_.schema, X, type(self).__name__)
        encoded.check(np.ones(encoded.values.shape, dtype=np.bool_))
        outputs, invalid = self.fitted_.columns.table(encoded.values)
        for error in invalid.values():
            raise error
        return outputs

    def with_model(self, model: BudgetedEstimator) -> Self:
        """Return the pipeline around another fitted model of the same outputs, such as ``model_`` pruned.

        Parameters
        ----------
        model : estimator
            Fitted on what `transform` returns, at the prices of ``model_``.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.preprocessing import StandardScaler
        >>> from farthing import pipeline
        >>> from farthing.forests import BudgetForestClassifier, prune_path
        >>> X = np.random.default_rng(0).normal(size=(80, 3))
        >>> y = X[:, 0] + X[:, 1] > 0
        >>> forest = BudgetForestClassifier(n_estimators=4, max_depth=3, random_state=0)
        >>> steps = pipeline(StandardScaler(), forest).fit(X, y)
        >>> path = prune_path(steps.model_, steps.transformed(X), y)
        >>> bool(steps.with_model(path.within(1).model).spend(X).mean() <= 1)
        True
        """
        check_is_fitted(self)
        changed = self._around(model, {})
        changed.fitted_.check()
        return changed

    def _around(self, model: BudgetedEstimator, params: dict[str, Any]) -> Self:
        """Return the pipeline with another fitted model, and the parameters that a fit of it would have."""
        given = self.estimator is not None and type(self.estimator) is type(model)
        estimator = clone(self.estimator if given else model).set_params(**params)
        if not given and "costs" in estimator.get_params(deep=False):
            # The model's own prices are those of the outputs.
            estimator.set_params(costs=getattr(self.estimator, "costs", None))
        return self.variant(
            {"estimator": estimator}, replace(self.fitted_, **fields_of(model, self.fitted_.costs))
        )


def copy_of(estimator: BudgetedEstimator) -> BudgetedEstimator:
    """Return an unfitted copy of an estimator."""
    copied: BudgetedEstimator = clone(estimator)
    return copied
