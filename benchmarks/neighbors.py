"""FMCC beside the plain NumPy loop: 5,200 training and 2,600 test rows of Letters, all 16 features bought.

The loop is algorithm 1 of the thesis, one row at a time: after each purchase the distances over all measured
features are computed anew, ``argpartition`` finds the 65 nearest rows, and margins are compared one step
ahead for all features at once. It does less than the kernel, which takes in all rows as near as the last
neighbour, whatever their order, and keeps an account. It runs on 260 of the test rows, and its time is
multiplied by 10. The vote is that of 1,000 stumps, learned before; the loop gets it as a table.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from experiments.papers.nan2018_neighbors import boosted, letters
from numpy.typing import NDArray

from benchmarks.measure import Line, race
from farthing.neighbors import MarginNeighborsClassifier
from farthing.neighbors.acquisition.neighbor_rows import NeighborRows

N_NEIGHBORS = 65
# One in so many rows goes to the loop.
PART = 10

Floats = NDArray[np.float64]


def plain_loop(kept: NeighborRows, margins: Floats, intercept: float, X: Floats, votes: Floats) -> Floats:
    """Return the votes of the rows of X after all features; margins are labels times votes of features."""
    values, signs = kept.values, kept.signs
    outputs = np.empty(len(X))
    n_features = X.shape[1]
    for row, x in enumerate(X):
        order: list[int] = []
        left = list(range(n_features))
        vote, near = intercept, np.arange(len(values))
        while left:
            so_far = signs[near] * intercept + margins[near][:, order].sum(axis=1)
            right = (so_far[:, np.newaxis] + margins[near][:, left] > 0).mean(axis=0)
            chosen = left.pop(int(np.argmax(right)))
            order.append(chosen)
            vote += votes[row, chosen]
            distances = ((values[:, order] - x[order]) ** 2).sum(axis=1)
            near = np.argpartition(distances, N_NEIGHBORS)[:N_NEIGHBORS]
        outputs[row] = vote
    return outputs


def run(threads: int) -> list[Line]:
    """Measure everything."""
    draw = letters(0)
    model = MarginNeighborsClassifier(
        boosted(), n_neighbors=N_NEIGHBORS, confidence=1.0, standardize=False, n_jobs=threads
    ).fit(draw.train.X, draw.train.y)
    kept = model.kept_
    margins = kept.signs[:, np.newaxis] * model.margins_.table(kept.values)
    some = np.ascontiguousarray(draw.test.X[::PART])
    votes = model.margins_.table(some)

    def loop() -> Floats:
        return plain_loop(kept, margins, model.margins_.intercept, some, votes)

    line = race(
        f"{len(draw.test.X):,} rows predicted",
        "NumPy loop",
        lambda: model.predict(draw.test.X),
        loop,
        turns=5,
    )
    faster = PART / line.ratio
    return [dataclasses.replace(line, theirs=PART * line.theirs, ratio=faster, goal=30, higher=True)]
