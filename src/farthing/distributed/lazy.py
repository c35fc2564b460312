"""Predictions of Dask collections: lazy, partition by partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np

from farthing.distributed.collection import partitions
from farthing.distributed.detect import is_collection
from farthing.distributed.passes import naming
from farthing.errors import TableError


@dataclass(frozen=True, slots=True)
class Field:
    """An array that a call gives for the rows of a partition.

    Parameters
    ----------
    name : str or None
        Attribute of what the call returns; None for that itself.
    dtype : numpy.dtype
        Its dtype.
    width : int or None
        Its columns; None for one dimension.
    """

    name: str | None
    dtype: np.dtype[Any]
    width: int | None = None


def lazy_arrays(
    model: Any,
    method: str,
    X: Any,
    fields: Sequence[Field],
    *,
    options: Mapping[str, Any],
    columns: list[str] | None,
) -> list[Any]:
    """Return the result of a method for a collection as Dask arrays, one for each field.

    Parameters
    ----------
    model : object
        Sent to the workers once.
    method : str
        Called with the rows of each partition.
    X : dask.array.Array or dask.dataframe.DataFrame
        Chunks of unknown length give results of unknown length.
    fields : sequence of Field
        What the method gives.
    options : mapping
        Further arguments. A Dask collection among them has an entry for each row; others are for all rows.
    columns : list of str or None
        The columns of a dataframe that the model may read; others are not read, where the source can leave
        them out.
    """
    lengths = list(X.chunks[0]) if hasattr(X, "chunks") else None
    if columns is not None and not hasattr(X, "chunks"):
        present = [name for name in X.columns if name in set(columns)]
        X = X[present]
    for name, value in options.items():
        if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str) and name != "refused":
            raise TableError(
                f"{name} must be one value for all rows of a collection, or a Dask array of its own"
            )
    by_row = {name: value for name, value in options.items() if is_collection(value)}
    shared = {name: value for name, value in options.items() if name not in by_row and value is not None}
    blocks = partitions(X)
    beside = {name: [part.y for part in partitions(X, value)] for name, value in by_row.items()}
    sent = dask.delayed(model, traverse=False)
    call = dask.delayed(_call, pure=False)
    results = [
        call(
            sent,
            part.X,
            method=method,
            number=part.number,
            shared=shared,
            by_row={name: blocks_of[part.number] for name, blocks_of in beside.items()},
        )
        for part in blocks
    ]
    lengths = lengths or [np.nan] * len(results)
    return [_array(field, results, lengths) for field in fields]


def _array(field: Field, results: Sequence[Any], lengths: Sequence[float]) -> Any:
    read = dask.delayed(getattr, pure=False)
    parts = results if field.name is None else [read(result, field.name) for result in results]
    width = () if field.width is None else (field.width,)
    return da.concatenate(
        [
            da.from_delayed(part, shape=(length, *width), dtype=field.dtype)
            for part, length in zip(parts, lengths, strict=True)
        ],
        allow_unknown_chunksizes=True,
    )


def _call(
    model: Any, X: Any, *, method: str, number: int, shared: Mapping[str, Any], by_row: Mapping[str, Any]
) -> Any:
    with naming(number):
        return getattr(model, method)(X, **shared, **{name: np.asarray(v) for name, v in by_row.items()})
