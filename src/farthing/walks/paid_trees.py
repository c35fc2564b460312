"""The policy of trees whose evaluation has a price: blocks of trees, each bought before it counts."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np

from farthing._core import Judged, SplitJudge, Ways
from farthing.costs import RowLedger
from farthing.trees import Predictor
from farthing.typing import Floats
from farthing.walks.forest_policy import ForestPolicy
from farthing.walks.split import Foresight, Split, Stand


class PaidTrees:
    """Walk trees block by block, and buy the evaluation of each block as a call.

    Trees that see nothing of a row say nothing about it. So a call is due as soon as the row owns a value
    that the trees wanted, and a column is too expensive for a row that could not pay for the evaluation as
    well. A row that cannot pay for the evaluation of a later block ends before it.

    Parameters
    ----------
    ready : Predictor
        The trees.
    ends : sequence of int
        The number of trees up to the end of each block.
    calls : sequence of int
        The place of each block's call in the cost sheet; empty if evaluations are free.

    Examples
    --------
    >>> from farthing.costs import CostSheet
    >>> from farthing.trees import Forest
    >>> stump = Forest.from_arrays(
    ...     n_features=1, feature=[0, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> policy = PaidTrees(Predictor(stump), ends=[1], calls=[1])
    >>> ledger = RowLedger(CostSheet([3], calls={"trees": 2}))
    >>> policy.wants(ledger)
    0
    >>> ledger.buy(0)
    >>> policy.hear(0, 0.7)
    >>> policy.wants(ledger)
    1
    """

    def __init__(self, ready: Predictor, ends: Sequence[int], calls: Sequence[int]) -> None:
        self._trees = ForestPolicy.of(ready)
        self._ends = tuple(ends)
        self._calls = tuple(calls)
        self._looked = False
        self._heard: int | None = None
        self._stopped = False
        self.open(0)

    def open(self, block: int) -> None:
        """Go on to a block, unless the row could not pay for the one before it."""
        if self._stopped:
            return
        self._end_before = self._trees.end
        self._trees.end = self._ends[block]
        self._call = self._calls[block] if self._calls else None

    @property
    def stopped(self) -> bool:
        """Whether the row could not pay for the evaluation of the block that it is in."""
        return self._stopped

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the call of the block if it is due, else the next column; None at the end of the block."""
        if self._heard is not None and ledger.owned[self._heard]:
            self._looked = True
        if self._stopped:
            return None
        if self._looked and self._call is not None:
            return self._call
        while (column := self._trees.wants(ledger)) is not None:
            if self._call is None or ledger.affords_all((column, self._call)):
                return column
            self._trees.hear(column, np.nan)
        return None

    def hear(self, column: int, value: float) -> None:
        """Take the value of a column, or whether the call was made: NaN if it was not."""
        if column != self._call:
            self._trees.hear(column, value)
            self._heard = column
            return
        self._call = None
        self._stopped = bool(np.isnan(value))
        if self._stopped:
            self._trees.end = self._end_before  # the block does not count

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._trees.refuse(column)

    def foresee(self, column: int, answers: Sequence[float], ledger: RowLedger) -> Foresight | None:
        """Return where each of some answers would lead to, of a row that can pay for all evaluations."""
        return self._trees.foresee(column, answers, ledger)

    def judged(self, judge: SplitJudge, ways: Ways, looked: bool) -> Judged | None:
        """Return what the answers would do to the belief of a row that can pay for all evaluations."""
        return self._trees.judged(judge, ways, looked)

    def after(self, column: int, value: float) -> Self:
        """Return a policy that has heard one answer more; this one is left as it is."""
        twin = copy(self)
        twin.__dict__.update(_trees=self._trees.after(column, value), _heard=column)
        return twin

    def why_ended(self) -> str:
        """Return why the walk has ended, in words."""
        return "the trees cost more than is left" if self._stopped else self._trees.why_ended()

    def split(self) -> Split | None:
        """Return the split that the first unfinished tree stands at."""
        return self._trees.split()

    def stand(self) -> Stand:
        """Return where the row stands in the trees that it has walked."""
        return self._trees.stand()

    def output(self) -> Floats:
        """Return the sum over the trees up to the end of the block, shape (n_outputs,)."""
        return self._trees.output()
