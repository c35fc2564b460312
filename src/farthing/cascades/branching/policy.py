"""The lazy view of a branching cascade: down the routes, then what the branch has bought."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.trees import Progress
from farthing.walks import ForestPolicy

if TYPE_CHECKING:
    from farthing.cascades.branching.model import BranchingCascadeModel


class BranchPolicy:
    """Ask what the routes test, then what the branch at their end has bought, in the order of purchase.

    If a feature is refused, the routes treat it as missing, the trees of the branch go on without it, and the
    walk continues.

    Parameters
    ----------
    model : BranchingCascadeModel
        The cascade.
    """

    def __init__(self, model: BranchingCascadeModel) -> None:
        self._model = model
        self._routing = ForestPolicy(model.routes, model.routes.value)
        self._values = np.full((1, len(model.schema.names)), np.nan)
        self._refused: frozenset[int] = frozenset()
        self._branch: int | None = None
        self._pending: list[int] = []

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the routes, or of the branch."""
        if self._branch is None:
            column = self._routing.wants(ledger)
            if column is not None:
                return column
            # The branch's list begins with the columns of the routes. The walk answers those from what it
            # owns, and a refused one stays missing, so the row is not asked again.
            self._branch = int(self._routing.output()[0])
            self._pending = self._model.columns(self._branch).tolist()
        return self._pending[0] if self._pending else None

    def hear(self, column: int, value: float) -> None:
        """Take the value of the column just asked for."""
        self._values[0, column] = value
        if self._branch is None:
            self._routing.hear(column, value)
        else:
            self._pending.pop(0)

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._refused |= {column}
        self.hear(column, np.nan)

    def output(self) -> NDArray[np.float64]:
        """Return the raw output, shape (n_outputs,): that of the node reached, or of the branch."""
        if self._branch is None:
            return self._routing.output()[1:]
        progress = Progress(self._values, self._model.forest.n_outputs, self._model.costs)
        self._model.look(progress, self._branch, np.zeros(1, dtype=np.int64), self._refused)
        return np.asarray(progress.outputs[0])
