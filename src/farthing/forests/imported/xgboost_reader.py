"""Read XGBoost models from their JSON form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.errors import ModelImportError
from farthing.forests.imported.source import (
    SINGLE,
    Categories,
    GivenCategories,
    ImportedLinear,
    Source,
    by_column,
    code_sets,
    labels_of,
)
from farthing.learning.linear_scores import LinearScores
from farthing.trees import CodeSets, ForeignTable, ForeignTree, Imported, foreign_forest
from farthing.trees.imports import Link

_LINKS: Final[dict[str, Link]] = {
    **dict.fromkeys(("reg:squarederror", "reg:linear", "reg:squaredlogerror"), "identity"),
    **dict.fromkeys(("reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror"), "identity"),
    "binary:logitraw": "identity",
    **dict.fromkeys(("rank:pairwise", "rank:ndcg", "rank:map"), "identity"),
    **dict.fromkeys(("reg:logistic", "binary:logistic"), "sigmoid"),
    **dict.fromkeys(("multi:softmax", "multi:softprob"), "softmax"),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie"), "exponential"),
    **dict.fromkeys(("survival:cox", "survival:aft"), "exponential"),
}
# Objectives whose base score is a probability, and the sum starts at its logit.
_LOGIT: Final = ("reg:logistic", "binary:logistic")


def read_xgboost(model: Any, given: GivenCategories) -> Source:
    """Read a fitted estimator or a Booster of XGBoost.

    Parameters
    ----------
    model : estimator or xgboost.Booster
        An estimator that stopped early has the rounds up to the best one, as in its own ``predict``.
    given : mapping of str or int to sequence
        Categories of columns of which the model holds codes only.
    """
    bare = not hasattr(model, "get_booster")
    booster = model if bare else model.get_booster()
    learner = json.loads(_used_rounds(model, booster).save_raw("json"))["learner"]
    objective = learner["objective"]["name"]
    _check_settings(model, objective)
    categories = _categories(learner, given)
    classifies = objective.startswith(("binary:logistic", "multi:")) if bare else hasattr(model, "classes_")
    linear = learner["gradient_booster"]["name"] == "gblinear"
    parts = (_linear if linear else _trees)(learner, categories, classifies)
    return Source(
        parts,
        predict=_booster_predict(booster, objective) if bare else model.predict,
        predict_proba=_shares(model, booster, objective, bare) if classifies else None,
        names=None if booster.feature_names is None else [str(name) for name in booster.feature_names],
        categories=categories,
        labels=np.arange(parts.n_classes) if bare and classifies else labels_of(model),
        layout="category" if booster.feature_names else "array",
        tolerance=SINGLE,
    )


def _used_rounds(model: Any, booster: Any) -> Any:
    """Return the booster, cut after the best iteration if the estimator predicts up to it."""
    if model is booster or getattr(model, "booster", None) == "gblinear":
        return booster
    try:
        return booster[: model.best_iteration + 1]
    except AttributeError:  # it did not stop early
        return booster


def _check_settings(model: Any, objective: str) -> None:
    kind, missing = type(model).__name__, getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise ModelImportError(
            f"a {kind} with missing={missing:g} cannot be imported, since only NaN is missing here; replace "
            f"{missing:g} by NaN in the tables, call model.set_params(missing=numpy.nan), and import it again"
        )
    raw_scores = objective == "binary:logitraw" and hasattr(model, "classes_")
    if objective not in _LINKS or raw_scores:
        raise ModelImportError(
            f"a {kind} with the objective {objective} cannot be imported: it does not end in "
            f"probabilities or values that are known here; there are {', '.join(sorted(_LINKS))}"
            + (" (as model.get_booster(), for the raw scores)" if raw_scores else "")
        )


def _n_outputs(learner: Mapping[str, Any]) -> int:
    settings = learner["learner_model_param"]
    if int(settings.get("num_target", 1)) > 1:
        raise ModelImportError(
            f"an XGBoost model with several targets or quantiles ({learner['objective']['name']}) cannot be "
            "imported; train and import one model a target"
        )
    return max(1, int(settings["num_class"]))


def _base(learner: Mapping[str, Any], n_outputs: int) -> NDArray[np.float64]:
    """Return the base score of each output on the scale of the sums, rounded as XGBoost rounds it."""
    score = json.loads(learner["learner_model_param"]["base_score"])
    means = np.broadcast_to(np.atleast_1d(np.float32(score)), (n_outputs,))
    objective = learner["objective"]["name"]
    if objective in _LOGIT:
        # XGBoost computes -log(1/p - 1) in float32 steps. Any other order may differ in the last bit, which
        # all raw scores would inherit.
        odds = np.float32(1) / means - np.float32(1)
        return (-np.log(odds.astype(np.float64))).astype(np.float32).astype(np.float64)
    if _LINKS[objective] == "exponential":
        return np.log(means.astype(np.float64)).astype(np.float32).astype(np.float64)
    return means.astype(np.float64)


def _n_classes(n_outputs: int, classifies: bool) -> int:
    return max(2, n_outputs) if classifies else 0


def _trees(learner: Mapping[str, Any], categories: Categories, classifies: bool) -> Imported:
    n_outputs = _n_outputs(learner)
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]
    n_categories = {column: len(found) for column, found in categories.items()}
    n_features = int(learner["learner_model_param"]["num_feature"])
    table = ForeignTable(n_features, n_outputs, n_categories, comparator="<", single=True)
    weights = np.array(booster.get("weight_drop", [1.0] * len(model["trees"])), dtype=np.float32)  # of DART
    trees = [
        _tree(tree, output, weight, n_categories)
        for tree, output, weight in zip(model["trees"], model["tree_info"], weights, strict=True)
    ]
    forest = foreign_forest(table, trees, _base(learner, n_outputs))
    link = _LINKS[learner["objective"]["name"]]
    return Imported(forest, link, n_classes=_n_classes(n_outputs, classifies), single=True)


def _tree(
    tree: Mapping[str, Any], output: int, weight: np.float32, n_categories: Mapping[int, int]
) -> ForeignTree:
    thresholds = np.array(tree["split_conditions"], dtype=np.float32)
    feature = np.array(tree["split_indices"], dtype=np.int64)
    left = np.array(tree["left_children"], dtype=np.int64)
    right = np.array(tree["right_children"], dtype=np.int64)
    return ForeignTree(
        feature=feature,
        threshold=thresholds.astype(np.float64),
        left=left,
        right=np.where(left < 0, -1, right),
        default_left=np.array(tree["default_left"], dtype=np.bool_),
        value=(weight * _values(tree, thresholds, left, right)).astype(np.float64),
        cover=np.array(tree["sum_hessian"], dtype=np.float64),
        output=output,
        codes=_codes(tree, feature, n_categories),
    )


def _values(
    tree: Mapping[str, Any],
    thresholds: NDArray[np.float32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return the values of the leaves, shape (n_nodes, width); what inner nodes have is not used."""
    width = int(tree["tree_param"]["size_leaf_vector"])
    if width <= 1:  # leaves keep their value in place of a threshold
        return thresholds[:, np.newaxis]
    if "leaf_weights" not in tree:  # XGBoost 2 has the vectors of all nodes, XGBoost 3 those of leaves
        return np.array(tree["base_weights"], dtype=np.float32).reshape(-1, width)
    vectors = np.array(tree["leaf_weights"], dtype=np.float32).reshape(-1, width)
    # The right child of a leaf is the number of its vector.
    return vectors[np.where(left < 0, right, 0)]


