"""How collections are cut into partitions of the same rows, before any of them is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from farthing.distributed.collection import is_persisted, meta_facts, partitions
from farthing.errors import TableError

VALUES = np.arange(30.0).reshape(10, 3)
X = da.from_array(VALUES, chunks=(4, 2))
FRAME = dd.from_pandas(pd.DataFrame(VALUES, columns=list("abc")), npartitions=2)


def computed(given: Any) -> list[np.ndarray]:
    return [np.asarray(block) for block in dask.compute(*given)]


def test_blocks_of_columns_are_joined_and_an_array_is_cut_like_the_table() -> None:
    parts = partitions(X, np.arange(10), da.from_array(np.ones(10), chunks=5))
    assert [block.shape for block in computed(part.X for part in parts)] == [(4, 3), (4, 3), (2, 3)]
    np.testing.assert_array_equal(np.concatenate(computed(part.y for part in parts)), np.arange(10))
    assert [len(block) for block in computed(part.weights for part in parts)] == [4, 4, 2]
    assert all(part.qid is None for part in parts)


def test_a_target_of_two_dimensions_keeps_its_columns_together() -> None:
    (first, *_) = partitions(X, da.from_array(VALUES, chunks=(4, 1)))
    assert computed([first.y])[0].shape == (4, 3)


@pytest.mark.parametrize(
    ("table", "target", "told"),
    [
        (X[:, 0], None, "Expected 2D array, got 1D"),
        (FRAME["a"], None, r"X is a Dask series, expected a dataframe; call to_frame\(\)"),
        (FRAME, np.arange(10), "y must be a Dask collection with the partitions of X"),
        (X, np.arange(9), "y has 9 entries, but X has 10 rows"),
        (X, da.arange(9, chunks=3), "y has 9 entries, but X has 10 rows"),
        (FRAME, FRAME["a"].repartition(npartitions=1), "y has 1 partitions, but X has 2"),
    ],
)
def test_what_does_not_fit_together(table: Any, target: Any, told: str) -> None:
    with pytest.raises(TableError, match=told):
        partitions(table, target)


WANTED: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "array": (da.ones((40, 3), chunks=(10, 3)), lambda table: table),
    "slice": (da.ones((40, 3), chunks=(10, 3)), lambda table: table[:, :-1]),
    "frame": (FRAME, lambda table: table),
    "columns": (FRAME, lambda table: table[["a", "b"]]),
}


@pytest.mark.parametrize("what", WANTED)
def test_persisted_partitions_are_known(on_cluster: Client, what: str) -> None:
    table, wanted = WANTED[what]
    kept = on_cluster.persist(table)
    assert all(is_persisted(part.X) for part in partitions(wanted(kept)))
    assert not any(is_persisted(part.X) for part in partitions(wanted(table)))


def test_columns_are_known_before_rows_unless_they_are_objects() -> None:
    facts = meta_facts(X, "Tree")
    assert facts is not None
    assert meta_facts(X.astype(object), "Tree") is None
    assert meta_facts(object(), "Tree") is None
