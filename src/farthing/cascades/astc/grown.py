"""What is made of grown nodes: the tree that predicts, and the scores that calibrate it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.astc.design import Design
from farthing.cascades.astc.growing import Nodes
from farthing.cascades.score_tree.tree import NO_CHILD, ScoreTree
from farthing.typing import Floats


def as_score_tree(design: Design, nodes: Nodes) -> ScoreTree:
    """Return the tree that predicts; a node without children divides nothing."""
    places = list(nodes)
    number = {place: row for row, place in enumerate(places)}
    coef = np.zeros((len(places), design.n_terms, design.n_outputs))
    direction, threshold = np.zeros((len(places), design.n_outputs)), np.zeros(len(places))
    bought: dict[int, list[int]] = {}
    for place, node in nodes.items():
        coef[number[place], node.places] = node.coef
        if node.division is not None:
            direction[number[place]] = node.division.direction
            threshold[number[place]] = node.division.threshold or 0.0
        bought[place] = node.columns
        if not node.coef.all():
            used = node.used(design) | set(bought.get(place // 2, ()))
            bought[place] = [column for column in node.columns if column in used]
    return ScoreTree(
        terms=design.zeros,
        coef=coef,
        intercept=np.array([node.intercept for node in nodes.values()]),
        direction=direction,
        threshold=threshold,
        children=np.array([[number.get(2 * place + side, NO_CHILD) for side in (0, 1)] for place in places]),
        bought=_padded(list(bought.values())),
    )


class EndScores:
    """The scores of every so many-th training row at the node where it ends.

    Parameters
    ----------
    design : Design
        The terms of the rows.
    step : int
    """

    def __init__(self, design: Design, step: int) -> None:
        # These rows side by side: scattered over the table, each entry would be read with others around it.
        self._entries = np.ascontiguousarray(design.entries[:, ::step])
        self._step = step
        self._n_rows = design.entries.shape[1]

    def of(self, nodes: Nodes) -> Floats:
        """Return the scores, shape (n_outputs, n_some_rows)."""
        scores = np.empty((len(nodes[1].intercept), self._entries.shape[1]))
        ends = [node for place, node in nodes.items() if 2 * place not in nodes]
        end_of = np.empty(self._n_rows, dtype=np.int16)
        for number, node in enumerate(ends):
            end_of[node.rows.numbers] = number
        end_of = np.ascontiguousarray(end_of[:: self._step])
        for number, node in enumerate(ends):
            asked = np.flatnonzero(end_of == number)
            scores[:, asked] = node.scores(self._entries, asked)
        return scores


def _padded(columns: list[list[int]]) -> NDArray[np.int64]:
    padded = np.full((len(columns), max(map(len, columns))), -1, dtype=np.int64)
    for node, own in enumerate(columns):
        padded[node, : len(own)] = own
    return padded
