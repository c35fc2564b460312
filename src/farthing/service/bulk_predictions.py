"""Predictions of many rows at once, each as its own walk would decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from farthing.base import BudgetedEstimator
from farthing.service.request_body import BadRequestError, Problem
from farthing.service.request_checks import ROWS_PER_CHECK, check_rows
from farthing.service.request_limits import Deadline, Limits
from farthing.service.schemas import JsonObject, PredictRequest
from farthing.service.walk_steps import decision_to_json
from farthing.table import Schema, unseen_reported_elsewhere
from farthing.walks import Decisions, consult


@unseen_reported_elsewhere()  # the answer counts them
def predict_rows(
    model: BudgetedEstimator, request: PredictRequest, limits: Limits, deadline: Deadline | None = None
) -> tuple[list[JsonObject], dict[str, int]]:
    """Predict rows in bulk, each as ``farthing.consult(model, row, lacking="refuse")`` does.

    Parameters
    ----------
    model : fitted model
    request : PredictRequest
        The rows; what a row leaves out is refused.
    limits : Limits
    deadline : Deadline, optional
        When the request must be answered; by default the time of the limits from now on.

    Returns
    -------
    decisions : list of dict
        The fields of ``DecisionAnswer``, for each row.
    unseen : dict of str to int
        By feature, on how many rows its category was unseen during fitting.

    Raises
    ------
    BadRequestError
        If there are too many rows, or a row does not fit the model.
    RequestTimeoutError
        If the time is up before the last row.

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
    deadline = deadline or Deadline(limits.max_seconds)
    rows, n_rows = request.rows, len(request.rows)
    budgets = _per_row(request.budget, n_rows, "budget")
    seeds = _per_row(request.seeds, n_rows, "seeds")
    unseen = check_rows(model, rows, limits.strict_categories, deadline)
    answers: list[JsonObject] = []
    for numbers, complete in _chunks(model, rows):
        deadline.check()
        # One truth: an array call gives what each row's walk would give, but only if no feature is absent. A
        # row that lacks one is walked, and what it lacks is refused.
        if complete:
            answers += _decide_chunk(model, [rows[i] for i in numbers], budgets[numbers], seeds[numbers])
        else:
            row = numbers.start
            # Unknown keys were refused above, so that what is absent is left out on purpose.
            made = consult(model, rows[row], seed=seeds.at(row), budget=budgets.at(row), lacking="refuse")
            answers.append(decision_to_json(made))
    return answers, unseen


@dataclass(frozen=True, slots=True)
class _PerRow:
    """A parameter that is one value for all rows, one per row, or None."""

    given: Any

    def __getitem__(self, numbers: range) -> Any:
        return self.given[numbers.start : numbers.stop] if isinstance(self.given, list) else self.given

    def at(self, row: int) -> Any:
        return self.given[row] if isinstance(self.given, list) else self.given


def _per_row(given: Any, n_rows: int, name: str) -> _PerRow:
    if isinstance(given, list) and len(given) != n_rows:
        raise BadRequestError(422, [Problem((name,), f"{len(given)} entries for {n_rows} rows", "length")])
    return _PerRow(given)


def _chunks(model: BudgetedEstimator, rows: Sequence[Mapping[str, object]]) -> Iterator[tuple[range, bool]]:
    """Yield chunks of rows that have every feature, and one by one the rows that do not."""
    if not model.rows_are_independent:
        yield range(len(rows)), True  # a ranker: all rows are one query
        return
    # Messages of devices are not a table, so no row counts as complete.
    width, begin = len(model.schema_) if model.asks == "columns" else -1, 0
    while begin < len(rows):
        end = begin
        while end < min(len(rows), begin + ROWS_PER_CHECK) and len(rows[end]) == width:
            end += 1
        complete = end > begin
        # A row that lacks a feature is a chunk of its own.
        end = end if complete else begin + 1
        yield range(begin, end), complete
        begin = end


def _decide_chunk(
    model: BudgetedEstimator, rows: list[dict[str, Any]], budgets: Any, seeds: Any
) -> list[JsonObject]:
    """Predict rows that have every feature, with one array call."""
    return decision_answers(model, model.decide(_table(model.schema_, rows), budget=budgets, seeds=seeds))


def decision_answers(model: BudgetedEstimator, made: Decisions) -> list[JsonObject]:
    """Return the fields of ``DecisionAnswer`` for each row of an array call."""
    n_rows = len(made.spent)
    names, sheets = model.costs_.features, model.costs_.resources
    taken = {name: sheet.total_rows(made.acquired).tolist() for name, sheet in sheets.items()}
    classes = None if made.probabilities is None else model.classes_.tolist()
    likely = [None] * n_rows if made.probabilities is None else made.probabilities.tolist()
    return [
        {
            "prediction": prediction,
            "classes": classes,
            "probabilities": probabilities,
            "spent": spent,
            "acquired": [name for name, paid in zip(names, acquired, strict=True) if paid],
            **({"resources": {name: amounts[row] for name, amounts in taken.items()}} if taken else {}),
        }
        for row, (prediction, probabilities, spent, acquired) in enumerate(
            zip(made.prediction.tolist(), likely, made.spent.tolist(), made.acquired.tolist(), strict=True)
        )
    ]


def _table(schema: Schema, rows: list[dict[str, Any]]) -> Any:
    """Return rows as the model was fitted: a mapping of columns, or an array."""
    if schema.named:
        return {name: [row[name] for row in rows] for name in schema.names}
    # dtype object keeps each JSON value as it is; the schema encodes it later, as it does in a walk.
    table = np.empty((len(rows), len(schema)), dtype=object)
    for number, row in enumerate(rows):
        table[number] = [row[name] for name in schema.names]
    return table
