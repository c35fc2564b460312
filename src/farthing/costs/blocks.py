"""Blocks: the parts of a pipeline that are computed as a whole, each of one or several features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs.validation import unique
from farthing.errors import TableError


@dataclass(frozen=True, eq=False)
class Block:
    """A fitted transformer, which gives all of its features at once.

    Parameters
    ----------
    name : str
        The name of the block, and of its group in a price list.
    transformer : object
        Fitted; has ``transform``.
    columns : object, optional
        The columns of the table that it is given, as scikit-learn's ColumnTransformer takes them; None means
        the table as it is.
    features : tuple of str
        The names of its outputs.
    """

    name: str
    transformer: Any
    columns: Any
    features: tuple[str, ...]

    def compute(self, X: Any) -> NDArray[Any]:
        """Return the features of rows, shape (n_rows, n_features)."""
        outputs = as_table(self.transformer.transform(select(X, self.columns)))
        if outputs.shape[1] != len(self.features):
            raise TableError(
                f"block {self.name!r} gave {outputs.shape[1]} columns; "
                f"expected its {len(self.features)} features"
            )
        if len(outputs) != n_rows_of(X):
            raise TableError(f"block {self.name!r} gave {len(outputs)} rows for {n_rows_of(X)}")
        return outputs


def blocks_of(pipeline: Any) -> list[Block]:
    """Return the blocks of a fitted ColumnTransformer or FeatureUnion, or of what has ``blocks_to_measure``.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if hasattr(pipeline, "blocks_to_measure"):
        return list(pipeline.blocks_to_measure())
    if hasattr(pipeline, "transformers_"):
        given = [part for part in pipeline.transformers_ if not _is(part[1], "drop")]
    elif hasattr(pipeline, "transformer_list"):
        given = [(name, part, None) for name, part in pipeline.transformer_list if not _is(part, "drop")]
    elif hasattr(pipeline, "steps") and len(pipeline.steps) == 1:
        return blocks_of(pipeline.steps[0][1])
    else:
        raise TypeError(
            "expected a fitted ColumnTransformer or FeatureUnion, a LazyPipeline or Sources; "
            f"got {type(pipeline).__name__}"
        )
    parts = [(name, _Unchanged() if _is(part, "passthrough") else part, to) for name, part, to in given]
    return [named_block(name, part, to, None) for name, part, to in parts if not _selects_nothing(to)]


def named_block(name: str, transformer: Any, columns: Any, n_outputs: int | None) -> Block:
    """Return a block whose features are called ``block__feature``, by the transformer's own names if any."""
    try:
        own = [str(feature) for feature in transformer.get_feature_names_out()]
    except (AttributeError, ValueError, TypeError):
        own = None
    if own is None or (n_outputs is not None and len(own) != n_outputs):
        if n_outputs is None:
            own = [str(column) for column in columns] if _are_many(columns) else None
        else:
            own = [str(number) for number in range(n_outputs)]
    if own is None:
        raise TypeError(
            f"the outputs of block {name!r} have no names, as {type(transformer).__name__} lacks "
            "get_feature_names_out; add it"
        )
    return Block(name, transformer, columns, unique(f"{name}__{feature}" for feature in own))


def as_table(outputs: Any) -> NDArray[Any]:
    """Return the outputs of a transformer as a dense array of two dimensions."""
    if hasattr(outputs, "toarray"):
        outputs = outputs.toarray()
    table = np.asarray(outputs)
    return table[:, np.newaxis] if table.ndim == 1 else table


def select(X: Any, columns: Any) -> Any:
    """Return some columns of a table, by name or by position; one name or position gives one dimension."""
    return X if columns is None else _indexing()(X, columns, axis=1)


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array, a frame, a sparse matrix or a list."""
    return _indexing()(X, rows)


def n_rows_of(X: Any) -> int:
    """Return the number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class _Unchanged:
    """Passes columns through."""

    def transform(self, X: Any) -> Any:
        return X


def _indexing() -> Any:
    from sklearn.utils import _safe_indexing  # noqa: PLC0415 - prices alone need no scikit-learn

    return _safe_indexing


def _is(part: Any, word: str) -> bool:
    return isinstance(part, str) and part == word


def _are_many(columns: Any) -> bool:
    return isinstance(columns, (Sequence, np.ndarray, Iterable)) and not isinstance(columns, str)


def _selects_nothing(columns: Any) -> bool:
    return isinstance(columns, (list, tuple, np.ndarray)) and len(columns) == 0
