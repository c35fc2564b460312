"""The short form of a pipeline."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from farthing.base import ContractClassifier, ContractRegressor
from farthing.costs import CostsLike
from farthing.pipelines.estimators import PipelineClassifier, PipelineRegressor


def pipeline(*steps: Any, costs: CostsLike = None) -> PipelineClassifier | PipelineRegressor:
    """Return a model behind steps of preprocessing, whose walks and spends are those of the table's columns.

    Parameters
    ----------
    *steps
        Transformers of scikit-learn, each of which treats every column by itself, and last a classifier or
        regressor of this library; or a single ``Pipeline`` of scikit-learn that ends in one.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the columns of the table; None means those of the model.

    Returns
    -------
    PipelineClassifier or PipelineRegressor

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from farthing.forests import BudgetTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> tree = BudgetTreeClassifier(max_depth=2)
    >>> model = pipeline(SimpleImputer(), StandardScaler(), tree, costs=[1, 2, 3])
    >>> model.fit(X, X[:, 1] > 0).walk().ask
    Ask(feature='x1', price=2.0, group=None)
    """
    if not steps:
        raise TypeError("pipeline() takes the steps and last the model; got nothing")
    if len(steps) == 1 and isinstance(steps[0], Pipeline):
        steps = tuple(step for _, step in steps[0].steps)
    *before, model = steps
    transformer = None if not before else before[0] if len(before) == 1 else make_pipeline(*before)
    if isinstance(model, ContractClassifier):
        return PipelineClassifier(transformer, model, costs=costs)
    if isinstance(model, ContractRegressor):
        return PipelineRegressor(transformer, model, costs=costs)
    raise TypeError(
        f"the last step must be a classifier or regressor of this library; got {type(model).__name__}. "
        "scikit-learn's make_pipeline takes any estimator, but its models have no spend and no walk"
    )
