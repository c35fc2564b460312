"""Read fitted models of scikit-learn, LightGBM and XGBoost through treelite."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from farthing.errors import ModelImportError
from farthing.trees import Forest, Imported, read_treelite


def read(model: Any) -> Imported:
    """Read a fitted model of another library through treelite."""
    treelite, frontend, sklearn = (_treelite(name) for name in ("", ".frontend", ".sklearn"))
    library, kind = type(model).__module__.split(".")[0], type(model).__name__
    try:
        if isinstance(model, treelite.Model):
            return read_treelite(model, single=model.input_type == "float32")
        # LightGBM compares and adds in float64, XGBoost in float32.
        if library == "lightgbm":
            return read_treelite(frontend.from_lightgbm(getattr(model, "booster_", model)), single=False)
        if library == "xgboost":
            booster = model.get_booster() if hasattr(model, "get_booster") else model
            found = read_treelite(frontend.from_xgboost(booster), single=True, single_sums=True)
            return replace(found, forest=_with_base(found, booster)) if found.link == "sigmoid" else found
        if library == "sklearn":
            check_is_fitted(model)
            # scikit-learn's exact trees round values to float32 before they compare; its histogram trees do
            # not.
            single = not kind.startswith("HistGradientBoosting")
            return read_treelite(sklearn.import_model(_as_forest(model)), single=single)
    # Treelite rejects models that it does not support in any of these ways.
    except (treelite.TreeliteError, NotImplementedError, AssertionError) as error:
        raise ModelImportError(f"a {kind} cannot be imported: {error}") from error
    raise ModelImportError(
        f"a {kind} of {library} cannot be imported; there are tree models of scikit-learn, LightGBM, "
        "XGBoost and treelite"
    )


def _with_base(found: Imported, booster: Any) -> Forest:
    """Return the trees with the base score in log-odds, computed in float32 as in XGBoost."""
    settings = json.loads(booster.save_config())["learner"]["learner_model_param"]
    share = np.float32(np.atleast_1d(json.loads(settings["base_score"]))[0])
    if share == np.float32(0.5):  # log-odds of zero, for which there is no tree
        return found.forest
    # XGBoost computes -log(1/p - 1) in float32 steps. Any other order may differ in the last bit, which all
    # raw scores would inherit.
    odds = np.float32(1) / share - np.float32(1)
    values = found.forest.value.copy()
    # The first tree is the base score, a single node.
    values[0] = np.float32(-np.log(np.float64(odds)))
    return replace(found.forest, value=values)


def _as_forest(model: Any) -> Any:
    """Return a single tree of scikit-learn as a forest of one, which treelite can read."""
    for tree, forest in (
        (DecisionTreeClassifier, RandomForestClassifier),
        (DecisionTreeRegressor, RandomForestRegressor),
    ):
        if isinstance(model, tree):
            shell = forest(n_estimators=1)
            shell.estimators_ = [model]
            for name in ("n_features_in_", "n_outputs_", "n_classes_", "classes_"):
                if hasattr(model, name):
                    setattr(shell, name, getattr(model, name))
            return shell
    return model


def names_of(model: Any) -> list[str] | None:
    """Return the names of the columns that the model was trained on; None if it has none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and type(model).__module__.startswith("xgboost"):
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        names = booster.feature_names
    if names is None and type(model).__module__.startswith("lightgbm"):
        names = getattr(model, "booster_", model).feature_name()
        # LightGBM's names for the columns of an array.
        if names == [f"Column_{j}" for j in range(len(names))]:
            return None
    return None if names is None else [str(name) for name in names]


def _treelite(part: str) -> Any:
    try:
        return import_module(f"treelite{part}")
    except ImportError as error:
        raise ImportError("from_model needs treelite: pip install 'farthing[import]'") from error
