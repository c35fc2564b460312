"""The lasso path: a sparse linear baseline, which buys a feature for all rows or for none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.linear_model import lasso_path

from farthing.base import Frontier, Point
from farthing.boosting.greedy_miser.path_evaluation import EvaluationRows, Rows, Scoring, default_scoring
from farthing.costs import CostSheet, CostsLike
from farthing.table import PreparedTable


def l1_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    validation: Rows,
    test: Rows | None = None,
    costs: CostsLike = None,
    n_alphas: int = 30,
    scoring: Scoring | None = None,
) -> Frontier:
    """Compute the lasso path from no feature to nearly all; for classes, the group lasso on indicators.

    Columns are standardised, missing values are replaced by the mean, and categories are used as their codes.
    Every row pays for each feature with a nonzero coefficient.

    Parameters
    ----------
    estimator : estimator
        Determines the task (regression, classification, ranking) and its score; it is not fitted.
    X, y : array, frame or PreparedTable, array
        The training rows.
    validation, test : tuple (X, y) or (X, y, qid)
        Rows to choose among the models by, and rows to report on; without ``test``, those of ``validation``.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means those of the estimator.
    n_alphas : int
        Number of penalties, from the smallest that leaves no feature down to a thousandth of it.
    scoring : callable, optional
        As in `miser_path`.

    Returns
    -------
    Frontier
        One point per penalty, ``alpha`` in ``params``; ``details`` has the number of features used,
        ``n_features``, and their cost, ``model_cost``. The models are not kept.

    Examples
    --------
    >>> from farthing.boosting import GreedyMiserRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> path = l1_path(GreedyMiserRegressor(costs=[3, 5]), X, X[:, 0], validation=(X, X[:, 0]), n_alphas=5)
    >>> [point.spend for point in path]
    [0.0, 3.0, 3.0, 3.0, 3.0]
    """
    table = PreparedTable.of(X, "l1_path")
    schema, encoded = table.schema, table.encoded
    encoded.check()
    sheet = CostSheet.of(getattr(estimator, "costs", None) if costs is None else costs, schema.names)
    evaluated = [
        EvaluationRows(rows, schema, "validation or test") for rows in (validation, test) if rows is not None
    ]
    score = default_scoring(estimator) if scoring is None else scoring
    classes = np.unique(y) if is_classifier(estimator) else None
    targets = (
        np.asarray(y, dtype=np.float64) if classes is None else (np.asarray(y)[:, None] == classes) * 1.0
    )
    scaler = _Scaler(encoded.values)
    offset = targets.mean(axis=0)
    Z, centred = scaler(encoded.values), targets - offset
    # By the optimality conditions, all coefficients are zero for a penalty of at least max_j |z_j' y| / n
    # (for the group lasso, the Euclidean norm over the classes). The margin covers rounding.
    pull = np.linalg.norm((Z.T @ centred).reshape(Z.shape[1], -1), axis=1).max() / len(Z)
    strengths = max(pull, 1e-12) * (1 + 1e-9) * np.geomspace(1, 1e-3, n_alphas)
    alphas, paths, _ = lasso_path(Z, centred, alphas=strengths)

    points = []
    for place, alpha in enumerate(alphas):
        weights = np.atleast_2d(paths[..., place])  # (n_targets, n_features)
        used = (weights != 0).any(axis=0)
        cost = float(sheet.total(used))
        scores = [
            score(rows.target, _predict(scaler(rows.values) @ weights.T + offset, classes), rows.qid)
            for rows in evaluated
        ]
        point = Point(
            "Lasso",
            {"alpha": float(alpha)},
            cost,
            cost,
            scores[0],
            test_spend=cost,
            test_score=scores[-1],
            details={"n_features": int(used.sum()), "model_cost": cost},
        )
        points.append(point)
    return Frontier(tuple(points), unit=sheet.unit, full_cost=sheet.total(sheet.features))


def _predict(outputs: NDArray[np.float64], classes: NDArray[Any] | None) -> NDArray[Any]:
    return outputs[:, 0] if classes is None else np.asarray(classes[np.argmax(outputs, axis=1)])


class _Scaler:
    """Centre and scale by the training rows; missing values become the mean."""

    def __init__(self, values: NDArray[np.floating]) -> None:
        seen = ~np.isnan(values)
        count = np.maximum(seen.sum(axis=0), 1)
        self._mean = np.where(seen, values, 0.0).sum(axis=0) / count
        self._scale = np.sqrt((np.where(seen, values - self._mean, 0.0) ** 2).sum(axis=0) / count)
        # Constant columns stay at zero and are never used.
        self._scale[self._scale == 0] = 1.0

    def __call__(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        centred = (values - self._mean) / self._scale
        # Column-major, as coordinate descent reads it.
        return np.asfortranarray(np.nan_to_num(centred, nan=0.0), dtype=np.float64)
