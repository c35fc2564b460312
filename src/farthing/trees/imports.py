"""Import of trees of other libraries, through treelite, into the flat node array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.errors import ModelImportError
from farthing.trees.foreign import ForeignTable, ForeignTree, foreign_forest
from farthing.trees.forest import Forest

Link: TypeAlias = Literal["identity", "sigmoid", "softmax", "exponential"]
LINKS: Final = ("identity", "sigmoid", "softmax", "exponential")

# Treelite's names of the functions applied to the sum of the trees.
_LINKS: Final[dict[str, Link]] = {
    "identity": "identity",
    "identity_multiclass": "identity",
    "sigmoid": "sigmoid",
    "softmax": "softmax",
    "exponential": "exponential",
}
# Values of treelite's TaskType and Operator enumerations.
_BINARY, _REGRESSION, _MULTICLASS, _RANKING = 0, 1, 2, 3
_COMPARATORS: Final = {2: "<", 3: "<="}


@dataclass(frozen=True, slots=True)
class Imported:
    """The trees of another library, and how their sum becomes a prediction.

    Attributes
    ----------
    forest : Forest
        The base score as a tree of one node, if there is one, then the trees. Other libraries store values at
        leaves only; an inner node gets the mean of its children, weighted by cover.
    link : str
        Function from the sum to the prediction: "identity", "sigmoid", "softmax" or "exponential".
    divisor : float
        Divisor of the sum: the number of trees if they are averaged.
    scale : float
        Factor of the sum in the sigmoid.
    n_classes : int
        0 for regression and ranking.
    single : bool
        Whether the trees are added in float32.
    """

    forest: Forest
    link: Link
    divisor: float = 1.0
    scale: float = 1.0
    n_classes: int = 0
    single: bool = False


def read_treelite(model: Any) -> Imported:
    """Read a treelite model.

    Parameters
    ----------
    model : treelite.Model
        Its values are rounded to float32 before they are compared if that is its input type.

    Returns
    -------
    Imported

    Raises
    ------
    ModelImportError
        If the model has features that cannot be imported.
    """
    header = model.get_header_accessor()
    task, link = int(header.get_field("task_type")[0]), header.get_field("postprocessor")
    if int(header.get_field("num_target")[0]) != 1:
        raise ModelImportError("the model has several targets; import one model a target")
    if task not in (_BINARY, _REGRESSION, _MULTICLASS, _RANKING):
        raise ModelImportError(
            "the model neither classifies, regresses nor ranks; outlier scores have no place"
        )
    if link not in _LINKS:
        raise ModelImportError(
            f"the model ends in {link!r}, which cannot be brought over; there are {', '.join(sorted(_LINKS))}"
        )
    n_outputs = int(header.get_field("num_class")[0])
    base = np.array(header.get_field("base_scores"), dtype=np.float64)[:n_outputs]
    averaged = bool(header.get_field("average_tree_output")[0])
    n_features, classes = int(header.get_field("num_feature")[0]), header.get_field("class_id")
    if averaged and base.any():
        raise ModelImportError("the model averages its trees and adds a base score, which cannot be both")
    accessors = [model.get_tree_accessor(number) for number in range(model.num_tree)]
    table = ForeignTable(
        n_features, n_outputs, comparator=_comparator(accessors), single=model.input_type == "float32"
    )
    trees = [
        _read_tree(tree, n_outputs, int(column)) for tree, column in zip(accessors, classes, strict=True)
    ]
    n_classes = 0
    if task in (_BINARY, _MULTICLASS):
        n_classes = 2 if n_outputs == 1 else n_outputs
    forest = foreign_forest(table, trees, base)
    return Imported(
        forest,
        _LINKS[link],
        # The mean is over the trees that add to the same output.
        divisor=model.num_tree * forest.width / n_outputs if averaged else 1.0,
        scale=float(header.get_field("sigmoid_alpha")[0]),
        n_classes=n_classes,
    )


def _comparator(trees: list[Any]) -> str:
    """Return the comparison operator that all trees use."""
    signs: set[int] = set()
    for tree in trees:
        if tree.get_field("has_categorical_split")[0]:
            raise ModelImportError(
                "the treelite model tests categories, of which it holds only codes; import the model that it "
                "was made from: from_model reads those of LightGBM, XGBoost and scikit-learn"
            )
        inner = np.array(tree.get_field("cleft")) >= 0
        signs.update(np.array(tree.get_field("cmp"))[inner].tolist())
    if len(signs) > 1 or not signs <= set(_COMPARATORS):
        raise ModelImportError(
            "the model compares by other signs than < or <= alone, which cannot be brought over"
        )
    return _COMPARATORS[signs.pop()] if signs else "<="


def _read_tree(tree: Any, n_outputs: int, column: int) -> ForeignTree:
    feature = np.array(tree.get_field("split_index"), dtype=np.int32)
    left = np.array(tree.get_field("cleft"), dtype=np.int64)
    vectors = np.array(tree.get_field("leaf_vector"), dtype=np.float64)
    if len(vectors):
        value = np.zeros((len(feature), n_outputs))
        value[left < 0] = vectors.reshape(-1, n_outputs)  # leaf by leaf in the order of the nodes
    else:
        value = np.array(tree.get_field("leaf_value"), dtype=np.float64).reshape(-1, 1)
    return ForeignTree(
        feature=feature,
        threshold=np.array(tree.get_field("threshold"), dtype=np.float64),
        left=left,
        right=np.array(tree.get_field("cright"), dtype=np.int64),
        default_left=np.array(tree.get_field("default_left"), dtype=np.bool_),
        value=value,
        cover=_cover(tree, len(feature)),
        output=max(column, 0),
    )


def _cover(tree: Any, n_nodes: int) -> NDArray[np.float64]:
    """Return the weight or the number of the rows that trained each node; 1 each if neither is known."""
    for name in ("sum_hess", "data_count"):
        known = np.array(tree.get_field(name), dtype=np.float64)
        if len(known) == n_nodes and (known > 0).any():
            return known
    return np.ones(n_nodes)
