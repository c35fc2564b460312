"""The rules of a walk over columns and encoded values, shared by walks and array calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from farthing._core import Judged, SplitJudge, Ways
from farthing.costs import RowLedger
from farthing.typing import Flags, Floats
from farthing.walks.policy import Policy, pass_refusal
from farthing.walks.split import Foresight


class RowWalk:
    """The walk of one row under a policy.

    A column wanted again gets the same answer without a question. A column over the budget is refused without
    a question: it is missing, as it is in training under a budget. So every question is new and affordable.
    A call, such as the evaluation of trees, needs no answer from outside: it is bought if the budget allows,
    and the policy hears 1, else NaN, and the call is not made.

    Parameters
    ----------
    policy : Policy
        A fresh policy, for this row only.
    ledger : RowLedger
        The ledger of the row; it owns the columns in ``known``.
    known : mapping of int to float, optional
        Encoded values of the columns owned from the start.

    Attributes
    ----------
    column : int or None
        The column asked for; None at the end.
    looked : ndarray of bool, shape (n_features,)
        What the prediction depends on: columns and calls bought, and known columns that the policy wanted.
    """

    def __init__(self, policy: Policy, ledger: RowLedger, known: Mapping[int, Any] | None = None) -> None:
        self.policy = policy
        self.ledger = ledger
        self.column: int | None = None
        self.looked: Flags = np.zeros(len(ledger.sheet.features), dtype=np.bool_)
        self._n_columns = ledger.sheet.n_columns
        self._known = frozenset(known or ())
        self._answers: dict[int, Any] = dict(known or {})
        self._refused: set[int] = set()
        # Answers that the policy has not wanted yet: values that were bought ahead, and refusals.
        self._ahead: set[int] = set()
        # The columns of each round that was answered together, with the number of answers before it.
        self._panels: list[tuple[int, tuple[int, ...]]] = []
        #: What the policy wanted and the budget did not allow, in order.
        self.too_expensive: list[int] = []
        #: Whether the policy takes answers in advance, and returns those that it wanted.
        self.hears_ahead = hasattr(policy, "hear_ahead")
        self._advance()

    def buy(self, value: Any) -> None:
        """Answer the question with an encoded value, usually a number, and pay for it."""
        column = self._asked()
        # Paid before the policy gets the value: its next choice depends on the updated ledger.
        self.ledger.buy(column)
        self.looked[column] = True
        self._answer(column, value)

    def refuse(self) -> None:
        """Answer the question with a refusal, which is free."""
        column = self._asked()
        self._refused.add(column)
        self._answer(column, np.nan)

    def miss(self) -> None:
        """Answer the question with a missing value that is not paid for, as one that is over the budget."""
        self._answer(self._asked(), np.nan)

    def buy_panel(self, values: Mapping[int, Any], refused: Collection[int] = ()) -> None:
        """Take the answers for several columns at once, whether the policy wants them next, later or never.

        All of them are paid for before the policy gets any. It hears those that it wants; the others are
        owned, and it gets them for free if it wants them later.

        Parameters
        ----------
        values : mapping of int to object
            Encoded values by column; none of them may be answered already.
        refused : collection of int
            Columns that are refused, which is free.

        Raises
        ------
        ValueError
            If the budget does not cover all of the values; nothing has changed then.
        """
        self.ledger.buy_all(values)
        self._panels.append((len(self._answers), (*values, *refused)))
        self._answers.update(values)
        self._answers.update(dict.fromkeys(refused, np.nan))
        self._refused.update(refused)
        self._ahead.update(values, refused)
        self._advance()

    def answer_ahead(self, values: Mapping[int, float], refused: Collection[int] = ()) -> list[int]:
        """Answer in one call all questions up to the first one that ``values`` does not answer.

        Nothing happens unless the policy takes answers ahead (``hear_ahead``) and the budget covers all of
        them: then it covers any subset, in any order, and no question has to be checked by itself.

        Parameters
        ----------
        values : mapping of int to float
            Encoded values by column; NaN for those refused.
        refused : collection of int
            Which of them are refusals, which are free.

        Returns
        -------
        list of int
            The columns that were answered, in the order of the questions.
        """
        if not self.hears_ahead or self.column not in values:
            return []
        if self.ledger.is_limited and not self.ledger.affords_all(set(values).difference(refused)):
            return []
        # Earlier answers, refusals by the budget among them, take precedence over new ones.
        new = set(refused).difference(self._answers)
        unheard = new | (self._ahead & self._refused)
        wanted = self.policy.hear_ahead({**values, **self._answers}, unheard)  # type: ignore[attr-defined]
        answered = [column for column in wanted if column not in self._answers]
        bought = [column for column in answered if column not in refused] if refused else answered
        self.ledger.buy_all(bought)
        for column in wanted:
            self.looked[column] = column not in unheard
        self._ahead.difference_update(wanted)
        for column in answered:
            self._answers[column] = values[column]
        self._refused.update(new.intersection(answered))
        self._advance()
        return answered

    def resume(self) -> None:
        """Ask the policy again, after it was changed at the end of the walk."""
        if self.column is None:
            self._advance()

    def fork(self, policy: Policy) -> RowWalk:
        """Return another walk that stands where this one does.

        Parameters
        ----------
        policy : Policy
            A fresh one of the same model and seed.
        """
        known = {column: self._answers[column] for column in self._known}
        fork = RowWalk(policy, self.ledger.fresh(known), known)
        order = list(self._answers)
        begin = 0
        for place, columns in (*self._panels, (len(order), ())):
            fork.answer_from({column: self._answers[column] for column in order[begin:place]}, self._refused)
            begin = place
            if columns:
                refused = self._refused.intersection(columns)
                values = {column: self._answers[column] for column in columns if column not in refused}
                fork.buy_panel(values, [column for column in columns if column in refused])
                begin += len(columns)
        return fork

    def foresee(self, values: Sequence[float]) -> Foresight | None:
        """Return where answers lead to; None if the policy cannot tell, or as in `judged`."""
        told: Callable[[int, Sequence[float], RowLedger], Foresight | None] | None
        told = getattr(self.policy, "foresee", None)
        if told is None or self._limits_calls:
            return None
        found = told(self._asked(), values, self.ledger)
        return found if found is not None and self._asks_outside(found.columns) else None

    def judged(self, judge: SplitJudge, ways: Ways) -> Judged | None:
        """Return what the answers to the question would do to the belief, from one call of the core.

        None if the policy cannot tell, or if the walk would answer a question after one of them itself: what
        is known, was bought ahead or is over the budget, see `fork`; or if calls have a price under a limit.
        """
        told = getattr(self.policy, "judged", None)
        if told is None or self.column is None or self._limits_calls:
            return None
        found: Judged | None = told(judge, ways, bool(np.count_nonzero(self.looked)))
        return found if found is not None and self._asks_outside(found.columns) else None

    @property
    def _limits_calls(self) -> bool:
        """Whether a limit may forbid a call; without one they are made when due, and change no question."""
        return len(self.looked) > self._n_columns and self.ledger.is_limited

    def _asks_outside(self, columns: Sequence[int | None]) -> bool:
        """Return whether the walk would ask for each of some columns, if it came after the question of now.

        None, or a number below zero, is no question.
        """
        now, is_limited = self._asked(), self.ledger.is_limited
        for asked in columns:
            if asked is None or asked < 0:
                continue
            if asked >= self._n_columns or asked in self._answers:
                return False
            if is_limited and not self.ledger.affords_all((now, asked)):
                return False
        return True

    def answer_from(self, values: Mapping[int, Any], refused: Collection[int] = ()) -> None:
        """Answer all questions up to the first one that ``values`` does not answer; parameters as in `fork`.

        Parameters
        ----------
        values : mapping of int to object
            Encoded values by column; NaN for those refused.
        refused : collection of int
            Columns that are refused.
        """
        while self.column is not None and self.column in values:
            if not self.answer_ahead(values, [column for column in refused if column in values]):
                self.refuse() if self.column in refused else self.buy(values[self.column])

    def is_open(self, column: int) -> bool:
        """Return whether a column may still be asked for."""
        return column not in self._answers and self.ledger.affords(column)

    def has_answer(self, columns: frozenset[int]) -> bool:
        """Return whether any of some columns is answered."""
        return not columns.isdisjoint(self._answers)

    def is_answered(self, column: int) -> bool:
        """Return whether a column is known, was answered or refused, or was over the budget."""
        return column in self._answers

    @property
    def idle(self) -> tuple[int, ...]:
        """The columns that were bought ahead and that the policy has not wanted yet."""
        return tuple(sorted(self._ahead - self._refused))

    @property
    def answers(self) -> dict[int, Any]:
        """The encoded answers so far, with known columns; those refused or over the budget are NaN."""
        return dict(self._answers)

    @property
    def refused(self) -> tuple[int, ...]:
        """The columns that were refused."""
        return tuple(sorted(self._refused))

    def calls_made(self) -> list[int]:
        """Return the calls that were bought so far, counted from the first call of the sheet."""
        return np.flatnonzero(self.ledger.bought[self._n_columns :]).tolist()

    def output(self) -> Floats:
        """Return the policy's raw output so far, shape (n_outputs,)."""
        return self.policy.output()

    def _asked(self) -> int:
        if self.column is None:
            raise RuntimeError("the walk has ended")
        return self.column

    def _answer(self, column: int, value: Any) -> None:
        self._answers[column] = value
        self._pass_on(column)
        self._advance()

    def _pass_on(self, column: int) -> None:
        """Give the policy the answer for a column."""
        if column in self._refused:
            pass_refusal(self.policy, column)
        else:
            self.policy.hear(column, self._answers[column])

    def _advance(self) -> None:
        """Advance to the next question that needs an answer from outside."""
        while (column := self.policy.wants(self.ledger)) is not None:
            if column not in self._answers:
                if self.ledger.affords(column):
                    if column < self._n_columns:
                        break
                    self.ledger.buy(column)
                    self.looked[column] = True
                    self._answers[column] = 1.0
                else:
                    # Refused for good: a column that is too expensive now is never asked again, even if the
                    # purchase of another member of its group lowers its price.
                    self._answers[column] = np.nan
                    self.too_expensive.append(column)
            elif column in self._known:
                self.looked[column] = True
            elif column in self._ahead:
                self._ahead.discard(column)
                self.looked[column] = column not in self._refused
            self._pass_on(column)
        self.column = column
