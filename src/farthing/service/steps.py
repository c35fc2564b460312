"""One step of a walk as a pure function: all that is known goes in, the next question comes out."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from farthing.base import BudgetedEstimator
from farthing.errors import TableError
from farthing.service.body import MOST_PROBLEMS, BadRequestError, Place, Problem
from farthing.service.schemas import NextRequest, PredictRequest
from farthing.table import Schema
from farthing.walks import REFUSED, Decision, consult

Plain: TypeAlias = dict[str, Any]

# Rows that are predicted between two looks at the clock.
_CHUNK = 512


class TooLongError(Exception):
    """A request took longer than it may."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much.

    Attributes
    ----------
    max_seconds : float
        Time for one request.
    max_rows : int
        Rows of one bulk prediction.
    strict_categories : bool
        Whether a category unseen in fitting is an error.
    """

    max_seconds: float = math.inf
    max_rows: int = 10_000
    strict_categories: bool = False


@dataclass(slots=True)
class Clock:
    """A deadline, looked at between questions and between chunks of rows."""

    seconds: float
    begin: float = field(default_factory=time.perf_counter)

    def check(self) -> None:
        """Raise TooLongError if the time is over."""
        if time.perf_counter() - self.begin > self.seconds:
            raise TooLongError


def next_step(model: BudgetedEstimator, request: NextRequest, limits: Limits) -> Plain:
    """Replay a walk over what a client knows, up to the first question it has no answer for.

    Parameters
    ----------
    model : fitted model
    request : NextRequest
        All that the client knows.
    limits : Limits

    Returns
    -------
    dict
        The fields of ``NextAnswer`` but its version.

    Raises
    ------
    BadRequestError
        If a feature is unknown or known twice, or a value cannot stand in its column.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> model = BudgetTreeClassifier(costs=[2, 5]).fit(np.eye(2), ["no", "yes"])
    >>> next_step(model, NextRequest(known={"x1": 1}), Limits())["ask"]
    {'feature': 'x0', 'price': 2.0, 'group': None}
    >>> step = next_step(model, NextRequest(known={"x0": 0, "x1": 1}), Limits())
    >>> step["ask"], step["decision"]["prediction"], step["spent"], step["unused"]
    (None, 'yes', 2.0, ['x1'])
    """
    unseen = _check_next(model._questions, request, limits.strict_categories)
    clock = Clock(limits.max_seconds)
    walk = model.walk(seed=request.seed, budget=request.budget, known=request.given)
    answers = request.known | dict.fromkeys(request.refused, REFUSED) if request.refused else request.known
    walk.replay(answers, clock.check)
    ask, used, decision = walk.ask, walk.answers, walk.decision
    return {
        "ask": None if ask is None else {"feature": ask.feature, "price": ask.price, "group": ask.group},
        "decision": plain_decision(decision),
        "spent": decision.spent,
        "left": walk.left,
        "unused": [name for name in request.known if name not in used],
        "unseen": unseen,
    }


def predict_rows(
    model: BudgetedEstimator, request: PredictRequest, limits: Limits
) -> tuple[list[Plain], dict[str, int]]:
    """Predict rows in bulk, each as ``farthing.consult(model, row)`` does.

    Parameters
    ----------
    model : fitted model
    request : PredictRequest
        The rows; what a row leaves out is refused.
    limits : Limits

    Returns
    -------
    decisions : list of dict
        The fields of ``DecisionAnswer``, for each row.
    unseen : dict of str to int
        By feature, on how many rows its category was unseen in fitting.

    Raises
    ------
    BadRequestError
        If there are too many rows, or a row does not fit the model.
    TooLongError
        If the time is over before the last row.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> model = BudgetTreeClassifier(costs=[2, 5]).fit(np.eye(2), ["no", "yes"])
    >>> rows = [{"x0": 0, "x1": 1}, {"x1": 1}]
    >>> decisions, unseen = predict_rows(model, PredictRequest(rows=rows), Limits())
    >>> [decision["spent"] for decision in decisions]
    [2.0, 0.0]
    """
    clock = Clock(limits.max_seconds)
    rows, n_rows = request.rows, len(request.rows)
    if n_rows > limits.max_rows:
        raise BadRequestError(
            422,
            [Problem(("rows",), f"{n_rows} rows; at most {limits.max_rows} go in one request", "too_many")],
        )
    budgets = _each(request.budget, n_rows, "budget")
    seeds = _each(request.seeds, n_rows, "seeds")
    unseen = _check_rows(model, rows, limits.strict_categories, clock)
    answers: list[Plain] = []
    for numbers, whole in _runs(model, rows):
        clock.check()
        if whole:
            answers += _decide(model, [rows[i] for i in numbers], budgets[numbers], seeds[numbers])
        else:
            row = numbers.start
            made = consult(model, rows[row], seed=seeds.at(row), budget=budgets.at(row))
            answers.append(plain_decision(made))
    return answers, unseen


def plain_decision(decision: Decision) -> Plain:
    """Return a decision as the fields of ``DecisionAnswer``."""
    likely = decision.probabilities
    return {
        "prediction": decision.prediction,
        "classes": None if likely is None else list(likely),
        "probabilities": None if likely is None else list(likely.values()),
        "spent": decision.spent,
        "acquired": list(decision.acquired),
    }


@dataclass(frozen=True, slots=True)
class _Each:
    """One number for all rows, one for each, or none."""

    given: Any

    def __getitem__(self, numbers: range) -> Any:
        return self.given[numbers.start : numbers.stop] if isinstance(self.given, list) else self.given

    def at(self, row: int) -> Any:
        return self.given[row] if isinstance(self.given, list) else self.given


def _each(given: Any, n_rows: int, name: str) -> _Each:
    if isinstance(given, list) and len(given) != n_rows:
        raise BadRequestError(422, [Problem((name,), f"{len(given)} entries for {n_rows} rows", "length")])
    return _Each(given)


def _runs(model: BudgetedEstimator, rows: Sequence[Mapping[str, object]]) -> Iterator[tuple[range, bool]]:
    """Cut the rows into chunks that hold every feature, and single rows that do not."""
    if not model._rows_alone:
        yield range(len(rows)), True  # one query
        return
    # Devices send messages, not tables.
    width, begin = len(model.schema_) if model._asks_columns else -1, 0
    while begin < len(rows):
        end = begin
        while end < min(len(rows), begin + _CHUNK) and len(rows[end]) == width:
            end += 1
        whole = end > begin
        yield range(begin, end if whole else begin + 1), whole
        begin = end if whole else begin + 1


def _decide(model: BudgetedEstimator, rows: list[dict[str, Any]], budgets: Any, seeds: Any) -> list[Plain]:
    """Predict rows that hold every feature, by the array calls."""
    made = model.decide(_table(model.schema_, rows), budget=budgets, seeds=seeds)
    names = model.costs_.features
    classes = None if made.probabilities is None else model.classes_.tolist()
    likely = [None] * len(rows) if made.probabilities is None else made.probabilities.tolist()
    return [
        {
            "prediction": prediction,
            "classes": classes,
            "probabilities": probabilities,
            "spent": spent,
            "acquired": [name for name, paid in zip(names, bought, strict=True) if paid],
        }
        for prediction, probabilities, spent, bought in zip(
            made.prediction.tolist(), likely, made.spent.tolist(), made.acquired.tolist(), strict=True
        )
    ]


def _table(schema: Schema, rows: list[dict[str, Any]]) -> Any:
    """Return rows as what the model was fitted on: columns with names, or an array."""
    if schema.named:
        return {name: [row[name] for row in rows] for name in schema.names}
    table = np.empty((len(rows), len(schema)), dtype=object)
    for number, row in enumerate(rows):
        table[number] = [row[name] for name in schema.names]
    return table


# What may be wrong with a request.


def _check_next(schema: Schema, request: NextRequest, strict: bool) -> list[str]:
    """Return the features whose category was unseen, or raise BadRequestError with all that is wrong."""
    problems: list[Problem] = []
    unseen: list[str] = []
    for place, values in ((("given",), request.given), (("known",), request.known)):
        _check_values(schema, values, place, strict=strict, problems=problems, unseen=unseen)
    for name in request.known.keys() & request.given.keys():
        problems.append(Problem(("known", name), f"{name!r} is in given as well; send it once", "twice"))
    for position, name in enumerate(request.refused):
        if len(problems) >= MOST_PROBLEMS:
            break
        if name in request.known or name in request.given:
            message = f"{name!r} is refused and has a value; send one of both"
            problems.append(Problem(("refused", position), message, "twice"))
        elif name not in schema:
            problems.append(_unknown(schema, name, ("refused", position)))
    if problems:
        raise BadRequestError(422, problems)
    return unseen


def _check_rows(
    model: BudgetedEstimator, rows: Sequence[Mapping[str, object]], strict: bool, clock: Clock
) -> dict[str, int]:
    """Return on how many rows each feature is unseen; raise BadRequestError at the first bad row."""
    problems: list[Problem] = []
    unseen: list[str] = []
    for number, row in enumerate(rows):
        _check_values(
            model._questions, row, ("rows", number), strict=strict, problems=problems, unseen=unseen
        )
        if not model._rows_alone and len(row) < len(model.schema_):
            absent = next(name for name in model.schema_.names if name not in row)
            message = (
                f"{absent!r} is left out; this model ranks whole queries and needs every feature, or null"
            )
            problems.append(Problem(("rows", number), message, "missing"))
        if problems:
            raise BadRequestError(422, problems)
        if number % _CHUNK == 0:
            clock.check()
    return dict(Counter(unseen))


def _check_values(
    schema: Schema,
    values: Mapping[str, object],
    place: Place,
    *,
    strict: bool,
    problems: list[Problem],
    unseen: list[str],
) -> None:
    """Add to the problems and to the unseen categories what is wrong with named values."""
    for name, value in values.items():
        if len(problems) >= MOST_PROBLEMS:  # more would not be told
            return
        if name not in schema:
            problems.append(_unknown(schema, name, (*place, name)))
            continue
        column = schema.columns[schema.index(name)]
        try:
            encoded = column.encode_value(value)
        except TableError as error:
            problems.append(Problem((*place, name), str(error), "type"))
            continue
        if value is not None and isinstance(encoded, float) and math.isnan(encoded):
            unseen.append(name)
            if strict:
                listed = ", ".join(map(repr, column.categories[:10]))
                message = f"column {name!r}: {value!r} is not among the categories: {listed}"
                problems.append(Problem((*place, name), message, "category"))


def _unknown(schema: Schema, name: str, place: Place) -> Problem:
    try:
        schema.index(name)
    except TableError as error:
        return Problem(place, str(error), "unknown")
    raise AssertionError(name)
