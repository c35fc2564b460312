"""Validation of flat node arrays, which the compiled predictor follows without further checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from farthing.trees.sparse_rows import SparseRows

if TYPE_CHECKING:
    from farthing.trees.forest import Forest

MOST_COLUMNS: Final = 2**31 - 1
"""Most features (their indices are 32 bit), outputs, and words in a set of category codes."""


def validate(forest: Forest) -> None:
    """Raise ValueError if following the arrays could leave them, loop, or give a value that is not finite.

    Array types and lengths are not checked here, since the constructor of a forest does. Time and memory are
    linear in the size of the arrays, even for hostile ones.
    """
    # The order matters: each check relies on those before it, such as offsets that can be repeated over.
    _check_trees(forest)
    _check_nodes(forest)
    _check_children(forest)
    _check_categories(forest)


def _check_trees(forest: Forest) -> None:
    offsets = forest.offsets
    if offsets[0] != 0 or offsets[-1] != forest.n_nodes:
        raise ValueError(f"offsets must run from 0 to {forest.n_nodes}; got {offsets[0]} to {offsets[-1]}")
    # Compared, not subtracted: a difference of hostile entries could overflow.
    _refuse(offsets[1:] <= offsets[:-1], "every tree must have at least one node", "tree")
    last = forest.n_outputs - forest.width
    _refuse((forest.target < 0) | (forest.target > last), f"target must lie between 0 and {last}", "tree")


def _check_nodes(forest: Forest) -> None:
    bad_feature = (forest.feature < -1) | (forest.feature >= forest.n_features)
    _refuse(bad_feature, f"feature must lie between -1 and {forest.n_features - 1}")
    leaf = forest.feature == -1
    for name in ("left", "right"):
        disagrees = (getattr(forest, name) == -1) != leaf
        _refuse(disagrees, f"{name} must be -1 at leaves (feature -1) and nowhere else")
    _refuse(leaf & (forest.category != -1), "category must be -1 at leaves")
    _refuse(forest.missing > 2, "missing must be 0 (left), 1 (right) or 2 (stay)")
    _refuse(np.isnan(forest.threshold), "threshold must not be NaN")
    if isinstance(forest.node_values, SparseRows):
        forest.node_values.validate()
    else:
        _refuse(~np.isfinite(forest.node_values).all(axis=1), "value must be finite")
    _refuse(~np.isfinite(forest.cover), "cover must be finite")


def _check_children(forest: Forest) -> None:
    starts = forest.tree_starts()
    sizes = np.repeat(np.diff(forest.offsets), np.diff(forest.offsets))
    inner = forest.feature >= 0
    own = np.arange(forest.n_nodes) - starts
    parents = np.zeros(forest.n_nodes, dtype=np.int64)
    for name in ("left", "right"):
        child = getattr(forest, name)
        outside = inner & ((child <= own) | (child >= sizes))
        _refuse(outside, f"{name} must come after its parent and lie in the same tree")
        parents += np.bincount(starts[inner] + child[inner], minlength=forest.n_nodes)
    # A child comes after its parent, so a root has no parent. If every other node has exactly one, all of
    # them are reached from the root, and no path can loop.
    _refuse(parents != (own > 0), "every node but the root must be the child of exactly one node")


def _check_categories(forest: Forest) -> None:
    n_words = len(forest.category_words)
    widths = forest.category_widths
    bad_width = (widths < 0) | (widths > MOST_COLUMNS)  # a bound, so that no product overflows
    _refuse(bad_width, f"category_widths must lie between 0 and {MOST_COLUMNS}", "feature")
    _refuse(forest.category < -1, "category must be -1 or the index of a word")
    categorical = np.flatnonzero(forest.category >= 0)
    width = widths[forest.feature[categorical]]
    first = forest.category[categorical]
    beyond = (width < 1) | (first > n_words - 2 * width)  # first + 2 * width could overflow
    if beyond.any():
        node = int(categorical[np.argmax(beyond)])
        raise ValueError(f"the code sets of node {node} must be not empty and lie within category_words")


def _refuse(bad: Any, rule: str, unit: str = "node") -> None:
    """Raise ValueError with the first bad entry, if there is one."""
    if bad.any():
        raise ValueError(f"{rule}; {unit} {int(np.argmax(bad))} is not so")
