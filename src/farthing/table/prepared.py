"""Prepared tables: schema, encoded values and bins, computed once and shared by many fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.errors import IdentifierWarning, TableError, warn
from farthing.table.bins import Bins
from farthing.table.columns import Column
from farthing.table.contents import content_keys
from farthing.table.encode import Encoded
from farthing.table.schema import Schema
from farthing.table.unseen import Unseen

# In fewer rows, all of them may differ by chance; in more, at least this share of them has to.
_FEW_ROWS: Final = 20
_DISTINCT_SHARE: Final = 0.95
# Values under the schema of a model are kept for the next prediction, unless they take more memory than this.
_MOST_KEPT_BYTES: Final = 2**26


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A table of any library, encoded once: `fit`, `predict` and `sweep` take it in place of X.

    Preparation infers the columns and their types, and encodes the values. Bins are computed on demand and
    cached, so many models fitted on one prepared table share this work.

    Parameters
    ----------
    schema : Schema
        Names, types and categories of the columns.
    encoded : Encoded
        The values as floats, shape (n_rows, n_features).
    raw : object, optional
        The original table, for models that read it themselves.

    Examples
    --------
    >>> from farthing.forests import BudgetTreeClassifier
    >>> table = PreparedTable.of([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]])
    >>> trees = [BudgetTreeClassifier(max_depth=depth).fit(table, [0, 0, 1, 1]) for depth in (1, 2)]
    >>> trees[0].predict(table.take(np.array([0, 3])))
    array([0, 1])
    """

    schema: Schema
    encoded: Encoded
    raw: Any = field(default=None, repr=False)
    _bins: dict[int, Bins] = field(default_factory=dict, init=False, repr=False)
    # The schema that the table was last read under, and its values then; the variants of a fit share it.
    _last: list[tuple[Schema, Encoded]] = field(default_factory=list, init=False, repr=False)
    # Whether this is a table of the user's, whose unseen categories each prediction reports; parts of it, as
    # the folds of a sweep, lack categories by chance.
    _is_whole: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        # Reported by whoever encoded the rows, and not again by each model that predicts them.
        if self.encoded.unseen:
            object.__setattr__(self, "encoded", replace(self.encoded, unseen={}))

    @classmethod
    def of(cls, X: Any, estimator: str = "the model") -> PreparedTable:
        """Prepare a table; a prepared one is returned unchanged.

        Parameters
        ----------
        X : ndarray, pandas.DataFrame, polars.DataFrame, array-like or PreparedTable
            Shape (n_rows, n_features).
        estimator : str
            Name of the estimator, for messages.
        """
        if isinstance(X, PreparedTable):
            return X
        schema = Schema.learn(X, estimator)
        table = cls(schema, schema.encode(X, estimator), X)
        object.__setattr__(table, "_is_whole", True)
        warn_identifiers(table)
        return table

    @property
    def values(self) -> NDArray[np.floating]:
        """The values as floats, shape (n_rows, n_features); may be the user's own array: do not write."""
        return self.encoded.values

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n_rows, n_features = self.encoded.values.shape
        return n_rows, n_features

    def __len__(self) -> int:
        return self.shape[0]

    def bins(self, max_bins: int, n_threads: int = 1) -> Bins:
        """Return the binned table, computed at the first call for each number of bins."""
        # The bins do not depend on the number of threads, so it is not part of the key.
        if max_bins not in self._bins:
            self._bins[max_bins] = Bins(self.values, self.schema, max_bins=max_bins, n_threads=n_threads)
        return self._bins[max_bins]

    def contents(self) -> NDArray[np.uint64]:
        """Return a hash of the values of each row, shape (n_rows,); see `content_keys`."""
        return content_keys(self.values)

    def blocks(self) -> Iterator[NDArray[np.floating]]:
        """Yield values of some rows at a time, in order, that trees on these bins cannot tell from theirs."""
        yield self.values

    def part(self, rows: NDArray[Any]) -> PreparedTable:
        """Return some of the rows, by index or by mask, under the schema of all rows."""
        # Unlike `take`, which drops categories that no longer occur: the parts of one fit, such as folds,
        # must agree on the codes.
        return PreparedTable(self.schema, self.encoded.take(rows))

    def take(self, rows: NDArray[Any]) -> PreparedTable:
        """Return some of the rows, as if the table had been prepared from them alone.

        Parameters
        ----------
        rows : ndarray of int64 or of bool
            Indices of the rows, or a mask.

        Returns
        -------
        PreparedTable
            Its schema has only the categories that occur in these rows; others count as unseen.
        """
        # A fit on a part must not know categories of the other rows, or cross-validation would leak them.
        encoded = self.encoded.take(rows)
        seen = [_seen(column, encoded.values[:, j]) for j, column in enumerate(self.schema.columns)]
        if all(keep is None for keep in seen):
            return PreparedTable(self.schema, encoded)
        columns = tuple(
            column if keep is None else replace(column, categories=tuple(column.categories[c] for c in keep))
            for column, keep in zip(self.schema.columns, seen, strict=True)
        )
        schema = Schema(columns, self.schema.named)
        return PreparedTable(schema, _recoded(encoded, self.schema, schema))

    def under(
        self, schema: Schema, estimator: str = "the model", needed: NDArray[np.bool_] | None = None
    ) -> Encoded:
        """Return the values encoded under the schema of a fitted model.

        Parameters
        ----------
        schema : Schema
            With the same columns; categories may differ, and those that it lacks become missing.
        estimator : str
            Name of the estimator, for messages.
        needed : ndarray of bool, shape (n_features,), optional
            The columns that the table must have; None means all. Others that it lacks are missing.
        """
        if schema == self.schema:
            return self.encoded
        theirs = [(column.name, column.kind) for column in self.schema.columns]
        present = [
            (column.name, column.kind)
            for j, column in enumerate(schema.columns)
            if column.name in self.schema or needed is None or needed[j] or not schema.named
        ]
        if present != theirs:
            differing = sorted(set(theirs) ^ set(present))
            which = ", ".join(dict.fromkeys(name for name, _ in differing)) or "their order"
            raise TableError(
                f"the table was prepared with other columns than {estimator} was fitted on; they differ in "
                f"{which}. Prepare it from the columns of the fit"
            )
        if self._last and self._last[0][0] == schema:
            return self._last[0][1]
        recoded = _recoded(self.encoded, self.schema, schema)
        if not self._is_whole:
            recoded = replace(recoded, unseen={})
        if recoded.values.nbytes <= _MOST_KEPT_BYTES:
            self._last[:] = [(schema, recoded)]
        return recoded

    def __getstate__(self) -> dict[str, Any]:
        # Bins hold compiled objects, which do not pickle; another process computes its own.
        return self.__dict__ | {"_bins": {}, "_last": []}


