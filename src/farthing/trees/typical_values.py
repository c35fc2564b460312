"""Values that the columns of training rows had, as far as the tests of trees tell."""

from __future__ import annotations

from typing import Final

import numpy as np

from farthing.trees.forest import Forest

# The quantiles that stand for a third of the rows each.
_QUANTILES: Final = (1 / 6, 3 / 6, 5 / 6)
# The largest number of categories.
_MOST: Final = 8


def typical_values(forest: Forest, column: int) -> tuple[float, ...]:
    """Return encoded values of a column that stand for about equally many training rows each.

    Parameters
    ----------
    forest : Forest
        Trees that test the column; the shares of rows below their thresholds estimate its distribution.
    column : int
        The column.

    Returns
    -------
    tuple of float
        A low, a middle and a high value, or some categories; empty if no tree tests the column.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=1, feature=[0, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]], cover=[8, 5, 3])
    >>> low, middle, high = typical_values(stump, 0)
    >>> low, middle, high > 0.5
    (0.5, 0.5, True)
    """
    if not forest.tested[column]:
        return ()
    nodes = np.flatnonzero(forest.feature == column)
    if (forest.category[nodes] >= 0).any():
        codes = {code for node in nodes[:_MOST].tolist() for side in forest.code_sets(node) for code in side}
        return tuple(map(float, sorted(codes)[:_MOST]))
    cuts, shares = forest.cuts_of(column)
    step = np.float32 if forest.dtype == "float32" else np.float64
    values = []
    for quantile in _QUANTILES:
        place = int(np.searchsorted(shares, quantile))
        if place == len(cuts):
            values.append(just_above(forest, cuts[-1]))
        elif forest.comparator == "<":
            values.append(float(np.nextafter(step(cuts[place]), step(-np.inf))))
        else:
            values.append(float(cuts[place]))
    return tuple(values)


def just_above(forest: Forest, threshold: float) -> float:
    """Return the smallest number above a threshold in the type of a forest's thresholds; infinity may be one.

    Examples
    --------
    >>> just_above(Forest.constant([0.0], n_features=1), 1.0)
    1.0000000000000002
    """
    step = np.float32 if forest.dtype == "float32" else np.float64
    with np.errstate(over="ignore"):  # a threshold that only missing values pass is the largest number
        return float(np.nextafter(step(threshold), step(np.inf)))
