"""Sampled votes: AdaBoostRS on 5,000 rows at a budget of 20, 500 stumps on 400 binary features.

Costs are uniform on [0, 1], each row has a seed of its own. The rival does the same row by row in NumPy: it
draws a learner, reads its feature, pays for it if it is new, and stops when the most expensive unpaid feature
would go over the budget. Its draws come from NumPy's generator, so the two agree in distribution, not row by
row.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Line, race
from farthing.boosting import AdaBoostClassifier, AdaBoostRSClassifier
from farthing.learning.voting import TreeVotes

N_ROWS, N_FEATURES, N_ROUNDS, BUDGET = 5_000, 400, 500, 20.0


def make_table(n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return binary features, the first hundred of which are informative."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    effect = np.where(np.arange(N_FEATURES) < 100, 0.2, 0.0)
    return (rng.random((n_rows, N_FEATURES)) < 0.5 + effect * (y[:, np.newaxis] - 0.5)).astype(float), y


def numpy_loop(model: AdaBoostRSClassifier, X: NDArray[np.float64], by_cost: bool) -> NDArray[np.bool_]:
    """Predict as the paper's algorithms are written."""
    votes = model.votes_
    assert isinstance(votes, TreeVotes)
    forest, costs = votes.forest, model.costs_.own
    roots = forest.offsets[:-1]
    column, cut = forest.feature[roots], forest.threshold[roots]
    low, high = forest.value[roots + 1, 0], forest.value[roots + 2, 0]
    weight = costs[column] if by_cost else np.ones(len(column))
    shares = votes.alphas / weight
    cumulative = np.cumsum(shares / shares.sum())
    used = np.unique(column)
    by_price = used[np.argsort(-costs[used])].tolist()
    rng = np.random.default_rng(0)
    labels = np.empty(len(X), dtype=np.bool_)
    for row, x in enumerate(X):
        owned: set[int] = set()
        spent, vote = 0.0, 0.0
        while spent + next((costs[j] for j in by_price if j not in owned), 0.0) <= BUDGET:
            t = int(np.searchsorted(cumulative, rng.random(), side="right"))
            j = int(column[t])
            if j not in owned:
                owned.add(j)
                spent += costs[j]
            vote += weight[t] * (low[t] if x[j] <= cut[t] else high[t])
        labels[row] = vote > 0
    return labels


def run(threads: int) -> list[Line]:
    """Measure both ways of drawing."""
    X, y = make_table(1_000, 0)
    fresh, truth = make_table(N_ROWS, 1)
    costs = np.random.default_rng(2).random(N_FEATURES)
    seeds = np.arange(N_ROWS)
    stumps = AdaBoostClassifier(n_estimators=N_ROUNDS, intercept=False, n_jobs=threads).fit(X, y)
    lines = []
    for sampling in ("weight", "cost"):
        model = AdaBoostRSClassifier(
            budget=BUDGET, sampling=sampling, estimator=stumps, costs=costs, random_state=0, n_jobs=threads
        ).fit(X, y)
        by_cost = sampling == "cost"
        lines.append(
            race(
                f"predict 5,000 rows, {sampling}",
                "NumPy loop",
                partial(model.predict, fresh, seeds=seeds),
                partial(numpy_loop, model, fresh, by_cost),
                goal=0.1,
            )
        )
        error, rival_error = (
            100 * float(np.mean(labels != truth))
            for labels in (model.predict(fresh, seeds=seeds), numpy_loop(model, fresh, by_cost))
        )
        ratio = error / rival_error
        lines.append(Line(f"error, {sampling}", "NumPy loop", error, rival_error, ratio, None, unit="%"))
    return lines
