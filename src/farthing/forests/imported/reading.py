"""Find the reader of a model of another library."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from farthing.errors import ModelImportError
from farthing.forests.imported.catboost_reader import read_catboost
from farthing.forests.imported.histogram_reader import read_histogram
from farthing.forests.imported.lightgbm_reader import read_lightgbm
from farthing.forests.imported.linear_reader import read_linear
from farthing.forests.imported.sklearn_reader import read_trees
from farthing.forests.imported.source import SINGLE, GivenCategories, Source
from farthing.forests.imported.xgboost_reader import read_xgboost
from farthing.trees import read_treelite

# An estimator of LightGBM or XGBoost derives from classes of scikit-learn, which come later.
_LIBRARIES = ("lightgbm", "xgboost", "catboost", "treelite", "sklearn")
_KNOWN = "tree models and linear models of scikit-learn, models of LightGBM, XGBoost, CatBoost and treelite"


def read(model: Any, categories: GivenCategories | None = None) -> Source:
    """Read a fitted model of another library.

    Parameters
    ----------
    model : estimator, booster or treelite.Model
        The model.
    categories : mapping of str or int to sequence, optional
        Categories by column, where the model holds their codes or hashes only.

    Returns
    -------
    Source

    Raises
    ------
    ModelImportError
        If the model is of a kind, or has a setting, that cannot be imported.
    """
    library, kind, given = _library(model), type(model).__name__, categories or {}
    if library in ("lightgbm", "sklearn") and hasattr(model, "get_params"):
        check_is_fitted(model)
    source: Source | None = None
    if library == "lightgbm":
        source = read_lightgbm(model)
    elif library == "xgboost":
        source = read_xgboost(model, given)
    elif library == "catboost":
        source = read_catboost(model, given)
    elif library == "treelite":
        source = _read_treelite(model)
    elif library == "sklearn":
        source = read_trees(model) or read_histogram(model) or read_linear(model)
    if source is None:
        reason = " (it scores outliers)" if kind in ("IsolationForest", "LocalOutlierFactor") else ""
        raise ModelImportError(f"a {kind} of {library} cannot be imported{reason}; there are {_KNOWN}")
    return source


def _library(model: Any) -> str:
    """Return the library of a model, or of the class that it derives from."""
    modules = [ancestor.__module__.split(".")[0] for ancestor in type(model).__mro__]
    return next((module for module in modules if module in _LIBRARIES), modules[0])


def _read_treelite(model: Any) -> Source:
    """Read a treelite model, which is compared with treelite's reference predictor."""
    parts, gtil = read_treelite(model), import_module("treelite.gtil")
    dtype = np.float32 if model.input_type == "float32" else np.float64

    def outputs(table: Any) -> Any:
        return gtil.predict(model, np.asarray(table, dtype=dtype)).reshape(len(table), -1)

    def shares(table: Any) -> Any:
        found = outputs(table)
        return np.column_stack([1 - found, found]) if found.shape[1] == 1 else found

    def predict(table: Any) -> Any:
        return shares(table).argmax(axis=1) if parts.n_classes else outputs(table)[:, 0]

    return Source(
        parts,
        predict=predict,
        predict_proba=shares if parts.n_classes else None,
        labels=np.arange(parts.n_classes) if parts.n_classes else None,
        tolerance=SINGLE,
    )
