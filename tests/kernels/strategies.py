"""Random tables, price lists and limits of growth for the comparison of the kernels with their twins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels import naive

from farthing.costs import CostSheet, Group
from farthing.table import Bins, Column, Schema

SEEDS = st.integers(0, 2**32 - 1)
KINDS = ("few", "some", "wild", "constant", "missing", "categories", "binary")
WILD = (-math.inf, -1e308, -1.0, -5e-324, 0.0, 5e-324, 1e-300, 1.0, 1.0 + 2**-52, 1e308, math.inf)


@dataclass(frozen=True)
class Table:
    """Values with their kinds, binned by the core and by the twin."""

    values: NDArray[np.float64]  # (n_rows, n_features)
    n_categories: tuple[int, ...]
    max_bins: int = 255

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_features(self) -> int:
        return self.values.shape[1]

    def schema(self) -> Schema:
        return schema_of(self.n_categories)

    def fast(self, n_threads: int = 1) -> Bins:
        return Bins(self.values, self.schema(), max_bins=self.max_bins, n_threads=n_threads)

    def slow(self) -> list[naive.ColumnBins]:
        return [
            naive.bin_column(self.values[:, j], self.n_categories[j], self.max_bins)
            for j in range(self.n_features)
        ]


def schema_of(n_categories: tuple[int, ...]) -> Schema:
    """Return the schema of a table of codes where a column has categories, of numbers where it has none."""
    return Schema(
        tuple(
            Column(f"x{j}", "categorical", tuple(range(n))) if n else Column(f"x{j}", "numeric")
            for j, n in enumerate(n_categories)
        ),
        named=False,
    )


@st.composite
def tables(draw: Any, max_rows: int = 40, max_features: int = 4, kinds: tuple[str, ...] = KINDS) -> Table:
    n_rows = draw(st.integers(1, max_rows))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=max_features))
    share_missing = draw(st.sampled_from([0.0, 0.2]))
    max_bins = draw(st.sampled_from([255, 255, 4, 2]))
    rng = np.random.default_rng(draw(SEEDS))
    values = np.column_stack([column_of(kind, n_rows, rng) for kind in chosen])
    values[rng.random(values.shape) < share_missing] = np.nan
    n_categories = tuple(6 if kind == "categories" else 0 for kind in chosen)
    return Table(values, n_categories, max_bins)


def column_of(kind: str, n_rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if kind == "few":
        return rng.integers(-3, 4, n_rows).astype(float)
    if kind == "some":
        return np.round(rng.normal(size=n_rows), 1)
    if kind == "wild":
        return rng.choice(WILD, n_rows)
    if kind == "categories":
        return rng.integers(0, 6, n_rows).astype(float)
    if kind == "binary":
        return rng.integers(0, 2, n_rows).astype(float)
    return np.full(n_rows, np.nan if kind == "missing" else 7.0)


@st.composite
def sheets(draw: Any, n_features: int) -> tuple[CostSheet, naive.Sheet]:
    costs = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
    names = [f"x{j}" for j in range(n_features)]
    own = draw(st.lists(costs, min_size=n_features, max_size=n_features))
    wished = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features))
    touched = sorted(set(wished) - {-1})
    group_of = [touched.index(g) if g >= 0 else -1 for g in wished]
    shared = draw(st.lists(costs, min_size=len(touched), max_size=len(touched)))
    groups = {
        f"g{g}": Group(cost, [name for name, of in zip(names, group_of, strict=True) if of == g])
        for g, cost in enumerate(shared)
    }
    sheet = CostSheet(dict(zip(names, own, strict=True)), groups=groups)
    return sheet, naive.Sheet(own, shared, group_of)


def limits() -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments of a grower, None for what is not limited."""
    return st.fixed_dictionaries(
        {
            "max_depth": st.sampled_from([None, None, 0, 1, 2, 3]),
            "max_leaf_nodes": st.sampled_from([None, None, 1, 2, 3, 5, 9]),
            "min_samples_leaf": st.sampled_from([1, 1, 2, 5]),
            "ledger": st.sampled_from(["row", "model"]),
            "cost_rule": st.sampled_from(["penalty", "ratio"]),
            "tradeoff": st.sampled_from([0.0, 0.25, 1.0, 4.0]),
            "budget": st.sampled_from([None, None, 0.0, 1.0, 2.5, 4.0]),
        }
    )
