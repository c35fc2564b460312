"""The objective of CSTC: the expected loss of all nodes and the expected price of all paths."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from farthing.learning.mixed_norm import MixedNorm, without_small
from farthing.learning.scaled_descent import Metric, sampled_gram
from farthing.typing import Floats


class RowLoss(Protocol):
    """A convex loss of scores, row by row."""

    @property
    def curvature(self) -> float:
        """A bound on the second derivatives."""
        ...

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the loss of some of the rows."""
        ...

    def __call__(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the losses (n_rows,) and their gradients (n_rows, n_outputs)."""
        ...


@dataclass(eq=False)
class NodeWeights:
    """The parameters of a node.

    Attributes
    ----------
    coef : ndarray of float64, shape (n_learners, n_outputs)
    intercept : ndarray of float64, shape (n_outputs,)
    direction : ndarray of float64, shape (n_outputs,)
        What the scores are projected on to route a row; it stays as it is.
    threshold : float
        Where the projection is as likely to go up as down.
    """

    coef: Floats
    intercept: Floats
    direction: Floats
    threshold: float

    @property
    def squares(self) -> Floats:
        """The squared coefficients of each learner, summed over the outputs, shape (n_learners,)."""
        return np.asarray((self.coef**2).sum(axis=1))

    def without_small(self) -> NodeWeights:
        """Return the node without the learners that the optimisation has left near zero."""
        return replace(self, coef=without_small(self.coef))

    def vector(self) -> Floats:
        """Return coefficients, intercepts and the threshold as one vector."""
        return np.concatenate([self.coef.ravel(), self.intercept, [self.threshold]])

    def moved(self, vector: Floats) -> NodeWeights:
        """Return the node with the parameters of a vector."""
        n_coef, n_outputs = self.coef.size, len(self.intercept)
        return NodeWeights(
            vector[:n_coef].reshape(self.coef.shape),
            vector[n_coef : n_coef + n_outputs],
            self.direction,
            float(vector[-1]),
        )


@dataclass(frozen=True, eq=False)
class CSTCObjective:
    """Equation 5 of the paper, for a full tree of classifier nodes.

    Nodes are numbered as in a heap: the root is 1, the children of node k are 2 k (lower) and 2 k + 1
    (upper). Below each node of the last level ends a path.

    Parameters
    ----------
    learners : ndarray of float64, shape (n_rows, n_learners)
        The outputs of the learners.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which sum to 1.
    loss : RowLoss
        The loss of the scores.
    norm : MixedNorm
        The price of a path.
    depth : int
        Number of nodes on a path.
    tradeoff : float
        Weight of the price against the loss, lambda.
    sparsity : float
        Weight of the L1 norm of the coefficients, rho.
    """

    learners: Floats
    shares: Floats
    loss: RowLoss
    norm: MixedNorm
    depth: int
    tradeoff: float
    sparsity: float
    paths: dict[int, list[int]] = field(init=False)
    # The scores of nodes, as long as these exist: one node is moved while the others stay.
    _scores: WeakKeyDictionary[NodeWeights, Floats] = field(init=False, default_factory=WeakKeyDictionary)

    def __post_init__(self) -> None:
        ends = range(2 ** (self.depth - 1), 2**self.depth)
        paths = {end: [end >> up for up in range(self.depth)] for end in ends}
        object.__setattr__(self, "paths", paths)

    def scores(self, node: NodeWeights) -> Floats:
        """Return the scores of a node, shape (n_rows, n_outputs)."""
        if node not in self._scores:
            self._scores[node] = self.learners @ node.coef + node.intercept
        return self._scores[node]

    def upward(self, node: NodeWeights) -> Floats:
        """Return the probability of each row to go to the upper child, shape (n_rows,)."""
        return np.asarray(expit(self.scores(node) @ node.direction - node.threshold))

    def reach(self, nodes: dict[int, NodeWeights], start: int = 1) -> dict[int, Floats]:
        """Return the probability of each row to get from a node to those below it, by node."""
        found = {start: np.ones(len(self.shares))}
        for place in sorted(nodes):
            parent = place >> 1
            if parent in found and place != start:
                up = self.upward(nodes[parent])
                found[place] = found[parent] * (up if place & 1 else 1 - up)
        return found

    def value(self, nodes: dict[int, NodeWeights]) -> float:
        """Return the objective of a whole tree."""
        reach = self.reach(nodes)
        total = 0.0
        for place, node in nodes.items():
            total += float(self.shares @ (reach[place] * self.loss(self.scores(node))[0]))
            total += self.sparsity * float(self._absolute(node))
        for end, path in self.paths.items():
            price = self.norm.value(np.sum([nodes[place].squares for place in path], axis=0))
            total += self.tradeoff * float(self.shares @ reach[end]) * price
        return total

    def _absolute(self, node: NodeWeights) -> float:
        """Return the smoothed L1 norm of a node's coefficients."""
        return float(np.sqrt(node.coef**2 + self.norm.eps**2).sum())


class NodeObjective:
    """The objective as a function of one node, all others fixed, under the quadratic bounds of its norms.

    At the node's present parameters it equals the objective but for a constant, elsewhere it is no less; so
    lowering it lowers the objective.

    Parameters
    ----------
    objective : CSTCObjective
        The objective.
    nodes : dict of int to NodeWeights
        All nodes.
    place : int
        The node to be moved.
    alone : bool
        Whether the node is treated as the end of its path, as if there were nothing below it.
    """

    def __init__(
        self, objective: CSTCObjective, nodes: dict[int, NodeWeights], place: int, *, alone: bool = False
    ) -> None:
        self._objective = objective
        self._node = node = nodes[place]
        above = {up: nodes[up] for up in _ancestors(place)} | {place: node}
        self._reached = objective.shares * objective.reach(above)[place]
        below = {} if alone else {other: nodes[other] for other in nodes if _is_below(other, place)}
        self._ends = [place] if alone else [end for end, path in objective.paths.items() if place in path]
        self._lasts = bool(alone or place in objective.paths)
        sides = [objective.reach(below, 2 * place + side) for side in (0, 1)] if below else []
        self._risk = [self._risk_of(side, nodes) for side in sides]
        self._chance = [[side[end] for end in self._ends if end in side] for side in sides]
        self._others = []
        for end in self._ends:
            path = _ancestors(end) if end != place else _ancestors(place)
            others = [nodes[up].squares for up in path if up != place]
            others += [nodes[end].squares] if end != place else []
            self._others.append(np.sum([np.zeros(len(node.coef)), *others], axis=0))
        norm = objective.norm
        self._bounds = [norm.bound(others + node.squares) for others in self._others]
        self._absolute = np.sqrt(node.coef**2 + norm.eps**2)

    def _risk_of(self, side: dict[int, Floats], nodes: dict[int, NodeWeights]) -> Floats:
        """Return the expected loss of the nodes of a subtree, row by row."""
        objective = self._objective
        losses = [
            chance * objective.loss(objective.scores(nodes[place]))[0] for place, chance in side.items()
        ]
        return np.asarray(np.sum(losses, axis=0))

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        """Return the bound and its gradient at the parameters of a vector."""
        objective, node = self._objective, self._node.moved(vector)
        scores = objective.learners @ node.coef + node.intercept
        losses, slopes = objective.loss(scores)
        value = float(self._reached @ losses)
        by_score = self._reached[:, np.newaxis] * slopes
        squares = node.squares
        prices = [bound(others + squares) for others, bound in zip(self._others, self._bounds, strict=True)]
        threshold = 0.0
        up = np.empty(0)
        if not self._lasts:
            up = expit(scores @ node.direction - node.threshold)
            tolls = self._tolls(prices)
            value += float(self._reached @ ((1 - up) * self._risk[0] + up * self._risk[1]))
            along = (
                self._reached
                * up
                * (1 - up)
                * (self._risk[1] - self._risk[0] + objective.tradeoff * (tolls[1] - tolls[0]))
            )
            by_score = by_score + along[:, np.newaxis] * node.direction
            threshold = -float(along.sum())
        chances = self._chances(up)
        value += objective.tradeoff * float(np.dot(chances, prices))
        value += objective.sparsity * float(
            ((node.coef**2 + objective.norm.eps**2) / self._absolute + self._absolute).sum() / 2
        )
        slope = objective.learners.T @ by_score
        slope += objective.tradeoff * self._pull(chances)[:, np.newaxis] * node.coef
        slope += objective.sparsity * node.coef / self._absolute
        return value, np.concatenate([slope.ravel(), by_score.sum(axis=0), [threshold]])

    def metric(self) -> Metric:
        """Return the curvature of the loss and of the norms at the node's present parameters."""
        objective, node = self._objective, self._node
        gram = objective.loss.curvature * sampled_gram(objective.learners, self._reached)
        chances = self._chances(expit(objective.scores(node) @ node.direction - node.threshold))
        pull = objective.tradeoff * self._pull(chances)
        (n_learners, n_outputs), blocks = node.coef.shape, []
        for output in range(n_outputs):
            curvature = gram.copy()
            own = pull + objective.sparsity / self._absolute[:, output]
            curvature[np.arange(n_learners), np.arange(n_learners)] += own
            places = np.arange(n_learners + 1) * n_outputs + output
            blocks.append((places, curvature))
        return Metric.of(blocks)

    def _chances(self, up: Floats) -> list[float]:
        """Return the share of the rows at the end of each path through the node."""
        if self._lasts:
            return [float(self._reached.sum())]
        half = [self._reached * (1 - up), self._reached * up]
        return [float(half[side] @ chance) for side in (0, 1) for chance in self._chance[side]]

    def _pull(self, chances: list[float]) -> Floats:
        """Return the second derivative of the expected price for each learner, shape (n_learners,)."""
        pulls = [c * bound.curvature for c, bound in zip(chances, self._bounds, strict=True)]
        return np.asarray(np.sum(pulls, axis=0))

    def _tolls(self, prices: list[float]) -> list[Floats]:
        """Return the expected price of the paths of each side, row by row."""
        half = len(prices) // 2
        return [
            np.asarray(np.sum([p * chance for p, chance in zip(part, chances, strict=True)], axis=0))
            for part, chances in zip((prices[:half], prices[half:]), self._chance, strict=True)
        ]


def _ancestors(place: int) -> list[int]:
    """Return the nodes above a place, the root last."""
    return [place >> up for up in range(1, place.bit_length())]


def _is_below(other: int, place: int) -> bool:
    levels = other.bit_length() - place.bit_length()
    return levels > 0 and other >> levels == place
