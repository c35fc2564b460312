"""A cascade from a booster that exists already: its trees, projected on more and more features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing.base import BudgetedEstimator, ClassifierModel, TrainingSet, TreeModel
from farthing.base.inputs import check_weights, label_codes
from farthing.costs import CostSheet
from farthing.learning.calibration import temperature_of
from farthing.learning.losses import scores_to_probabilities
from farthing.learning.out_of_fold import Columns
from farthing.table import PreparedTable, encode
from farthing.trees import Forest, Predictor, projected
from farthing.typing import Floats


def check_booster(model: Any) -> Any:
    """Return the fitted model of a classifier that is one sum of boosted trees, or raise."""
    fits = isinstance(model, BudgetedEstimator) and issubclass(model.model_type, TreeModel)
    if not fits or not issubclass(model.model_type, ClassifierModel):
        raise TypeError(
            "only a boosted classifier can be cut into stages, such as one imported by "
            f"farthing.forests.from_model; got {type(model).__name__}"
        )
    check_is_fitted(model)
    fitted: Any = model.fitted_
    n_scores = 1 if len(fitted.classes) == 2 else len(fitted.classes)
    link = getattr(fitted, "link", "softmax" if n_scores > 1 else "sigmoid")
    if not fitted.passes_all_trees or fitted.forest.n_outputs != n_scores or link == "identity":
        raise TypeError(
            f"the trees of this {type(model).__name__} do not add up to log-odds, as those of a boosted "
            "classifier do; a forest can be pruned, see farthing.forests.prune_path"
        )
    return fitted


def held_out_rows(model: Any, X: Any, y: Any, sample_weight: Any, costs: Any) -> TrainingSet:
    """Return rows under the schema and the labels of a fitted model, with the prices of the cascade."""
    schema, name = model.schema, "MiserCascadeClassifier"
    codes = label_codes(y, model.classes)
    encoded = encode(schema, X, name)
    check_consistent_length(encoded.values, codes)
    if (codes < 0).any():
        strange = np.asarray(y)[codes < 0][:1].tolist()[0]
        raise ValueError(
            f"y has the label {strange!r}, which the model does not know; its labels are "
            f"{np.asarray(model.classes).tolist()}. A bare booster gets them by from_model(..., classes=...)"
        )
    encoded.check(np.broadcast_to(model.may_buy(), encoded.values.shape))
    sheet = model.costs if costs is None else CostSheet.of(costs, schema.names)
    weights = check_weights(sample_weight, len(codes))
    rows = TrainingSet(PreparedTable(schema, encoded), codes, weights, sheet, np.asarray(model.classes))
    return rows.take(weights > 0)


def feature_orders(model: Any, costs: CostSheet) -> list[NDArray[np.int64]]:
    """Return orders in which the columns that the trees test can be bought, free ones first.

    The next column is the one that explains most of the booster's output per price, the one that explains
    most, or the cheapest. A booster tests its best columns so often that others seem to explain little;
    the last order has them without it.

    Parameters
    ----------
    model : TreeModel
        Whose `feature_importances` say how much of its output each column explains.
    costs : CostSheet
        Shared costs count until a column of their group is owned.
    """
    shares = model.feature_importances
    tiny = np.finfo(np.float64).tiny
    return [
        _ordered(model, costs, lambda column, price: float(shares[column]) / max(price, tiny)),
        _ordered(model, costs, lambda column, _: float(shares[column])),
        _ordered(model, costs, lambda _, price: -price),
    ]


def _ordered(model: Any, costs: CostSheet, value: Callable[[int, float], float]) -> NDArray[np.int64]:
    """Return the columns that the trees test, free ones first, then always the one of the largest value."""
    left = [int(column) for column in np.flatnonzero(model.may_buy())]
    owned = np.zeros(len(costs.features), dtype=np.bool_)
    order: list[int] = []
    while left:
        prices = [costs.price(costs.features[column], owned) for column in left]
        values = [value(*each) if each[1] > 0 else np.inf for each in zip(left, prices, strict=True)]
        order.append(left.pop(int(np.argmax(values))))
        owned[order[-1]] = True
    return np.array(order, dtype=np.int64)


def feature_prefixes(
    orders: list[NDArray[np.int64]], costs: CostSheet, n_stages: int
) -> tuple[list[Columns], list[list[int]]]:
    """Return sets of columns, the first of which costs nothing, and the chain of each order through them."""
    n_free = int(sum(costs.price(costs.features[column]) == 0 for column in orders[0]))
    n_paid = len(orders[0]) - n_free
    # At most so many stages; the first columns of an order have a stage each, since they matter most.
    sizes = sorted({round(size) for size in np.geomspace(n_paid, 1, n_stages)}) if n_paid else []
    sets: list[Columns] = [np.sort(orders[0][:n_free])]
    chains = []
    for order in orders:
        chain = [0]
        for size in sizes:
            columns = np.sort(order[: n_free + size])
            known = [place for place, other in enumerate(sets) if np.array_equal(other, columns)]
            chain.append(known[0] if known else len(sets))
            sets += [] if known else [columns]
        chains.append(chain)
    unique = [chain for place, chain in enumerate(chains) if chain not in chains[:place]]
    return sets, unique


def projections(model: Any, sets: list[Columns]) -> list[Forest]:
    """Return the trees of a booster projected on each set of columns; they add up to log-odds."""
    factor = getattr(model, "scale", 1.0) / getattr(model, "divisor", 1.0)
    scores = model.predictor.scores * factor
    return [projected(model.forest, scores, columns) for columns in sets]


def root_scores(model: Any) -> Floats:
    """Return what a booster's trees add up to without any feature, shape (n_outputs,)."""
    nothing = projections(model, [np.array([], dtype=np.int64)])
    table = np.full((1, model.forest.n_features), np.nan)
    return np.asarray(Predictor(nothing[0]).predict(table)[0][0])


def scores_of(forests: list[Forest], rows: TrainingSet, n_threads: int) -> list[Floats]:
    """Return what each forest adds up to for the rows, shape (n_rows, n_outputs)."""
    return [Predictor(forest).predict(rows.values, n_threads=n_threads)[0] for forest in forests]


def temperature(rows: TrainingSet, scores: Floats) -> float:
    """Return the temperature of log-odds, shape (n_rows, n_outputs); 1 if all rows have the same."""
    if (scores == scores[:1]).all():
        return 1.0
    probabilities = scores_to_probabilities(np.ascontiguousarray(scores), rows.n_classes)
    return temperature_of(probabilities, rows.target, rows.weights)
