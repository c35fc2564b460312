"""A Dask collection in place of a prepared table: its rows stay on the workers and are chosen by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.base import tokenize
from distributed import Future
from numpy.typing import NDArray

from farthing.distributed.collection import meta_facts, partitions
from farthing.distributed.fit import active_client
from farthing.distributed.passes import check_one_kind, naming, take_rows
from farthing.distributed.waiting import gathered, task_names
from farthing.errors import TableError
from farthing.table import PartFacts, Schema, merged_schema

# So few chosen rows stay in the memory of the workers, so that they are not read again for each model.
_FEW_ROWS: Final = 20_000


@dataclass(frozen=True, eq=False)
class CollectionTable:
    """Rows of a Dask array or dataframe, of which only the lengths of the partitions are known here.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        All rows.
    schema : Schema
        The columns of all rows.
    lengths : ndarray of int64, shape (n_partitions,)
        Rows of each partition.
    numbers : ndarray of int64, shape (n_rows,)
        The numbers of the chosen rows, ascending.
    blocks : list of Delayed
        The partitions.
    """

    X: Any
    schema: Schema
    lengths: NDArray[np.int64]
    numbers: NDArray[np.int64]
    blocks: list[Any] = field(repr=False)
    _kept: dict[int, Future] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, X: Any, beside: Sequence[Any], name: str) -> tuple[Self, list[NDArray[Any] | None]]:
        """Look at a collection once.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame
            The rows.
        beside : sequence of collections, arrays or None
            What belongs to the rows, such as labels and weights: these are brought here.
        name : str
            Of the estimator, for messages.

        Returns
        -------
        table : CollectionTable
        beside : list of ndarray or None
            One entry for each row.
        """
        client = active_client()
        columns = [None if given is None else [part.y for part in partitions(X, given)] for given in beside]
        known = meta_facts(X, name)
        blocks = [part.X for part in partitions(X)]
        look, task_name = dask.delayed(_look, pure=False), task_names("look")
        tasks = [
            look(
                number,
                None if known and columns[0] is not None else block,
                [None if column is None else column[number] for column in columns],
                name,
                is_known=known is not None,
                dask_key_name=task_name(number),
            )
            for number, block in enumerate(blocks)
        ]
        found = gathered(client, client.compute(tasks))
        facts = [known] if known else [one[1] for one in found if one[1] is not None]
        lengths = np.array([one[0] for one in found], dtype=np.int64)
        if not lengths.sum():
            raise TableError("no partition has a row, which leaves nothing to fit on")
        for place, column in enumerate(columns):
            if column is not None:
                check_one_kind("what belongs to the rows", [one[2][place] for one in found])
        arrays = [
            None if column is None else np.concatenate([one[2][place] for one in found])
            for place, column in enumerate(columns)
        ]
        return cls(X, merged_schema(facts), lengths, np.arange(lengths.sum()), blocks), arrays

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.numbers), len(self.schema.names)

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return some of the rows, by ascending index."""
        return replace(self, numbers=self.numbers[rows])

    def content(self) -> Any:
        """Return what names the rows: Dask's token of the collection, and the numbers."""
        return tokenize(self.X), self.numbers

    # The chosen rows as collections; partitions without any are left out.

    def collection(self) -> Any:
        """Return the chosen rows, not yet read."""
        blocks = [self._block(number) for number in self._partitions()]
        if not hasattr(self.X, "chunks"):
            return dd.from_delayed(blocks, meta=self.X._meta, verify_meta=False)  # noqa: SLF001 - Dask's word
        width = self.X.shape[1]
        return da.concatenate(
            [
                da.from_delayed(block, shape=(len(self._places(number)), width), dtype=self.X.dtype)
                for block, number in zip(blocks, self._partitions(), strict=True)
            ]
        )

    def beside(self, values: NDArray[Any] | None) -> Any:
        """Return an array with an entry for each chosen row as a collection with the same partitions."""
        if values is None:
            return None
        lengths = tuple(len(self._places(number)) for number in self._partitions())
        return da.from_array(values, chunks=(lengths,))

    def map(self, call: Callable[..., Any], *options: Any) -> list[Any]:
        """Call a function with the chosen rows of each partition, on the workers.

        Parameters
        ----------
        call : callable
            From rows, and the options, to what comes back here: of each row a number or two at most.
        *options
            Sent to the workers once.

        Returns
        -------
        list
            By partition.
        """
        client = active_client()
        sent = [dask.delayed(option, traverse=False) for option in options]
        task, task_name = dask.delayed(_call, pure=False), task_names("call")
        if len(self) <= _FEW_ROWS and not self._kept:
            numbers = self._partitions()
            self._kept.update(
                zip(numbers, client.compute([self._block(number) for number in numbers]), strict=True)
            )
        tasks = [
            task(
                number,
                call,
                self._kept.get(number, self._block(number)),
                *sent,
                dask_key_name=task_name(number),
            )
            for number in self._partitions()
        ]
        return gathered(client, client.compute(tasks))

    def _partitions(self) -> list[int]:
        """Return the partitions with chosen rows."""
        ends = np.searchsorted(self.numbers, np.cumsum(self.lengths))
        return np.flatnonzero(np.diff(ends, prepend=0)).tolist()

    def _places(self, number: int) -> NDArray[np.int64]:
        """Return which rows of a partition are chosen."""
        end = int(self.lengths[: number + 1].sum())
        begin = end - int(self.lengths[number])
        low, high = np.searchsorted(self.numbers, [begin, end])
        return self.numbers[low:high] - begin

    def _block(self, number: int) -> Any:
        block, places = self.blocks[number], self._places(number)
        if len(places) == self.lengths[number]:
            return block
        return dask.delayed(take_rows, pure=False)(block, places)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}


def _look(
    number: int, X: Any, beside: list[Any], name: str, *, is_known: bool
) -> tuple[int, PartFacts | None, list[Any]]:
    with naming(number):
        arrays = [None if given is None else np.asarray(given) for given in beside]
        lengths = {len(given) for given in [X, *arrays] if given is not None}
        if len(lengths) > 1:
            raise TableError(f"X, y and what belongs to them have different lengths: {sorted(lengths)}")
        return lengths.pop(), None if is_known else PartFacts.of(X, name), arrays


def _call(number: int, call: Callable[..., Any], block: Any, *options: Any) -> Any:
    with naming(number):
        return call(block, *options)
