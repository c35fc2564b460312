"""The lazy prediction of one row, one feature at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from farthing.costs import CostSheet, RowLedger
from farthing.errors import WalkError
from farthing.notebook import html_table
from farthing.table import Schema
from farthing.typing import Flags, Floats
from farthing.walks.decision import REFUSED, Ask, Decision, Refusal
from farthing.walks.policy import Policy
from farthing.walks.reason import Reason, StopReason
from farthing.walks.reasoning import Explained, Reasoning
from farthing.walks.row_walk import RowWalk

Conclude: TypeAlias = Callable[[Floats, Flags], tuple[Any, dict[Any, float] | None]]
"""From raw outputs (1, n_outputs) and columns used (1, n_features) to (prediction, probabilities or None)."""


class AnswerSchema(Protocol):
    """The part of the interface of `Schema` that a walk needs; devices have a substitute."""

    def index(self, name: str) -> int:
        """Return the column with a name, or raise TableError."""
        ...

    def encode_value(self, column: int, value: object, /) -> Any:
        """Return an answer as the policy takes it, or raise TableError."""
        ...


class Walk:
    """A prediction that asks for the features it needs, one at a time; returned by ``model.walk()``.

    The next question is a pure function of the model, the seed and the answers so far, so a walk can be
    resumed anywhere by giving a new one the same answers (`replay`).

    Parameters
    ----------
    policy : Policy
        Chooses the next column for this row.
    schema : Schema
        Names and types of the columns.
    sheet : CostSheet
        Prices, in the order of the columns.
    conclude : callable
        Takes the raw output and the columns used; returns the prediction and the probabilities.
    budget : float, optional
        The budget; questions over it are refused by the walk itself. None means no limit.
    known : mapping of str to object, optional
        Features owned from the start, which cost nothing and are never asked for.
    model : Explained, optional
        The fitted model, which gives the reasons of questions; None gives none.
    seed : int, optional
        The seed that the policy was made with.
    fall_factor : float
        By which the falls of risk that reasons predict are multiplied, see `farthing.walks.realised`.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.costs import CostSheet
    >>> from farthing.table import Schema
    >>> class Both:  # wants both columns of any row, and adds them up
    ...     def __init__(self):
    ...         self.heard = []
    ...     def wants(self, ledger):
    ...         return len(self.heard) if len(self.heard) < 2 else None
    ...     def hear(self, column, value):
    ...         self.heard.append(value)
    ...     def output(self):
    ...         return np.array([np.nansum(self.heard)])
    >>> schema = Schema.learn(np.zeros((1, 2)))
    >>> walk = Walk(Both(), schema, CostSheet([3, 5]), lambda output, looked: (float(output[0, 0]), None))
    >>> walk.ask
    Ask(feature='x0', price=3.0, group=None)
    >>> walk.tell(40)
    >>> walk.tell(2)
    >>> walk.decision
    Decision(prediction=42.0, probabilities=None, spent=8.0, acquired=('x0', 'x1'))
    """

    def __init__(
        self,
        policy: Policy,
        schema: AnswerSchema,
        sheet: CostSheet,
        conclude: Conclude,
        *,
        budget: float | None = None,
        known: Mapping[str, object] | None = None,
        model: Explained | None = None,
        seed: int | None = None,
        fall_factor: float = 1.0,
    ) -> None:
        self._schema = schema
        self._sheet = sheet
        self._conclude = conclude
        self._budget = None if budget is None else float(budget)
        # Answers as they were given, not encoded: another process can replay them.
        self._told: dict[str, object] = {}
        owned = _encode_known(schema, known or {})
        ledger = RowLedger(sheet, self._budget, tuple(owned))
        self._row_walk = RowWalk(policy, ledger, owned)
        self._model = model
        self._seed = seed
        self._fall_factor = fall_factor

    @property
    def ask(self) -> Ask | None:
        """The feature wanted next and its price; None when the walk has ended."""
        column = self._row_walk.column
        if column is None:
            return None
        group = int(self._sheet.group_of[column])
        return Ask(
            feature=self._sheet.features[column],
            price=float(self._row_walk.ledger.price(column)),
            group=self._sheet.group_names[group] if group >= 0 else None,
            explain=partial(self._reason, column),
        )

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the walk has ended; None while it asks, and of a walk without a model."""
        if self._row_walk.column is not None or self._model is None:
            return None
        return self._reasoning(self._model).of_end(self._row_walk)

    def _reason(self, column: int) -> Reason | None:
        if self._model is None:
            return None
        if self._row_walk.column != column:
            raise WalkError(
                f"the walk has gone on from {self._sheet.features[column]!r}; read the reason of a question "
                "before you answer it"
            )
        return self._reasoning(self._model).of_question(self._row_walk)

    def _reasoning(self, model: Explained) -> Reasoning:
        columns = getattr(self._schema, "columns", ())
        return Reasoning(model, self._seed, self._conclude, columns, self._fall_factor)

    def tell(self, value: object) -> None:
        """Answer the question and pay for it.

        Parameters
        ----------
        value : object
            The feature's value as a table would hold it. NaN or None: measured, missing, and paid for. A
            value that its column cannot hold is a TableError and leaves the walk as it was. A category that
            no training row had counts as missing, with an UnseenCategoryWarning.
        """
        if value is REFUSED:
            self.refuse()
            return
        column = self._asked("tell")
        # Encoded before anything changes, so that an invalid value leaves the walk as it was.
        encoded = self._schema.encode_value(column, value)
        _warn_if_unseen(self._schema, column, value, encoded)
        self._told[self._sheet.features[column]] = value
        self._row_walk.buy(encoded)

    def refuse(self) -> None:
        """Refuse: the feature is not available. That is free, and it is not asked for again."""
        column = self._asked("refuse")
        self._told[self._sheet.features[column]] = REFUSED
        self._row_walk.refuse()

    def replay(self, answers: Mapping[str, object], watch: Callable[[], None] | None = None) -> None:
        """Answer from ``answers`` up to the first question without one; `REFUSED` refuses.

        ``watch`` is called after each batch of answers, and may raise to stop the replay.
        """
        features, row_walk, schema = self._sheet.features, self._row_walk, self._schema
        # Only a plain dict is read in advance; another mapping may have to measure, and pay for, each value.
        ready: dict[int, float] = {}
        if type(answers) is dict and row_walk.hears_ahead and isinstance(schema, Schema):
            ready = _encodable(schema, answers)
        refused = {column for column in ready if answers[features[column]] is REFUSED}
        while (column := row_walk.column) is not None and features[column] in answers:
            done = row_walk.answer_ahead(ready, refused)
            for answered in done:
                self._told[features[answered]] = answers[features[answered]]
                if answered not in refused:
                    _warn_if_unseen(schema, answered, answers[features[answered]], ready[answered])
            if not done:  # one by one: the policy takes none in advance, or the budget may not cover all
                self.tell(answers[features[column]])
            if watch is not None:
                watch()

    def resume(self) -> None:
        """Ask the policy again, after it was changed at the end of the walk."""
        self._row_walk.resume()

    @property
    def answers(self) -> dict[str, object | Refusal]:
        """The answers and refusals so far, in order: all that another walk needs to continue from here."""
        return dict(self._told)

    @property
    def spent(self) -> float:
        """The spend so far: ``sheet.total`` of the acquired features."""
        return float(self._row_walk.ledger.spent)

    @property
    def left(self) -> float | None:
        """What is left of the budget; None without a budget."""
        return None if self._budget is None else max(0.0, self._budget - self.spent)

    @property
    def decision(self) -> Decision:
        """The prediction so far; valid at any time, final when `ask` is None."""
        row_walk = self._row_walk
        prediction, probabilities = self._conclude(row_walk.output()[np.newaxis], row_walk.looked[np.newaxis])
        return Decision(prediction, probabilities, self.spent, row_walk.ledger.names)

    def _repr_html_(self) -> str:
        rows = [(name, "refused" if value is REFUSED else str(value)) for name, value in self._told.items()]
        asked = self.ask
        ends = "it has decided" if asked is None else f"it asks for {asked.feature} at {asked.price:g}"
        decision = self.decision
        unit = f" {self._sheet.unit}" if self._sheet.unit else ""
        title = f"Prediction {decision.prediction!s}, spent {self.spent:g}{unit}; {ends}"
        return html_table(title, ["feature", "answer"], rows)

    def __repr__(self) -> str:
        return f"Walk(ask={self.ask!r}, spent={self.spent!r}, left={self.left!r})"

    def _asked(self, verb: str) -> int:
        column = self._row_walk.column
        if column is None:
            raise WalkError(
                f"{verb} was called, but the walk has ended and asks for nothing; "
                "read walk.decision, and loop only while walk.ask is not None"
            )
        return column


def _encode_known(schema: AnswerSchema, known: Mapping[str, object]) -> dict[int, Any]:
    """Return encoded values by column."""
    columns = {schema.index(name): value for name, value in known.items()}
    encoded = {column: schema.encode_value(column, value) for column, value in columns.items()}
    for column, value in columns.items():
        _warn_if_unseen(schema, column, value, encoded[column])
    return encoded


def _warn_if_unseen(schema: AnswerSchema, column: int, value: object, encoded: Any) -> None:
    """Warn if an answer is a category that no training row had."""
    # Only NaN may be one: the other answers, nearly all, cost one comparison.
    if isinstance(encoded, float) and encoded != encoded and isinstance(schema, Schema):  # noqa: PLR0124
        schema.warn_if_unseen(column, value)


def _encodable(schema: Schema, answers: Mapping[str, object]) -> dict[int, float]:
    """Return the encoded answers by column, without invalid ones, which raise only when they are needed."""
    values: dict[int, float] = {}
    for name, answer in answers.items():
        if name in schema:
            column = schema.index(name)
            value = math.nan if answer is REFUSED else schema.columns[column].try_value(answer)
            if value is not None:
                values[column] = value
    return values
