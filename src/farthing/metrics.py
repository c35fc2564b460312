"""Ranking metrics: from grades and scores to one number per query.

Documents with the same score are tied. All metrics are the mean over all orders of the ties, so the order of
the rows does not matter, and a constant score gets the value of a random order.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from farthing.typing import Floats, Integers

__all__ = [
    "ndcg",
    "ndcg_by_query",
    "precision",
    "precision_by_query",
    "prefix_precision",
    "prefix_precision_by_query",
]


def ndcg(grades: Any, scores: Any, *, qid: Any = None, k: int = 5) -> float:
    """Return the mean NDCG@k over the queries; see `ndcg_by_query`.

    Examples
    --------
    >>> round(ndcg([0, 2, 1], [0.1, 0.9, 0.5]), 3), round(ndcg([2, 0, 1], [0.1, 0.9, 0.5]), 3)
    (1.0, 0.587)
    """
    return float(ndcg_by_query(grades, scores, qid=qid, k=k).mean())


def ndcg_by_query(grades: Any, scores: Any, *, qid: Any = None, k: int = 5) -> Floats:
    """Return the normalised discounted cumulative gain of the first k documents of each query.

    The gain of grade g at position j is ``(2**g - 1) / log2(j + 1)``; the sum is divided by that of the best
    order. A query without a relevant document cannot be ranked wrongly and scores 1.

    Parameters
    ----------
    grades : array, shape (n_rows,)
        Relevance, at least zero; zero is irrelevant.
    scores : array, shape (n_rows,)
        Scores of the model; larger is better.
    qid : array, shape (n_rows,), optional
        The query of each document, in any order; None means one query.
    k : int
        Number of documents that count.

    Returns
    -------
    ndarray of float64, shape (n_queries,)
        In the order of the sorted query ids.

    Examples
    --------
    >>> ndcg_by_query([1, 0, 0, 1], [3.0, 2.0, 2.0, 1.0], qid=["a", "a", "b", "b"], k=1)
    array([1., 0.])
    """
    _check_k(k)
    ranking = _Ranking(grades, scores, qid)
    gains = np.exp2(ranking.grades) - 1
    # The mean over all orders of a tie: every document of it has the mean gain at each of its positions.
    reached = _tied_means(ranking, gains) * _discounts(ranking.position, k)
    # The same sum with the documents of each query in their best order.
    best = np.lexsort((-gains, ranking.query))
    ideal = gains[best] * _discounts(ranking.position, k)
    n_queries = ranking.n_queries
    best_sums = np.bincount(ranking.query, weights=ideal, minlength=n_queries)
    sums = np.bincount(ranking.query, weights=reached, minlength=n_queries)
    # The inner np.where only avoids a division by zero; the outer one sets these queries to 1.
    return np.where(best_sums > 0, sums / np.where(best_sums > 0, best_sums, 1.0), 1.0)


def precision(grades: Any, scores: Any, *, qid: Any = None, k: int = 5, relevant: float = 1.0) -> float:
    """Return the mean over the queries of `precision_by_query`.

    Examples
    --------
    >>> precision([1, 1, 0, 1, 0, 1], [6, 5, 4, 3, 2, 1])
    0.6
    """
    return float(precision_by_query(grades, scores, qid=qid, k=k, relevant=relevant).mean())


def precision_by_query(
    grades: Any, scores: Any, *, qid: Any = None, k: int = 5, relevant: float = 1.0
) -> Floats:
    """Return the number of relevant documents among the first k, divided by k.

    Parameters
    ----------
    grades, scores, qid, k
        As in `ndcg_by_query`.
    relevant : float
        The least grade that is relevant; 3 on Yahoo's grades from 0 to 4 in the papers.

    Returns
    -------
    ndarray of float64, shape (n_queries,)
        In the order of the sorted query ids.

    Examples
    --------
    >>> precision_by_query([1, 0, 1, 1], [4, 3, 2, 1], qid=[7, 7, 8, 8], k=2)
    array([0.5, 1. ])
    """
    _check_k(k)
    ranking = _Ranking(grades, scores, qid)
    hits = _tied_means(ranking, (ranking.grades >= relevant).astype(np.float64)) * (ranking.position < k)
    return np.asarray(np.bincount(ranking.query, weights=hits, minlength=ranking.n_queries) / k)


def prefix_precision(grades: Any, scores: Any, *, qid: Any = None, k: int = 5) -> float:
    """Return the mean over the queries of `prefix_precision_by_query`.

    Examples
    --------
    >>> prefix_precision([1, 1, 0, 1, 1, 1], [6, 5, 4, 3, 2, 1])  # the first irrelevant one is third
    0.4
    """
    return float(prefix_precision_by_query(grades, scores, qid=qid, k=k).mean())


def prefix_precision_by_query(grades: Any, scores: Any, *, qid: Any = None, k: int = 5) -> Floats:
    """Return the precision@k of Nan's thesis: (j - 1) / k if the first irrelevant document is at position j.

    It is 1 if the first k documents are relevant, all of them if the query has fewer.

    Parameters
    ----------
    grades, scores, qid, k
        As in `ndcg_by_query`.

    Returns
    -------
    ndarray of float64, shape (n_queries,)
        In the order of the sorted query ids.

    Examples
    --------
    >>> prefix_precision_by_query([1, 0, 1, 1], [4, 3, 2, 1], qid=[7, 7, 8, 8])
    array([0.2, 1. ])
    """
    _check_k(k)
    ranking = _Ranking(grades, scores, qid)
    relevant = ranking.grades > 0
    # Of m tied documents, r are relevant. After a relevant documents, the next one is relevant with
    # probability (r - a) / (m - a).
    size = np.bincount(ranking.tie)[ranking.tie]
    hits = np.bincount(ranking.tie, weights=relevant)[ranking.tie]
    before = ranking.position - ranking.tie_start
    chance = np.maximum(hits - before, 0.0) / (size - before)
    scores_by_query = np.empty(ranking.n_queries)
    starts = np.append(np.flatnonzero(ranking.position == 0), len(chance))
    for query, (start, stop) in enumerate(itertools.pairwise(starts.tolist())):
        # run[j] is the probability that the first j + 1 documents are relevant. The expected length of the
        # run is the sum of these; a query that ends before k positions does not break it.
        run = np.cumprod(chance[start : min(start + k, stop)])
        scores_by_query[query] = (run.sum() + run[-1] * (k - len(run))) / k
    return scores_by_query


class _Ranking:
    """Documents in the order of their queries, then of their scores; all attributes have shape (n_rows,)."""

    def __init__(self, grades: Any, scores: Any, qid: Any) -> None:
        given = np.asarray(grades, dtype=np.float64)
        said = np.asarray(scores, dtype=np.float64)
        if given.ndim != 1 or said.shape != given.shape or not len(given):
            raise ValueError(
                "grades and scores must be one number per document, at least one; "
                f"got shapes {given.shape} and {said.shape}"
            )
        if not np.isfinite(given).all() or given.min() < 0:
            raise ValueError("grades must be finite and zero or more; zero is irrelevant")
        if np.isnan(said).any():
            raise ValueError(f"scores must be numbers; row {int(np.argmax(np.isnan(said)))} has NaN")
        query = query_codes(qid, len(given))
        order = np.lexsort((-said, query))
        #: Number of queries.
        self.n_queries = int(query.max()) + 1
        #: Codes of the queries, ascending.
        self.query = query[order]
        self.grades = given[order]
        ranked = said[order]
        rows = np.arange(len(order))
        first = np.append(True, self.query[1:] != self.query[:-1])
        new_tie = first | np.append(True, ranked[1:] != ranked[:-1])
        query_start = np.maximum.accumulate(np.where(first, rows, 0))
        #: Place within the query, from 0.
        self.position = rows - query_start
        #: Number of the set of tied documents, and the position where it begins.
        self.tie = np.cumsum(new_tie) - 1
        self.tie_start = np.maximum.accumulate(np.where(new_tie, rows, 0)) - query_start


def query_codes(qid: Any, n_rows: int) -> Integers:
    """Return the queries as numbers from 0 in the order of their ids, shape (n_rows,); None means one query.

    Examples
    --------
    >>> query_codes(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if qid is None:
        return np.zeros(n_rows, dtype=np.int64)
    ids = np.asarray(qid)
    if ids.shape != (n_rows,):
        raise ValueError(f"qid must have one query per row, shape ({n_rows},); got {ids.shape}")
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def query_weights(weights: Floats, qid: Any = None) -> Floats:
    """Return the mean weight of the documents of each query, in the order of the sorted query ids.

    Means rather than sums, so that equal weights are no weights: a long query counts like a short one.

    Examples
    --------
    >>> query_weights(np.array([1.0, 3.0, 2.0]), ["a", "a", "b"])
    array([2., 2.])
    """
    query = query_codes(qid, len(weights))
    return np.asarray(np.bincount(query, weights=weights) / np.bincount(query))


def _tied_means(ranking: _Ranking, gains: Floats) -> Floats:
    means = np.bincount(ranking.tie, weights=gains) / np.bincount(ranking.tie)
    return np.asarray(means[ranking.tie])


def _discounts(position: Integers, k: int) -> Floats:
    # Positions count from 0 here and from 1 in the formula.
    return np.where(position < k, 1 / np.log2(position + 2.0), 0.0)


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be an integer of at least 1; got {k!r}")
