"""Gradients of several outputs, whose trees have a vector of values at each node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tests.kernels.naive.criteria import FREE, NOISE, Constraint, on_grid
from tests.kernels.naive.sums import add_up


class VectorGradients:
    """Least squares to the negative gradients of several outputs, by a diagonal hessian.

    Splits are searched on a grid of 24 bits per row, by the outputs with the largest gradients; values are
    summed on the grid of 62 bits. A cell is the gradients, the hessians, both again for the values, and 1.
    """

    most_searched = 32
    most_orders = 4

    def __init__(
        self,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64] | None = None,
        l2_regularization: float = 0.0,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        n_outputs, n = gradients.shape
        ones = np.ones(gradients.shape)
        grids = [
            on_grid(of, *limit)
            for limit in ((1, 24), (n, 62))
            for of in (gradients, ones if hessians is None else hessians)
        ]
        self.g, self.h, self.g_fine, self.h_fine = grids
        whole = [np.array(grid.values).reshape(n_outputs, n) for grid in grids]
        squares = [add_up(x * x for x in (of if rows is None else of[rows]).tolist()) for of in gradients]
        by_squares = sorted(range(n_outputs), key=lambda k: -squares[k])
        searched = sorted(by_squares[: self.most_searched])
        whole[0], whole[1] = whole[0][searched], whole[1][searched]
        # A gradient without a hessian would have an infinite score.
        whole[1] = np.where(whole[0] != 0, np.maximum(whole[1], 1), whole[1])
        self.n_searched, self.n_outputs = len(searched), n_outputs
        self.l2_regularization = l2_regularization
        self.cells = np.vstack([*whole, np.ones(n, dtype=np.int64)]).T

    def split_up(self, sums: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        s, k = self.n_searched, self.n_outputs
        return np.split(sums[:-1], [s, 2 * s, 2 * s + k])

    def value(self, sums: NDArray[np.int64], within: Constraint = FREE) -> list[float]:
        _, _, g, h = self.split_up(sums)
        weights = [self.h_fine.back(int(x)) + self.l2_regularization for x in h]
        tops = [self.g_fine.back(int(x)) for x in g]
        return [top / weight if weight > 0 else 0.0 for top, weight in zip(tops, weights, strict=True)]

    def level(self, sums: NDArray[np.int64], within: Constraint) -> float:
        return 0.0

    def cover(self, sums: NDArray[np.int64]) -> float:
        return add_up(self.h.back(int(x)) for x in self.split_up(sums)[1])

    def population(self, sums: NDArray[np.int64]) -> float:
        return float(sums[-1])

    def quads(self, sums: NDArray[np.int64]) -> list[tuple[list[float], list[float]]]:
        """Return gradients and hessians in grid steps, four outputs at a time; zeros fill the last four."""
        g, h = ([*map(float, part.tolist()), *[0.0] * (-len(part) % 4)] for part in self.split_up(sums)[:2])
        l2 = min(max(self.l2_regularization / self.h.unit, 2.0**-20), 2.0**200)
        return [(g[i : i + 4], [x + l2 for x in h[i : i + 4]]) for i in range(0, len(g), 4)]

    def explained(self, sums: NDArray[np.int64]) -> float:
        lanes = [
            [g[p] * g[p] / h[p] + g[p + 2] * g[p + 2] / h[p + 2] for p in (0, 1)] for g, h in self.quads(sums)
        ]
        return add_up(a + b for a, b in lanes) * self.unit

    @property
    def unit(self) -> float:
        return self.g.unit * self.g.unit / self.h.unit

    def gain(self, left: NDArray[np.int64], right: NDArray[np.int64], within: Constraint = FREE) -> float:
        lanes = [0.0, 0.0]
        for (gl, hl), (gr, hr) in zip(self.quads(left), self.quads(right), strict=True):
            tops = [gl[k] * gl[k] * hr[k] + gr[k] * gr[k] * hl[k] for k in range(4)]
            bottoms = [hl[k] * hr[k] for k in range(4)]
            for p in (0, 1):
                top = tops[p] * bottoms[p + 2] + tops[p + 2] * bottoms[p]
                lanes[p] += top / (bottoms[p] * bottoms[p + 2])
        parts = (lanes[0] + lanes[1]) * self.unit
        rise = parts - self.explained(left + right)
        return rise / 2 if rise > NOISE * parts else 0.0

    def pure(self, sums: NDArray[np.int64]) -> bool:
        return False

    def order_keys(self, sums: NDArray[np.int64]) -> list[float]:
        g, h, *_ = self.split_up(sums)
        weights = [self.h.back(int(x)) + self.l2_regularization for x in h]
        return [self.g.back(int(x)) / w if w > 0 else 0.0 for x, w in zip(g, weights, strict=True)]

    def orders(self, parts: list[NDArray[np.int64]], node: NDArray[np.int64]) -> list[int]:
        """Return the outputs that categories are ordered by: those whose scores grow most."""

        def score(sums: NDArray[np.int64], k: int) -> float:
            return self.g.back(int(sums[k])) * self.order_keys(sums)[k]

        growths = []
        for k in range(self.n_searched):
            growth = -score(node, k)
            for part in parts:
                growth += score(part, k)
            growths.append((-growth, k))
        return [k for _, k in sorted(growths)[: self.most_orders]]
