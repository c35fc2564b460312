"""Cronus (Chen et al., AISTATS 2012) over the trees of a plain booster, for the paper's figure 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.lib.yahoo_shaped import RankingTable
from farthing.base import TrainingSet
from farthing.boosting import GreedyMiserRanker
from farthing.cascades import CronusRanker
from farthing.learning.tree_terms import TreeTerms
from farthing.typing import Floats

# As in its paper: stages, the share that each rejects, the step between two trade-offs, positive documents.
N_STAGES, REJECTED, STEP = 10, 0.15, 1.3
RELEVANT = 3
# The loss of its paper is a sum over rows, here it is a mean, so the largest trade-off is another. On a
# table of another seed, steps down from here span what a document may spend.
LARGEST_TRADEOFF = 8e-4
# The weight of positive documents is chosen on validation queries; that of the paper is among these.
POSITIVE_WEIGHTS = (1.0, 3.5, 10.0)
# On that table later cycles are never kept, at three trade-offs.
MAX_CYCLES = 1


class CronusOverTrees(CronusRanker):
    """Cronus whose trees are given, rather than boosted first."""

    trees: TreeTerms

    def learned_terms(self, rows: TrainingSet, targets: Floats) -> tuple[TreeTerms, Floats]:
        """Return the trees, and their outputs for the rows."""
        return self.trees, self.trees.terms(rows.values)


def trees_of(booster: GreedyMiserRanker) -> TreeTerms:
    """Return the trees of a booster as terms, without its prior and its learning rate."""
    forest = booster.fitted_.forest
    return TreeTerms(forest.trees(1, forest.n_trees).scaled(1 / booster.learning_rate))


def cronus_tradeoffs(count: int) -> list[float]:
    """Return so many trade-offs, from the largest down by the paper's step.

    Examples
    --------
    >>> [f"{tradeoff:.2g}" for tradeoff in cronus_tradeoffs(12)[::4]]
    ['0.0008', '0.00028', '9.8e-05']
    """
    return [float(LARGEST_TRADEOFF / STEP**place) for place in range(count)]


def cronus(
    booster: GreedyMiserRanker,
    documents: RankingTable,
    tradeoff: float,
    positive_weight: float,
    max_cycles: int = MAX_CYCLES,
) -> CronusRanker:
    """Fit a cascade over the trees of a booster. Documents pay nothing for trees, as in all methods here."""
    model = CronusOverTrees(
        documents.costs,
        relevant_grade=RELEVANT,
        positive_weight=positive_weight,
        tradeoff=tradeoff,
        n_stages=N_STAGES,
        reject_fraction=REJECTED,
        inflation=STEP,
        max_cycles=max_cycles,
    )
    model.trees = trees_of(booster)
    first, counts = runs(documents)
    return model.fit(documents.X[first], documents.grades[first], documents.qid[first], counts)


def cronus_start(
    booster: GreedyMiserRanker, documents: RankingTable, tradeoff: float, positive_weight: float
) -> CronusRanker:
    """Fit the start alone, algorithm 2 of its paper, which also serves to choose settings."""
    return cronus(booster, documents, tradeoff, positive_weight, max_cycles=0)


def runs(documents: RankingTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of each run of equal documents, and their number: replicas follow each other."""
    new = np.ones(len(documents.qid), dtype=np.bool_)
    new[1:] = (np.diff(documents.qid) != 0) | (np.diff(documents.grades) != 0)
    new[1:] |= (documents.X[1:] != documents.X[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    return first, np.diff(np.append(first, len(new)))
