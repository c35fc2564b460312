"""The tables of Reyzin (2011) as binary indicators, one for each category or threshold, each with a cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from farthing.datasets import load_table

N_TRAIN = 1000
N_CUTS = 11  # thresholds of a numeric column of the census table
LEVELS = 4  # intensities of a pixel


@dataclass(frozen=True)
class Table:
    """A table of 0 and 1, all its rows.

    Attributes
    ----------
    name : str
        As in the paper.
    X : ndarray of bool, shape (n_rows, n_indicators)
    y : ndarray of int64, shape (n_rows,)
        0 or 1.
    n_test : int
        Rows of a test set, as in the paper's table 1.
    paper_features : int
        The number of features in the paper's table 1.
    """

    name: str
    X: NDArray[np.bool_]
    y: NDArray[np.int64]
    n_test: int
    paper_features: int

    def split(self, seed: int) -> tuple[NDArray[np.float64], ...]:
        """Return X and y to train on, X and y to test on, without indicators that training rows share."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        train, test = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + self.n_test]
        varies = self.X[train].any(axis=0) & ~self.X[train].all(axis=0)
        X, y = self.X[:, varies].astype(np.float64), self.y.astype(np.float64)
        return X[train], y[train], X[test], y[test]


def census() -> Table:
    """Adult: an indicator for each category, and for eleven thresholds of each number."""
    table = load_table("adult")
    parts = []
    for name in table.X.columns:
        column = table.X[name]
        if pd.api.types.is_numeric_dtype(column):
            cuts = np.unique(np.quantile(column, np.arange(1, N_CUTS + 1) / (N_CUTS + 1)))
            parts += [(column > cut).to_numpy() for cut in cuts]
        else:
            parts += [(column == category).to_numpy(dtype=bool) for category in column.dropna().unique()]
    rich = pd.Series(table.y).astype(str).str.contains(">50K", regex=False)
    return Table("census", np.column_stack(parts), rich.to_numpy().astype(np.int64), 5000, 130)


def splice() -> Table:
    """Splice: an indicator for each letter at each of 60 positions; the two kinds of junctions are one."""
    table = load_table("splice")
    letters = [
        (table.X[name] == letter).to_numpy(dtype=bool) for name in table.X.columns for letter in "ACGT"
    ]
    junction = ~pd.Series(table.y).astype(str).str.strip().isin(["N", "n"])
    return Table("splice", np.column_stack(letters), junction.to_numpy().astype(np.int64), 2175, 239)


def digits(low: int, high: int) -> Table:
    """MNIST: two digits at 14 x 14 pixels of four levels, an indicator for each of three thresholds."""
    table = load_table("mnist")
    y = pd.Series(table.y).astype(int).to_numpy()
    kept = (y == low) | (y == high)
    images = table.X.to_numpy()[kept].astype(np.float64).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
    levels = np.minimum(images * LEVELS / 256, LEVELS - 1).astype(int).reshape(len(images), -1)
    indicators = np.concatenate([levels >= level for level in range(1, LEVELS)], axis=1)
    return Table(f"ocr{low}{high}", indicators, (y[kept] == high).astype(np.int64), 5000, 402)


def tables() -> list[Table]:
    """Return the four tables of the paper."""
    return [census(), splice(), digits(1, 7), digits(4, 9)]
