"""What happens to a partition before a fit: it is looked at, sampled and binned, each by an ordinary task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from farthing.distributed.post import open_to_peers
from farthing.errors import TableError
from farthing.table import BinRules, PartCodes, PartFacts, Schema, content_keys

# From labels or numbers to codes with the classes, or to floats with None.
EncodeTarget: TypeAlias = Callable[[Any], tuple[NDArray[Any], NDArray[Any] | None]]


@dataclass(frozen=True, slots=True)
class Whole:
    """What all partitions have in common.

    Parameters
    ----------
    schema : Schema
        The columns.
    classes : ndarray or None
        The labels, sorted; None for a regression.
    n_rows : int
        Training rows: of positive weight, and not held out.
    """

    schema: Schema
    classes: NDArray[Any] | None
    n_rows: int


@dataclass(frozen=True, slots=True)
class PartSummary:
    """What the first look at a partition finds.

    Parameters
    ----------
    n_rows : int
        Rows of positive weight.
    facts : PartFacts or None
        What it shows of the columns; None if that is known without it.
    classes : ndarray or None
        The classes of its rows; None for numbers, and if it has no rows.
    queries : ndarray or None
        The queries of its rows, sorted.
    query_rows : ndarray of int64 or None
        How many rows each of them has.
    """

    n_rows: int
    facts: PartFacts | None
    classes: NDArray[Any] | None
    queries: NDArray[Any] | None
    query_rows: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The rows of a partition that are held out for validation.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_rows, n_features)
        Bins, those of the training rows.
    target : ndarray, shape (n_rows,)
        Codes of classes, or floats.
    weights : ndarray of float64, shape (n_rows,), or None
        None for 1 each.
    qid : ndarray, shape (n_rows,), or None
        Queries.
    """

    codes: NDArray[np.uint8]
    target: NDArray[Any]
    weights: NDArray[np.float64] | None
    qid: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a partition is among the others.

    Parameters
    ----------
    number : int
        Its number in the collection.
    first : int
        Number of its first training row among all.
    held : ndarray, shape (n_held,)
        Which of its rows of positive weight are held out for validation, or the queries that are.
    n_rows : int
        Rows of positive weight.
    n_held : int
        Rows that are held out.
    """

    number: int
    first: int
    held: NDArray[Any]
    n_rows: int
    n_held: int

    def held_rows(self, queries: NDArray[Any] | None) -> NDArray[np.int64]:
        """Return which of the rows of positive weight are held out, from their queries if there are any."""
        return self.held if queries is None else np.flatnonzero(np.isin(queries, self.held))

    def check(self, n_rows: int) -> None:
        """Raise unless as many rows were read as are known of."""
        if n_rows != self.n_rows:
            raise TableError(
                f"read {n_rows} rows of positive weight, but {self.n_rows} are known of; a partition must "
                "have the same rows each time that it is read, and the length that the collection says"
            )


@dataclass(slots=True)
class BinnedPart:
    """A partition as a fit keeps it: a byte per entry, and what belongs to the rows.

    A rank that joins its parts takes their arrays over: from then on the part looks into those of the rank.

    Parameters
    ----------
    number : int
        Place of the partition in the collection.
    codes : PartCodes
        Bins.
    target : ndarray, shape (n_rows,)
        Codes of classes, or floats.
    weights : ndarray of float64, shape (n_rows,), or None
        None for 1 each.
    qid : ndarray, shape (n_rows,), or None
        Queries.
    first : int
        Place of its first row among all training rows; the others follow.
    held_out : HeldOut or None
        Its rows for validation.
    contents : ndarray of uint64, shape (n_rows,), or None
        Hashes of the rows, for methods that draw rows by what is in them.
    """

    number: int
    codes: PartCodes
    target: NDArray[Any]
    weights: NDArray[np.float64] | None
    qid: NDArray[Any] | None
    first: int
    held_out: HeldOut | None = None
    contents: NDArray[np.uint64] | None = None

    @property
    def row_numbers(self) -> range:
        """Place of each row among all training rows."""
        return range(self.first, self.first + len(self.codes))


@dataclass(frozen=True, slots=True)
class Reading:
    """How partitions are read.

    Parameters
    ----------
    encode : callable
        Encodes the target of a partition.
    estimator : str
        Name of the estimator, for messages.
    keeps_contents : bool
        Whether rows are hashed before their values are dropped.
    """

    encode: EncodeTarget
    estimator: str
    keeps_contents: bool = False

    def values(self, X: Any, schema: Schema) -> NDArray[np.floating]:
        """Return the rows of a partition, encoded."""
        encoded = schema.encode(X, self.estimator, min_rows=0)
        encoded.check()
        return encoded.values

    def target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the target of a partition, and its classes."""
        if y is None:
            raise ValueError(f"{self.estimator} requires y to be passed, but the target y is None")
        return self.encode(y) if len(y) else (np.empty(0, dtype=np.int64), None)


# X, y, weights and queries of a partition; all but the first may be None.
RawRows: TypeAlias = tuple[Any, Any, Any, Any]


