"""Import fitted tree models of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, CostsLike
from farthing.forests.imported.estimators import ImportedClassifier, ImportedRegressor
from farthing.forests.imported.models import (
    ImportedClassifierModel,
    ImportedRegressorModel,
    fields_of,
    root_outputs,
)
from farthing.forests.imported.treelite_reader import names_of, read
from farthing.table import Column, Schema


def from_model(
    model: Any,
    costs: CostsLike = None,
    *,
    classes: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
) -> ImportedClassifier | ImportedRegressor:
    """Import a fitted tree model of another library, with the same predictions.

    The result can be audited, walked, saved, and pruned if it is a forest. Raw scores are bitwise those of
    scikit-learn and LightGBM, which add in float64, and of XGBoost, which adds in float32, base score first,
    tree by tree. Probabilities are the same to the last float32 bit, except for XGBoost where the C library's
    float32 exponential is not correctly rounded: there the last bit may differ, in about one row in a
    thousand. Libraries keep values at leaves only, so a walk that stops at an inner node gets the mean of the
    leaves below it, weighted by the number of training rows in them.

    Parameters
    ----------
    model : estimator, lightgbm.Booster, xgboost.Booster or treelite.Model
        Of scikit-learn: decision trees, extra trees, random forests, gradient boosting, histogram gradient
        boosting. Needs treelite: ``pip install farthing[import]``.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    classes : sequence, optional
        The labels, for a bare booster, which has none; 0, 1, ... by default.
    feature_names : sequence of str, optional
        The names of the columns, if the model has none.

    Returns
    -------
    ImportedClassifier or ImportedRegressor

    Raises
    ------
    ModelImportError
        If the model cannot be imported: other kinds of models, splits on categories, several targets, outlier
        scores, boosters that start from another model, outputs such as one sigmoid per class.
    ImportError
        If treelite is not installed.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> booster = GradientBoostingRegressor(n_estimators=3).fit(X, X[:, 0] > 3)
    >>> model = from_model(booster, costs=[2.5])
    >>> bool((model.predict(X) == booster.predict(X)).all()), model.spend(X[:2])
    (True, array([2.5, 2.5]))
    """
    imported = read(model)
    names = names_of(model) if feature_names is None else feature_names
    schema = _numeric_schema(imported.forest.n_features, names)
    header: dict[str, Any] = {
        "schema": schema,
        "costs": CostSheet.of(costs, schema.names),
        # What the trees predict on average, which is what their roots hold.
        "prior": root_outputs(imported.forest),
    }
    if imported.n_classes == 0:
        regressor = ImportedRegressorModel(**header, **fields_of(imported))
        return ImportedRegressor(costs=costs).adopt(regressor)
    labels = _labels_of(model, classes, imported.n_classes)
    classifier = ImportedClassifierModel(**header, **fields_of(imported), classes=labels)
    return ImportedClassifier(costs=costs).adopt(classifier)


def _numeric_schema(n_features: int, names: Sequence[str] | None) -> Schema:
    """Return numeric columns under the names given, or under x0, x1, ..."""
    if names is not None and len(names) != n_features:
        raise ValueError(f"the model has {n_features} features; got {len(names)} feature_names")
    all_names = [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]
    return Schema(tuple(Column(name, "numeric") for name in all_names), named=names is not None)


def _labels_of(model: Any, classes: Sequence[Any] | None, n_classes: int) -> NDArray[Any]:
    """Return the labels of a classifier: those given, its own, or 0, 1, ..."""
    labels = getattr(model, "classes_", None) if classes is None else np.asarray(classes)
    labels = np.arange(n_classes) if labels is None else np.asarray(labels)
    # Outputs are in the order of the sorted labels in all of these libraries.
    if len(labels) != n_classes or not np.array_equal(np.unique(labels), labels):
        raise ValueError(f"classes must be {n_classes} labels in ascending order; got {labels.tolist()}")
    return labels
