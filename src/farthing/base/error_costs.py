"""Prices of errors: one for each pair of classes, or one for each row and predicted class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base.links import row_sums
from farthing.base.training_set import TrainingSet
from farthing.typing import Floats

# A class whose errors cost next to nothing still counts a little in growth, since weights must be above zero.
_LEAST_FACTOR: Final = 1e-3


class ErrorCosts:
    """Costs of errors, in the unit of the prices, so that spend and errors can be added up.

    Methods with a parameter ``error_costs`` learn by them; as the ``scoring`` of a sweep or of
    `BudgetedClassifier` they rank models by the mean total cost of a row. The label of a row is then the one
    of the least expected cost.

    Parameters
    ----------
    costs : float or array, shape (n_classes, n_classes)
        Row: the true class; column: the predicted class. Zero or more, and finite. The diagonal is usually
        zero; other values are the price of acting on a right label. A number is the price of every error.
    labels : sequence, optional
        The classes of the rows and columns; None means the sorted labels of the data.

    Examples
    --------
    >>> costs = ErrorCosts([[0, 10], [100, 0]])
    >>> costs.decide(np.array([[0.8, 0.2], [0.95, 0.05]]))
    array([1, 0])
    """

    def __init__(self, costs: Any, labels: Sequence[Any] | NDArray[Any] | None = None) -> None:
        self.costs = np.array(costs, dtype=np.float64)
        self.labels = None if labels is None else np.asarray(labels)
        if self.costs.ndim == 0 and self.labels is not None:
            self.costs = _per_error(float(self.costs), len(self.labels))
        if self.costs.ndim and (self.costs.ndim != 2 or self.costs.shape[0] != self.costs.shape[1]):
            raise ValueError(f"costs must be a square table, true by predicted; got shape {self.costs.shape}")
        if not (np.isfinite(self.costs) & (self.costs >= 0)).all():
            raise ValueError(f"costs must be finite, and zero or more; got {self.costs.tolist()}")
        if self.labels is not None and self.labels.shape != (len(self.costs),):
            raise ValueError(f"labels must be {len(self.costs)}, as many as the table has rows")

    @classmethod
    def of(cls, given: Any) -> ErrorCosts:
        """Return error costs, or those of a plain number or table."""
        return given if isinstance(given, cls) else cls(given)

    def expected(self, probabilities: Floats) -> Floats:
        """Return the expected cost of predicting each class, shape (n_rows, n_classes)."""
        table = self.costs if self.costs.ndim else _per_error(float(self.costs), probabilities.shape[1])
        # Not a matrix product, whose last bits may depend on the number of rows: a row must have the same
        # bits alone and among others.
        return np.column_stack([row_sums(probabilities * costs) for costs in table.T])

    def decide(self, probabilities: Floats) -> NDArray[np.int64]:
        """Return the class of the least expected cost, the first of ties, shape (n_rows,)."""
        return np.asarray(np.argmin(self.expected(probabilities), axis=1), dtype=np.int64)

    def over(self, classes: NDArray[Any]) -> ErrorCosts:
        """Return the costs in the order of some classes, which must be among the labels."""
        return ErrorCosts(self.table(classes), classes)

    def table(self, classes: NDArray[Any]) -> Floats:
        """Return the same costs as an array, shape (n_classes, n_classes)."""
        if self.costs.ndim == 0:
            return _per_error(float(self.costs), len(classes))
        if self.labels is None:
            if len(classes) != len(self.costs):
                raise ValueError(f"the costs are for {len(self.costs)} classes; y has {len(classes)}")
            return self.costs.copy()
        if not np.isin(classes, self.labels).all():
            raise ValueError(f"the costs are for the labels {self.labels.tolist()}; y has {classes.tolist()}")
        places = [self.labels.tolist().index(label) for label in classes.tolist()]
        return np.asarray(self.costs[np.ix_(places, places)])

    def __repr__(self) -> str:
        labels = None if self.labels is None else self.labels.tolist()
        return f"ErrorCosts({self.costs.tolist()}, labels={labels})"


def _per_error(price: float, n_classes: int) -> Floats:
    return np.asarray(price * (1.0 - np.eye(n_classes)))


@dataclass(frozen=True, eq=False)
class ErrorPrices:
    """The prices of errors of some training rows.

    Parameters
    ----------
    table : ndarray of float64, shape (n_classes, n_classes)
        Price by true and predicted class, which decides labels; means, if each row has prices of its own.
    rows : ndarray of float64, shape (n_rows, n_classes)
        The price of predicting each class for each row.
    """

    table: Floats
    rows: Floats

    def take(self, rows: NDArray[Any]) -> ErrorPrices:
        """Return the prices of some rows, by index or by mask."""
        return ErrorPrices(self.table, self.rows[rows])

    def joined(self, others: ErrorPrices | None) -> ErrorPrices:
        """Return these prices followed by those of other rows, under the same table."""
        return self if others is None else ErrorPrices(self.table, np.concatenate([self.rows, others.rows]))

    def factors(self, target: NDArray[np.int64]) -> Floats:
        """Return the mean price of a wrong label of each row, over that of all classes, shape (n_rows,).

        The factor of a row's weight in growth; equal prices of all errors give 1 for each.
        """
        return _relative(self._wrong(self.rows, target), self.class_prices())

    def class_factors(self) -> Floats:
        """Return the same by class, shape (n_classes,): a weight divided by it is that of the row again."""
        return _relative(self.class_prices(), self.class_prices())

    def class_prices(self) -> Floats:
        """Return the mean price of a wrong label of each class, above zero, shape (n_classes,)."""
        return self._wrong(self.table, np.arange(len(self.table)))

    def _wrong(self, prices: Floats, target: NDArray[np.int64]) -> Floats:
        """Return the mean price of wrong labels, over that of the right one, at least next to nothing."""
        n_classes = len(self.table)
        right = prices[np.arange(len(prices)), target]
        means = (prices.sum(axis=1) - right) / max(1, n_classes - 1) - right
        whole = self.table.max()
        # Without any price all errors are alike.
        return np.maximum(means, _LEAST_FACTOR * whole) if whole > 0 else np.ones(len(prices))


def _relative(prices: Floats, of_classes: Floats) -> Floats:
    """Return prices over the mean of those of the classes; exactly 1 where all are equal."""
    if np.ptp(of_classes) == 0:
        return np.asarray(prices / of_classes[0])
    return np.asarray(prices / of_classes.mean())


def error_prices(given: Any, rows: TrainingSet) -> ErrorPrices:
    """Return the prices of the errors of rows, from a parameter ``error_costs``.

    Parameters
    ----------
    given : ErrorCosts or array of shape (n_classes, n_classes)
        A price for each pair of classes.
    rows : TrainingSet
        The rows of a classification.
    """
    try:
        costs = ErrorCosts.of(given).table(np.asarray(rows.classes))
    except ValueError as error:
        raise ValueError(f"error_costs: {error}") from error
    return ErrorPrices(costs, costs[rows.target])


def row_error_prices(given: Any, rows: TrainingSet) -> ErrorPrices:
    """Return the prices of errors from one price for each row and predicted class.

    Parameters
    ----------
    given : array, shape (n_rows, n_classes)
        The price of predicting each class, in the order of the sorted labels; zero or more, and finite.
    rows : TrainingSet
        The rows.

    Returns
    -------
    ErrorPrices
        With the weighted means of each class as the table.
    """
    prices = np.asarray(given, dtype=np.float64)
    expected = (len(rows), rows.n_classes)
    if prices.shape != expected:
        raise ValueError(
            f"row_error_costs must have one price per row and class, shape {expected}; got {prices.shape}"
        )
    bad = ~(np.isfinite(prices) & (prices >= 0))
    if bad.any():
        row, place = np.argwhere(bad)[0].tolist()
        label = np.asarray(rows.classes).tolist()[place]
        raise ValueError(
            f"row_error_costs must be finite, and zero or more; row {row} has {prices[row, place]!r} "
            f"for {label!r}"
        )
    members = [(rows.target == code) & (rows.weights > 0) for code in range(rows.n_classes)]
    overall = np.average(prices, axis=0, weights=rows.weights)
    table = [
        np.average(prices[of], axis=0, weights=rows.weights[of]) if of.any() else overall for of in members
    ]
    return ErrorPrices(np.array(table), prices)
