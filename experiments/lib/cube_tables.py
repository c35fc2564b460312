"""Cube tables: the label is a corner of a cube, and only a context column tells which columns span it.

A table has 20 columns. Column ``context`` is one of six numbers, each equally likely. Columns 1 to 18 are six
cubes of three columns: each entry is a fair bit plus Gaussian noise of standard deviation 0.17, whatever the
context is, so nothing in a column tells whether it matters. Column ``noise`` is a standard normal number. The
label is the corner, 0 to 7, of the three bits of the cube that the context names. So the context alone says
nothing of the label, and a column of a cube says something of it for a sixth of the rows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from farthing.costs import CostSheet

N_CUBES: Final = 6
NOISE: Final = 0.17
COLUMNS: Final = ("context", *(f"cube{cube}{axis}" for cube in range(N_CUBES) for axis in "xyz"), "noise")
#: Prices by their name: all the same, or the context at 2 and columns of cubes at 0.5, 1 and 1.5 in turn.
PRICES: Final = {
    "uniform": CostSheet(dict.fromkeys(COLUMNS, 1.0)),
    "not uniform": CostSheet(
        dict(zip(COLUMNS, [2.0, *np.resize([0.5, 1.0, 1.5], 3 * N_CUBES).tolist(), 0.5], strict=True))
    ),
}


class CubeTable(NamedTuple):
    """Rows, labels, and the context of each row."""

    X: pd.DataFrame
    y: NDArray[np.int64]
    context: NDArray[np.int64]


def cube_table(n_rows: int, seed: int) -> CubeTable:
    """Draw a table.

    Examples
    --------
    >>> table = cube_table(100, 0)
    >>> table.X.shape, int(table.y.max())
    ((100, 20), 7)
    """
    rng = np.random.default_rng(seed)
    context = rng.integers(0, N_CUBES, n_rows)
    bits = rng.integers(0, 2, (n_rows, N_CUBES, 3))
    entries = bits + rng.normal(0, NOISE, bits.shape)
    columns = np.column_stack([context, entries.reshape(n_rows, -1), rng.normal(size=n_rows)])
    y = bits[np.arange(n_rows), context] @ np.array([1, 2, 4])
    return CubeTable(pd.DataFrame(columns, columns=list(COLUMNS)), y, context)


def oracle(table: CubeTable, costs: CostSheet) -> tuple[float, float]:
    """Return the accuracy and the mean spend of one who knows the columns and rounds entries to bits."""
    entries = table.X.to_numpy()[:, 1:-1].reshape(len(table.y), N_CUBES, 3)
    bits = entries[np.arange(len(table.y)), table.context] > 0.5
    spend = [costs.total(["context", *(f"cube{cube}{axis}" for axis in "xyz")]) for cube in range(N_CUBES)]
    right = bits.astype(np.int64) @ np.array([1, 2, 4]) == table.y
    return float(right.mean()), float(np.array(spend)[table.context].mean())
