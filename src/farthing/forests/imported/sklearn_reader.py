"""Read decision trees, forests and gradient boosting of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import BaseDecisionTree
from sklearn.utils import get_tags

from farthing.errors import ModelImportError
from farthing.forests.imported.source import Source, labels_of, names_in, private
from farthing.trees import ForeignTable, ForeignTree, Imported, foreign_forest

_BOOSTED = (GradientBoostingClassifier, GradientBoostingRegressor)
_FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)


def read_trees(model: Any) -> Source | None:
    """Read a model of exact trees of scikit-learn; None if it is of another kind."""
    if isinstance(model, _BOOSTED):
        parts = _boosted(model)
    elif isinstance(model, _FORESTS):
        parts = _averaged(model, list(model.estimators_))
    elif isinstance(model, BaseDecisionTree):
        parts = _averaged(model, [model])
    else:
        return None
    return Source(
        parts,
        predict=model.predict,
        predict_proba=model.predict_proba if is_classifier(model) else None,
        names=names_in(model),
        labels=labels_of(model),
        layout="category" if names_in(model) else "array",
        missing=bool(get_tags(model).input_tags.allow_nan),
    )


def _averaged(model: Any, trees: list[Any]) -> Imported:
    if model.n_outputs_ != 1:
        raise ModelImportError("the model has several targets; import one model a target")
    n_classes = int(model.n_classes_) if is_classifier(model) else 0
    # Values are rounded to float32 before they are compared.
    table = ForeignTable(model.n_features_in_, max(n_classes, 1), single=True)
    read = [_tree(tree.tree_) for tree in trees]
    return Imported(foreign_forest(table, read), "identity", divisor=float(len(trees)), n_classes=n_classes)


def _boosted(model: Any) -> Imported:
    if not (model.init_ == "zero" or type(model.init_).__name__ in ("DummyClassifier", "DummyRegressor")):
        raise ModelImportError(
            f"a {type(model).__name__} with init={type(model.init_).__name__} cannot be imported, since it "
            "starts from another model; train it with init=None or init='zero'"
        )
    rounds = model.estimators_
    table = ForeignTable(model.n_features_in_, rounds.shape[1], single=True)
    base = private(model, "_raw_predict_init")(np.zeros((1, model.n_features_in_)))[0]
    trees = [
        _tree(tree.tree_, output=output, factor=model.learning_rate)
        for trees in rounds
        for output, tree in enumerate(trees)
    ]
    forest = foreign_forest(table, trees, base)
    if not is_classifier(model):
        return Imported(forest, "identity")
    if rounds.shape[1] > 1:
        return Imported(forest, "softmax", n_classes=rounds.shape[1])
    # The exponential loss is minimal at half of the log-odds.
    return Imported(forest, "sigmoid", scale=2.0 if model.loss == "exponential" else 1.0, n_classes=2)


def _tree(tree: Any, output: int = 0, factor: float = 1.0) -> ForeignTree:
    return ForeignTree(
        feature=tree.feature,
        threshold=tree.threshold,
        left=np.asarray(tree.children_left, dtype=np.int64),
        right=np.asarray(tree.children_right, dtype=np.int64),
        default_left=np.asarray(tree.missing_go_to_left, dtype=np.bool_),
        value=tree.value[:, 0, :] * factor,
        cover=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
        output=output,
    )
