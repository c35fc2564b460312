"""Read CatBoost models from their JSON form."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from farthing.errors import ModelImportError
from farthing.forests.imported.source import Categories, GivenCategories, Source, by_column, code_sets
from farthing.trees import CodeSets, ForeignTable, ForeignTree, Imported, foreign_forest
from farthing.trees.imports import Link

_REGRESSION: Final[dict[str, Link]] = {
    **dict.fromkeys(("RMSE", "MAE", "Quantile", "LogLinQuantile", "MAPE", "Lq"), "identity"),
    **dict.fromkeys(("Huber", "Expectile", "QueryRMSE", "QuerySoftMax", "LambdaMart"), "identity"),
    **dict.fromkeys(("PairLogit", "PairLogitPairwise", "YetiRank", "YetiRankPairwise"), "identity"),
    "StochasticRank": "identity",
    **dict.fromkeys(("Poisson", "Tweedie"), "exponential"),
}
_CLASSIFICATION: Final[dict[str, Link]] = {
    **dict.fromkeys(("Logloss", "CrossEntropy"), "sigmoid"),
    "MultiClass": "softmax",
}


def read_catboost(model: Any, given: GivenCategories) -> Source:
    """Read a fitted model of CatBoost.

    Parameters
    ----------
    model : CatBoostClassifier, CatBoostRegressor, CatBoostRanker or CatBoost
        With tests of single categories at most (``one_hot_max_size``): a test of a target statistic reads
        several values at once.
    given : mapping of str or int to sequence
        The categories of each categorical column; the model holds only their hashes.
    """
    if not model.is_fitted():
        raise ModelImportError(f"this {type(model).__name__} is not fitted yet; call fit first")
    loss = _loss(model)
    dump = _dump(model)
    features, (scale, bias) = dump["features_info"], dump["scale_and_bias"]
    trees = [_nodes(tree, len(bias)) for tree in dump.get("oblivious_trees", dump.get("trees", []))]
    _check_splits([node for nodes in trees for node in nodes])
    columns = {
        int(feature["feature_index"]): int(feature["flat_feature_index"])
        for feature in features.get("categorical_features", [])
    }
    categories = _categories(model, columns, given)
    n_categories = {column: len(found) for column, found in categories.items()}
    table = ForeignTable(len(model.feature_names_), len(bias), n_categories, single=True)
    tests = _Tests(features, columns, _hashes(model, categories))
    forest = foreign_forest(
        table, [tests.tree(nodes, float(scale)) for nodes in trees], np.array(bias, dtype=np.float64)
    )
    n_classes = 0 if loss not in _CLASSIFICATION else len(model.classes_)
    link = (_CLASSIFICATION if n_classes else _REGRESSION)[loss]
    return Source(
        Imported(forest, link, n_classes=n_classes),
        predict=lambda rows: np.asarray(model.predict(rows)).reshape(len(rows)),
        predict_proba=model.predict_proba if n_classes else None,
        names=_names(model),
        categories=categories,
        labels=np.asarray(model.classes_) if n_classes else None,
        layout="object" if categories or _names(model) else "array",
        missing_categories=False,
    )


def _loss(model: Any) -> str:
    """Return the name of the loss that the model was trained with."""
    loss = str(model.get_all_params()["loss_function"]).split(":")[0]
    if loss.startswith("Multi") and loss not in _CLASSIFICATION and "RMSE" in loss:
        raise ModelImportError(
            f"a CatBoost model with several targets ({loss}) cannot be imported; import one model a target"
        )
    classifies = hasattr(model, "predict_proba")
    known = _CLASSIFICATION if classifies else _REGRESSION
    if loss not in known:
        raise ModelImportError(
            f"a {type(model).__name__} with the loss {loss} cannot be imported: it does not end in "
            f"probabilities or values that are known here; there are {', '.join(sorted(known))}"
        )
    return loss


def _dump(model: Any, **options: Any) -> Mapping[str, Any]:
    from catboost import CatBoostError  # noqa: PLC0415 - only for its models

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(str(path), format="json", **options)
        except CatBoostError as error:  # text and embedding features, for instance
            raise ModelImportError(
                f"a {type(model).__name__} that CatBoost cannot write as JSON cannot be imported: {error}"
            ) from error
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _names(model: Any) -> list[str] | None:
    """Return the names of the columns, unless they are CatBoost's names for those of an array."""
    names = [str(name) for name in model.feature_names_]
    return None if names == [str(position) for position in range(len(names))] else names


def _categories(model: Any, columns: Mapping[int, int], given: GivenCategories) -> Categories:
    found = by_column(given, model.feature_names_, len(model.feature_names_))
    for column in columns.values():
        if column not in found:
            name = model.feature_names_[column]
            key = name if _names(model) is None else repr(name)
            raise ModelImportError(
                f"a CatBoost model with categories in column {key} cannot be imported without them, since it "
                f"holds only their hashes; pass categories={{{key}: [...]}}"
            )
    return {column: found[column] for column in columns.values()}


def _hashes(model: Any, categories: Categories) -> dict[int, dict[int, int]]:
    """Return the code of each hash, by column."""
    if not categories:
        return {}
    from catboost import Pool  # noqa: PLC0415 - only for its models

    # A model that is saved together with a table says which category has which hash.
    longest = max(len(found) for found in categories.values())
    rows = [
        [
            categories[column][row % len(categories[column])] if column in categories else 0.0
            for column in range(len(model.feature_names_))
        ]
        for row in range(longest)
    ]
    pool = Pool(rows, cat_features=sorted(categories), feature_names=list(model.feature_names_))
    known = {
        entry["value"]: int(entry["hash"])
        for entry in _dump(model, pool=pool)["features_info"]["cat_features_hash"]
    }
    return {
        column: {known[str(category)]: code for code, category in enumerate(found)}
        for column, found in categories.items()
    }


