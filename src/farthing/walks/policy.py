"""What a method says about one row: the column it needs next, and its answer so far."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger


class Policy(Protocol):
    """The part of a lazy prediction that differs from method to method.

    A policy belongs to one row. It is never told a value that it did not want, so it cannot peek. What it
    wants must be a pure function of the model, the seed, the ledger and the answers so far, and each answer
    must bring it nearer its end. A column wanted again is heard again, with the same value and for nothing.
    """

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column needed next, or None when the prediction is finished.

        Parameters
        ----------
        ledger : RowLedger
            What the row owns, has spent and would pay for each column.
        """
        ...

    def hear(self, column: int, value: float) -> None:
        """Take the answer for the column just wanted.

        Parameters
        ----------
        column : int
            The column that `wants` returned.
        value : float
            Its encoded value; NaN if it is missing, refused, or a category never seen.
        """
        ...

    def output(self) -> NDArray[np.float64]:
        """Return the raw output, shape (n_outputs,), as if the walk ended now."""
        ...
