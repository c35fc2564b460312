"""Tables of every kind of column, their models in one process, and partitions of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from farthing.base import BudgetedEstimator


def numbers(n_rows: int = 1500, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a table with missing values, a target and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 3] = np.round(X[:, 3])
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.random(n_rows)
    weights[::7] = 0
    return X, y, weights


def frame(n_rows: int = 1200, seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a frame with numbers, text, and a categorical dtype with a category that never occurs."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], size=n_rows)
    size = pd.Categorical(rng.choice(["S", "M", "L"], size=n_rows), categories=["S", "M", "L", "XL"])
    made = pd.DataFrame(
        {"age": rng.integers(18, 90, n_rows), "colour": colour, "size": size, "dose": rng.normal(size=n_rows)}
    )
    target = (made["age"] / 20 + (colour == "red") + (size == "L") + rng.normal(size=n_rows)).to_numpy()
    made.loc[::5, "dose"] = np.nan
    made.loc[::11, "colour"] = None
    return made, target


def cut_array(array: np.ndarray, cuts: Sequence[int]) -> Any:
    """Return a Dask array cut before the given rows."""
    ends = [0, *cuts, len(array)]
    rows = tuple(int(n) for n in np.diff(ends))
    return da.from_array(array, chunks=(rows, *array.shape[1:]))


def cut_frame(table: pd.DataFrame | pd.Series, cuts: Sequence[int]) -> Any:
    """Return a Dask dataframe or series cut before the given rows, its lengths unknown."""
    ends = [0, *cuts, len(table)]
    pieces = [table.iloc[begin:end] for begin, end in pairwise(ends)]
    return dd.from_map(lambda piece: piece, pieces, meta=table.iloc[:0])


def assert_same_bits(one: BudgetedEstimator, other: BudgetedEstimator) -> None:
    """Assert that two fitted estimators hold the same model."""
    ours, theirs = one.fitted_.state(), other.fitted_.state()
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == theirs[name].dtype
            same = value.tolist() == theirs[name].tolist()  # of objects, whose bits are addresses
            assert same if value.dtype == object else value.tobytes() == theirs[name].tobytes(), name
        elif hasattr(value, "arrays") or value is None or isinstance(value, str | int | float):
            assert value == theirs[name], name
    assert one.fitted_.schema == other.fitted_.schema