def summarize(reading: Reading, number: int, rows: RawRows) -> PartSummary:
    """Look at a partition; its X is None if only its length matters."""
    X, y, weights, qid = rows
    with naming(number):
        target, classes = reading.target(y)
        kept = _kept(weights, len(target))
        if X is not None:
            _check_lengths(X, target)
        queries, query_rows = None, None
        if qid is not None:
            queries, query_rows = np.unique(_queries(qid, len(target))[kept], return_counts=True)
        return PartSummary(
            int(kept.sum()),
            None if X is None else PartFacts.of(X, reading.estimator),
            classes if len(target) else None,
            queries,
            query_rows,
        )


def sample(
    reading: Reading,
    place: Place,
    rows: RawRows,
    schema: Schema,
    *,
    picked: NDArray[np.int64],
    cuts: list[int],
) -> list[NDArray[np.floating]]:
    """Return some of the training rows, encoded, in blocks of columns; the bins are learned from them."""
    X, y, weights, qid = rows
    with naming(place.number):
        _check_lengths(X, y)
        rows_kept = np.flatnonzero(_kept(weights, X.shape[0]))
        place.check(len(rows_kept))
        held = place.held_rows(None if qid is None else _queries(qid, X.shape[0])[rows_kept])
        # The other rows are looked at when they are binned.
        values = reading.values(take_rows(X, np.delete(rows_kept, held)[picked]), schema)
        return [np.ascontiguousarray(values[:, begin:end]) for begin, end in pairwise(cuts)]


def learn_rules(samples: list[NDArray[np.floating]], schema: Schema, max_bins: int) -> BinRules:
    """Learn the bins of a block of columns, which the schema names, from the samples of all partitions."""
    return BinRules.learn(np.concatenate(samples), schema, max_bins)


def bin_partition(reading: Reading, place: Place, rows: RawRows, whole: Whole, rules: BinRules) -> BinnedPart:
    """Bin a partition; the floats that it was read as are not kept."""
    open_to_peers(get_worker())  # before the first rank calls
    X, y, weights, qid = rows
    with naming(place.number):
        target, own = reading.target(y)
        values = reading.values(X, whole.schema)
        _check_lengths(values, target)
        kept = _kept(weights, len(target))
        place.check(int(kept.sum()))
        queries = None if qid is None else _queries(qid, len(target))
        held = np.flatnonzero(kept)[place.held_rows(None if queries is None else queries[kept])]
        kept[held] = False
        everything = bool(kept.all())
        if whole.classes is not None and own is not None:
            target = np.searchsorted(whole.classes, own)[target]
        given = None if weights is None else np.asarray(weights, dtype=np.float64)
        training = values if everything else values[kept]
        return BinnedPart(
            place.number,
            PartCodes(rules.codes(training)),
            target if everything else target[kept],
            given if given is None or everything else given[kept],
            queries if queries is None or everything else queries[kept],
            place.first,
            HeldOut(
                rules.codes(values[held]),
                target[held],
                None if given is None else given[held],
                None if queries is None else queries[held],
            )
            if len(held)
            else None,
            content_keys(training) if reading.keeps_contents else None,
        )


def check_one_kind(name: str, columns: Sequence[NDArray[Any] | None]) -> None:
    """Raise TableError if a column has strings in some partitions and numbers in others, which NumPy joins.

    Examples
    --------
    >>> check_one_kind("y", [np.array(["no", "yes"]), None, np.array(["no"])])
    """
    first: dict[str, int] = {}
    for number, column in enumerate(columns):
        if column is not None and len(column):
            first.setdefault("strings" if isinstance(column[0], str) else "numbers", number)
    if len(first) > 1:
        raise TableError(
            f"{name}: got numbers in partition {first['numbers']} and strings in partition "
            f"{first['strings']}; make all of them numbers, or all of them strings"
        )


def take_rows(X: Any, places: NDArray[np.int64]) -> Any:
    """Return some rows of a partition, by their places in it."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


@contextmanager
def naming(number: int) -> Iterator[None]:
    """Let errors name the partition and the worker."""
    try:
        yield
    except (TableError, ValueError, TypeError) as error:
        _raise_named(error, number)


def _raise_named(error: Exception, number: int) -> NoReturn:
    try:
        place = f", read by worker {get_worker().address}"
    except ValueError:  # outside a worker
        place = ""
    message = f"partition {number}{place}: {error}"
    raise (TableError if isinstance(error, TableError) else ValueError)(message) from error


def _check_lengths(X: Any, y: Any) -> None:
    if X.shape[0] != len(y):
        raise TableError(f"X has {X.shape[0]} rows, but y has {len(y)}")


def _kept(weights: Any, n_rows: int) -> NDArray[np.bool_]:
    if weights is None:
        return np.ones(n_rows, dtype=np.bool_)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one weight per row, shape ({n_rows},); got {given.shape}")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError("sample_weight must be finite, and zero or more, on every row")
    return np.asarray(given > 0)


def _queries(qid: Any, n_rows: int) -> NDArray[Any]:
    queries = np.asarray(qid)
    if queries.shape != (n_rows,):
        raise ValueError(f"qid must have one query per row, shape ({n_rows},); got {queries.shape}")
    return queries
