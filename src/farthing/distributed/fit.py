"""A fit on Dask collections: the partitions become bins on their workers, and one rank per worker learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from distributed import Client, Future, futures_of, get_client
from numpy.typing import NDArray

from farthing.distributed.collection import Partition, meta_facts, partitions
from farthing.distributed.passes import (
    BinnedPart,
    EncodeTarget,
    PartSummary,
    bin_partition,
    learn_rules,
    sample,
    summarize,
)
from farthing.distributed.ranks import Outcome, run_ranks
from farthing.errors import ClusterError, TableError
from farthing.table import BinRules, PartTable, Schema, merged_schema, sample_of


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
        Rows of positive weight.
    """

    schema: Schema
    classes: NDArray[Any] | None
    n_rows: int


@dataclass(frozen=True, slots=True)
class PartRows:
    """The rows of one rank.

    Parameters
    ----------
    whole : Whole
        What they share with those of other ranks.
    table : PartTable
        Their bins.
    target : ndarray, shape (n_rows,)
        Codes of classes, or floats.
    weights : ndarray of float64, shape (n_rows,)
        Weights above zero.
    qid : ndarray of int64, shape (n_rows,), or None
        Queries, numbered within the rank.
    """

    whole: Whole
    table: PartTable
    target: NDArray[Any]
    weights: NDArray[np.float64]
    qid: NDArray[np.int64] | None


# From the rows of a rank to what it learns.
Learn = Callable[[PartRows], Any]


def fit_collection(
    X: Any,
    y: Any,
    sample_weight: Any,
    qid: Any,
    *,
    encode: EncodeTarget,
    prepare: Callable[[Whole], Learn],
    max_bins: int,
    estimator: str,
) -> Outcome:
    """Learn from Dask collections, on the workers of the active client.

    Parameters
    ----------
    X, y, sample_weight, qid
        Collections, see `partitions`.
    encode : callable
        Encodes the target of a partition.
    prepare : callable
        From what the partitions have in common, checked here, to what every rank does.
    max_bins : int
        Maximum number of bins per column.
    estimator : str
        Name of the estimator, for messages.

    Returns
    -------
    Outcome
        What rank 0 learned; all ranks learn the same.
    """
    client = active_client()
    parts = partitions(X, y, sample_weight, qid)
    whole, counts = _look(client, X, parts, encode, estimator)
    learn = prepare(whole)
    rules = _learn_rules(client, parts, whole, counts, max_bins, estimator)
    binned = _bin(client, parts, whole, counts, rules, encode, estimator)
    return run_ranks(client, binned, whole.n_rows, _Rank(whole, max_bins, learn), rules)


def active_client() -> Client:
    """Return the active Dask client."""
    try:
        return get_client()
    except ValueError:
        raise ClusterError(
            "a Dask collection is fitted by the workers of a cluster, and no client is active; start one, "
            "distributed.Client(...), or call compute() on the collection"
        ) from None


def _look(
    client: Client, X: Any, parts: Sequence[Partition], encode: EncodeTarget, estimator: str
) -> tuple[Whole, list[int]]:
    known = meta_facts(X, estimator)
    look = dask.delayed(summarize, pure=False)
    tasks = [
        look(part.number, None if known else part.X, part.y, part.weights, part.qid, encode, estimator)
        for part in parts
    ]
    summaries: list[PartSummary] = client.gather(client.compute(tasks))
    facts = [known] if known else [summary.facts for summary in summaries if summary.facts]
    counts = [summary.n_rows for summary in summaries]
    if not sum(counts):
        raise TableError("no partition has a row of positive weight, which leaves nothing to fit on")
    _check_queries(summaries)
    found = [summary.classes for summary in summaries if summary.classes is not None]
    classes = np.unique(np.concatenate(found)) if found else None
    return Whole(merged_schema(facts), classes, sum(counts)), counts


def _check_queries(summaries: Sequence[PartSummary]) -> None:
    seen: dict[Any, int] = {}
    for number, summary in enumerate(summaries):
        for query in () if summary.queries is None else summary.queries.tolist():
            if query in seen:
                raise TableError(
                    f"qid: query {query!r} has rows in partition {seen[query]} and in partition {number}; keep the "
                    "documents of a query in one partition, as set_index by the query does"
                )
            seen[query] = number


def _learn_rules(
    client: Client,
    parts: Sequence[Partition],
    whole: Whole,
    counts: Sequence[int],
    max_bins: int,
    estimator: str,
) -> Future:
    picked = sample_of(whole.n_rows)
    ends = np.cumsum(counts)
    places = np.searchsorted(picked, [0, *ends])
    draw, learn = dask.delayed(sample, pure=False), dask.delayed(learn_rules, pure=False)
    samples = [
        draw(part.number, part.X, part.weights, whole.schema, picked[begin:end] - (stop - n), estimator)
        for part, begin, end, stop, n in zip(parts, places[:-1], places[1:], ends, counts, strict=True)
        if end > begin
    ]
    rules: Future = client.compute(learn(samples, whole.schema, max_bins))
    return rules


def _bin(
    client: Client,
    parts: Sequence[Partition],
    whole: Whole,
    counts: Sequence[int],
    rules: Future,
    encode: EncodeTarget,
    estimator: str,
) -> list[Future]:
    cut = dask.delayed(bin_partition, pure=False)
    firsts = np.cumsum([0, *counts])[:-1].tolist()
    tasks = [
        cut(
            part.number,
            part.X,
            part.y,
            part.weights,
            part.qid,
            encode,
            whole.schema,
            rules,
            whole.classes,
            first,
            estimator,
        )
        for part, first, n in zip(parts, firsts, counts, strict=True)
        if n
    ]
    if futures_of(parts[0].X):  # already in the memory of workers, where they stay
        binned: list[Future] = client.compute(tasks)
        return binned
    return _spread(client, tasks, [n for n in counts if n])


def _spread(client: Client, tasks: list[Any], counts: list[int]) -> list[Future]:
    """Compute tasks on all workers, nearly as many rows on each; others may step in for a lost one."""
    wanted = dask.get_annotations().get("workers")
    addresses = sorted(wanted or client.scheduler_info(n_workers=-1)["workers"])
    rows = dict.fromkeys(addresses, 0)
    given: dict[str, list[int]] = {address: [] for address in addresses}
    for place in sorted(range(len(tasks)), key=lambda place: -counts[place]):
        least = min(addresses, key=lambda address: rows[address])
        rows[least] += counts[place]
        given[least].append(place)
    made: dict[int, Future] = {}
    for address, places in given.items():
        futures = client.compute(
            [tasks[place] for place in places], workers=[address], allow_other_workers=True
        )
        made.update(zip(places, futures, strict=True))
    return [made[place] for place in range(len(tasks))]


@dataclass(frozen=True, slots=True)
class _Rank:
    """The job of every rank: join the parts, then learn."""

    whole: Whole
    max_bins: int
    learn: Learn

    def __call__(self, ordered: Sequence[BinnedPart], rules: BinRules) -> Any:
        table = PartTable(self.whole.schema, [part.codes for part in ordered], rules, self.max_bins)
        target = np.concatenate([part.target for part in ordered])
        weights = np.concatenate(
            [np.ones(len(part.target)) if part.weights is None else part.weights for part in ordered]
        )
        qid = None
        if ordered[0].qid is not None:
            queries = np.concatenate([part.qid for part in ordered if part.qid is not None])
            qid = np.unique(queries, return_inverse=True)[1].astype(np.int64)
        return self.learn(PartRows(self.whole, table, target, weights, qid))
