"""The lazy prediction of one row, one feature at a time."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from farthing.costs import CostSheet, RowLedger
from farthing.errors import TableError, WalkError
from farthing.notebook import html_table
from farthing.table import Schema
from farthing.typing import Flags, Floats
from farthing.walks.decision import REFUSED, Ask, Decision, Refusal
from farthing.walks.panels import WITHIN, check_panel, choose_panel
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
    caps : mapping of str to float, optional
        The most that the walk may take of further resources of the sheet; as the budget.

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
        caps: Mapping[str, float] | None = None,
    ) -> None:
        self._schema = schema
        self._sheet = sheet
        self._conclude = conclude
        self._budget = None if budget is None else float(budget)
        # Answers as they were given, not encoded: another process can replay them.
        self._told: dict[str, object] = {}
        self._rounds: list[tuple[str, ...]] = []  # the features that were answered together
        owned = _encode_known(schema, known or {})
        ledger = RowLedger(sheet, self._budget, tuple(owned), caps)
        self._row_walk = RowWalk(policy, ledger, owned)
        self._model = model
        self._seed = seed
        self._fall_factor = fall_factor
        self._explained: Reasoning | None = None
        self._read: list[weakref.ref[Reason]] = []  # reasons of the question of now

    @property
    def ask(self) -> Ask | None:
        """The feature wanted next and its price; None when the walk has ended."""
        column = self._row_walk.column
        if column is None:
            return None
        return self._question(column, float(self._row_walk.ledger.price(column)))

    def _question(self, column: int, price: float) -> Ask:
        group = int(self._sheet.group_of[column])
        return Ask(
            feature=self._sheet.features[column],
            price=price,
            group=self._sheet.group_names[group] if group >= 0 else None,
            resources=self._takes(column),
            explain=partial(self._reason, column),
        )

    def _takes(self, column: int) -> dict[str, float] | None:
        """Return what a feature takes of each further resource, given what is owned."""
        sheets, name = self._sheet.resources, self._sheet.features[column]
        if not sheets:  # the usual case
            return None
        owned = self._row_walk.ledger.owned
        return {each: sheet.price(name, owned) for each, sheet in sheets.items()}

    def panel(
        self, k: int, *, within: float = WITHIN, watch: Callable[[], None] | None = None
    ) -> tuple[Ask, ...]:
        """Return up to k questions to ask at once, for when each round of questions costs waiting.

        The first is `ask`; the others are those that the walk is likely to ask for later on, by the training
        rows at the nodes of its trees. Answer them with `tell_panel`. What was bought and is not needed in
        the end is paid for. The walk never exceeds its budget, and no panel leaves a likely continuation
        short of money.

        Parameters
        ----------
        k : int
            The largest number of questions.
        within : float
            What the walk may waste on answers that it would not have asked for one by one, as a share of
            what it is expected to spend one by one. 0 asks only what will be asked for in any case, as far
            as that can be known; infinity asks k questions if any continuation has so many.
        watch : callable, optional
            Called now and then; may raise to stop.

        Returns
        -------
        tuple of Ask
            Empty when the walk has ended. The price of each is that after those before it, so that the
            prices add up to that of the panel.
        """
        row_walk, asks = self._row_walk, list[Ask]()
        columns = choose_panel(
            row_walk, self._model, self._seed, check_panel(k, within), within=within, watch=watch
        )
        for place, column in enumerate(columns):
            before = row_walk.ledger.price_all(columns[:place])
            price = row_walk.ledger.price_all(columns[: place + 1]) - before
            asks.append(self._question(column, price if place else float(row_walk.ledger.price(column))))
        return tuple(asks)

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
        reason = self._reasoning(self._model).of_question(self._row_walk)
        self._read.append(weakref.ref(reason))
        return reason

    def _reasoning(self, model: Explained) -> Reasoning:
        if self._explained is None:
            columns = getattr(self._schema, "columns", ())
            self._explained = Reasoning(model, self._seed, self._conclude, columns, self._fall_factor)
        return self._explained

    def _complete_reasons(self) -> None:
        """Complete the reasons of this question that somebody holds, before the walk goes on."""
        if self._read:
            for held in self._read:
                if (reason := held()) is not None:
                    reason.complete()
            self._read.clear()

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
        self._complete_reasons()
        self._note({self._sheet.features[column]: value})
        self._row_walk.buy(encoded)

    def tell_panel(self, answers: Mapping[str, object]) -> None:
        """Answer several questions at once, and pay for all of them.

        The policy gets the answers that it wants. The others are owned: if it wants one of them later, it
        gets it for free. With the answer to `ask` alone it is the same as `tell`.

        Parameters
        ----------
        answers : mapping of str to object
            Values by feature, as in `tell`; `REFUSED` refuses. Usually those of a `panel`, some or all.

        Raises
        ------
        WalkError
            If a feature is owned or was answered already, or the budget does not cover all of them; the walk
            is as it was.
        TableError
            If a feature is unknown or a value is not one of its column.
        """
        if not answers:
            return
        columns = {self._schema.index(name): name for name in answers}
        if again := [name for column, name in columns.items() if self._row_walk.is_answered(column)]:
            raise WalkError(
                f"{again[0]!r} is owned, was answered already, or is over the budget; a panel has new "
                "features only"
            )
        values: dict[int, Any] = {}
        refused = []
        for column, name in columns.items():
            if answers[name] is REFUSED:
                refused.append(column)
                continue
            try:
                values[column] = self._schema.encode_value(column, answers[name])
            except TableError as error:
                error.column = name
                raise
            _warn_if_unseen(self._schema, column, answers[name], values[column])
        if not self._row_walk.ledger.affords_all(values):
            raise WalkError(
                f"the panel {', '.join(map(repr, answers))} costs "
                f"{self._row_walk.ledger.price_all(values):g}, more than is left of the budget; ask for the "
                "features of walk.panel(k)"
            )
        self._complete_reasons()
        self._row_walk.buy_panel(values, refused)
        self._note(dict(answers))

    def _note(self, answers: dict[str, object]) -> None:
        """Record a round of answers."""
        self._told.update(answers)
        self._rounds.append(tuple(answers))

    def refuse(self) -> None:
        """Refuse: the feature is not available. That is free, and it is not asked for again."""
        column = self._asked("refuse")
        self._complete_reasons()
        self._note({self._sheet.features[column]: REFUSED})
        self._row_walk.refuse()

    def replay(
        self,
        answers: Mapping[str, object] | Sequence[Mapping[str, object]],
        watch: Callable[[], None] | None = None,
    ) -> None:
        """Answer from ``answers`` up to the first question without one; `REFUSED` refuses.

        Parameters
        ----------
        answers : mapping of str to object, or sequence of such mappings
            A mapping is asked for what the walk wants. A sequence is the `history` of another walk, round by
            round, and all of it is told.
        watch : callable, optional
            Called after each batch of answers; may raise to stop the replay.
        """
        if type(answers) is not dict and not isinstance(answers, Mapping):
            for together in answers:
                self.tell_panel(together)
                if watch is not None:
                    watch()
            return
        self._complete_reasons()
        features, row_walk, schema = self._sheet.features, self._row_walk, self._schema
        # Only a plain dict is read in advance; another mapping may have to measure, and pay for, each value.
        ready: dict[int, float] = {}
        if type(answers) is dict and row_walk.hears_ahead and isinstance(schema, Schema):
            ready = _encodable(schema, answers)
        refused = {column for column in ready if answers[features[column]] is REFUSED}
        while (column := row_walk.column) is not None and features[column] in answers:
            done = row_walk.answer_ahead(ready, refused)
            for answered in done:
                name = features[answered]
                self._told[name] = answers[name]
                self._rounds.append((name,))
                # Only NaN may be an unseen category: the other answers, nearly all, cost one comparison.
                if math.isnan(ready[answered]) and answered not in refused:
                    _warn_if_unseen(schema, answered, answers[name], ready[answered])
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
    def history(self) -> list[dict[str, object | Refusal]]:
        """The answers and refusals round by round, for `replay` where questions were asked in panels."""
        return [{name: self._told[name] for name in together} for together in self._rounds]

    @property
    def n_rounds(self) -> int:
        """How often the walk had to wait for answers: a panel counts once."""
        return len(self._rounds)

    @property
    def spent(self) -> float:
        """The spend so far: ``sheet.total`` of the acquired features."""
        return float(self._row_walk.ledger.spent)

    @property
    def resources(self) -> dict[str, float]:
        """What the walk took so far of each further resource of the sheet: the sum over the features."""
        return self._row_walk.ledger.taken()

    def waited(self, resource: str) -> float:
        """Return how much of a resource went by, if the features of a panel take it at the same time.

        Parameters
        ----------
        resource : str
            A resource such as minutes. A panel counts with the longest of its members, rounds add up.

        Returns
        -------
        float
            At most ``resources[resource]``, which is the sum over all features and what a cap limits.
        """
        if resource not in self._sheet.resources:
            raise WalkError(
                f"the cost sheet has no resource {resource!r}; it has "
                f"{', '.join(map(repr, self._sheet.resources)) or 'none'}"
            )
        sheet, waited = self._sheet.resources[resource], 0.0
        ledger = self._row_walk.ledger
        owned = ledger.owned & ~ledger.bought
        for together in self._rounds:
            paid = [sheet.column(name) for name in together if ledger.bought[sheet.column(name)]]
            waited += max((sheet.price(sheet.features[column], owned) for column in paid), default=0.0)
            owned[paid] = True
        return waited

    @property
    def left(self) -> float | None:
        """What is left of the budget; None without a budget."""
        return None if self._budget is None else max(0.0, self._budget - self.spent)

    @property
    def decision(self) -> Decision:
        """The prediction so far; valid at any time, final when `ask` is None."""
        row_walk = self._row_walk
        prediction, probabilities = self._conclude(row_walk.output()[np.newaxis], row_walk.looked[np.newaxis])
        taken = row_walk.ledger.taken() if self._sheet.resources else None
        return Decision(prediction, probabilities, self.spent, row_walk.ledger.names, taken)

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
    columns = schema.columns
    for name, answer in answers.items():
        if (column := schema.find(name)) is not None:
            if type(answer) is float and columns[column].kind == "numeric":
                values[column] = answer  # the fast path, as in try_value
                continue
            value = math.nan if answer is REFUSED else columns[column].try_value(answer)
            if value is not None:
                values[column] = value
    return values
