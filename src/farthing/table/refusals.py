"""Which entries of a table are refused: flags in the order of the schema, from what a user gives."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.table.prepared import PreparedTable
from farthing.table.sources import Source, open_source


class Refusable(Protocol):
    """What can be refused: a schema of columns, or of something else that a model asks for."""

    @property
    def named(self) -> bool:
        """Whether a frame is read by the names of its columns."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        ...

    def __len__(self) -> int: ...

    def index(self, name: str) -> int:
        """Return the place of a name, or raise TableError."""
        ...


def refused_names(refused: Any) -> tuple[str, ...] | None:
    """Return the names if what is refused is given as names of features; None if it is a table of booleans.

    Examples
    --------
    >>> refused_names(["ca", "thal"]), refused_names([[True, False]])
    (('ca', 'thal'), None)
    """
    if isinstance(refused, str):
        return (refused,)
    listed = isinstance(refused, list | tuple | set | frozenset)
    return tuple(refused) if listed and all(isinstance(name, str) for name in refused) else None


def refused_flags(schema: Refusable, X: Any, refused: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return which entries of a table are refused.

    Parameters
    ----------
    schema : Schema, or another order of names
        The columns of the model, or what else it asks for.
    X : array, frame or PreparedTable, shape (n_rows, n_features)
        The table.
    refused : sequence of str, or array or frame of bool
        Names of features that every row refuses; or one flag for each entry: a frame by the names of its
        columns, an array in the order of the columns of X.
    n_rows : int
        Number of rows of X.

    Returns
    -------
    ndarray of bool, shape (n_rows, n_features)
        In the order of the schema.

    Examples
    --------
    >>> import pandas as pd
    >>> from farthing.table import Schema
    >>> X = pd.DataFrame({"ca": [0.0, 1.0], "age": [63.0, 41.0]})
    >>> refused_flags(Schema.learn(X), X[["age", "ca"]], [[True, False], [False, False]], 2)
    array([[False,  True],
           [False, False]])
    """
    flags = np.zeros((n_rows, len(schema)), dtype=np.bool_)
    names = refused_names(refused)
    if names is not None:
        flags[:, [schema.index(name) for name in names]] = True
        return flags
    source = open_source(refused, "refused", min_rows=0)
    labels = source.names if schema.named else None
    if labels is None:
        labels = _column_names(schema, X)
        if source.shape[1] != len(labels):
            raise TableError(
                f"refused must have a column for each of the {len(labels)} of X; got {source.shape[1]}"
            )
    if source.shape[0] != n_rows:
        raise TableError(f"refused must have a row for each of the {n_rows} of X; got {source.shape[0]}")
    for position, name in enumerate(labels):
        flags[:, schema.index(name)] = _booleans(source, position, name)
    return flags


def _column_names(schema: Refusable, X: Any) -> tuple[str, ...]:
    """Return the names of the columns of X, in their order."""
    if isinstance(X, PreparedTable):
        return X.schema.names
    names = open_source(X, "X", min_rows=0).names if schema.named else None
    return schema.names if names is None else names


def _booleans(source: Source, position: int, name: str) -> NDArray[np.bool_]:
    values = source.column(position).objects()
    if not all(isinstance(value, bool) for value in values):
        raise TableError(f"refused must hold True and False only; column {name!r} has other values")
    return np.array(values, dtype=np.bool_)
