"""Import of trees of other libraries, through treelite, into the flat node array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.errors import ModelImportError
from farthing.trees.forest import Forest
from farthing.trees.node_arrays import MISSING_LEFT, MISSING_RIGHT, MISSING_STAY

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
    divisor: float
    scale: float
    n_classes: int
    single: bool


def read_treelite(model: Any, *, single: bool, single_sums: bool = False) -> Imported:
    """Read a treelite model.

    Parameters
    ----------
    model : treelite.Model
        The model.
    single : bool
        Whether values are rounded to float32 before they are compared, as scikit-learn's exact trees and
        XGBoost do.
    single_sums : bool
        Whether sums are rounded to float32 after each tree, as XGBoost does.

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
    accessors = [model.get_tree_accessor(number) for number in range(model.num_tree)]
    kind = {"comparator": _comparator(accessors), "dtype": "float32" if single else "float64"}
    trees = [
        _read_tree(tree, n_features, n_outputs, int(column), kind)
        for tree, column in zip(accessors, classes, strict=True)
    ]
    # As trees of one node, so that array calls and walks add it in the same place of the same sum.
    if base.any():
        if averaged:
            raise ModelImportError("the model averages its trees and adds a base score, which cannot be both")
        trees = [*_constants(base, trees[0]), *trees]
    n_classes = 0
    if task in (_BINARY, _MULTICLASS):
        n_classes = 2 if n_outputs == 1 else n_outputs
    return Imported(
        Forest.concat(trees).validate(),
        _LINKS[link],
        float(model.num_tree) if averaged else 1.0,
        float(header.get_field("sigmoid_alpha")[0]),
        n_classes,
        single_sums,
    )


def _comparator(trees: list[Any]) -> str:
    """Return the comparison operator that all trees use."""
    signs: set[int] = set()
    for tree in trees:
        if tree.get_field("has_categorical_split")[0]:
            raise ModelImportError(
                "the model tests categories, whose codes each library keeps in its own way; use numbers"
            )
        inner = np.array(tree.get_field("cleft")) >= 0
        signs.update(np.array(tree.get_field("cmp"))[inner].tolist())
    if len(signs) > 1 or not signs <= set(_COMPARATORS):
        raise ModelImportError(
            "the model compares by other signs than < or <= alone, which cannot be brought over"
        )
    return _COMPARATORS[signs.pop()] if signs else "<="


def _read_tree(tree: Any, n_features: int, n_outputs: int, column: int, kind: dict[str, str]) -> Forest:
    feature = np.array(tree.get_field("split_index"), dtype=np.int32)
    left = np.array(tree.get_field("cleft"), dtype=np.int64)
    right = np.array(tree.get_field("cright"), dtype=np.int64)
    inner = left >= 0
    vectors = np.array(tree.get_field("leaf_vector"), dtype=np.float64)
    if len(vectors):
        value = np.zeros((len(feature), n_outputs))
        value[~inner] = vectors.reshape(-1, n_outputs)  # leaf by leaf in the order of the nodes
    else:
        value = np.array(tree.get_field("leaf_value"), dtype=np.float64).reshape(-1, 1)
        value[inner] = 0.0
    cover = _cover(tree, len(feature))
    _fill_inner(value, cover, left, right)
    default_left = np.array(tree.get_field("default_left"), dtype=np.bool_)
    arrays: dict[str, Any] = {
        "feature": np.where(inner, feature, -1),
        "threshold": np.where(inner, np.array(tree.get_field("threshold"), dtype=np.float64), 0.0),
        "left": left,
        "right": right,
        "missing": np.where(inner, np.where(default_left, MISSING_LEFT, MISSING_RIGHT), MISSING_STAY),
        "value": value,
        "cover": cover,
    }
    return Forest.from_arrays(
        n_features=n_features,
        n_outputs=n_outputs,
        target=[max(column, 0)],
        **_parents_first(arrays),
        **kind,
    )


def _cover(tree: Any, n_nodes: int) -> NDArray[np.float64]:
    """Return the weight or the number of the rows that trained each node; 1 each if neither is known."""
    for name in ("sum_hess", "data_count"):
        known = np.array(tree.get_field(name), dtype=np.float64)
        if len(known) == n_nodes and (known > 0).any():
            return known
    return np.ones(n_nodes)


def _fill_inner(
    value: NDArray[np.float64],
    cover: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> None:
    """Set the value of each inner node to the mean of its children, weighted by cover, bottom up."""
    # By levels and not by number: nodes of other libraries need not come after their parents.
    levels = []
    level = np.array([0])
    while len(level := level[left[level] >= 0]):
        levels.append(level)
        level = np.concatenate([left[level], right[level]])
    for nodes in reversed(levels):
        shares = np.stack([cover[left[nodes]], cover[right[nodes]]])
        shares[:, ~(shares.sum(axis=0) > 0)] = 1.0  # a plain mean where no training row came by
        shares /= shares.sum(axis=0)
        value[nodes] = (
            shares[0][:, np.newaxis] * value[left[nodes]] + shares[1][:, np.newaxis] * value[right[nodes]]
        )


def _parents_first(arrays: dict[str, Any]) -> dict[str, Any]:
    """Renumber the nodes in breadth-first order, so that a child comes after its parent."""
    left, right = arrays["left"], arrays["right"]
    order = [np.array([0])]
    while len(level := order[-1][left[order[-1]] >= 0]):
        order.append(np.stack([left[level], right[level]], axis=1).ravel())
    old = np.concatenate(order)
    new = np.full(len(left), -1)
    new[old] = np.arange(len(old))
    ordered = {name: array[old] for name, array in arrays.items()}
    for name in ("left", "right"):
        child = ordered[name]
        ordered[name] = np.where(child >= 0, new[child], -1)
    return ordered


def _constants(base: NDArray[np.float64], like: Forest) -> list[Forest]:
    """Return the base score as trees of one node, as wide as the others: one for all or one per output."""
    return [
        Forest.from_arrays(
            n_features=like.n_features,
            n_outputs=like.n_outputs,
            target=[column],
            feature=[-1],
            threshold=[0.0],
            left=[-1],
            right=[-1],
            value=base[np.newaxis, column : column + like.width],
            comparator=like.comparator,
            dtype=like.dtype,
        )
        for column in range(0, len(base), like.width)
    ]
