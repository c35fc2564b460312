"""The one booster: tree after tree on the gradients of a loss, whoever pays for the features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.learning.losses import Loss
from farthing.trees import Forest, Grown

Floats: TypeAlias = NDArray[np.float64]
# (negative gradients, hessians or None, number of the tree, step) to a tree grown on them; its values are
# multiplied by the step.
Grow: TypeAlias = Callable[[Floats, Floats | None, int, float], Grown]


@dataclass(frozen=True, slots=True)
class Weighting:
    """Rows' weights, less a factor that all of them share.

    Weights that are all the same leave hessians of 1, which are faster to sum. What is compared with sums
    over rows, a ridge or a trade-off, is to be divided by ``unit``.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_rows,), or None
        The weights; None for 1 each.
    unit : float
        What each row's weight is multiplied by.
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
        if (weights == weights[0]).all():
            return cls(None, float(weights[0]))
        return cls(weights, 1.0)

    def total(self, n_rows: int) -> float:
        """Return the sum of the weights of so many rows, which are all there are, without the unit."""
        return float(n_rows if self.weights is None else self.weights.sum())

    def sum(self, values: Floats) -> float:
        """Return the weighted sum of one value a row, without the unit."""
        return float((values if self.weights is None else values * self.weights).sum())


@dataclass(slots=True)
class Boosting:
    """An ensemble in the making.

    Parameters
    ----------
    loss : Loss
        What is minimised.
    target : ndarray, shape (n_rows,)
        Numbers or classes.
    weighting : Weighting
        How much each row counts.
    scores : ndarray of float64, shape (n_outputs, n_rows)
        The scores so far; changed by each round.
    learning_rate : float
        What each tree's values are multiplied by.
    newton : bool
        Whether trees are fitted to Newton steps, with the loss's hessians, or to plain gradients.
    n_before : int
        Trees that the scores come from.

    Attributes
    ----------
    trees : list of Forest
        One tree each, in the order of growth, its values multiplied by the learning rate.
    """

    loss: Loss
    target: NDArray[np.generic]
    weighting: Weighting
    scores: Floats
    learning_rate: float
    newton: bool = True
    n_before: int = 0
    trees: list[Forest] = field(default_factory=list)

    def round(self, grow: Grow) -> list[Forest]:
        """Grow one tree for each output and add them to the scores.

        The gradients of all outputs are those before the round.
        """
        gradients, hessians = self.loss.steps(self.target, self.scores)
        grown_now = []
        for output in range(len(gradients)):
            gradient = gradients[output]
            hessian = None if hessians is None or not self.newton else hessians[output]
            if (weights := self.weighting.weights) is not None:
                gradient *= weights
                hessian = weights if hessian is None else hessian * weights
            number = self.n_before + len(self.trees) + output
            grown = grow(gradient, hessian, number, self.learning_rate)
            tree = grown.tree
            # Every leaf is a node; "clip" only spares numpy a copy.
            self.scores[output] += np.take(tree.value[:, 0], grown.leaf_of_row, out=gradient, mode="clip")
            grown_now.append(tree.to_output(output, len(gradients)) if len(gradients) > 1 else tree)
        self.trees += grown_now
        return grown_now

    @contextmanager
    def on_trial(self) -> Iterator[None]:
        """Take back, at the end of the block, all rounds made within it."""
        scores, n_trees = self.scores.copy(), len(self.trees)
        try:
            yield
        finally:
            self.scores[:] = scores
            del self.trees[n_trees:]


def constants(start: Floats, n_features: int, category_widths: NDArray[np.int64]) -> Forest:
    """Return a tree of one node for each output, which asks for nothing.

    Examples
    --------
    >>> constants(np.array([0.5, -0.5]), 3, np.zeros(3, dtype=np.int64))
    Forest(n_trees=2, n_nodes=2, n_features=3, n_outputs=2)
    """
    return Forest.concat(
        [
            Forest.constant([value], n_features, category_widths).to_output(output, len(start))
            for output, value in enumerate(start)
        ]
    )
