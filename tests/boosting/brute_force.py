"""CART on equation 5 of Xu et al. by brute force: every split of every open leaf is tried and priced anew.

Ties and roundings may be broken either way, so a tree is not grown a second time but watched: each of its
splits must lower the objective by as much as the best of all, and after the last none may lower it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.trees import Forest

LEFT, RIGHT, STAY = 0, 1, 2


@dataclass
class Cart:
    """The greedy growth of trees on one table, with the books of either ledger."""

    values: NDArray[np.float64]
    sheet: CostSheet
    tradeoff: float
    max_depth: int
    charge: str = "model"
    budget: float | None = None

    def __post_init__(self) -> None:
        self.model = RowLedger(self.sheet, self.budget)
        self.rows = [RowLedger(self.sheet, self.budget) for _ in self.values]

    def watch(self, tree: Forest, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Check a tree split by split, and return the mean residual of each row's leaf."""
        leaves = {0: (np.arange(len(self.values)), 0)}
        for node in sorted(np.flatnonzero(tree.feature >= 0), key=lambda node: tree.left[node]):
            best = max((self.net(*split, residuals) for split in self.splits(leaves)), default=-np.inf)
            rows, depth = leaves.pop(int(node))
            left = self.goes_left(tree, node, rows)
            feature = int(tree.feature[node])
            net = self.net(rows, left, feature, residuals)
            assert net > 0
            np.testing.assert_allclose(net, best, rtol=1e-9, atol=1e-9)
            self.buy(rows, feature)
            leaves[int(tree.left[node])] = (rows[left], depth + 1)
            leaves[int(tree.right[node])] = (rows[~left], depth + 1)
        assert all(self.net(*split, residuals) <= 1e-9 for split in self.splits(leaves))
        means = np.zeros(len(residuals))
        for node, (rows, _) in leaves.items():
            means[rows] = residuals[rows].mean()
            np.testing.assert_allclose(tree.value[node, 0], means[rows][0], rtol=1e-9, atol=1e-9)
        return means

    def splits(
        self, leaves: dict[int, tuple[NDArray[np.int64], int]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_], int]]:
        """Yield every split: the rows, which of them go left, and the feature."""
        for rows, depth in leaves.values():
            if depth == self.max_depth:
                continue
            for feature in range(self.values.shape[1]):
                seen = self.seen(rows, feature)
                missing = np.isnan(seen)
                for threshold in np.unique(seen[~missing]):
                    with np.errstate(invalid="ignore"):
                        left = seen <= threshold
                    for go in (left, left | missing):
                        if 0 < go.sum() < len(rows):
                            yield rows, go, feature

    def seen(self, rows: NDArray[np.int64], feature: int) -> NDArray[np.float64]:
        """Return the values that the rows can still pay for; the others are missing."""
        values = self.values[rows, feature].copy()
        if self.charge == "row":
            values[[not self.rows[row].affords(feature) for row in rows]] = np.nan
        return values

    def goes_left(self, tree: Forest, node: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        seen = self.seen(rows, int(tree.feature[node]))
        missing = np.isnan(seen)
        assert not (missing.any() and tree.missing[node] == STAY)
        with np.errstate(invalid="ignore"):
            left = seen <= tree.threshold[node]
        return np.asarray(np.where(missing, tree.missing[node] == LEFT, left))

    def net(
        self,
        rows: NDArray[np.int64],
        left: NDArray[np.bool_],
        feature: int,
        residuals: NDArray[np.float64],
    ) -> float:
        """Return the fall of equation 5: of half the squared error, less the trade-off times the price."""

        def error(part: NDArray[np.int64]) -> float:
            return float(((residuals[part] - residuals[part].mean()) ** 2).sum() / 2)

        if self.charge == "model":
            if not self.model.affords(feature):
                return -np.inf
            price = self.model.price(feature)
        else:
            payers = [self.rows[row] for row in rows if self.rows[row].affords(feature)]
            price = sum(ledger.price(feature) for ledger in payers) / len(self.values)
        return error(rows) - error(rows[left]) - error(rows[~left]) - self.tradeoff * price

    def buy(self, rows: NDArray[np.int64], feature: int) -> None:
        if self.charge == "model":
            self.model.buy(feature)
            return
        for row in rows:
            if self.rows[row].affords(feature):
                self.rows[row].buy(feature)
