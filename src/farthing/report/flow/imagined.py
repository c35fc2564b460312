"""Rows that nobody measured: answers as likely as those of the rows that a model learned from."""

from __future__ import annotations

import numpy as np

from farthing.base import BudgetedEstimator
from farthing.costs import RowLedger
from farthing.table import Encoded, PreparedTable
from farthing.walks import RowWalk, continuations


def imagined_rows(model: BudgetedEstimator, n_rows: int, budget: float | None = None) -> PreparedTable:
    """Return rows whose walks are those of training rows, as far as the model tells.

    At a split of a tree each answer has the share of the training rows that gave it, given all answers before
    it: for a single tree the walks are exactly those of the training rows. Elsewhere a column has the values
    at which the trees cut it, whatever was answered before. What a row is not asked for is missing.

    Parameters
    ----------
    model : BudgetedEstimator
        The fitted model.
    n_rows : int
        Number of rows.
    budget : float, optional
        Hard budget of each row; None means that of the model.

    Raises
    ------
    ValueError
        If the model tells no likely answers, or its questions do not follow from them, such as where it draws
        lots.
    """
    fitted, name = model.fitted_, type(model).__name__
    if model.asks != "columns":
        raise ValueError(f"{name} does not ask for columns; give rows to walk")
    cap = fitted.budget if budget is None else budget
    walk = RowWalk(fitted.policy(None), RowLedger(fitted.costs, cap))
    found = continuations(walk, fitted, None, depth=len(fitted.schema.names), n_copies=n_rows)
    values = np.full((len(found), len(fitted.schema.names)), np.nan)
    for row, way in zip(values, found, strict=True):
        row[list(way.columns)] = way.answers
        unknown = [column for column in way.columns if np.isnan(row[column])]
        if any(not len(fitted.likely_answers(column)) for column in unknown):
            raise ValueError(f"{name} tells no likely answers; give rows to walk")
    counts = np.array([round(way.weight * n_rows) for way in found])
    table = PreparedTable(
        fitted.schema, Encoded.valid(np.repeat(values, counts, axis=0), fitted.schema.columns)
    )
    asked = np.zeros(values.shape, dtype=np.bool_)
    for row, way in zip(asked, found, strict=True):
        row[list(way.columns)] = True
    acquired = model.decide(table, budget=budget).acquired[:, : values.shape[1]]
    if not np.array_equal(acquired, np.repeat(asked, counts, axis=0)):
        raise ValueError(
            f"{name} asks for more than its answers tell, such as by drawing lots; give rows to walk"
        )
    return table
