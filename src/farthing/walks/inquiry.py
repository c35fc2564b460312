"""The rules of a walk, in columns and encoded values; walks and array calls both run on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.walks.policy import Policy


class Inquiry:
    """One row's questions to a policy's end.

    A column already answered is answered again without a question; a column that the budget cannot bear is
    refused without a question. So a question put is always new and affordable.

    Parameters
    ----------
    policy : Policy
        A fresh policy, for this row only.
    ledger : RowLedger
        The row's account; owns what ``known`` holds.
    known : mapping of int to float, optional
        Encoded values of the columns owned from the start.

    Attributes
    ----------
    column : int or None
        The column in question; None at the end.
    looked : ndarray of bool, shape (n_features,)
        What the prediction has looked at: columns bought, and known columns that the policy wanted.
    """

    def __init__(self, policy: Policy, ledger: RowLedger, known: Mapping[int, Any] | None = None) -> None:
        self.policy = policy
        self.ledger = ledger
        self.column: int | None = None
        self.looked: NDArray[np.bool_] = np.zeros(len(ledger.owned), dtype=np.bool_)
        self._known = frozenset(known or ())
        self._answers: dict[int, Any] = dict(known or {})
        self._advance()

    def buy(self, value: Any) -> None:
        """Answer the question with an encoded value, as a rule a number, and pay for it."""
        column = self._asked()
        self.ledger.buy(column)
        self.looked[column] = True
        self._answer(column, value)

    def refuse(self) -> None:
        """Answer the question with a refusal: missing, and free."""
        self._answer(self._asked(), np.nan)

    def resume(self) -> None:
        """Look for a question again, at an end that the policy has since been moved on from."""
        if self.column is None:
            self._advance()

    def output(self) -> NDArray[np.float64]:
        """Return the policy's raw output so far, shape (n_outputs,)."""
        return self.policy.output()

    def _asked(self) -> int:
        if self.column is None:
            raise RuntimeError("the inquiry has ended")
        return self.column

    def _answer(self, column: int, value: Any) -> None:
        self._answers[column] = value
        self.policy.hear(column, value)
        self._advance()

    def _advance(self) -> None:
        """Go on to the next question that only the world can answer."""
        while (column := self.policy.wants(self.ledger)) is not None:
            if column not in self._answers:
                if self.ledger.affords(column):
                    break
                self._answers[column] = np.nan
            elif column in self._known:
                self.looked[column] = True
            self.policy.hear(column, self._answers[column])
        self.column = column
