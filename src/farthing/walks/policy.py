"""The interface between a method and its walks: the column needed next, and the output so far."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from farthing.costs import RowLedger
from farthing.typing import Floats


class Policy(Protocol):
    """The part of a walk that differs between methods.

    A policy belongs to one row. It sees no value that it did not want, so it cannot depend on one. What it
    wants must be a pure function of the model, the seed, the ledger and the answers so far, and it must end
    after finitely many answers. A column wanted again is answered again, with the same value, for free.

    A policy for which a refused value is not the same as a missing one has a method ``refuse(column)``, too;
    see `pass_refusal`.
    """

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column, or the call, needed next; None when the prediction is finished.

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
            Its encoded value; NaN if it is missing, over the budget, or a category never seen, and if it is
            refused and the policy has no ``refuse``.
        """
        ...

    def output(self) -> Floats:
        """Return the raw output, shape (n_outputs,), as if the walk ended now."""
        ...


class Hears(Protocol):
    """The part of a policy that takes answers."""

    def hear(self, column: int, value: float) -> None:
        """Receive the answer for the column just wanted."""
        ...


def pass_refusal(policy: Hears, column: int) -> None:
    """Tell a policy that the column just wanted is refused; it is missing if the policy knows no difference.

    A missing value was paid for and may say something about the row: a test that nobody ordered. A refusal
    says nothing. So trees send the two different ways, see `farthing.trees.Predictor.refused_ways`.
    """
    refuse = getattr(policy, "refuse", None)
    if refuse is None:
        policy.hear(column, np.nan)
    else:
        refuse(column)
