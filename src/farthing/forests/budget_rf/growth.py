"""Trees grown one after another, several at the same time, until a budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.trees import Forest, Grower, Predictor


@dataclass(frozen=True)
class Rows:
    """Rows to learn from or to judge by.

    Attributes
    ----------
    values : ndarray of float, shape (n_rows, n_features)
        An encoded table.
    target : ndarray of int64, shape (n_rows,)
        Classes as numbers.
    weights : ndarray of float64, shape (n_rows,)
        Weights.
    """

    values: NDArray[np.floating]
    target: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class ForestGrowth:
    """Grows the trees of a forest; a tree is a pure function of its number.

    Parameters
    ----------
    make_grower : callable
        Returns a grower that uses this many threads.
    target : ndarray of int64, shape (n_rows,)
        Classes of the rows.
    n_classes : int
        Number of classes.
    draw : callable
        Returns the weights of the rows for the tree of a number; 0 is out of the bag.
    options : dict
        Further arguments of `Grower.classes`.
    n_estimators : int
        Most trees.
    n_threads : int
        Threads to use; any number gives the same trees.
    """

    make_grower: Callable[[int], Grower]
    target: NDArray[np.int64]
    n_classes: int
    draw: Callable[[int], NDArray[np.float64]]
    options: dict[str, Any]
    n_estimators: int
    n_threads: int

    def trees(self, at_once: int | None = None) -> Iterator[Forest]:
        """Yield the trees in order; so many are begun before the first is waited for, None for all."""
        n_workers = max(1, min(self.n_threads, self.n_estimators))
        step = self.n_estimators if at_once is None else at_once
        growers: SimpleQueue[Grower] = SimpleQueue()
        for _ in range(n_workers):
            growers.put(self.make_grower(self.n_threads // n_workers))

        def grow(tree: int) -> Forest:
            grower = growers.get()  # no two threads grow with the same one
            try:
                weights = self.draw(tree)
                rows = np.flatnonzero(weights)
                return grower.classes(
                    self.target, weights, self.n_classes, rows=rows, stream=tree, **self.options
                ).tree
            finally:
                growers.put(grower)

        with ThreadPoolExecutor(n_workers) as pool:
            for first in range(0, self.n_estimators, step):
                yield from pool.map(grow, range(first, min(first + step, self.n_estimators)))

    def within(self, budget: float, judges: Rows, sheet: CostSheet) -> tuple[list[Forest], float]:
        """Grow until the mean cost of some rows passes the budget: algorithm 2 of Nan's thesis, lines 2 to 7.

        Parameters
        ----------
        budget : float
            The greatest mean cost.
        judges : Rows
            The rows that pay.
        sheet : CostSheet
            The prices, in the order of the columns.

        Returns
        -------
        trees : list of Forest
            Those before the one that passed the budget.
        cost : float
            Their mean cost.
        """
        trees: list[Forest] = []
        cost = 0.0
        acquired = np.zeros(judges.values.shape, dtype=np.bool_)
        for tree in self.trees(at_once=self.n_threads):
            acquired |= Predictor(tree).predict(judges.values, n_threads=self.n_threads)[1]
            dearer = float(np.average(sheet.total_rows(acquired), weights=judges.weights))
            if dearer > budget * (1 + 1e-12):
                break
            trees.append(tree)
            cost = dearer
        return trees, cost


def n_drawn(max_features: int | float | str | None, n_features: int) -> int | None:
    """Return the number of columns that are drawn for a split, None for all.

    Parameters
    ----------
    max_features : int, float, {"sqrt", "log2"} or None
        As in `BudgetForestClassifier`.
    n_features : int
        Number of columns.

    Examples
    --------
    >>> n_drawn("sqrt", 54), n_drawn(0.5, 54), n_drawn(99, 54)
    (7, 27, 54)
    """
    if max_features is None:
        return None
    if max_features in ("sqrt", "log2"):
        return max(1, int(np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)))
    if (
        isinstance(max_features, int | np.integer)
        and not isinstance(max_features, bool)
        and max_features >= 1
    ):
        return int(min(max_features, n_features))
    if isinstance(max_features, float | np.floating) and 0 < max_features <= 1:
        return max(1, int(max_features * n_features))
    raise ValueError(
        "max_features must be a number of columns of at least 1, a share of them above 0 and up to 1.0, "
        f"'sqrt', 'log2' or None; got {max_features!r}"
    )
