"""A fit on Dask collections: the partitions become bins on their workers, and one rank per worker learns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import dask
import numpy as np
from distributed import Client, Future, get_client
from numpy.typing import NDArray

from farthing.distributed.collection import Partition, is_persisted, known_lengths, meta_facts, partitions
from farthing.distributed.passes import (
    BinnedPart,
    EncodeTarget,
    HeldOut,
    PartSummary,
    Place,
    Reading,
    Whole,
    bin_partition,
    check_one_kind,
    learn_rules,
    sample,
    summarize,
)
from farthing.distributed.progress import ReadProgress, show
from farthing.distributed.ranks import Outcome, RankTask, run_ranks
from farthing.distributed.waiting import (
    alive_workers,
    dropped_at_end,
    finished,
    gathered,
    task_names,
)
from farthing.errors import ClusterError, TableError
from farthing.table import BinRules, PartFacts, PartTable, Schema, merged_schema, sample_of

# Bytes of the sample of a block of columns, and pieces of samples in all, each of which is a task.
_MOST_SAMPLED: Final = 2**24
_MOST_PIECES: Final = 2**11


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
    held_out : HeldRows or None
        Its rows for validation, if the fit has any on some rank.
    """

    whole: Whole
    table: PartTable
    target: NDArray[Any]
    weights: NDArray[np.float64]
    qid: NDArray[np.int64] | None
    held_out: HeldRows | None = None


@dataclass(frozen=True, slots=True)
class HeldRows:
    """The rows of one rank that are held out for validation.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features)
        Values that fall into the bins of the rows, so that trees on these bins send them the same way.
    target : ndarray, shape (n_rows,)
        Codes of classes, or floats.
    weights : ndarray of float64, shape (n_rows,)
        Weights above zero.
    qid : ndarray of int64, shape (n_rows,), or None
        Queries, numbered within the rank.
    """

    values: NDArray[np.float64]
    target: NDArray[Any]
    weights: NDArray[np.float64]
    qid: NDArray[np.int64] | None


