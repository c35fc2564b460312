"""The rules of a walk, in columns and encoded values; walks and array calls both run on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
        self.looked: NDArray[np.bool_] = np.zeros(len(ledger.sheet.features), dtype=np.bool_)
        self._known = frozenset(known or ())
        self._answers: dict[int, Any] = dict(known or {})
        #: Whether the policy can hear answers before it wants them, and say which it wanted.
        self.hears_ahead = hasattr(policy, "hear_at_hand")
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

    def answer_at_hand(self, values: Mapping[int, float], refused: Collection[int] = ()) -> list[int]:
        """Answer all at once, from what is at hand, up to the first question that it does not hold.

        Nothing happens unless the policy can hear answers ahead (``hear_at_hand``), and the budget bears all
        that is at hand, so that it bears any part of it in any order.

        Parameters
        ----------
        values : mapping of int to float
            Encoded values by column; NaN for those refused.
        refused : collection of int
            Which of them are refusals, and so are free.

        Returns
        -------
        list of int
            The columns that were answered, in the order of the questions.
        """
        if not self.hears_ahead or self.column not in values:
            return []
        if self.ledger.budget is not None and not self.ledger.affords_all(set(values).difference(refused)):
            return []
        wanted = self.policy.hear_at_hand({**values, **self._answers})  # type: ignore[attr-defined]
        answered = [column for column in wanted if column not in self._known]
        bought = [column for column in answered if column not in refused] if refused else answered
        self.ledger.buy_all(bought)
        for column in wanted:
            self.looked[column] = column not in refused
        for column in answered:
            self._answers[column] = values[column]
        self._advance()
        return answered

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
