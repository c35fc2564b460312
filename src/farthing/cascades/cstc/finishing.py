"""From the soft tree of the optimisation to the tree that predicts: zeros, pruning, fine tuning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.cstc.objective import NodeWeights, RowLoss
from farthing.cascades.score_tree.tree import NO_CHILD, ScoreTree
from farthing.learning.scaled_descent import Metric, descend, sampled_gram
from farthing.learning.terms import Terms
from farthing.typing import Floats

# Keeps the coefficients of fine tuning finite where the classes of a node can be separated.
_RIDGE: Final = 1e-6
# Most steps of fine tuning.
_STEPS: Final = 200

Nodes = dict[int, NodeWeights]


def routed(nodes: Nodes, learners: Floats) -> NDArray[np.int64]:
    """Return the place where each row ends, shape (n_rows,)."""
    at = np.ones(len(learners), dtype=np.int64)
    for place in sorted(nodes):
        rows = np.flatnonzero(at == place)
        if 2 * place in nodes and len(rows):
            node = nodes[place]
            up = (learners[rows] @ node.coef + node.intercept) @ node.direction > node.threshold
            at[rows] = 2 * place + up
    return at


def pruned(nodes: Nodes, learners: Floats, risk: Callable[[Floats], float]) -> Nodes:
    """Cut off children that do not lower the risk of validation rows, from the last level up.

    Parameters
    ----------
    nodes : dict of int to NodeWeights
        The tree.
    learners : ndarray of float64, shape (n_rows, n_learners)
        The validation rows.
    risk : callable
        From their scores, shape (n_rows, n_outputs), to the risk.
    """
    kept, least = dict(nodes), risk(last_scores(nodes, learners))
    for place in sorted(nodes, reverse=True):
        children = [2 * place, 2 * place + 1]
        if children[0] not in kept or 2 * children[0] in kept or 2 * children[1] in kept:
            continue
        smaller = {other: node for other, node in kept.items() if other not in children}
        if (reached := risk(last_scores(smaller, learners))) <= least:
            kept, least = smaller, reached
    return kept


def last_scores(nodes: Nodes, learners: Floats) -> Floats:
    """Return the scores of each row at the node where it ends, shape (n_rows, n_outputs)."""
    ends = routed(nodes, learners)
    n_outputs = len(next(iter(nodes.values())).intercept)
    scores = np.zeros((len(learners), n_outputs))
    for place in np.unique(ends).tolist():
        rows = ends == place
        scores[rows] = learners[rows] @ nodes[place].coef + nodes[place].intercept
    return scores


def fine_tuned(nodes: Nodes, learners: Floats, weights: Floats, loss: RowLoss) -> Nodes:
    """Fit the last nodes again, on the rows that end there and the learners that they have (equation 8).

    It undoes the shrinkage of the norms. Nodes that route keep their coefficients.
    """
    ends = routed(nodes, learners)
    tuned = dict(nodes)
    for place, node in nodes.items():
        used, inside = np.flatnonzero(node.squares > 0), np.flatnonzero(ends == place)
        if 2 * place in nodes or len(inside) <= 2 * len(used):
            continue  # it routes, or has too few rows
        shares = weights[inside] / weights[inside].sum()
        tuned[place] = _refitted(node, used, learners[np.ix_(inside, used)], shares, loss.take(inside))
    return tuned


def _refitted(
    node: NodeWeights, used: NDArray[np.int64], learners: Floats, shares: Floats, loss: RowLoss
) -> NodeWeights:
    n_outputs = len(node.intercept)

    def risk(vector: Floats) -> tuple[float, Floats]:
        coef = vector[:-n_outputs].reshape(len(used), n_outputs)
        losses, slopes = loss(learners @ coef + vector[-n_outputs:])
        by_score = shares[:, np.newaxis] * slopes
        slope = learners.T @ by_score + _RIDGE * coef
        return (
            float(shares @ losses) + _RIDGE / 2 * float((coef**2).sum()),
            np.concatenate([slope.ravel(), by_score.sum(axis=0)]),
        )

    gram = loss.curvature * sampled_gram(learners, shares) + _RIDGE * np.eye(len(used) + 1)
    places = np.arange(len(used) + 1) * n_outputs
    metric = Metric.of([(places + output, gram) for output in range(n_outputs)])
    start = np.concatenate([node.coef[used].ravel(), node.intercept])
    found = descend(risk, start, metric, max_steps=_STEPS, tol=1e-10)
    coef = np.zeros_like(node.coef)
    coef[used] = found[:-n_outputs].reshape(len(used), n_outputs)
    return replace(node, coef=coef, intercept=found[-n_outputs:])


def as_score_tree(nodes: Nodes, terms: Terms) -> ScoreTree:
    """Return the tree that predicts; each node buys what its own learners and those above it read."""
    places = sorted(nodes)
    number = {place: row for row, place in enumerate(places)}
    return ScoreTree.of(
        terms=terms,
        coef=np.array([nodes[place].coef for place in places]),
        intercept=np.array([nodes[place].intercept for place in places]),
        direction=np.array([nodes[place].direction for place in places]),
        threshold=np.array([nodes[place].threshold for place in places]),
        children=np.array(
            [[number.get(2 * place + side, NO_CHILD) for side in (0, 1)] for place in places], dtype=np.int64
        ),
    )
