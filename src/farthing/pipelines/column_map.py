"""A fitted transformer as a function of single columns."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.pipelines.entry_sources import entry_sources
from farthing.pipelines.raw_table import raw_table
from farthing.pipelines.source_columns import source_columns
from farthing.table import Schema
from farthing.typing import Flags, Floats, Integers

# What transformers raise for values that they do not take.
_REFUSALS: Final = (ValueError, TypeError, ArithmeticError, LookupError)
# Outputs of single entries that are remembered, at most.
_MOST_KNOWN: Final = 10_000
# Entries of each column that are compared alone and in a table.
_N_COMPARED: Final = 4


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """A transformer whose outputs depend on one input column each.

    An output is always computed from the entry of its own column; all other entries have fixed values. So a
    prediction cannot depend on a column that it did not buy, even if the mapping were wrong. Transformers
    that are known to make each output of the very entry that the mapping says (`entry_sources`) are given
    whole tables, which is the same; others are given one column at a time, or one entry at a time if that
    gives other bits.

    Parameters
    ----------
    transformer : transformer
        Fitted.
    schema : Schema
        The input columns.
    kept : ndarray of int64, shape (n_kept,)
        The outputs that are not constant.
    sources : ndarray of int64, shape (n_kept,)
        The input of each of them.
    reference : ndarray of float64, shape (n_features,)
        An encoded training row, whose entries stand in for the columns that are not looked at.
    batches : bool
        Whether an entry has the same outputs, bit for bit, alone and among other rows.
    """

    transformer: Any
    schema: Schema
    kept: Integers
    sources: Integers
    reference: Floats
    batches: bool = True

    @classmethod
    def learn(cls, transformer: Any, schema: Schema, values: NDArray[np.floating]) -> ColumnMap:
        """Find out which outputs depend on which inputs; raise TableError if an output depends on several."""
        nothing = np.zeros(0, dtype=np.int64)
        whole = cls(transformer, schema, nothing, nothing, np.array(values[0], dtype=np.float64))
        sources = source_columns(whole.transform, values, schema)
        kept = np.flatnonzero(sources >= 0)
        if not len(kept):
            raise TableError(
                "every output of the preprocessing is constant on the training rows "
                f"(n_samples={len(values)}), which leaves nothing to learn from"
            )
        columns = replace(whole, kept=kept, sources=sources[kept])
        return columns if columns.agrees_with_entries(values) else replace(columns, batches=False)

    @cached_property
    def outputs_of(self) -> tuple[tuple[int, ...], ...]:
        """The places in ``kept`` of the outputs of each input column."""
        return tuple(
            tuple(np.flatnonzero(self.sources == column).tolist()) for column in range(len(self.schema))
        )

    @cached_property
    def _takes_tables(self) -> bool:
        # A mapping from a file may name other columns than those that the transformer takes.
        names = self.schema.names if self.schema.named else None
        sources = entry_sources(self.transformer, len(self.schema), names)
        most = int(self.kept.max(initial=-1))
        return (
            sources is not None and most < len(sources) and np.array_equal(sources[self.kept], self.sources)
        )

    def transform(self, values: NDArray[np.floating]) -> NDArray[Any]:
        """Return all outputs of the transformer for an encoded table, as float64 or as objects."""
        return as_array(self.transformer.transform(raw_table(self.schema, values)))

    def entry(self, column: int, value: float) -> tuple[Any, ...]:
        """Return the outputs of one encoded entry; raise TableError if the transformer refuses it."""
        # By its bits, so that -0.0 is not 0.0 and NaN is NaN.
        key = column, float(value).hex()
        if key not in self._known_entries:
            if len(self._known_entries) >= _MOST_KNOWN:
                self._known_entries.clear()
            self._known_entries[key] = self._transformed(column, value)
        return self._known_entries[key]

    @cached_property
    def _known_entries(self) -> dict[tuple[int, str], tuple[Any, ...]]:
        # A call of a transformer takes much longer than the rest of a question, so its results are kept.
        return {}

    def _transformed(self, column: int, value: float) -> tuple[Any, ...]:
        row = self.reference[np.newaxis].copy()
        row[0, column] = value
        try:
            outputs = self.transform(row)[0]
        except _REFUSALS as error:
            name = self.schema.names[column]
            raise TableError(f"column {name!r}: the preprocessing refuses the value: {error}") from error
        return tuple(outputs[self.kept[place]] for place in self.outputs_of[column])

    def agrees_with_entries(self, values: NDArray[np.floating]) -> bool:
        """Return whether whole columns give the bits of single entries, by some entries of each column."""
        if self._takes_tables:
            return True
        rows = np.linspace(0, len(values) - 1, _N_COMPARED).astype(np.int64)
        for column in np.unique(self.sources).tolist():
            together, _ = self._entries(column, values[:, column].astype(np.float64))
            alone = [self.entry(column, float(values[row, column])) for row in rows]
            # The representation of a float has all of its bits, and NaN equals NaN.
            if [list(map(repr, together[row])) for row in rows] != [list(map(repr, one)) for one in alone]:
                return False
        return True

    def table(self, values: NDArray[np.floating]) -> tuple[NDArray[Any], dict[tuple[int, int], TableError]]:
        """Return the outputs of a table, and the entries that the transformer refuses.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.

        Returns
        -------
        outputs : ndarray of float64 or object, shape (n_rows, n_kept)
            NaN for refused entries.
        refused : dict of (row, column) to TableError
        """
        if self._takes_tables:
            try:
                return self.transform(values)[:, self.kept], {}
            except _REFUSALS:
                pass  # some entry is refused; which one matters only if it is bought
        outputs = np.full((len(values), len(self.kept)), np.nan, dtype=object)
        refused: dict[tuple[int, int], TableError] = {}
        for column, places in enumerate(self.outputs_of):
            if not places:
                continue
            # By their bits, so that -0.0 is not 0.0 and NaN is NaN.
            bits = np.ascontiguousarray(values[:, column], dtype=np.float64).view(np.int64)
            distinct, where = np.unique(bits, return_inverse=True)
            entries, errors = self._entries(column, distinct.view(np.float64))
            outputs[:, places] = entries[where]
            for row in np.flatnonzero(np.isin(where, list(errors))).tolist():
                refused[row, column] = errors[int(where[row])]
        return outputs, refused

    def _entries(self, column: int, values: Floats) -> tuple[NDArray[Any], dict[int, TableError]]:
        """Return the outputs of entries of one column, and the error of each that is refused."""
        places = self.kept[list(self.outputs_of[column])]
        entries = np.full((len(values), len(places)), np.nan, dtype=object)
        errors: dict[int, TableError] = {}
        if self.batches:
            rows = np.repeat(self.reference[np.newaxis], len(values), axis=0)
            rows[:, column] = values
            try:
                entries[:] = self.transform(rows)[:, places]
            except _REFUSALS:
                pass  # one by one, to find out which
            else:
                return entries, errors
        for number, value in enumerate(values.tolist()):
            try:
                entries[number] = self.entry(column, value)
            except TableError as error:
                errors[number] = error
        return entries, errors

    def __getstate__(self) -> dict[str, Any]:
        # The fields alone, without what was remembered.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def inputs_of(self, bought: Flags) -> Flags:
        """Return which inputs were bought, (n_rows, n_features), from outputs that were, (n_rows, n_kept)."""
        inputs = np.zeros((len(bought), len(self.schema)), dtype=np.bool_)
        for place, column in enumerate(self.sources.tolist()):
            inputs[:, column] |= bought[:, place]
        return inputs

    def check(self) -> None:
        """Raise ValueError if the parts do not fit together; they may come from a hostile file."""
        n_features = len(self.schema)
        for name in ("kept", "sources"):
            array = getattr(self, name)
            if array.dtype != np.int64 or array.ndim != 1 or not len(array):
                raise ValueError(f"{name} must be a list of integers")
        if (
            len(self.kept) != len(self.sources)
            or not 0 <= self.sources.min() <= self.sources.max() < n_features
        ):
            raise ValueError("each output must have one of the columns as its source")
        if self.reference.dtype != np.float64 or self.reference.shape != (n_features,):
            raise ValueError(f"reference must be {n_features} floats")
        n_outputs = self.transform(self.reference[np.newaxis]).shape[1]
        if not 0 <= self.kept.min() <= self.kept.max() < n_outputs:
            raise ValueError(f"the transformer has {n_outputs} outputs, fewer than are kept")


def as_array(outputs: Any) -> NDArray[Any]:
    """Return the result of a transformer as float64, or as objects if it holds text."""
    if hasattr(outputs, "toarray"):  # sparse
        outputs = outputs.toarray()
    array = np.asarray(outputs)
    if array.ndim != 2:
        raise TableError(f"the preprocessing must return a table; got an array of {array.ndim} dimensions")
    return array.astype(np.float64 if array.dtype.kind in "biuf" else object)
