"""What the trees of a forest add to its output: class shares, votes or class weights."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from farthing.base import normalise
from farthing.table import PreparedTable
from farthing.trees import Forest, NodeValues, Predictor, SparseRows

Aggregation: TypeAlias = Literal["distribution", "vote", "count"]
AGGREGATIONS: Final[tuple[str, ...]] = get_args(Aggregation)


def class_shares(forest: Forest) -> NodeValues:
    """Return the share of each class in the class weights of each node, shape (n_nodes, n_classes)."""
    values = forest.node_values
    return values.normalised() if isinstance(values, SparseRows) else normalise(values)


def class_scores(forest: Forest, aggregation: Aggregation) -> NodeValues:
    """Return what each node adds to the raw output.

    Parameters
    ----------
    forest : Forest
        Trees whose values are class weights.
    aggregation : {"distribution", "vote", "count"}
        The shares of the classes, a vote for the largest class, or the class weights themselves.

    Returns
    -------
    ndarray of float64, shape (n_nodes, n_classes), or SparseRows
    """
    values = forest.node_values
    if aggregation == "count":
        return values
    if aggregation == "vote":
        # argmax: of equal classes the first, as for the labels of a prediction.
        if isinstance(values, SparseRows):
            winners = values.argmax().astype(np.int32)
            return SparseRows(values.n_columns, np.arange(len(values) + 1), winners, np.ones(len(values)))
        return np.asarray(np.eye(forest.n_outputs)[values.argmax(axis=1)])
    return class_shares(forest)


def sum_of_trees(
    forest: Forest, table: PreparedTable, *, aggregation: Aggregation, n_threads: int
) -> NDArray[np.float64]:
    """Return the summed class scores of rows, shape (n_rows, n_classes)."""
    predictor = Predictor(forest, class_scores(forest, aggregation))
    blocks = [predictor.predict(values, n_threads=n_threads)[0] for values in table.blocks()]
    return np.concatenate(blocks) if blocks else np.empty((0, forest.n_outputs))
