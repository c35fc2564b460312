"""The policy of an ensemble of trees: tree by tree, in order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Self

import numpy as np

from farthing._core import Judged, SplitJudge, Ways, foresee
from farthing.costs import RowLedger
from farthing.trees import Forest, NodeValues, Predictor, SparseRows, core_scores
from farthing.typing import Floats, Integers
from farthing.walks.split import Foresight, Split, Stand

# States of a feature, as the compiled core has them: 0 is unknown.
_TOLD: Final = 1  # its value may be used
_AHEAD: Final = 2  # its value may be used, and the core reports that it was asked for


class ForestPolicy:
    """Descend the trees of a forest one after another.

    A tree that is unfinished, not started yet, or stopped by a missing value counts with its current node.
    Trees from ``end`` on do not count and are not walked; the owner of a policy may set ``end`` before the
    walk and after it has ended.

    Parameters
    ----------
    forest : Forest
        The trees.
    scores : ndarray of float64, shape (n_nodes, width), or SparseRows
        What each node adds to the output, instead of its value.
    single_sums : bool
        Whether the sum is rounded to float32 after each tree.
    predictor : Predictor, optional
        Of the same trees and scores. It knows where refused values go, for all rows; None makes one.

    Attributes
    ----------
    end : int
        Number of trees to walk; initially all.

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

    def __init__(
        self,
        forest: Forest,
        scores: NodeValues,
        *,
        single_sums: bool = False,
        predictor: Predictor | None = None,
    ) -> None:
        if len(scores.shape) != 2 or len(scores) != len(forest.feature):
            raise ValueError(f"scores must have shape ({len(forest.feature)}, width); got {scores.shape}")
        self._forest = forest
        self._scores = scores if isinstance(scores, SparseRows) else np.ascontiguousarray(scores, np.float64)
        self._single_sums = single_sums
        self._predictor = predictor
        self._refused: frozenset[int] = frozenset()
        self._compiled = forest.compiled
        self.end = forest.n_trees
        self._tree = 0
        # The current node of every tree; the compiled core moves them in place.
        self._nodes: Integers = forest.offsets[:-1].copy()
        self._values = np.zeros(forest.n_features)
        self._states = np.zeros(forest.n_features, dtype=np.uint8)
        self._column = -1
        self._descended_to = -1  # the value of `end` at the last descent

    @classmethod
    def of(cls, ready: Predictor) -> Self:
        """Return a policy with the trees, scores and sums of a predictor."""
        return cls(ready.forest, ready.scores, single_sums=ready.single_sums, predictor=ready)

    def wants(self, ledger: RowLedger) -> int | None:  # the path through a tree does not depend on prices
        """Return the column that the first unfinished tree tests next, None after the last tree."""
        if self._descended_to != self.end:
            self._descend()
        return None if self._column < 0 else self._column

    def hear(self, column: int, value: float) -> None:
        """Descend the trees as far as the known columns allow."""
        self._values[column] = value
        self._states[column] = _TOLD
        self._descend()

    def refuse(self, column: int) -> None:
        """Descend as in `hear`, past the tests of a refused column; see `Predictor.refused_ways`."""
        self._set_refused(self._refused | {column})
        self.hear(column, np.nan)

    def hear_ahead(self, answers: Mapping[int, float], refused: Collection[int] = ()) -> list[int]:
        """Take answers in advance, and descend up to the first column without one.

        Parameters
        ----------
        answers : mapping of int to float
            Encoded values by column.
        refused : collection of int
            Which of them are refusals.

        Returns
        -------
        list of int
            The columns that were wanted, in order; the others were not used.

        Examples
        --------
        >>> import numpy as np
        >>> from farthing.trees import Forest
        >>> stump = Forest.from_arrays(
        ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        ...     value=[[0.0], [-1.0], [1.0]])
        >>> ForestPolicy(stump, stump.value).hear_ahead({0: 3.0, 1: 0.7})
        [1]
        """
        states = self._states
        for column, value in answers.items():
            if not states[column]:
                self._values[column] = value
                states[column] = _AHEAD
        before = self._refused
        if refused:
            self._set_refused(before.union(refused))
        asked = self._descend()
        if refused:
            self._set_refused(before.union(set(refused).intersection(asked)))
        # Blindness: answers that were not asked for are forgotten.
        if len(asked) < len(answers):
            states[states == _AHEAD] = 0
        return asked

    def _set_refused(self, refused: frozenset[int]) -> None:
        if self._predictor is None:
            self._predictor = Predictor(self._forest, self._scores, single_sums=self._single_sums)
        self._refused = refused
        self._compiled = self._predictor.without(refused).forest.compiled

    def _descend(self) -> list[int]:
        self._tree, self._column, asked = self._compiled.descend(
            self._values, self._states, self._nodes, self._tree, self.end
        )
        self._descended_to = self.end
        return asked

    def after(self, column: int, value: float) -> Self:
        """Return a policy that has heard one answer more; this one is left as it is."""
        # What `copy.copy` does, without its search for ways to copy.
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        arrays = {name: self.__dict__[name].copy() for name in ("_nodes", "_values", "_states")}
        twin.__dict__.update(arrays)
        twin.hear(column, value)
        return twin

    def foresee(
        self,
        column: int,
        answers: Sequence[float],
        ledger: RowLedger,  # as in `wants`
    ) -> Foresight:
        """Return where each of some answers to the question would lead to; the policy is left as it is."""
        outputs, nodes, trees, columns = foresee(
            self._compiled,
            core_scores(self._scores),
            self._values,
            self._states,
            self._nodes,
            self._tree,
            self.end,
            self._single_sums,
            column,
            answers,
        )
        stands: list[Stand | None] = [
            self._stand(*reached) for reached in zip(trees, nodes, outputs, strict=True)
        ]
        return Foresight(outputs, stands, [None if asked < 0 else asked for asked in columns])

    def judged(self, judge: SplitJudge, ways: Ways, looked: bool) -> Judged | None:
        """Return what the answers to the question would do to the belief; the policy is left as it is.

        Parameters
        ----------
        judge : SplitJudge
            Of the same trees and scores.
        ways : Ways
            The ways out of the node that asks.
        looked : bool
            Whether the row has bought anything.
        """
        return judge.judge(
            self._compiled,
            self._values,
            self._states,
            self._nodes,
            self._tree,
            self.end,
            looked,
            self._column,
            ways,
        )

    def why_ended(self) -> str:
        """Return why the walk has ended, in words."""
        return "all trees are finished"

    def split(self) -> Split | None:
        """Return the split that the first unfinished tree stands at; None after the last tree."""
        if self._column < 0:
            return None
        tree, nodes = self._tree, self._nodes
        return Split(
            self._forest, self._scores, tree, int(nodes[tree]), self.stand, nodes[tree + 1 : self.end]
        )

    def stand(self) -> Stand:
        """Return where the row stands in the trees that it has walked."""
        return self._stand(self._tree, self._nodes.copy(), self.output())

    def _stand(self, tree: int, nodes: Integers, output: Floats) -> Stand:
        """Return where a row stands whose first unfinished tree and current nodes are these."""
        end = min(tree, self.end)
        if end < self.end and nodes[end] != self._forest.offsets[end]:
            end += 1
        return Stand(self._forest, self._forest.tree_numbers[:end], nodes[:end], output)

    def output(self) -> Floats:
        """Return the sum of the current nodes' scores, shape (n_outputs,).

        The compiled predictor adds in the same order, so both give the same bits.
        """
        scores = core_scores(self._scores)
        return self._forest.compiled.total(scores, self._nodes, self.end, self._single_sums)
