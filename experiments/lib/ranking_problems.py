"""The two ranking tables of `experiments.papers.xu2012`, split by queries."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.lib.yahoo_shaped import LEVELS, RankingTable, yahoo_shaped
from farthing.costs import CostSheet
from farthing.datasets import load_table

N_FOLDS = 5  # of mslr's training queries


@dataclass(frozen=True)
class Problem:
    """A ranking table, split by queries.

    Attributes
    ----------
    name : str
    train, test : RankingTable
        What the reported models learn from, and what they are reported on.
    choosing : tuple of (RankingTable, RankingTable)
        Pairs of training documents and of validation documents, of other queries. One pair, whose first
        half is ``train``, or the folds of a cross-validation of ``train``.
    """

    name: str
    train: RankingTable
    test: RankingTable
    choosing: tuple[tuple[RankingTable, RankingTable], ...]

    @property
    def sizes(self) -> str:
        """The sizes of the parts."""
        parts = {"training": self.train, "test": self.test}
        if len(self.choosing) == 1:
            parts["validation"] = self.choosing[0][1]
        lines = [
            f"{what}: {len(t.qid):,} documents of {len(np.unique(t.qid)):,} queries"
            for what, t in parts.items()
        ]
        if len(self.choosing) > 1:
            lines.append(
                f"chosen by a cross-validation of {len(self.choosing)} folds of the training queries"
            )
        return "; ".join(lines)


def yahoo(n_rows: int, seed: int) -> Problem:
    """Return the Yahoo-shaped table: half of the queries to learn from, a fifth to choose by.

    Irrelevant documents come tenfold in every part.
    """
    table = yahoo_shaped(n_rows, seed)
    bounds = [0, *np.quantile(table.qid, [0.5, 0.7]).astype(int).tolist(), int(table.qid.max()) + 1]
    train, validation, test = (table.queries(*pair).replicated() for pair in itertools.pairwise(bounds))
    return Problem("Yahoo-shaped", train, test, ((train, validation),))


def mslr() -> Problem:
    """Return the 10,000 documents of MSLR with prices drawn by the frequencies of Yahoo's levels, seed 0."""
    data = load_table("mslr_fold1_10k")
    shares = np.array(list(LEVELS.values())) / sum(LEVELS.values())
    prices = np.random.default_rng(0).choice(list(LEVELS), size=len(data.feature_names), p=shares)
    costs = CostSheet(prices)
    X, y, qid = data.X.to_numpy(dtype=np.float32), np.asarray(data.y), np.asarray(data.queries)

    def part(rows: NDArray[np.bool_]) -> RankingTable:
        return RankingTable(X[rows], y[rows].astype(np.int64), qid[rows], costs)

    test = np.asarray(data.split) == "test"
    queries = np.random.default_rng(0).permutation(np.unique(qid[~test]))
    held = [np.isin(qid, fold) for fold in np.array_split(queries, N_FOLDS)]
    choosing = tuple((part(~test & ~fold), part(fold)) for fold in held)
    return Problem("mslr_fold1_10k", part(~test), part(test), choosing)
