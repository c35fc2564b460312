"""Predictions of raw rows, whose features the blocks of a lazy pipeline compute on demand."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from farthing.service.bulk_predictions import decision_answers
from farthing.service.request_body import BadRequestError, Problem
from farthing.service.request_checks import ROWS_PER_CHECK
from farthing.service.request_limits import Deadline
from farthing.service.schemas import JsonObject, RawRequest
from farthing.sources import LazyPipeline

# What a transformer makes of values that are not what it was fitted on: a text where a number should be, a
# list in place of a text, a number beyond the range of its type.
_REFUSALS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def predict_raw(
    pipeline: LazyPipeline, request: RawRequest, deadline: Deadline | None = None
) -> list[JsonObject]:
    """Predict raw rows.

    Parameters
    ----------
    pipeline : LazyPipeline
        Fitted.
    request : RawRequest
        The rows.
    deadline : Deadline, optional
        When the request must be answered; by default there is none.

    Returns
    -------
    list of dict
        The fields of ``DecisionAnswer``, for each row.

    Raises
    ------
    BadRequestError
        If the rows are not of one kind, or the blocks cannot take them.
    RequestTimeoutError
        If the time is up before the last rows.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from farthing.forests import BudgetTreeClassifier
    >>> words = CountVectorizer(vocabulary=["good", "bad"])
    >>> pipeline = LazyPipeline([("words", words)], BudgetTreeClassifier(), costs={"words": 2})
    >>> pipeline = pipeline.fit(["good", "bad"] * 5, ["yes", "no"] * 5)
    >>> predict_raw(pipeline, RawRequest(rows=["a good film"]))[0]["prediction"]
    'yes'
    """
    rows = _raw_table(request.rows)
    if hasattr(rows, "columns"):
        _check_takes_tables(pipeline)
    deadline = deadline or Deadline(math.inf)
    n_rows = len(request.rows)
    # A ranker takes all rows as one query.
    step = ROWS_PER_CHECK if pipeline.model_.rows_are_independent else n_rows
    answers: list[JsonObject] = []
    for begin in range(0, n_rows, step):
        deadline.check()
        some = slice(begin, begin + step)
        try:
            made = pipeline.decide(
                rows.iloc[some] if hasattr(rows, "iloc") else rows[some], budget=request.budget
            )
        except _REFUSALS as error:
            problem = Problem(("rows",), f"the blocks cannot take these rows: {str(error)[:300]}", "rows")
            raise BadRequestError(422, [problem]) from error
        answers += decision_answers(pipeline.model_, made)
    return answers


def _raw_table(rows: list[Any]) -> Any:
    """Return the rows as the blocks take them: a list of texts, a frame, or an array."""
    if all(isinstance(row, str) for row in rows):
        return rows
    if all(isinstance(row, dict) for row in rows):
        names = list(rows[0])
        for number, row in enumerate(rows):
            if row.keys() != rows[0].keys():
                problem = Problem(("rows", number), "other columns than those of the first row", "columns")
                raise BadRequestError(422, [problem])
        return _frame({name: [row[name] for row in rows] for name in names})
    if all(isinstance(row, list) for row in rows):
        try:
            return np.asarray(rows, dtype=np.float64)
        except (TypeError, ValueError):
            problem = Problem(("rows",), "lists of numbers, all of one length, are expected", "rows")
            raise BadRequestError(422, [problem]) from None
    problem = Problem(("rows",), "texts, objects or lists of numbers, all of one kind, are expected", "rows")
    raise BadRequestError(422, [problem])


def _check_takes_tables(pipeline: LazyPipeline) -> None:
    """Refuse rows with columns if a block is of texts, which would take the names of the columns for them."""
    for block in pipeline.blocks_:
        if block.columns is None and not hasattr(block.transformer, "n_features_in_"):
            message = f"block {block.name!r} takes texts, not objects with columns"
            raise BadRequestError(422, [Problem(("rows",), message, "rows")])


def _frame(columns: dict[str, list[Any]]) -> Any:
    try:
        import pandas  # noqa: PLC0415 - an extra
    except ImportError:
        problem = Problem(("rows",), "rows with named columns need pandas on the server", "rows")
        raise BadRequestError(422, [problem]) from None
    return pandas.DataFrame(columns)