def warn_identifiers(table: PreparedTable) -> None:
    """Warn of columns that look like identifiers.

    These are columns of categories in which nearly every row has one of its own, and named columns of numbers
    that count the rows, in any order.
    """
    _warn_row_numbers(table)
    found = []
    for j, column in enumerate(table.schema.columns):
        present = np.count_nonzero(~np.isnan(table.values[:, j])) if column.is_categorical else 0
        if present >= _FEW_ROWS and len(column.categories) >= _DISTINCT_SHARE * present:
            found.append(f"{column.name!r} ({len(column.categories)} in {present} rows)")
    if found:
        warn(
            f"nearly every row has a category of its own in {', '.join(found)}, as in a column of "
            "identifiers or dates, from which nothing can be learned about new rows; drop the column, or "
            "convert it to numbers",
            IdentifierWarning,
        )


def _warn_row_numbers(table: PreparedTable) -> None:
    n_rows = len(table)
    if not table.schema.named or n_rows < _FEW_ROWS:
        return
    found = [
        repr(column.name)
        for j, column in enumerate(table.schema.columns)
        if not column.is_categorical and _counts_rows(table.values[:, j])
    ]
    if found:
        warn(
            f"{', '.join(found)}: the values count the rows, {n_rows} consecutive numbers, as those of an "
            "identifier do, from which nothing can be learned about new rows; drop the column",
            IdentifierWarning,
        )


def _counts_rows(values: NDArray[np.floating]) -> bool:
    """Return whether values are consecutive whole numbers, each once."""
    least = values.min()  # NaN if one is missing
    if values.max() - least != len(values) - 1:
        return False
    return bool((np.sort(values) == least + np.arange(len(values))).all())


def encode(
    schema: Schema,
    X: Any,
    estimator: str = "the model",
    *,
    needed: NDArray[np.bool_] | None = None,
    min_rows: int = 1,
) -> Encoded:
    """Encode a table, prepared or not, under the schema of a fitted model; see `Schema.encode`."""
    if isinstance(X, PreparedTable):
        return X.under(schema, estimator, needed)
    return schema.encode(X, estimator, needed=needed, min_rows=min_rows)


def _seen(column: Column, codes: NDArray[np.floating]) -> NDArray[np.int64] | None:
    """Return the codes of the categories that occur, ascending; None if all do, or the column is numeric."""
    if not column.is_categorical:
        return None
    present = np.unique(codes[~np.isnan(codes)]).astype(np.int64)
    return None if len(present) == len(column.categories) else present


def _recoded(encoded: Encoded, old: Schema, new: Schema) -> Encoded:
    """Translate the codes of categories from one schema to another, converting each category once.

    The columns of the old schema are columns of the new one, in the same order.
    """
    places = np.array([new.index(name) for name in old.names])
    # Always a copy, since the values may be the user's own array; column-major, as it is written by column.
    values = np.full((len(encoded.values), len(new)), np.nan, order="F")
    values[:, places] = encoded.values
    unseen: dict[int, Unseen] = {}
    for j, before in zip(places.tolist(), old.columns, strict=True):
        after = new.columns[j]
        if before.is_categorical and before.categories != after.categories:
            # One more entry at the end, where the code -1, for missing, finds NaN.
            codes = np.array([*(after.encode_value(category) for category in before.categories), np.nan])
            column = np.where(np.isnan(values[:, j]), -1, values[:, j]).astype(np.int64)
            values[:, j] = codes[column]
            rows = np.flatnonzero((column >= 0) & np.isnan(values[:, j]))
            if len(rows):
                unseen[j] = Unseen(rows, [before.categories[code] for code in column[rows].tolist()])
    lacking = set(range(len(new))) - set(places.tolist()) | set(places[list(encoded.lacking)].tolist())
    return replace(
        encoded,
        values=values,
        invalid_columns=places[encoded.invalid_columns],
        columns=new.columns,
        unseen=unseen,
        lacking=tuple(sorted(lacking)),
    )
