"""A gate and a cheap model, learned together and evaluated first on every row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.store import register_codec
from farthing.trees import Forest, Predictor, Progress
from farthing.trees.progress import unpack
from farthing.typing import Floats
from farthing.walks import ForestPolicy, Policy


class GatePair(Protocol):
    """The gate and the cheap model f1, as scores in one array: output 0 is the gate's, the rest are f1's.

    `farthing.learning.linear_scores.LinearScores` is such a pair, and so is `TreePair`.
    """

    @property
    def n_outputs(self) -> int:
        """Number of scores, the gate's included."""
        ...

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        ...

    def outputs(self, values: NDArray[np.floating], n_threads: int = 1) -> tuple[Floats, NDArray[np.bool_]]:
        """Return scores (n_rows, n_outputs) and acquired (n_rows, n_features) of an encoded table."""
        ...

    def outputs_within(
        self, values: NDArray[np.floating], costs: CostSheet, budget: Floats, n_threads: int = 1
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return scores, acquired and refused if each row has a budget."""
        ...

    def policy(self) -> Policy:
        """Return a fresh policy for one row; its output is the scores."""
        ...


@dataclass(frozen=True, eq=False)
class TreePair:
    """A gate and a cheap model of boosted trees.

    Parameters
    ----------
    forest : Forest
        Output 0 is the gate's, the others are those of f1.

    Examples
    --------
    >>> leaf = Forest.constant([0.5], 3, np.zeros(3, dtype=np.int64))
    >>> pair = TreePair(Forest.concat([leaf.to_output(0, 2), leaf.to_output(1, 2)]))
    >>> pair.outputs(np.zeros((1, 3)))[0]
    array([[0.5, 0.5]])
    """

    forest: Forest

    def __post_init__(self) -> None:
        if self.forest.width != 1 or self.forest.n_outputs < 2:
            raise ValueError("the trees of a pair add to one output each, the gate's or one of f1's")

    @property
    def n_outputs(self) -> int:
        """Number of scores, the gate's included."""
        return self.forest.n_outputs

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return self.forest.n_features

    @cached_property
    def predictor(self) -> Predictor:
        """The compiled predictor of the trees."""
        return Predictor(self.forest)

    def outputs(self, values: NDArray[np.floating], n_threads: int = 1) -> tuple[Floats, NDArray[np.bool_]]:
        """Return scores (n_rows, n_outputs) and acquired (n_rows, n_features) of an encoded table."""
        return self.predictor.predict(values, n_threads=n_threads)

    def outputs_within(
        self, values: NDArray[np.floating], costs: CostSheet, budget: Floats, n_threads: int = 1
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return scores, acquired and refused if each row has a budget."""
        progress = Progress(values, self.n_outputs, costs, budget=budget, n_threads=n_threads)
        self.predictor.advance(progress, 0, self.forest.n_trees)
        return progress.outputs, progress.acquired, unpack(progress.refused, self.n_features)

    def policy(self) -> Policy:
        """Return a fresh policy for one row; its output is the scores."""
        return ForestPolicy.of(self.predictor)


def _decode(fields: dict[str, Any]) -> TreePair:
    if not isinstance(fields.get("forest"), Forest):
        raise TypeError("a pair of trees holds a forest")
    return TreePair(**fields)


register_codec("TreePair", TreePair, lambda pair: {"forest": pair.forest}, _decode)
