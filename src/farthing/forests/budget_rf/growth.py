"""Grow the trees of a forest in parallel, until the mean cost of some rows exceeds a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from numbers import Real
from queue import SimpleQueue
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.base.parameters import Interval, at_least, one_of
from farthing.collective import mean, peers, save
from farthing.costs import spending_limit
from farthing.trees import Forest, Grower, Predictor

#: What ``max_features`` may be: a number of columns, a share of them, a rule, or all.
MAX_FEATURES: Final[list[Any]] = [
    at_least(1),
    Interval(Real, 0, 1, closed="right"),
    one_of("sqrt", "log2"),
    None,
]


@dataclass(frozen=True)
class ForestGrowth:
    """Grow the trees of a forest; each is a pure function of its number.

    Parameters
    ----------
    make_grower : callable
        From a number of threads to a grower that uses them.
    target : ndarray of int64, shape (n_rows,)
        Codes of the classes of the rows.
    n_classes : int
        Number of classes.
    weights_of : callable
        From the number of a tree to the weights of the rows for it; 0 is out of the bag.
    options : dict
        Further arguments of `Grower.classes`.
    n_estimators : int
        Maximum number of trees.
    n_threads : int
        Threads to use; any number gives the same trees.
    resumed : iterator of Forest
        The trees that an attempt before the loss of a peer has grown.
    """

    make_grower: Callable[[int], Grower]
    target: NDArray[np.int64]
    n_classes: int
    weights_of: Callable[[int], NDArray[np.float64]]
    options: dict[str, Any]
    n_estimators: int
    n_threads: int
    resumed: Iterator[Forest] = field(default_factory=lambda: iter(()))

    def trees(self, at_once: int | None = None) -> Iterator[Forest]:
        """Yield the trees in order.

        Parameters
        ----------
        at_once : int, optional
            Number of trees that are grown before the first of them is yielded; None means all. Trees that the
            caller does not consume are wasted, so a caller that may stop early should keep this small.
        """
        if peers() is not None:
            yield from self._trees_among_peers()
            return
        n_workers = max(1, min(self.n_threads, self.n_estimators))
        step = self.n_estimators if at_once is None else at_once
        growers: SimpleQueue[Grower] = SimpleQueue()
        for _ in range(n_workers):
            # Growing trees in parallel scales best; a tree gets several threads only if there are more
            # threads than trees.
            growers.put(self.make_grower(self.n_threads // n_workers))

        def grow(tree: int) -> Forest:
            grower = growers.get()  # a grower has buffers, so no two threads may share one
            try:
                return self._tree(grower, tree)
            finally:
                growers.put(grower)

        # A caller that stops early closes the generator, and waits for the trees under way.
        with ThreadPoolExecutor(n_workers) as pool:
            for first in range(0, self.n_estimators, step):
                yield from pool.map(grow, range(first, min(first + step, self.n_estimators)))

    def _tree(self, grower: Grower, tree: int) -> Forest:
        weights = self.weights_of(tree)
        rows = np.flatnonzero(weights)
        return grower.classes(
            self.target, weights, self.n_classes, rows=rows, stream=tree, **self.options
        ).tree

    def _trees_among_peers(self) -> Iterator[Forest]:
        """Yield the trees in order, one after another, so that all peers add up the same sums."""
        grower = self.make_grower(self.n_threads)
        for number in range(self.n_estimators):
            tree = next(self.resumed, None)
            if tree is None:
                tree = self._tree(grower, number)
                save(tree)
            yield tree

    def within(self, budget: float, rows: TrainingSet) -> tuple[list[Forest], float]:
        """Grow until the mean cost of some rows exceeds the budget; algorithm 2 of the thesis, lines 2 to 7.

        Parameters
        ----------
        budget : float
            The largest mean cost.
        rows : TrainingSet
            The rows whose cost is measured, with the prices.

        Returns
        -------
        trees : list of Forest
            Those before the one that exceeded the budget.
        cost : float
            Their mean cost.
        """
        trees: list[Forest] = []
        cost = 0.0
        # A row pays for a feature once, however many trees test it.
        acquired = np.zeros(rows.table.shape, dtype=np.bool_)
        # The batch size does not affect the trees, only how many are grown and not used.
        for tree in self.trees(at_once=self.n_threads):
            predictor, end = Predictor(tree), 0
            for values in rows.table.blocks():
                begin, end = end, end + len(values)
                acquired[begin:end] |= predictor.predict(values, n_threads=self.n_threads)[1]
            total = mean(rows.costs.total_rows(acquired), rows.weights)
            # The loop ends at the first tree that exceeds the budget, and line 7 leaves it out. Later trees
            # are not tried, even if they would cost less.
            if total > spending_limit(budget):
                break
            trees.append(tree)
            cost = total
        return trees, cost


def n_drawn(max_features: int | float | str | None, n_features: int) -> int | None:
    """Return the number of columns to draw for each split; None means all.

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
