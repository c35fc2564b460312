"""Dask collections as a list of partitions, the table beside its target, weights and queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from distributed import Future

from farthing.distributed.detect import is_collection
from farthing.errors import TableError
from farthing.table import PartFacts


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition, not yet read.

    Parameters
    ----------
    number : int
        Its place in the collection.
    X, y, weights, qid : Delayed or None
        Its rows, and what belongs to them; None for weights of 1, and for no queries.
    """

    number: int
    X: Any
    y: Any = None
    weights: Any = None
    qid: Any = None


def partitions(X: Any, y: Any = None, sample_weight: Any = None, qid: Any = None) -> list[Partition]:
    """Cut collections into partitions of the same rows.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame, shape (n_rows, n_features)
    y, sample_weight, qid : Dask array or series, or array, shape (n_rows,)
        An array is cut like X, whose chunks must be known then.
    """
    table = _row_blocks(X)
    beside = {
        name: _blocks_beside(name, given, X)
        for name, given in (("y", y), ("weights", sample_weight), ("qid", qid))
        if given is not None
    }
    for name, blocks in beside.items():
        if len(blocks) != len(table):
            raise TableError(
                f"{name} has {len(blocks)} partitions, but X has {len(table)}; give both the same "
                "partitions, as repartition does, or rechunk"
            )
    return [
        Partition(number, block, **{name: blocks[number] for name, blocks in beside.items()})
        for number, block in enumerate(table)
    ]


def meta_facts(X: Any, estimator: str) -> PartFacts | None:
    """Return what is known of the columns before any row is read; None if rows decide."""
    meta = X._meta if hasattr(X, "_meta") else None  # noqa: SLF001 - Dask's own word for it
    if meta is None:
        return None
    if hasattr(X, "chunks"):  # an array's meta has no columns
        if X.dtype.kind not in "biuf":
            return None
        meta = np.empty((0, X.shape[1]), dtype=X.dtype)
    facts = PartFacts.of(meta, estimator)
    return None if facts.depends_on_rows else facts


def known_lengths(X: Any) -> list[int] | None:
    """Return the rows of each partition, if the collection says."""
    if not hasattr(X, "chunks") or np.isnan(np.sum(X.chunks[0])):
        return None
    return [int(length) for length in X.chunks[0]]


def is_persisted(block: Any) -> bool:
    """Return whether rows of a partition are in the memory of workers, or will be.

    Dask's own `futures_of` does not find out: a slice of a persisted array names the tasks that the workers
    hold, but its graph lacks them.

    Parameters
    ----------
    block : Delayed
        The partition.

    Examples
    --------
    >>> is_persisted(dask.delayed([1.0]))
    False
    """
    graph = dict(block.__dask_graph__())
    seen, waiting = set(), [block.key]
    while waiting:
        key = waiting.pop()
        if key not in graph or isinstance(graph[key], Future):
            return True
        seen.add(key)
        waiting += set(getattr(graph[key], "dependencies", ())) - seen
    return False


def _row_blocks(X: Any) -> list[Any]:
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            raise TableError(f"Expected 2D array, got {X.ndim}D array instead: X is a Dask array")
        X = X.rechunk({1: -1})
    elif X.ndim != 2:
        raise TableError("X is a Dask series, expected a dataframe; call to_frame() first")
    return _delayed(X)


def _blocks_beside(name: str, given: Any, X: Any) -> list[Any]:
    chunks: Sequence[int] | None = X.chunks[0] if hasattr(X, "chunks") else None
    known = chunks is not None and not np.isnan(np.sum(chunks))
    if not is_collection(given):
        if not known:
            raise TableError(
                f"{name} must be a Dask collection with the partitions of X, since the lengths of these are "
                f"not known; got {type(given).__name__}"
            )
        values = np.asarray(given)
        ends = np.cumsum(np.asarray(chunks, dtype=np.int64))
        if len(values) != ends[-1]:
            raise TableError(f"{name} has {len(values)} entries, but X has {ends[-1]} rows")
        return [dask.delayed(block) for block in np.split(values, ends[:-1])]
    if known and hasattr(given, "chunks") and given.chunks[0] != chunks:
        if sum(given.chunks[0]) != sum(chunks or ()):
            raise TableError(f"{name} has {sum(given.chunks[0])} entries, but X has {sum(chunks or ())} rows")
        given = given.rechunk({0: chunks})
    if hasattr(given, "chunks") and given.ndim == 2:
        given = given.rechunk({1: -1})
    return _delayed(given)


def _delayed(collection: Any) -> list[Any]:
    """Return the partitions, as many as the collection says that it has."""
    if hasattr(collection, "simplify"):
        # Read only the columns that are wanted, but do not let Dask read several files as one partition
        # where these are few: the target would have other partitions than the table.
        return list(collection.simplify().to_delayed(optimize_graph=False))
    return list(np.ravel(np.array(collection.to_delayed(), dtype=object)))
