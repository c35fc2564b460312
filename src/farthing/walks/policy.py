"""The interface between a method and its walks: the column needed next, and the output so far."""

from __future__ import annotations

from typing import Protocol

from farthing.costs import RowLedger
from farthing.typing import Floats


class Policy(Protocol):
    """The part of a walk that differs between methods.

    A policy belongs to one row. It sees no value that it did not want, so it cannot depend on one. What it
    wants must be a pure function of the model, the seed, the ledger and the answers so far, and it must end
    after finitely many answers. A column wanted again is answered again, with the same value, for free.
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
        """Receive the answer for the column just wanted.

        Parameters
        ----------
        column : int
            The column that `wants` returned.
        value : float
            Its encoded value; NaN if it is missing, refused, or a category never seen.
        """
        ...

    def output(self) -> Floats:
        """Return the raw output, shape (n_outputs,), as if the walk ended now."""
        ...
