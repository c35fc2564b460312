"""AdaBoost of stumps against scikit-learn's, and what exact curtailment saves.

Speed is how many times longer the rival takes: 500 rounds on 1,000 rows of 400 binary features, and on
100,000 rows of 100 floats, where the rival is timed on 20 rounds and its time multiplied. Training errors are
compared at the same number of rounds, as the difference in points. Curtailment is the mean spend of a row, at
a price of 1 for each feature, over that of the whole vote, on rows that were not trained on; the labels are
the same. The spam-like table is a seeded imitation of word frequencies: 57 columns, most entries zero, long
tails.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier as Rival

from benchmarks.measure import Line, seconds
from farthing.boosting import AdaBoostClassifier
from farthing.datasets import load_table

ROUNDS, RIVAL_ROUNDS = 500, 20
Labelled = tuple[Any, NDArray[Any]]


def run(threads: int) -> list[Line]:
    """Measure everything."""
    lines = [
        *against_rival("1,000 x 400 binary", binary_table(), ROUNDS, threads, turns=5),
        *against_rival("100,000 x 100 floats", float_table(), RIVAL_ROUNDS, threads, turns=1),
    ]
    return lines + [saved(*found, threads) for found in curtailment_tables()]


def against_rival(
    what: str, labelled: Labelled, rival_rounds: int, threads: int, *, turns: int
) -> list[Line]:
    """Time ours on all rounds and the rival on some, in alternation, and compare errors at the latter."""
    X, y = labelled
    ours = AdaBoostClassifier(n_estimators=ROUNDS, n_jobs=threads)
    theirs = Rival(n_estimators=rival_rounds)
    ours.fit(X, y)
    times = [(seconds(lambda: ours.fit(X, y)), seconds(lambda: theirs.fit(X, y))) for _ in range(turns)]
    mine = statistics.median(a for a, _ in times)
    other = statistics.median(b for _, b in times) * ROUNDS / rival_rounds
    ratio = statistics.median(b * ROUNDS / rival_rounds / a for a, b in times)
    as_long = AdaBoostClassifier(n_estimators=rival_rounds, n_jobs=threads).fit(X, y)
    error, rival_error = (100 * float(np.mean(model.predict(X) != y)) for model in (as_long, theirs))
    return [
        Line(f"{what}: speed", "scikit-learn", mine, other, ratio, 50.0, higher=True),
        Line(f"{what}: training error", "scikit-learn", error, rival_error, error - rival_error, 0.5, "%"),
    ]


def saved(name: str, labelled: Labelled, n_train: int, threads: int) -> Line:
    """Compare the mean spend of a curtailed vote with that of the whole one."""
    X, y = labelled
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = rows[:n_train], rows[n_train : n_train + 5000]
    spends, labels = [], []
    for curtail in (True, False):
        model = AdaBoostClassifier(n_estimators=ROUNDS, curtail=curtail, n_jobs=threads)
        model.fit(take(X, train), y[train])
        spends.append(float(model.spend(take(X, test)).mean()))
        labels.append(model.predict(take(X, test)))
    assert np.array_equal(labels[0], labels[1]), "curtailment changed a label"
    ours, whole = spends
    return Line(f"{name}: curtailed spend", "whole vote", ours, whole, ours / whole, None, "")


def take(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array or a frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def binary_table() -> Labelled:
    """Return 1,000 rows of 400 binary features, 20 of which matter."""
    rng = np.random.default_rng(0)
    X = (rng.random((1000, 400)) < 0.3).astype(np.float64)
    return X, (X[:, :20].sum(axis=1) + rng.normal(size=1000) > 6.2).astype(np.int64)


def float_table() -> Labelled:
    """Return 100,000 rows of 100 floats with an interaction and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 100))
    score = X[:, :10].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=len(X))
    return X, (score > 0).astype(np.int64)


def spam_like() -> Labelled:
    """Return 4,600 rows of word frequencies whose columns lean to one of two classes."""
    rng = np.random.default_rng(0)
    y = (rng.random(4600) < 0.4).astype(np.int64)
    lean = rng.normal(size=57)
    present = rng.random((4600, 57)) < 1 / (1 + np.exp(1.5 - lean * (2 * y[:, np.newaxis] - 1)))
    return present * np.exp(rng.normal(size=(4600, 57)) + 0.3 * lean * y[:, np.newaxis]), y


def curtailment_tables() -> list[tuple[str, Labelled, int]]:
    """Return name, table and number of training rows; tables that are not at hand are left out."""
    found: list[tuple[str, Labelled, int]] = [("spam-like", spam_like(), 2000)]
    try:
        splice, mnist = load_table("splice"), load_table("mnist")
    except (OSError, ImportError) as error:
        print(f"splice and MNIST are left out: {error}")
        return found
    found.append(("splice", (splice.X, np.asarray(splice.y) != "N"), 1000))
    digits = np.asarray(mnist.y).astype(int)
    rows = np.flatnonzero((digits == 4) | (digits == 9))
    pixels = np.asarray(mnist.X)[rows].reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
    found.append(("MNIST 4v9", ((pixels // 64).astype(np.float64), digits[rows] == 9), 1000))
    return found
