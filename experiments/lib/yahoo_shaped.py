"""A table with the shape of the Yahoo learning-to-rank set, which is not free to share: seeded, of any size.

It has queries of 5 to 40 documents, grades 0 to 4 that are mostly low, and 519 features with the real prices.
What each feature is informative of is drawn once from the seed:

- a document has ten hidden qualities; its grade grows with each, less and less, with some two of them being
  high together, and with the ease of its query, and has noise;
- an informative feature is one quality, blurred and distorted; expensive features are blurred less than
  cheap ones, and the most expensive (price 200) looks at the sum itself: the paper found the real one
  invaluable;
- a redundant feature is a noisy copy of an informative one, which may be cheaper or more expensive;
- the rest is noise, continuous, in steps or sparse.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet

# Prices and how many features have them, for use without the file.
LEVELS = {1.0: 123, 5.0: 31, 20.0: 191, 50.0: 125, 100.0: 16, 150.0: 32, 200.0: 1}
GRADES = np.array([0.26, 0.36, 0.28, 0.08, 0.02])  # their shares in the real set, before replication
QUALITIES = 10
INFORMATIVE, REDUNDANT = 0.2, 0.35  # shares of the features

REPLICAS = 10


@dataclass(frozen=True)
class RankingTable:
    """Documents of queries.

    Attributes
    ----------
    X : ndarray of float32, shape (n_rows, 519)
    grades : ndarray of int64, shape (n_rows,)
    qid : ndarray of int64, shape (n_rows,)
        Ascending.
    costs : CostSheet
    """

    X: NDArray[np.float32]
    grades: NDArray[np.int64]
    qid: NDArray[np.int64]
    costs: CostSheet

    def queries(self, begin: int, end: int) -> RankingTable:
        """Return the queries from ``begin`` up to ``end``."""
        rows = (self.qid >= begin) & (self.qid < end)
        return RankingTable(self.X[rows], self.grades[rows], self.qid[rows], self.costs)

    def replicated(self, times: int = REPLICAS) -> RankingTable:
        """Return the table with its irrelevant rows replicated, in place, as the paper does."""
        rows = np.repeat(np.arange(len(self.qid)), np.where(self.grades == 0, times, 1))
        return RankingTable(self.X[rows], self.grades[rows], self.qid[rows], self.costs)


def yahoo_prices() -> CostSheet:
    """Return the 519 real prices if FARTHING_DATA has them, else as many of each level in a fixed order."""
    folder = os.environ.get("FARTHING_DATA")
    if folder and (path := Path(folder, "costs", "yahoo_ltr_519.csv")).is_file():
        return CostSheet.read(path)
    levels = np.repeat(list(LEVELS), list(LEVELS.values()))
    return CostSheet(
        {f"f{i + 1}": price for i, price in enumerate(np.random.default_rng(0).permutation(levels))}
    )


def yahoo_shaped(n_rows: int, seed: int = 0, *, replicate: bool = False) -> RankingTable:
    """Draw a table.

    Parameters
    ----------
    n_rows : int
        Documents; with ``replicate`` the number before replication. What each feature is about depends on the
        seed alone, so tables of different sizes with one seed are samples of one world.
    seed : int
        Of everything.
    replicate : bool
        Whether irrelevant rows come tenfold.
    """
    costs = CostSheet(yahoo_prices().own)  # by place, as X is an array
    world = _World(costs, np.random.default_rng([seed, 0]))
    rng = np.random.default_rng([seed, 1])
    qid = _query_ids(n_rows, rng)
    table = RankingTable(*world.draw(qid, rng), qid, costs)
    return table.replicated() if replicate else table


def _query_ids(n_rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    sizes = rng.integers(5, 41, size=n_rows // 5 + 1)
    return np.repeat(np.arange(len(sizes)), sizes)[:n_rows]


class _World:
    """How features depend on hidden qualities."""

    def __init__(self, costs: CostSheet, rng: np.random.Generator) -> None:
        n = len(costs.features)
        self.prices = np.array([costs.price(name) for name in costs.features])
        priciest = int(np.argmax(self.prices))
        kinds = rng.permutation(n)
        self.informative = np.append(np.setdiff1d(kinds[: int(INFORMATIVE * n)], priciest), priciest)
        rest = np.setdiff1d(kinds, self.informative, assume_unique=True)
        self.redundant = rest[: int(REDUNDANT * n)]
        self.noise = rest[len(self.redundant) :]
        self.weights = rng.gamma(1.0, size=QUALITIES)
        self.pairs = rng.integers(0, QUALITIES, size=(4, 2))
        self.quality = rng.integers(0, QUALITIES, size=n)
        # Noise over signal: some 1.5 for a price of 1, some 0.6 for a price of 150, with a spread.
        self.blur = 1.5 / (1 + 0.3 * np.log(self.prices)) * rng.uniform(0.4, 1.6, size=n)
        self.blur[priciest] = 1.2
        self.copied = rng.choice(self.informative[:-1], size=n)
        self.bend = rng.integers(0, 3, size=n)
        self.steps = rng.integers(2, 30, size=n)

    def draw(
        self, qid: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return features and grades of the documents."""
        n_rows = len(qid)
        hidden = rng.normal(size=(n_rows, QUALITIES))
        merit = np.tanh(2 * hidden) @ self.weights / np.linalg.norm(self.weights)
        for first, second in self.pairs:
            merit += 0.8 * ((hidden[:, first] > 0) & (hidden[:, second] > 0.5))
        ease = rng.normal(size=qid.max() + 1)[qid]
        latent = merit + 0.5 * ease + 0.4 * rng.normal(size=n_rows)
        cuts = np.quantile(latent, np.cumsum(GRADES)[:-1])
        X = np.empty((n_rows, len(self.prices)), dtype=np.float32)
        for column in self.informative:
            clear = merit if column == self.informative[-1] else hidden[:, self.quality[column]]
            X[:, column] = self._seen(clear, column, rng)
        for column in self.redundant:
            X[:, column] = X[:, self.copied[column]] + 0.7 * rng.normal(size=n_rows)
        for column in self.noise:
            X[:, column] = self._seen(np.zeros(n_rows), column, rng)
        return X, np.digitize(latent, cuts)

    def _seen(self, clear: NDArray[np.float64], column: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return a feature: blurred, then left as it is, cut into steps, or mostly zero."""
        value = clear + self.blur[column] * rng.normal(size=len(clear))
        if self.bend[column] == 1:
            value = np.floor(value * self.steps[column] / 4)
        elif self.bend[column] == 2:
            value = np.maximum(value, 0.0)
        return np.asarray(value)
