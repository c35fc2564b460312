"""Checks of a request against the model: unknown features, wrong types, unseen categories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from farthing.base import BudgetedEstimator
from farthing.costs import CostSheet, split_budget
from farthing.errors import TableError
from farthing.service.request_body import MAX_PROBLEMS, BadRequestError, Place, Problem
from farthing.service.request_limits import Deadline
from farthing.service.schemas import NextRequest
from farthing.table import Column, Schema

_MAX_SUGGESTIONS: Final = 3
ROWS_PER_CHECK: Final = 512
"""Rows that are handled between two checks of the deadline."""


def check_next(schema: Schema, request: NextRequest, strict: bool) -> list[str]:
    """Return the features whose category was unseen during fitting.

    Raises
    ------
    BadRequestError
        With all that is wrong, up to MAX_PROBLEMS.
    """
    problems: list[Problem] = []
    unseen: list[str] = []
    for place, values in ((("given",), request.given), (("known",), request.known)):
        _check_values(schema, values, place, strict=strict, problems=problems, unseen=unseen)
    # A feature in both would be paid and free at once.
    for name in request.known.keys() & request.given.keys():
        problems.append(Problem(("known", name), f"{name!r} is in given as well; send it once", "twice"))
    for position, name in enumerate(request.refused):
        if len(problems) >= MAX_PROBLEMS:
            break
        if name in request.known or name in request.given:
            message = f"{name!r} is refused and has a value; send one of the two"
            problems.append(Problem(("refused", position), message, "twice"))
        elif name not in schema:
            problems.append(_unknown(schema, name, ("refused", position), problems))
    if not problems and request.rounds:
        problems += _problems_of_rounds(request)
    if problems:
        raise BadRequestError(422, problems)
    return unseen


def check_budget(sheet: CostSheet, budget: object) -> None:
    """Raise BadRequestError if a budget names what the prices do not have."""
    try:
        split_budget(budget, sheet)
    except ValueError as error:
        raise BadRequestError(422, [Problem(("budget",), str(error), "budget")]) from None


def _problems_of_rounds(request: NextRequest) -> list[Problem]:
    """Return what is wrong with rounds: each of their features has an answer, and is in one of them."""
    problems: list[Problem] = []
    answered, seen = {*request.known, *request.refused}, set[str]()
    for number, names in enumerate(request.rounds or ()):
        for position, name in enumerate(names):
            if name in answered and name not in seen:
                seen.add(name)
                continue
            why = "is in the rounds twice" if name in seen else "is neither in known nor refused"
            problems.append(Problem(("rounds", number, position), f"{name[:100]!r} {why}", "rounds"))
            if len(problems) >= MAX_PROBLEMS:
                return problems
    return problems


def check_rows(
    model: BudgetedEstimator, rows: Sequence[Mapping[str, object]], strict: bool, deadline: Deadline
) -> dict[str, int]:
    """Return by feature on how many rows its category was unseen during fitting.

    Raises
    ------
    BadRequestError
        With what is wrong with the first bad row.
    """
    problems: list[Problem] = []
    unseen: list[str] = []
    for number, row in enumerate(rows):
        _check_values(
            model.fitted_.questions, row, ("rows", number), strict=strict, problems=problems, unseen=unseen
        )
        if not model.rows_are_independent and len(row) < len(model.schema_):
            absent = next(name for name in model.schema_.names if name not in row)
            message = (
                f"{absent!r} is left out; this model ranks whole queries and needs every feature, or null"
            )
            problems.append(Problem(("rows", number), message, "missing"))
        if problems:
            raise BadRequestError(422, problems)
        if number % ROWS_PER_CHECK == 0:
            deadline.check()
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
    """Check values by name; append to ``problems`` and to ``unseen``."""
    columns, find = schema.columns, schema.find
    for name, value in values.items():
        if len(problems) >= MAX_PROBLEMS:  # the answer holds no more
            return
        position = find(name)
        if position is None:
            problems.append(_unknown(schema, name, (*place, name), problems))
            continue
        column = columns[position]
        if type(value) is float and type(column) is Column and column.kind == "numeric":
            continue  # the fast path, for most values
        try:
            encoded = column.encode_value(value)
        except TableError as error:
            problems.append(Problem((*place, name), str(error), "type"))
            continue
        # JSON has no NaN, so a value that encodes to NaN is a category that the model has not seen.
        if value is not None and isinstance(encoded, float) and math.isnan(encoded):
            unseen.append(name)
            if strict:
                listed = ", ".join(map(repr, column.categories[:10]))
                message = f"column {name!r}: {value!r} is not among the categories: {listed}"
                problems.append(Problem((*place, name), message, "category"))


def _unknown(schema: Schema, name: str, place: Place, before: Sequence[Problem]) -> Problem:
    # A suggestion takes a comparison with many names, so only the first few unknown ones get one.
    if len(before) >= _MAX_SUGGESTIONS:
        return Problem(place, f"got the unknown feature {name[:100]!r}", "unknown")
    try:
        schema.index(name)
    except TableError as error:
        return Problem(place, str(error), "unknown")
    raise AssertionError(name)