def _codes(
    tree: Mapping[str, Any], feature: NDArray[np.int64], n_categories: Mapping[int, int]
) -> dict[int, CodeSets]:
    codes = {}
    for node, start, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        column = int(feature[node])
        count, chosen = n_categories[column], tree["categories"][start : start + size]
        if max(chosen, default=0) >= count:
            raise ModelImportError(
                f"an XGBoost model that tests the code {max(chosen)} in column {column} cannot be imported "
                f"with {count} categories; list all of them, in the order of the codes"
            )
        # The codes that are listed go right.
        right, left = code_sets(chosen, count)
        codes[node] = (left, right)
    return codes


def _linear(learner: Mapping[str, Any], categories: Categories, classifies: bool) -> ImportedLinear:
    if categories:
        raise ModelImportError("an XGBoost model with booster=gblinear and categories cannot be imported")
    n_outputs, n_features = _n_outputs(learner), int(learner["learner_model_param"]["num_feature"])
    weights = np.array(learner["gradient_booster"]["model"]["weights"], dtype=np.float64)
    coef = weights.reshape(n_features + 1, n_outputs)
    scores = LinearScores(
        columns=np.arange(n_features),
        category=np.full(n_features, np.nan),
        mean=np.zeros(n_features),
        scale=np.ones(n_features),
        coef=coef[:-1],
        # The base score of the first class is added to all of them.
        intercept=coef[-1] + _base(learner, n_outputs)[0],
        n_features=n_features,
    )
    return ImportedLinear(scores, _LINKS[learner["objective"]["name"]], _n_classes(n_outputs, classifies))


