"""What the trees of a forest add to its output: class shares, votes or class weights."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from farthing.base import normalise
from farthing.trees import Forest, Predictor

Aggregation: TypeAlias = Literal["distribution", "vote", "count"]
AGGREGATIONS: Final[tuple[str, ...]] = get_args(Aggregation)


def class_scores(forest: Forest, aggregation: Aggregation) -> NDArray[np.float64]:
    """Return what each node adds to the raw output.

    Parameters
    ----------
    forest : Forest
        Trees whose values are class weights.
    aggregation : {"distribution", "vote", "count"}
        The shares of the classes, a vote for the largest class, or the class weights themselves.

    Returns
    -------
    ndarray of float64, shape (n_nodes, n_classes)
    """
    if aggregation == "count":
        return forest.value
    if aggregation == "vote":
        # argmax: of equal classes the first, as for the labels of a prediction.
        return np.asarray(np.eye(forest.n_outputs)[forest.value.argmax(axis=1)])
    return normalise(forest.value)


def sum_of_trees(
    forest: Forest, values: NDArray[np.floating], *, aggregation: Aggregation, n_threads: int
) -> NDArray[np.float64]:
    """Return the summed class scores of rows, shape (n_rows, n_classes)."""
    return Predictor(forest, class_scores(forest, aggregation)).predict(values, n_threads=n_threads)[0]
