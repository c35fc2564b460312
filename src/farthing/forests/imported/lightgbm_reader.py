"""Read LightGBM models from their dump."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from farthing.errors import ModelImportError
from farthing.forests.imported.source import Categories, Source, code_sets, labels_of
from farthing.trees import CodeSets, ForeignTable, ForeignTree, Imported, foreign_forest
from farthing.trees.imports import Link

_LINKS: Final[dict[str, Link]] = {
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), "identity"),
    **dict.fromkeys(("lambdarank", "rank_xendcg", "custom", "none"), "identity"),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), "exponential"),
    **dict.fromkeys(("binary", "cross_entropy"), "sigmoid"),
    "multiclass": "softmax",
}

_ZERO: Final = float(np.float32(1e-35))  # LightGBM's kZeroThreshold
_LARGEST: Final = 1e300  # stands for infinity in a dump


def read_lightgbm(model: Any) -> Source:
    """Read a fitted estimator or a Booster of LightGBM."""
    bare = not hasattr(model, "booster_")
    # Up to the best iteration, which is also what `predict` uses.
    dump = (model if bare else model.booster_).dump_model()
    categories, layout = _categories(dump)
    parts = _parts(dump, categories)
    classifies = parts.n_classes > 0 if bare else hasattr(model, "predict_proba")
    if classifies and not parts.n_classes:
        raise ModelImportError(
            f"a {type(model).__name__} with the objective {dump.get('objective', 'custom')} cannot be "
            "imported, since its outputs are no probabilities; import model.booster_ for the raw scores"
        )
    shares: Any = _booster_shares(model) if bare else getattr(model, "predict_proba", None)
    return Source(
        parts if classifies else replace(parts, n_classes=0),
        predict=(lambda table: shares(table).argmax(axis=1)) if bare and classifies else model.predict,
        predict_proba=shares if classifies else None,
        names=_names(dump),
        categories=categories,
        labels=np.arange(parts.n_classes) if bare and classifies else labels_of(model),
        layout=layout,
    )


def _parts(dump: Mapping[str, Any], categories: Categories) -> Imported:
    name, *options = dump.get("objective", "none").split()
    settings = dict(option.split(":") for option in options if ":" in option)
    if name not in _LINKS or "sqrt" in options:
        given = "multiclass_ova" if name == "multiclassova" else " ".join([name, *options])
        raise ModelImportError(
            f"a LightGBM model with the objective {given} cannot be imported: its outputs are neither "
            f"probabilities that sum to one nor values; there are {', '.join(sorted(_LINKS))}"
        )
    n_outputs = int(dump["num_tree_per_iteration"])
    n_categories = {column: len(found) for column, found in categories.items()}
    table = ForeignTable(int(dump["max_feature_idx"]) + 1, n_outputs, n_categories)
    codes = _code_positions(dump, categories)
    trees = [
        _tree(tree["tree_structure"], number % n_outputs, codes)
        for number, tree in enumerate(dump["tree_info"])
    ]
    return Imported(
        foreign_forest(table, trees),
        _LINKS[name],
        divisor=len(trees) / n_outputs if dump["average_output"] and trees else 1.0,
        scale=float(settings.get("sigmoid", 1.0)),
        n_classes={"binary": 2, "multiclass": n_outputs}.get(name, 0),
    )


def _tree(root: Mapping[str, Any], output: int, codes: Mapping[int, Mapping[int, int]]) -> ForeignTree:
    nodes, left, right = [root], [], []
    # The list grows while it is read: children are appended in pairs.
    for node in nodes:
        if "linear_tree" in node or "leaf_coeff" in node:
            raise ModelImportError(
                "a LightGBM model with linear_tree=True cannot be imported: its leaves hold linear models; "
                "train it without"
            )
        inner = "split_feature" in node
        left.append(len(nodes) if inner else -1)
        right.append(len(nodes) + 1 if inner else -1)
        if inner:
            nodes += [node["left_child"], node["right_child"]]
    tests = [node if "split_feature" in node else None for node in nodes]
    return ForeignTree(
        feature=np.array([-1 if test is None else test["split_feature"] for test in tests]),
        threshold=np.array([_threshold(test) for test in tests]),
        left=np.array(left),
        right=np.array(right),
        default_left=np.array([_default_left(test) for test in tests]),
        value=np.array([[node.get("leaf_value", 0.0)] for node in nodes], dtype=np.float64),
        cover=np.array([_cover(node) for node in nodes], dtype=np.float64),
        output=output,
        codes={
            number: _chosen(test, codes[test["split_feature"]])
            for number, test in enumerate(tests)
            if test is not None and _is_categorical(test)
        },
    )


def _is_categorical(test: Mapping[str, Any]) -> bool:
    return bool(test["decision_type"] == "==")


def _threshold(test: Mapping[str, Any] | None) -> float:
    if test is None or _is_categorical(test):
        return 0.0
    threshold = float(test["threshold"])
    if abs(threshold) >= _LARGEST:
        return math.copysign(math.inf, threshold)
    # Numbers up to the size of _ZERO are zeros, which go right at a negative threshold and left at another.
    if -_ZERO <= threshold < 0:
        return float(np.nextafter(-_ZERO, -np.inf))
    return _ZERO if 0 <= threshold < _ZERO else threshold


def _cover(node: Mapping[str, Any]) -> float:
    """Return the weight of a node; the count is missing from a tree of one leaf."""
    return float(node.get("internal_weight", node.get("leaf_weight", 0.0)))


def _default_left(test: Mapping[str, Any] | None) -> bool:
    if test is None or _is_categorical(test):
        return False  # missing categories go right
    zero_left = float(test["threshold"]) >= 0.0
    if test["missing_type"] == "NaN":
        return bool(test["default_left"])
    # Otherwise a missing value is a zero.
    if test["missing_type"] == "Zero" and zero_left != test["default_left"]:
        raise ModelImportError(
            "a LightGBM model trained with zero_as_missing=True cannot be imported: it sends zeros another "
            "way than small numbers; replace zeros that mean missing by NaN and train without it"
        )
    return zero_left


def _chosen(test: Mapping[str, Any], positions: Mapping[int, int]) -> CodeSets:
    raw = (int(code) for code in str(test["threshold"]).split("||"))
    return code_sets(sorted(positions[code] for code in raw if code in positions), len(positions))


def _categories(dump: Mapping[str, Any]) -> tuple[Categories, Any]:
    """Return the categories by column, and the layout of the tables that the model takes."""
    seen = {
        column: sorted(code for code in info["values"] if code >= 0)
        for column, info in enumerate(_infos(dump))
        if info is not None and info["values"]
    }
    tables = dump.get("pandas_categorical")
    if not tables:
        return {column: tuple(codes) for column, codes in seen.items()}, "array"
    if len(tables) != len(seen):
        raise ModelImportError(
            f"a LightGBM model with {len(tables)} columns of categories, of which {len(seen)} are in use, "
            "cannot be imported: it does not say which; drop the columns with a single category and train "
            "it again"
        )
    return {column: tuple(table) for column, table in zip(sorted(seen), tables, strict=True)}, "category"


def _infos(dump: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    return [dump["feature_infos"].get(name) for name in dump["feature_names"]]


def _code_positions(dump: Mapping[str, Any], categories: Categories) -> dict[int, dict[int, int]]:
    """Return our code of each code of the model, by column."""
    if dump.get("pandas_categorical"):
        return {column: {code: code for code in range(len(found))} for column, found in categories.items()}
    return {
        column: {int(code): position for position, code in enumerate(found)}
        for column, found in categories.items()
    }


def _names(dump: Mapping[str, Any]) -> list[str] | None:
    """Return the names of the columns, unless they are LightGBM's names for those of an array."""
    names = [str(name) for name in dump["feature_names"]]
    return None if names == [f"Column_{j}" for j in range(len(names))] else names


def _booster_shares(booster: Any) -> Any:
    """Return the function of a booster to the probabilities of its classes."""

    def predict_proba(table: Any) -> Any:
        shares = np.asarray(booster.predict(table))
        return np.column_stack([1 - shares, shares]) if shares.ndim == 1 else shares

    return predict_proba
