"""A sweep over records that lack tests nobody ordered: fits on draws, judged by what the records hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from farthing.base import BudgetedEstimator, Frontier, Point
from farthing.frontier.data_split import SweepRows, split_rows
from farthing.learning.unordered import RecordJudgement, complete, judge_records
from farthing.table import Encoded, PreparedTable, encode


def sweep_records(
    run: Callable[[SweepRows, tuple[Any, Any]], Frontier],
    rows: SweepRows,
    held_out: tuple[Any, ...] | None,
    *,
    test_size: float,
    random_state: int,
) -> Frontier:
    """Complete the records, sweep, and judge the Pareto points by the records as they are.

    Parameters
    ----------
    run : callable
        From rows to learn from and validation rows (X, y) to their frontier.
    rows : SweepRows
        The records.
    held_out : tuple (X, y) or None
        Records to evaluate on; None takes a share of the rows.
    test_size, random_state
        Of the split.

    Returns
    -------
    Frontier
        Spends and scores of the points are those of completed rows. The ``details`` of the Pareto points have
        the estimates of `farthing.learning.unordered.judge_records` from the records as they are.
    """
    if rows.weights is not None or rows.qid is not None:
        raise ValueError("missing='unordered' does not go with sample_weight or qid; leave them out")
    table, y = rows.table, rows.y
    if held_out is None:
        learn, test = split_rows(rows, None, test_size, random_state, classifies=rows.has_classes())[0]
        records, truth = table.values[test], y[test]
        table, y = PreparedTable(table.schema, table.encoded.take(learn)), y[learn]
    else:
        encoded = encode(table.schema, held_out[0], "sweep")
        encoded.check()
        records, truth = encoded.values, np.asarray(held_out[1])
    whole = PreparedTable(
        table.schema, Encoded.valid(np.concatenate([table.values, records]), table.schema.columns)
    )
    labels = np.concatenate([y, truth])
    target = np.unique(labels, return_inverse=True)[1] if rows.has_classes() else labels
    done = complete(whole, target.astype(np.float64), random_state).table.values
    columns, n_learn = table.schema.columns, len(y)
    learn_rows = SweepRows.of(PreparedTable(table.schema, Encoded.valid(done[:n_learn], columns)), y)
    drawn = PreparedTable(table.schema, Encoded.valid(done[n_learn:], columns))
    frontier = run(learn_rows, (drawn, truth))
    judged = PreparedTable(table.schema, Encoded.valid(records, columns))
    best = {id(point) for point in frontier.pareto()}
    points = [
        _judged(point, learn_rows, judged, truth) if id(point) in best else point for point in frontier.points
    ]
    return replace(frontier, points=tuple(points))


def _judged(point: Point, learn: SweepRows, records: PreparedTable, truth: Any) -> Point:
    """Return a point with the estimates from records among its details, if its method can be walked."""
    model = point.model or clone(point.estimator).fit(learn.table, learn.y)
    if not isinstance(model, BudgetedEstimator):
        return point
    return replace(point, details={**point.details, **_details(judge_records(model, records, truth))})


def _details(found: RecordJudgement) -> dict[str, float]:
    details = {"effective_rows": found.effective_rows, "complete_rows": float(found.n_complete)}
    for name, of in (("spend", found.spend), ("score", found.score)):
        if of is None:
            continue
        for kind in ("direct", "inverse_propensity", "doubly_robust"):
            estimate = getattr(of, kind)
            low, high = estimate.interval
            details |= {
                f"{kind}_{name}": estimate.value,
                f"{kind}_{name}_low": low,
                f"{kind}_{name}_high": high,
            }
    return details
