"""Training of CSTC: a start from the root down, then one node after another until nothing falls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from farthing.cascades.cstc.objective import CSTCObjective, NodeObjective, NodeWeights
from farthing.cascades.cstc.row_losses import SquaredRowLoss
from farthing.cascades.score_tree.routing import halving_threshold, leading_direction
from farthing.deadline import check_deadline
from farthing.learning.priced_regression import priced_regression
from farthing.learning.scaled_descent import descend

# Steps of the quasi-Newton method between two updates of the bounds.
_STEPS: Final = 25
# A step that lowers a bound by less than this share ends the steps: the bound itself is updated next.
_TOL: Final = 1e-6
# Updates of the bounds when a node is fitted alone.
_ALONE: Final = 15


@dataclass(frozen=True)
class Trace:
    """The objective after each cycle over the nodes; it never rises."""

    values: list[float]


def train_tree(
    objective: CSTCObjective, n_outputs: int, *, max_cycles: int, tol: float, steepness: float = 1.0
) -> tuple[dict[int, NodeWeights], Trace]:
    """Minimise the objective over all nodes of a full tree.

    Parameters
    ----------
    objective : CSTCObjective
        What is minimised.
    n_outputs : int
        Number of scores of a node.
    max_cycles : int
        Most cycles over the nodes.
    tol : float
        A cycle that lowers the objective by less than this share of it is the last.
    steepness : float
        Factor of the scores in the sigmoid that routes rows.

    Returns
    -------
    nodes : dict of int to NodeWeights
        The nodes by their places in a heap.
    trace : Trace
        The objective on the way.
    """
    nodes = _start(objective, n_outputs, steepness)
    values = [objective.value(nodes)]
    for _ in range(max_cycles):
        for place in sorted(nodes):
            check_deadline()
            moved = _lowered(nodes[place], NodeObjective(objective, nodes, place))
            nodes = {**nodes, place: moved}
        values.append(objective.value(nodes))
        if values[-2] - values[-1] <= tol * abs(values[-2]):
            break
    return nodes, Trace(values)


def _start(objective: CSTCObjective, n_outputs: int, steepness: float) -> dict[int, NodeWeights]:
    """Fit each node as the end of its path, from the root down, with half of its rows on either side."""
    n_learners = objective.learners.shape[1]
    nodes: dict[int, NodeWeights] = {}
    for place in range(1, 2**objective.depth):
        check_deadline()
        parent = nodes.get(place >> 1)
        coef, intercept = np.zeros((n_learners, n_outputs)), np.zeros(n_outputs)
        if parent is not None:
            coef, intercept = parent.coef, parent.intercept
        node = NodeWeights(coef, intercept, np.ones(n_outputs) / np.sqrt(n_outputs), 0.0)
        nodes[place] = node
        if isinstance(objective.loss, SquaredRowLoss):
            node = _solved_alone(objective, objective.loss, nodes, place)
        else:
            node = _fitted_alone(objective, nodes, place)
        nodes[place] = _halved(objective, nodes, place, node, steepness)
    return nodes


def _fitted_alone(objective: CSTCObjective, nodes: dict[int, NodeWeights], place: int) -> NodeWeights:
    """Return the node fitted as the end of its path."""
    # From the fit without penalties: coefficients shrink under the bounds, but hardly ever leave zero, where
    # a bound is steepest.
    free = replace(objective, tradeoff=0.0, sparsity=0.0)
    node = _lowered(nodes[place], NodeObjective(free, nodes, place, alone=True))
    for _ in range(_ALONE):
        moved = _lowered(node, NodeObjective(objective, {**nodes, place: node}, place, alone=True))
        settled = np.allclose(moved.vector(), node.vector(), rtol=1e-3, atol=1e-4)
        node = moved
        if settled:
            break
    return node


def _solved_alone(
    objective: CSTCObjective, loss: SquaredRowLoss, nodes: dict[int, NodeWeights], place: int
) -> NodeWeights:
    """Return the node fitted as the end of its path, in closed form."""
    node = nodes[place]
    weights = objective.shares * objective.reach(nodes)[place]
    above = [nodes[place >> up].squares for up in range(1, place.bit_length())]
    found = priced_regression(
        objective.learners,
        loss.target,
        weights,
        objective.norm,
        tradeoff=objective.tradeoff * float(weights.sum()),
        sparsity=objective.sparsity,
        before=np.sum([np.zeros(len(node.coef)), *above], axis=0),
    )
    return replace(node, coef=found[:-1, np.newaxis], intercept=found[-1:])


def _lowered(node: NodeWeights, bound: NodeObjective) -> NodeWeights:
    """Return the node after some steps down its bound; the node itself if there is no way down."""
    start = node.vector()
    moved = descend(bound, start, bound.metric(), max_steps=_STEPS, tol=_TOL)
    return node if moved is start else node.moved(moved)


def _halved(
    objective: CSTCObjective,
    nodes: dict[int, NodeWeights],
    place: int,
    node: NodeWeights,
    steepness: float,
) -> NodeWeights:
    """Return the node with the direction of its leading variation, and the threshold that halves its rows."""
    weights = objective.shares * objective.reach({**nodes, place: node})[place]
    # What is all but zero would tell rows apart that are the same for the classifier.
    scores = objective.scores(node.without_small())
    direction = steepness * leading_direction(scores, weights)
    threshold = halving_threshold(scores @ direction, weights)
    return replace(node, direction=direction, threshold=0.0 if threshold is None else threshold)
