"""Gradient boosting: growing trees one after another on the gradients of a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.collective import bounds, count, total
from farthing.costs import CostSheet
from farthing.learning.losses import Loss
from farthing.learning.multi_strategy import grows_multi_output
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown, LedgerKind
from farthing.typing import Floats

# From negative gradients of one output or of all, hessians or None, index of the tree and step to a tree
# grown on them, its values multiplied by the step.
Grow: TypeAlias = Callable[[Floats, Floats | None, int, float], Grown]

# Least sum of hessians in a leaf, as a fraction of the training weight: where the model is nearly certain,
# hessians vanish and Newton steps become long and noisy.
LEAST_HESSIAN: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Weighting:
    """The weights of rows, divided by a common factor.

    Equal weights become hessians of 1, which are faster to sum. Whatever is compared with sums over rows,
    such as an L2 penalty or a trade-off, has to be divided by ``unit``.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_rows,), or None
        The weights; None for 1 each.
    unit : float
        The common factor, by which all of them are multiplied.
    """

    weights: Floats | None
    unit: float

    @classmethod
    def of(cls, weights: Floats) -> Weighting:
        """Take out the common factor.

        Examples
        --------
        >>> Weighting.of(np.array([2.0, 2.0]))
        Weighting(weights=None, unit=2.0)
        """
        least, largest = bounds(weights)
        return cls(None, least) if least == largest else cls(weights, 1.0)

    def total(self, n_rows: int) -> float:
        """Return the sum of the weights of all ``n_rows`` rows, in multiples of the unit."""
        return float(count(n_rows)) if self.weights is None else total(self.weights)

    def sum(self, values: Floats) -> float:
        """Return the weighted sum of one value per row, in multiples of the unit."""
        return total(values if self.weights is None else values * self.weights)


class GrowTree(Protocol):
    """Grow one tree on gradients, with limits on its leaves that `TreeSettings.make_grow` provides."""

    def __call__(
        self,
        gradients: Floats,
        hessians: Floats | None,
        number: int,
        *,
        l2_regularization: float,
        min_hessian: float,
        step: float,
    ) -> Grown:
        """Return the tree; ``number`` is the number of trees before it."""
        ...


@dataclass(frozen=True, kw_only=True)
class TreeSettings:
    """How the trees of a booster are grown: the parameters that boosting estimators have in common.

    Parameters
    ----------
    n_estimators, learning_rate, max_depth, max_leaf_nodes, min_samples_leaf, l2_regularization
        As in `farthing.boosting.GreedyMiserClassifier`.
    newton : bool
        Whether trees are fitted to Newton steps, with the hessians of the loss, or to plain gradients.
    multi_output : bool
        Whether a round is one tree with a value for each output, or one tree per output; the same if there is
        one output.
    n_threads : int
        Threads to use; any number gives the same bits.
    monotonic : ndarray of int8, shape (n_features,), or None
        Constraints on the values of trees, see `Grower`.

    Examples
    --------
    >>> from farthing.table import PreparedTable
    >>> bins = PreparedTable.of(np.array([[0.0], [1.0]])).bins(255)
    >>> settings = TreeSettings(n_estimators=10, learning_rate=0.1, max_depth=2)
    >>> settings.make_grower(bins, CostSheet([1.0])).gradient(np.array([-1.0, 1.0])).tree
    Forest(n_trees=1, n_nodes=3, n_features=1, n_outputs=1)
    """

    n_estimators: int
    learning_rate: float
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    l2_regularization: float = 0.0
    newton: bool = True
    multi_output: bool = False
    n_threads: int = 1
    monotonic: NDArray[np.int8] | None = None

    @classmethod
    def of(
        cls, estimator: Any, n_outputs: int = 1, monotonic: NDArray[np.int8] | None = None
    ) -> TreeSettings:
        """Take the settings from the parameters of an estimator, for a loss with some number of outputs.

        Without the parameter, ``leaf`` is "newton" and ``multi_strategy`` "one_output_per_tree".
        """
        strategy = getattr(estimator, "multi_strategy", "one_output_per_tree")
        return cls(
            n_estimators=estimator.n_estimators,
            learning_rate=estimator.learning_rate,
            max_depth=estimator.max_depth,
            max_leaf_nodes=estimator.max_leaf_nodes,
            min_samples_leaf=estimator.min_samples_leaf,
            l2_regularization=estimator.l2_regularization,
            newton=getattr(estimator, "leaf", "newton") == "newton",
            multi_output=grows_multi_output(strategy, n_outputs),
            n_threads=estimator.n_threads(),
            monotonic=monotonic,
        )

    def make_grower(
        self, bins: Bins, costs: CostSheet, *, ledger: LedgerKind = "model", tradeoff: float = 0.0
    ) -> Grower:
        """Return the grower of trees on a binned table.

        Parameters
        ----------
        bins : Bins
            The table.
        costs : CostSheet
            The prices, in the order of the columns.
        ledger : {"model", "row"}
            Who owns what a tree buys.
        tradeoff : float
            What a unit of price is worth, relative to the sums over rows in the gain; see `Weighting`.
        """
        return Grower(
            bins,
            costs,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            ledger=ledger,
            tradeoff=tradeoff,
            n_threads=self.n_threads,
            monotonic=self.monotonic,
        )

    def min_hessian(self, total: float) -> float:
        """Return the least sum of hessians in a leaf, from the sum of the weights of all rows."""
        return LEAST_HESSIAN * total if self.newton else 0.0

    def make_grow(self, grow_tree: GrowTree, weighting: Weighting, total: float) -> Grow:
        """Return the function by which `Boosting` grows a tree: ``grow_tree`` with the limits of leaves.

        Parameters
        ----------
        grow_tree : callable
            Grows the tree, at the prices of its own ledger.
        weighting : Weighting
            Weights of the rows.
        total : float
            The sum of the weights of the rows that trees are grown on, in multiples of the unit.
        """
        l2_regularization = self.l2_regularization / weighting.unit
        min_hessian = self.min_hessian(total)

        def grow(gradients: Floats, hessians: Floats | None, number: int, step: float) -> Grown:
            return grow_tree(
                gradients,
                hessians,
                number,
                l2_regularization=l2_regularization,
                min_hessian=min_hessian,
                step=step,
            )

        return grow


@dataclass(slots=True)
class Boosting:
    """An ensemble that grows round by round.

    Parameters
    ----------
    loss : Loss
        The loss to minimise.
    target : ndarray, shape (n_rows,)
        Numbers or class codes.
    weighting : Weighting
        Weights of the rows.
    scores : ndarray of float64, shape (n_outputs, n_rows)
        The scores so far; updated in place by each round.
    learning_rate : float
        Factor of the values of each tree.
    newton : bool
        Whether trees are fitted to Newton steps, with the loss's hessians, or to plain gradients.
    n_before : int
        Number of trees that the scores come from.
    multi_output : bool
        Whether a round is one tree with a value for each output, or one tree per output.

    Attributes
    ----------
    trees : list of Forest
        One tree per entry, in the order of growth, its values multiplied by the learning rate.
    """

    loss: Loss
    target: NDArray[np.generic]
    weighting: Weighting
    scores: Floats
    learning_rate: float
    newton: bool = True
    n_before: int = 0
    multi_output: bool = False
    trees: list[Forest] = field(default_factory=list)

    @property
    def trees_per_round(self) -> int:
        """Trees that a round grows."""
        return 1 if self.multi_output else len(self.scores)

    def round(self, grow: Grow, *, must_split: bool = False) -> list[Forest]:
        """Grow one tree for each output, or one for all, and add them to the scores.

        The gradients of all outputs are those before the round.

        Parameters
        ----------
        grow : callable
            Grows a tree.
        must_split : bool
            Whether a round none of whose trees has a split is left out, and the result empty.

        Returns
        -------
        list of Forest
            One tree per output, or one tree.
        """
        gradients, hessians = self.loss.steps(self.target, self.scores)
        grow_round = self._grow_one if self.multi_output and len(gradients) > 1 else self._grow_each
        trees = grow_round(grow, gradients, hessians if self.newton else None)
        if must_split and not any(n_splitting_trees(tree) for tree in trees):
            return []
        self.scores += gradients
        self.trees += trees
        return trees

    def _grow_one(self, grow: Grow, gradients: Floats, hessians: Floats | None) -> list[Forest]:
        """Grow one tree on the gradients of all outputs, and overwrite them with its values."""
        if (weights := self.weighting.weights) is not None:
            gradients *= weights
            hessians = weights if hessians is None else hessians * weights
        grown = grow(gradients, hessians, self.n_before + len(self.trees), self.learning_rate)
        np.take(grown.tree.value.T, grown.leaf_of_row, axis=1, out=gradients, mode="clip")
        return [grown.tree]

    def _grow_each(self, grow: Grow, gradients: Floats, hessians: Floats | None) -> list[Forest]:
        """Grow one tree on the gradients of each output, and overwrite them with its values."""
        grown_now = []
        for output in range(len(gradients)):
            gradient = gradients[output]
            hessian = None if hessians is None else hessians[output]
            if (weights := self.weighting.weights) is not None:
                gradient *= weights
                hessian = weights if hessian is None else hessian * weights
            number = self.n_before + len(self.trees) + output
            grown = grow(gradient, hessian, number, self.learning_rate)
            tree = grown.tree
            # The gradient is no longer needed, so its memory takes the leaf values. Leaf indices are always
            # in range; mode="clip" only saves NumPy a buffered copy.
            np.take(tree.value[:, 0], grown.leaf_of_row, out=gradient, mode="clip")
            grown_now.append(tree.to_output(output, len(gradients)) if len(gradients) > 1 else tree)
        return grown_now

    @contextmanager
    def on_trial(self) -> Iterator[None]:
        """Undo all rounds of a ``with`` block at its end."""
        scores, n_trees = self.scores.copy(), len(self.trees)
        try:
            yield
        finally:
            self.scores[:] = scores  # copied back: subtracting the trees again would leave rounding errors
            del self.trees[n_trees:]


def n_splitting_trees(forest: Forest) -> int:
    """Return how many trees of a forest have a split; the others are constants, which cost no evaluation.

    Examples
    --------
    >>> n_splitting_trees(Forest.constant([0.5], n_features=1))
    0
    """
    if forest.n_trees == 1:  # boosters ask for every tree that they grow
        return int(forest.n_nodes > 1)
    return int((np.diff(forest.offsets) > 1).sum())


def constants(
    start: Floats, n_features: int, category_widths: NDArray[np.int64], *, multi_output: bool = False
) -> Forest:
    """Return a tree of one node for each output, or one for all, which tests no feature.

    Examples
    --------
    >>> constants(np.array([0.5, -0.5]), 3, np.zeros(3, dtype=np.int64))
    Forest(n_trees=2, n_nodes=2, n_features=3, n_outputs=2)
    >>> constants(np.array([0.5, -0.5]), 3, np.zeros(3, dtype=np.int64), multi_output=True)
    Forest(n_trees=1, n_nodes=1, n_features=3, n_outputs=2)
    """
    if multi_output:
        return Forest.constant(start, n_features, category_widths)
    return Forest.concat(
        [
            Forest.constant([value], n_features, category_widths).to_output(output, len(start))
            for output, value in enumerate(start)
        ]
    )