@dataclass(frozen=True, slots=True)
class _Node:
    """A node: a split and two children, or a value for each output."""

    split: Mapping[str, Any] | None
    left: int
    right: int
    value: Sequence[float]
    weight: float


def _nodes(tree: Mapping[str, Any], n_outputs: int) -> list[_Node]:
    return _symmetric(tree, n_outputs) if "splits" in tree else _nested(tree, n_outputs)


def _symmetric(tree: Mapping[str, Any], n_outputs: int) -> list[_Node]:
    """Return the nodes of a symmetric tree, which has one split for each level, level by level."""
    splits = tree["splits"] or []
    values = np.reshape(tree["leaf_values"], (-1, n_outputs)).tolist()
    nothing = [0.0] * n_outputs
    weights = tree.get("leaf_weights") or [1.0] * len(values)
    nodes = []
    for level, split in enumerate(splits):
        first = 2**level - 1
        nodes += [
            _Node(split, 2 * node + 1, 2 * node + 2, nothing, 0.0) for node in range(first, 2 * first + 1)
        ]
    for place in range(2 ** len(splits)):
        # The outcome of the first split is the highest bit of a leaf's place, and the lowest of its number.
        leaf = sum((place >> len(splits) - 1 - level & 1) << level for level in range(len(splits)))
        nodes.append(_Node(None, -1, -1, values[leaf], float(weights[leaf])))
    return _with_weights(nodes)


def _nested(tree: Mapping[str, Any], n_outputs: int) -> list[_Node]:
    """Return the nodes of a tree whose splits differ within a level."""
    found, nodes = [tree], []
    # The list grows while it is read: children are appended in pairs.
    for node in found:
        if "split" in node:
            nodes.append(_Node(node["split"], len(found), len(found) + 1, [0.0] * n_outputs, 0.0))
            found += [node["left"], node["right"]]
        else:
            value = np.ravel(node["value"]).tolist()
            nodes.append(_Node(None, -1, -1, value, float(node.get("weight", 1.0))))
    return _with_weights(nodes)


def _with_weights(nodes: list[_Node]) -> list[_Node]:
    """Return the nodes with the weight of each inner one, the sum over its children, which come later."""
    weights = [node.weight for node in nodes]
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        if node.split is not None:
            weights[number] = weights[node.left] + weights[node.right]
    return [replace(node, weight=weight) for node, weight in zip(nodes, weights, strict=True)]


class _Tests:
    """The tests of a model as columns, thresholds and sets of codes."""

    def __init__(
        self,
        features: Mapping[str, Any],
        columns: Mapping[int, int],
        hashes: Mapping[int, Mapping[int, int]],
    ) -> None:
        self._numeric = {int(f["feature_index"]): f for f in features.get("float_features", [])}
        self._columns = columns
        self._hashes = hashes

    def tree(self, nodes: list[_Node], scale: float) -> ForeignTree:
        """Return a tree of the nodes."""
        return ForeignTree(
            feature=np.array([self._column(node.split) for node in nodes]),
            threshold=np.array(
                [0.0 if node.split is None else node.split.get("border", 0.0) for node in nodes]
            ),
            left=np.array([node.left for node in nodes]),
            right=np.array([node.right for node in nodes]),
            default_left=np.array([self._default_left(node.split) for node in nodes]),
            value=np.array([node.value for node in nodes], dtype=np.float64) * scale,
            cover=np.array([node.weight for node in nodes]),
            codes={
                number: self._codes(node.split) for number, node in enumerate(nodes) if _one_hot(node.split)
            },
        )

    def _column(self, split: Mapping[str, Any] | None) -> int:
        if split is None:
            return -1
        if _one_hot(split):
            return self._columns[split["cat_feature_index"]]
        return int(self._numeric[split["float_feature_index"]]["flat_feature_index"])

    def _default_left(self, split: Mapping[str, Any] | None) -> bool:
        if split is None or _one_hot(split):
            return True  # a category that is not known equals none
        return bool(self._numeric[split["float_feature_index"]]["nan_value_treatment"] != "AsTrue")

    def _codes(self, split: Any) -> CodeSets:
        column = self._columns[split["cat_feature_index"]]
        code = self._hashes[column].get(int(split["value"]) % 2**32)
        if code is None:
            raise ModelImportError(
                f"a CatBoost model that tests a category of column {column} which is not among those given "
                "cannot be imported; list all that it was trained on"
            )
        right, left = code_sets([code], len(self._hashes[column]))
        return left, right


def _check_splits(nodes: Sequence[_Node]) -> None:
    """Raise ModelImportError if a test reads more than one value."""
    for split in (node.split for node in nodes if node.split is not None):
        if split["split_type"] not in ("FloatFeature", "OneHotFeature"):
            raise ModelImportError(
                f"a CatBoost model with splits of the type {split['split_type']} cannot be imported: they "
                "test statistics of the target over several values; train it with one_hot_max_size at least "
                "as large as the number of categories of each column"
            )


def _one_hot(split: Mapping[str, Any] | None) -> bool:
    return split is not None and split["split_type"] == "OneHotFeature"
