"""Read histogram gradient boosting of scikit-learn, with categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from farthing.forests.imported.source import Categories, Source, code_sets, labels_of, names_in, private
from farthing.table.values import Scalar
from farthing.trees import ForeignTable, ForeignTree, Imported, foreign_forest

_LOGARITHMIC = ("poisson", "gamma")
_WORD_BITS = 32  # of scikit-learn's sets of categories


def read_histogram(model: Any) -> Source | None:
    """Read a histogram gradient boosting model; None if the model is of another kind."""
    if not isinstance(model, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return None
    categories = _categories(model)
    base = np.ravel(private(model, "_baseline_prediction"))
    table = ForeignTable(
        model.n_features_in_, len(base), {column: len(found) for column, found in categories.items()}
    )
    order = _column_order(model)
    trees = [
        _tree(predictor, output, order, table.n_categories)
        for predictors in private(model, "_predictors")
        for output, predictor in enumerate(predictors)
    ]
    forest = foreign_forest(table, trees, base)
    if not is_classifier(model):
        parts = Imported(forest, "exponential" if model.loss in _LOGARITHMIC else "identity")
    elif len(base) == 1:
        parts = Imported(forest, "sigmoid", n_classes=2)
    else:
        parts = Imported(forest, "softmax", n_classes=len(base))
    return Source(
        parts,
        predict=model.predict,
        predict_proba=model.predict_proba if is_classifier(model) else None,
        names=names_in(model),
        categories=categories,
        labels=labels_of(model),
        layout="category" if names_in(model) else "array",
    )


def _categorical(model: Any) -> NDArray[np.int64]:
    """Return the categorical columns."""
    flags = model.is_categorical_
    return np.flatnonzero(flags) if flags is not None else np.array([], dtype=np.int64)


def _categories(model: Any) -> Categories:
    columns = _categorical(model)
    if not len(columns):
        return {}
    encoder = private(model, "_preprocessor").named_transformers_["encoder"]
    return {
        int(column): tuple(_plain(category) for category in found if category == category)  # noqa: PLR0124
        for column, found in zip(columns, encoder.categories_, strict=True)
    }


def _plain(category: Any) -> Scalar:
    plain: Scalar = category.item() if isinstance(category, np.generic) else category
    return plain


def _column_order(model: Any) -> NDArray[np.int64]:
    """Return the column of each feature of the trees: the categorical ones come first."""
    columns = _categorical(model)
    others = np.setdiff1d(np.arange(model.n_features_in_), columns)
    return np.concatenate([columns, others])


def _tree(
    predictor: Any, output: int, order: NDArray[np.int64], n_categories: Mapping[int, int]
) -> ForeignTree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(np.bool_)
    feature = order[np.where(leaf, 0, nodes["feature_idx"])]
    codes = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(np.bool_) & ~leaf).tolist():
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        count = n_categories[int(feature[node])]
        left = [code for code in range(count) if words[code // _WORD_BITS] >> (code % _WORD_BITS) & 1]
        codes[node] = code_sets(left, count)
    return ForeignTree(
        feature=feature,
        threshold=nodes["num_threshold"],
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        default_left=nodes["missing_go_to_left"].astype(np.bool_),
        value=nodes["value"][:, np.newaxis],
        cover=nodes["count"].astype(np.float64),
        output=output,
        codes=codes,
    )
