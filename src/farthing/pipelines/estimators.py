"""`PipelineClassifier` and `PipelineRegressor`."""

from __future__ import annotations

from typing import Any

from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OrdinalEncoder

from farthing.base import BudgetedEstimator, ContractClassifier, ContractRegressor, documented, register
from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor
from farthing.costs import CostsLike
from farthing.pipelines.base import TEXTS, PipelineBase, copy_of
from farthing.pipelines.model import PipelineClassifierModel, PipelineRegressorModel

_IMPUTER = SimpleImputer(strategy="most_frequent")
_ENCODER = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


def _texts(kind: str, default: str) -> dict[str, str]:
    return {name: text.replace("{kind}", kind).replace("{default}", default) for name, text in TEXTS.items()}


@register(
    auto=False,
    trials=[{"transformer": _IMPUTER, "estimator": GreedyMiserClassifier(n_estimators=6)}],
)
@documented(_texts("classifier", "GreedyMiserClassifier"))
class PipelineClassifier(PipelineBase, ContractClassifier):
    """Preprocessing and a classifier, with the prices, walks and spends of the original columns.

    A walk asks for a column of the table by its own name, transforms the one value, and passes it on. A
    refused column is missing for the classifier, even if the transformer would impute a measured gap. See
    `pipeline` for a shorter form.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    classes_ : ndarray, shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = PipelineClassifier(SimpleImputer(strategy="most_frequent"), costs=heart.costs)
    >>> model.fit(heart.X, heart.y).walk().ask.feature
    'thal'
    """

    model_type = PipelineClassifierModel
    fitted_: PipelineClassifierModel

    def __init__(
        self,
        transformer: Any = None,
        estimator: Any = None,
        *,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(transformer, estimator, costs, n_jobs)

    def _checked_estimator(self) -> BudgetedEstimator:
        if self.estimator is None:
            return GreedyMiserClassifier()
        if not isinstance(self.estimator, ContractClassifier) or not _buys_columns(self.estimator):
            raise TypeError(
                "estimator must be a classifier of this library that buys columns; "
                f"got {type(self.estimator).__name__}"
            )
        return copy_of(self.estimator)


@register(
    auto=False,
    trials=[{"transformer": _ENCODER, "estimator": GreedyMiserRegressor(n_estimators=6)}],
)
@documented(_texts("regressor", "GreedyMiserRegressor"))
class PipelineRegressor(PipelineBase, ContractRegressor):
    """Preprocessing and a regressor, with the prices, walks and spends of the original columns.

    Like `PipelineClassifier`, for a numeric target.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 0.0], [4.0, 1.0]] * 20)
    >>> model = PipelineRegressor(SimpleImputer(), costs=[2, 7]).fit(X, np.nan_to_num(X[:, 0]))
    >>> model.walk().ask
    Ask(feature='x0', price=2.0, group=None)
    """

    model_type = PipelineRegressorModel
    fitted_: PipelineRegressorModel

    def __init__(
        self,
        transformer: Any = None,
        estimator: Any = None,
        *,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(transformer, estimator, costs, n_jobs)

    def _checked_estimator(self) -> BudgetedEstimator:
        if self.estimator is None:
            return GreedyMiserRegressor()
        if not isinstance(self.estimator, ContractRegressor) or not _buys_columns(self.estimator):
            raise TypeError(
                "estimator must be a regressor of this library that buys columns; "
                f"got {type(self.estimator).__name__}"
            )
        return copy_of(self.estimator)


def _buys_columns(estimator: BudgetedEstimator) -> bool:
    """Return whether walks of an estimator ask for columns, row by row."""
    return estimator.asks == "columns" and estimator.rows_are_independent
