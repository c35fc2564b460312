"""The arrays of a forest: their types and lengths, and the constants used in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from farthing.trees.forest_nodes import ForestNodes

# Where a row goes if the value is missing; one that stays is predicted by the inner node itself.
MISSING_LEFT: Final = 0
MISSING_RIGHT: Final = 1
MISSING_STAY: Final = 2

# Libraries differ in both, and imported models must keep their bits: scikit-learn compares by <= and XGBoost
# by <, both in float32; LightGBM compares by <= in float64.
COMPARATORS: Final = ("<=", "<")
VALUE_DTYPES: Final = ("float64", "float32")

# Code sets are bit sets of 64-bit words.
WORD_BITS: Final = 64

SCALARS: Final = ("n_features", "n_outputs", "comparator", "dtype")
"""The fields that are no arrays."""

# dtype and number of dimensions of each array, and whether it has one entry per node; in the order of files.
# Values are not among them, since they may be sparse; in files they come before the cover.
ARRAYS: Final[dict[str, tuple[type[np.generic], int, bool]]] = {
    "offsets": (np.int64, 1, False),
    "target": (np.int64, 1, False),
    "feature": (np.int32, 1, True),
    "threshold": (np.float64, 1, True),
    "left": (np.int64, 1, True),
    "right": (np.int64, 1, True),
    "missing": (np.uint8, 1, True),
    "category": (np.int64, 1, True),
    "category_words": (np.uint64, 1, False),
    "category_widths": (np.int64, 1, False),
    "cover": (np.float64, 1, True),
}


def check_lengths(forest: ForestNodes) -> None:
    """Raise ValueError unless all arrays have one entry per node, tree or feature, as they should."""
    expected = {name: forest.n_nodes for name, (_, _, per_node) in ARRAYS.items() if per_node}
    expected["category_widths"] = forest.n_features
    expected["offsets"] = forest.n_trees + 1
    for name, length in expected.items():
        if len(getattr(forest, name)) != length:
            raise ValueError(f"{name} must have {length} entries; got {len(getattr(forest, name))}")
    if len(forest.node_values) != forest.n_nodes:
        raise ValueError(f"value must have {forest.n_nodes} entries; got {len(forest.node_values)}")
    if not 1 <= forest.width <= forest.n_outputs:
        raise ValueError(f"value must have 1 to n_outputs={forest.n_outputs} columns; got {forest.width}")


def frozen(name: str, array: object, dtype: type[np.generic], ndim: int) -> NDArray[Any]:
    """Return a read-only view of an array of the right type; raise an error for any other."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array; got {type(array).__name__}")
    if array.dtype != np.dtype(dtype) or array.ndim != ndim or not array.flags.c_contiguous:
        raise ValueError(
            f"{name} must be a C-contiguous array of {np.dtype(dtype)} with {ndim} dimension(s); "
            f"got {array.dtype} with {array.ndim}. Forest.from_arrays converts."
        )
    # A view, so that the caller's own array stays writable.
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