def _categories(learner: Mapping[str, Any], given: GivenCategories) -> Categories:
    """Return the categories by column: those that the model holds, or those given."""
    booster = learner["gradient_booster"]
    held = booster.get("gbtree", booster).get("model", {}).get("cats", {}).get("enc", [])
    names, kinds = learner.get("feature_names"), learner.get("feature_types", [])
    extra = by_column(given, names, int(learner["learner_model_param"]["num_feature"]))
    found = {}
    for column in (column for column, kind in enumerate(kinds) if kind == "c"):
        found[column] = (_decoded(held[column]) if column < len(held) else ()) or extra.get(column, ())
        if not found[column]:
            key = repr(names[column]) if names else column
            raise ModelImportError(
                f"an XGBoost model that holds codes of categories in column {key}, but not the categories, "
                f"cannot be imported without them; pass categories={{{key}: [...]}} in the order of the codes"
            )
    return found


def _decoded(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the categories of a column: numbers as they are, strings as joined UTF-8 with offsets."""
    values, offsets = entry["values"], entry.get("offsets")
    if offsets is None:
        return tuple(values)
    text = bytes(value % 256 for value in values)
    return tuple(text[a:b].decode() for a, b in pairwise(offsets))


def _booster_predict(booster: Any, objective: str) -> Any:
    """Return the booster's function to labels, or to values."""
    outputs = _booster_outputs(booster)
    if objective == "multi:softprob":
        return lambda table: outputs(table).argmax(axis=1)
    if objective == "binary:logistic":
        return lambda table: (outputs(table) > 0.5).astype(np.int64)
    return outputs


def _shares(model: Any, booster: Any, objective: str, bare: bool) -> Any:
    """Return the source's function to probabilities; None for a booster that predicts labels."""
    if not bare:
        return model.predict_proba
    if objective == "multi:softmax":
        return None
    predict = _booster_outputs(booster)

    def predict_proba(table: Any) -> NDArray[Any]:
        shares = predict(table)
        return np.column_stack([1 - shares, shares]) if shares.ndim == 1 else shares

    return predict_proba


def _booster_outputs(booster: Any) -> Any:
    from xgboost import DMatrix  # noqa: PLC0415 - only for its models

    def predict(table: Any) -> NDArray[Any]:
        # A frame has its own types.
        types = None if hasattr(table, "columns") else booster.feature_types
        return np.asarray(booster.predict(DMatrix(table, feature_types=types, enable_categorical=True)))

    return predict
