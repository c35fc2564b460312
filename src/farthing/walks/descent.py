"""How an ensemble of trees is walked: tree by tree, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.trees import Forest, Predictor

# What is known of a feature, in the core's words: its value, or its value once it is asked for.
_HEARD_OF: Final = 1
_AT_HAND: Final = 2


class ForestPolicy:
    """Descend the trees of a forest one after another.

    A tree that a missing value stops, that is unfinished or not begun counts with its current node. Trees
    from ``end`` on do not count and are not walked; who makes a policy may set it, at first and at an end.

    Parameters
    ----------
    forest : Forest
        The trees.
    scores : ndarray of float64, shape (n_nodes, width)
        What each node adds to the output, in place of its value.
    single_sums : bool
        Whether the sum is rounded to float32 after each tree.

    Attributes
    ----------
    end : int
        Number of trees that are walked; at first all.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.costs import CostSheet, RowLedger
    >>> from farthing.trees import Forest
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> policy = ForestPolicy(stump, stump.value)
    >>> policy.wants(RowLedger(CostSheet([1, 1])))
    1
    >>> policy.hear(1, 0.7)
    >>> policy.output()
    array([1.])
    """

    def __init__(self, forest: Forest, scores: NDArray[np.float64], *, single_sums: bool = False) -> None:
        if scores.ndim != 2 or len(scores) != len(forest.feature):
            raise ValueError(f"scores must have shape ({len(forest.feature)}, width); got {scores.shape}")
        self._forest = forest
        self._scores = np.ascontiguousarray(scores, dtype=np.float64)
        self._single_sums = single_sums
        self.end = forest.n_trees
        self._tree = 0
        self._nodes: NDArray[np.int64] = forest.offsets[:-1].copy()
        self._values = np.zeros(forest.n_features)
        self._hearsay = np.zeros(forest.n_features, dtype=np.uint8)
        self._column = -1
        self._gone = -1  # the end up to which the trees have been descended

    @classmethod
    def of(cls, ready: Predictor) -> Self:
        """Walk the trees that a predictor was made for, with its scores and its sums."""
        return cls(ready.forest, ready.scores, single_sums=ready.single_sums)

    def wants(self, ledger: RowLedger) -> int | None:  # noqa: ARG002 - trees go their way whatever it costs
        """Return the column that the first unfinished tree tests next, None after the last tree."""
        if self._gone != self.end:
            self._descend()
        return None if self._column < 0 else self._column

    def hear(self, column: int, value: float) -> None:
        """Go down the trees as far as this column leads, leaving those where the value says to stay."""
        self._values[column] = value
        self._hearsay[column] = _HEARD_OF
        self._descend()

    def hear_at_hand(self, answers: Mapping[int, float]) -> list[int]:
        """Hear the answers that are wanted one after another, up to the first that is not there.

        Parameters
        ----------
        answers : mapping of int to float
            Encoded values by column.

        Returns
        -------
        list of int
            The columns that were wanted, in order; the others were not looked at.

        Examples
        --------
        >>> import numpy as np
        >>> from farthing.trees import Forest
        >>> stump = Forest.from_arrays(
        ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        ...     value=[[0.0], [-1.0], [1.0]])
        >>> ForestPolicy(stump, stump.value).hear_at_hand({0: 3.0, 1: 0.7})
        [1]
        """
        hearsay = self._hearsay
        for column, value in answers.items():
            if not hearsay[column]:
                self._values[column] = value
                hearsay[column] = _AT_HAND
        asked = self._descend()
        if len(asked) < len(answers):
            hearsay[hearsay == _AT_HAND] = 0
        return asked

    def _descend(self) -> list[int]:
        self._tree, self._column, asked = self._forest.compiled.descend(
            self._values, self._hearsay, self._nodes, self._tree, self.end
        )
        self._gone = self.end
        return asked

    def output(self) -> NDArray[np.float64]:
        """Return the sum of the current nodes' scores, shape (n_outputs,).

        The compiled predictor makes the same additions in the same order, so that both give the same bits.
        """
        return self._forest.compiled.total(self._scores, self._nodes, self.end, self._single_sums)