# From the numbers of units, rows or queries, and of rows to the units that are held out, ascending.
HoldOut = Callable[[int, int], NDArray[np.int64]]
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
    has_classes: bool,
    hold_out: HoldOut | None = None,
    keeps_contents: bool = False,
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
    has_classes : bool
        Whether the target is one of classes, which have to be found out.
    hold_out : callable, optional
        See `BudgetedEstimator.holding_out`.
    keeps_contents : bool
        Whether ranks need `PreparedTable.contents`.

    Returns
    -------
    Outcome
        What rank 0 learned; all ranks learn the same.
    """
    reading = Reading(encode, estimator, keeps_contents)
    fit = _Fit(active_client(), partitions(X, y, sample_weight, qid), reading)
    start = time.perf_counter()
    known, lengths = meta_facts(X, estimator), known_lengths(X)
    needs_look = has_classes or y is None or sample_weight is not None or qid is not None
    # A look also waits for workers, if there are none yet.
    if known and lengths and any(lengths) and not needs_look and alive_workers(fit.client):
        whole = Whole(merged_schema([known]), None, sum(lengths))  # without reading anything
        summaries = [PartSummary(length, None, None, None) for length in lengths]
    else:
        whole, summaries = fit.look(known)
    counts = [summary.n_rows for summary in summaries]
    learn = prepare(whole)
    places = _places(summaries, hold_out)
    whole = replace(whole, n_rows=whole.n_rows - sum(place.n_held for place in places))
    rules = fit.learn_rules(whole, counts, places, max_bins)
    binned = fit.bin(whole, counts, places, rules)

    def tell(n_binned: int) -> None:
        show(ReadProgress(n_binned, len(binned), time.perf_counter() - start))

    job = _JoinAndLearn(whole, max_bins, learn, has_held_out=hold_out is not None)
    with dropped_at_end(fit.client, [rules, *binned]):
        parts = finished(fit.client, binned, tell)
        pass_seconds = time.perf_counter() - start
        outcome = run_ranks(fit.client, parts, RankTask(job, whole.n_rows), rules)
    return replace(outcome, report=replace(outcome.report, pass_seconds=pass_seconds))


def active_client() -> Client:
    """Return the active Dask client."""
    try:
        return get_client()
    except ValueError:
        raise ClusterError(
            "a Dask collection is fitted by the workers of a cluster, and no client is active; start one, "
            "distributed.Client(...), or call compute() on the collection"
        ) from None


@dataclass(frozen=True, slots=True)
class _Fit:
    """The passes over the partitions, by ordinary tasks."""

    client: Client
    parts: list[Partition]
    reading: Reading

    def look(self, known: PartFacts | None) -> tuple[Whole, list[PartSummary]]:
        """Look at all partitions; return what they have in common, and what each shows."""
        look = dask.delayed(summarize, pure=False)
        name = task_names("look")
        tasks = [
            look(
                self.reading,
                part.number,
                (None if known else part.X, part.y, part.weights, part.qid),
                dask_key_name=name(part.number),
            )
            for part in self.parts
        ]
        summaries: list[PartSummary] = gathered(self.client, self.client.compute(tasks))
        facts = [known] if known else [summary.facts for summary in summaries if summary.facts]
        counts = [summary.n_rows for summary in summaries]
        if not sum(counts):
            raise TableError("no partition has a row of positive weight, which leaves nothing to fit on")
        _check_queries(summaries)
        check_one_kind("y", [summary.classes for summary in summaries])
        found = [summary.classes for summary in summaries if summary.classes is not None]
        classes = np.unique(np.concatenate(found)) if found else None
        return Whole(merged_schema(facts), classes, sum(counts)), summaries

    def learn_rules(
        self, whole: Whole, counts: Sequence[int], places: Sequence[Place], max_bins: int
    ) -> Future:
        """Learn the bins from a sample of all training rows, block of columns by block of columns.

        Blocks are learned on any of the workers, so that none of them holds the whole sample.
        """
        picked = sample_of(whole.n_rows)
        cuts = column_blocks(len(whole.schema), len(picked), len(self.parts))
        draw, name = dask.delayed(sample, pure=False, nout=len(cuts) - 1), task_names("sample")
        samples = []
        for part, n_rows, place in zip(self.parts, counts, places, strict=True):
            begin, end = np.searchsorted(picked, [place.first, place.first + n_rows - place.n_held])
            if end > begin:
                rows = picked[begin:end] - place.first
                samples.append(
                    draw(
                        self.reading,
                        place,
                        _rows(part),
                        whole.schema,
                        picked=rows,
                        cuts=cuts,
                        dask_key_name=name(part.number),
                    )
                )
        learn, join = dask.delayed(learn_rules, pure=False), dask.delayed(BinRules.joined, pure=False)
        learned = [
            learn(
                [drawn[block] for drawn in samples], Schema(whole.schema.columns[begin:end], True), max_bins
            )
            for block, (begin, end) in enumerate(pairwise(cuts))
        ]
        return self.client.compute(learned[0] if len(learned) == 1 else join(learned))

    def bin(
        self, whole: Whole, counts: Sequence[int], places: Sequence[Place], rules: Future
    ) -> list[Future]:
        """Bin all partitions that have rows; their bins stay where they are made."""
        name = task_names("bin")

        def binned(part: Partition) -> Any:
            cut = dask.delayed(bin_partition, pure=False)
            place = places[part.number]
            return cut(self.reading, place, _rows(part), whole, rules, dask_key_name=name(part.number))

        kept = [part for part in self.parts if counts[part.number]]
        if is_persisted(kept[0].X):  # they are binned where they are, unless that worker is busy
            made: list[Future] = self.client.compute([binned(part) for part in kept])
            return made
        futures: list[Future] = []
        for address, given in _spread(self.client, kept, counts).items():
            # Others may step in if the worker is lost.
            with dask.annotate(workers=[address], allow_other_workers=True):
                tasks = [binned(part) for part in given]
            futures += self.client.compute(tasks, workers=[address], allow_other_workers=True)
        return futures


def column_blocks(n_columns: int, n_sampled: int, n_parts: int) -> list[int]:
    """Return where blocks of columns begin, and their end, so that their samples are small and tasks are few.

    Examples
    --------
    >>> column_blocks(100, 65_536, 10)
    [0, 25, 50, 75, 100]
    >>> column_blocks(100, 65_536, 1000)
    [0, 50, 100]
    """
    n_wanted = -(-8 * n_sampled * n_columns // _MOST_SAMPLED)
    n_blocks = min(n_wanted, n_columns, max(1, _MOST_PIECES // n_parts))
    return [n_columns * block // n_blocks for block in range(n_blocks + 1)]


def _places(summaries: Sequence[PartSummary], hold_out: HoldOut | None) -> list[Place]:
    """Return where each partition is, from its rows and from all rows or queries that are held out."""
    counts = [summary.n_rows for summary in summaries]
    ends = np.cumsum(counts)
    queries = [summary.queries for summary in summaries if summary.queries is not None]
    held: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)] * len(counts)
    n_held = [0] * len(counts)
    if hold_out is not None and queries:
        names = np.sort(np.concatenate(queries))
        chosen = names[hold_out(len(names), int(ends[-1]))]
        for number, summary in enumerate(summaries):
            assert summary.queries is not None
            assert summary.query_rows is not None
            is_held = np.isin(summary.queries, chosen)
            held[number], n_held[number] = summary.queries[is_held], int(summary.query_rows[is_held].sum())
    elif hold_out is not None:
        rows = hold_out(int(ends[-1]), int(ends[-1]))
        held = [
            part - begin
            for part, begin in zip(
                np.split(rows, np.searchsorted(rows, ends[:-1])), ends - counts, strict=True
            )
        ]
        n_held = list(map(len, held))
    firsts = ends - counts - np.cumsum([0, *n_held[:-1]])
    return [
        Place(number, int(firsts[number]), held[number], n_rows, n_held[number])
        for number, n_rows in enumerate(counts)
    ]


def _rows(part: Partition) -> tuple[Any, Any, Any, Any]:
    return part.X, part.y, part.weights, part.qid


def _check_queries(summaries: Sequence[PartSummary]) -> None:
    seen: dict[Any, int] = {}
    for number, summary in enumerate(summaries):
        for query in () if summary.queries is None else summary.queries.tolist():
            if query in seen:
                raise TableError(
                    f"qid: query {query!r} has rows in partition {seen[query]} and in partition {number}; "
                    "keep the documents of a query in one partition, as set_index by the query does"
                )
            seen[query] = number


def _spread(client: Client, parts: Sequence[Partition], counts: Sequence[int]) -> dict[str, list[Partition]]:
    """Give each worker, of those that `dask.annotate` names or of all, nearly as many rows."""
    wanted = dask.get_annotations().get("workers")
    addresses = sorted(wanted or alive_workers(client))
    if not addresses:
        raise ClusterError(
            "the cluster has no workers; start some, or wait for them: client.wait_for_workers(1)"
        )
    rows = dict.fromkeys(addresses, 0)
    given: dict[str, list[Partition]] = {address: [] for address in addresses}
    for part in sorted(parts, key=lambda part: -counts[part.number]):
        least = min(addresses, key=lambda address: rows[address])
        rows[least] += counts[part.number]
        given[least].append(part)
    return {address: mine for address, mine in given.items() if mine}


@dataclass(frozen=True, slots=True)
class _JoinAndLearn:
    """The job of every rank."""

    whole: Whole
    max_bins: int
    learn: Learn
    has_held_out: bool

    def __call__(self, ordered: Sequence[BinnedPart], rules: BinRules) -> Any:
        hashes = [part.contents for part in ordered if part.contents is not None]
        table = PartTable(
            self.whole.schema,
            [part.codes for part in ordered],
            rules,
            self.max_bins,
            np.concatenate(hashes) if hashes else None,
        )
        target, weights = _taken_over(ordered)
        qid = None if ordered[0].qid is None else _numbered([part.qid for part in ordered])
        held_out = self._held_out(ordered, rules) if self.has_held_out else None
        return self.learn(PartRows(self.whole, table, target, weights, qid, held_out))

    def _held_out(self, ordered: Sequence[BinnedPart], rules: BinRules) -> HeldRows:
        found = [part.held_out for part in ordered if part.held_out is not None]
        codes = [part.codes for part in found] or [np.empty((0, len(self.whole.schema)), dtype=np.uint8)]
        qid = None if ordered[0].qid is None else _numbered([part.qid for part in found])
        if not found:  # of the dtype that the target of other ranks has
            return HeldRows(rules.values(codes[0]), ordered[0].target[:0], np.empty(0), qid)
        return HeldRows(rules.values(np.concatenate(codes)), *_joined(found), qid)


def _numbered(queries: Sequence[NDArray[Any] | None]) -> NDArray[np.int64]:
    """Return the queries of parts as numbers from zero."""
    given = [part for part in queries if part is not None]
    if not given:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.concatenate(given), return_inverse=True)[1].astype(np.int64)


def _joined(parts: Sequence[BinnedPart] | Sequence[HeldOut]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return target and weights, one part below the other."""
    target = np.concatenate([part.target for part in parts])
    given = [part.weights for part in parts if part.weights is not None]
    # Ones that take no memory.
    return target, np.concatenate(given) if given else np.broadcast_to(1.0, target.shape)


def _taken_over(parts: Sequence[BinnedPart]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the same, and let the parts look into it, so that nothing is in memory twice."""
    target, weights = _joined(parts)
    first = 0
    for part in parts:
        end = first + len(part.target)
        part.target = target[first:end]
        if part.weights is not None:
            part.weights = weights[first:end]
        first = end
    return target, weights
