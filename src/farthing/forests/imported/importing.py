"""Import fitted models of other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, CostsLike
from farthing.errors import ModelImportError
from farthing.forests.imported.estimators import ImportedClassifier, ImportedRegressor
from farthing.forests.imported.linear import (
    ImportedLinearClassifier,
    ImportedLinearRegressor,
    linear_model,
)
from farthing.forests.imported.models import (
    ImportedClassifierModel,
    ImportedRegressorModel,
    fields_of,
    root_outputs,
)
from farthing.forests.imported.probes import check_same
from farthing.forests.imported.reading import read
from farthing.forests.imported.source import GivenCategories, ImportedLinear, Source
from farthing.table import Column, Schema
from farthing.trees import Imported

ImportedEstimator = (
    ImportedClassifier | ImportedRegressor | ImportedLinearClassifier | ImportedLinearRegressor
)


def from_model(
    model: Any,
    costs: CostsLike = None,
    *,
    classes: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
    categories: GivenCategories | None = None,
) -> ImportedEstimator:
    """Import a fitted model of another library, with the same predictions.

    The result can be audited, walked, saved, pruned if it is a forest (`prune_path`), and cut into stages if
    it is a boosted classifier (`MiserCascadeClassifier.around`). Before it is returned, it is
    compared with the source on rows made from the thresholds of its tests (below, at, above, zero, missing,
    every category); a model that predicts otherwise is refused.

    These can be imported:

    - scikit-learn: decision trees, extra trees, random forests, gradient boosting, and histogram gradient
      boosting with or without categories;
    - scikit-learn: linear models, alone or after steps of a pipeline that scale or fill each column by itself
      (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer); they buy the columns with a
      nonzero coefficient;
    - LightGBM: boosting, random forests and DART, with categories; not ``zero_as_missing``, ``linear_tree``
      or ``multiclassova``;
    - XGBoost: ``gbtree``, ``dart`` and ``gblinear``, with categories; not ``missing`` other than NaN, and
      not ``binary:hinge``;
    - CatBoost: trees of every shape, with one-hot tests of categories; not target statistics of categories,
      which read several values at once;
    - treelite models without categories.

    Raw scores are bitwise those of scikit-learn's trees and LightGBM, which add in float64, and of XGBoost,
    which adds in float32, base score first, tree by tree. Probabilities are the same to the last float32 bit,
    except for XGBoost where the C library's float32 exponential is not correctly rounded: there the last bit
    may differ, in about one row in a thousand. DART, CatBoost and linear models add in another order and
    agree up to rounding. Libraries keep values at leaves only, so a walk that stops at an inner node gets the
    mean of the leaves below it, weighted by the number of training rows in them.

    Parameters
    ----------
    model : estimator, lightgbm.Booster, xgboost.Booster, CatBoost or treelite.Model
        A fitted model. An estimator that stopped early is imported up to its best iteration.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    classes : sequence, optional
        The labels, for a bare booster, which has none; 0, 1, ... by default.
    feature_names : sequence of str, optional
        The names of the columns, if the model has none or others. LightGBM replaces spaces by underscores;
        frames and prices may have the spaces.
    categories : mapping of str or int to sequence, optional
        The categories of a column, by its name or position, where the model does not hold them: for CatBoost,
        and for XGBoost models that were trained on codes (in the order of the codes).

    Returns
    -------
    ImportedClassifier, ImportedRegressor, ImportedLinearClassifier or ImportedLinearRegressor

    Raises
    ------
    ModelImportError
        If the model cannot be imported; it names the setting, or the largest difference.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> booster = GradientBoostingRegressor(n_estimators=3).fit(X, X[:, 0] > 3)
    >>> model = from_model(booster, costs=[2.5])
    >>> bool((model.predict(X) == booster.predict(X)).all()), model.spend(X[:2])
    (True, array([2.5, 2.5]))
    """
    source = read(model, categories)
    schema = _schema(source, _priced_names(source.names, costs) if feature_names is None else feature_names)
    estimator = _estimator(source, schema, costs, classes)
    check_same(type(model).__name__, source, estimator.fitted_)
    return estimator


def _estimator(
    source: Source, schema: Schema, costs: CostsLike, classes: Sequence[Any] | None
) -> ImportedEstimator:
    parts = source.parts
    header: dict[str, Any] = {"schema": schema, "costs": CostSheet.of(costs, schema.names)}
    labels = _labels_of(source, classes) if parts.n_classes else None
    if isinstance(parts, ImportedLinear):
        model = linear_model(parts, {**header, "prior": parts.scores.intercept}, labels)
        linear = ImportedLinearClassifier if parts.n_classes else ImportedLinearRegressor
        return linear(costs=costs).adopt(model)
    # The prior is what the trees predict on average, which is what their roots hold.
    fields = {**header, "prior": root_outputs(parts.forest), **fields_of(parts)}
    if labels is None:
        return ImportedRegressor(costs=costs).adopt(ImportedRegressorModel(**fields))
    return ImportedClassifier(costs=costs).adopt(ImportedClassifierModel(**fields, classes=labels))


def _schema(source: Source, given: Sequence[str] | None) -> Schema:
    """Return the columns under the names given, those of the model, or x0, x1, ..."""
    parts = source.parts
    n_features = parts.forest.n_features if isinstance(parts, Imported) else parts.scores.n_features
    names = source.names if given is None else given
    if names is not None and len(names) != n_features:
        raise ValueError(f"the model has {n_features} features; got {len(names)} feature_names")
    all_names = [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]
    columns = [
        Column(name, "categorical" if j in source.categories else "numeric", source.categories.get(j, ()))
        for j, name in enumerate(all_names)
    ]
    return Schema(tuple(columns), named=names is not None)


def _priced_names(names: Sequence[str] | None, costs: CostsLike) -> list[str] | None:
    """Return the names of the model as the price list spells them: LightGBM replaces spaces."""
    if names is None or not isinstance(costs, CostSheet | Mapping):
        return None
    priced = costs.features if isinstance(costs, CostSheet) else costs
    spelled = {str(name).replace(" ", "_"): str(name) for name in priced}
    return [name if name in priced else spelled.get(name, name) for name in names]


def _labels_of(source: Source, classes: Sequence[Any] | None) -> NDArray[Any]:
    """Return the labels of a classifier: those given, its own, or 0, 1, ..."""
    n_classes = source.parts.n_classes
    labels = source.labels if classes is None else np.asarray(classes)
    labels = np.arange(n_classes) if labels is None else labels
    # Outputs are in the order of the sorted labels in all of these libraries.
    if classes is None and len(labels) != n_classes:
        raise ModelImportError(f"a model trained on {len(labels)} class cannot be imported; it needs two")
    if len(labels) != n_classes or not np.array_equal(np.unique(labels), labels):
        raise ValueError(f"classes must be {n_classes} labels in ascending order; got {labels.tolist()}")
    return labels
