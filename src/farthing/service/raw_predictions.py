"""Predictions of raw rows, whose features the blocks of a lazy pipeline compute on demand."""

from __future__ import annotations

from typing import Any

import numpy as np

from farthing.service.bulk_predictions import decision_answers
from farthing.service.request_body import BadRequestError, Problem
from farthing.service.schemas import JsonObject, RawRequest
from farthing.sources import LazyPipeline


def predict_raw(pipeline: LazyPipeline, request: RawRequest) -> list[JsonObject]:
    """Predict raw rows.

    Parameters
    ----------
    pipeline : LazyPipeline
        Fitted.
    request : RawRequest
        The rows.

    Returns
    -------
    list of dict
        The fields of ``DecisionAnswer``, for each row.

    Raises
    ------
    BadRequestError
        If the rows are not of one kind, or the blocks cannot take them.

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
    try:
        made = pipeline.decide(rows, budget=request.budget)
    except (KeyError, TypeError, ValueError) as error:
        # Whatever a transformer makes of rows that are not what it was fitted on.
        problem = Problem(("rows",), f"the blocks cannot take these rows: {str(error)[:300]}", "rows")
        raise BadRequestError(422, [problem]) from error
    return decision_answers(pipeline.model_, made)


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
