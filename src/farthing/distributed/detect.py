"""Whether a table is a Dask collection; Dask itself is not imported."""

from __future__ import annotations

from typing import Any


def is_collection(X: Any) -> bool:
    """Return whether a table is a Dask array or dataframe.

    Examples
    --------
    >>> is_collection([[1.0]])
    False
    """
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")
