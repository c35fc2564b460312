"""The validated training data of a method: rows, target, weights and prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthing.base.links import normalise
from farthing.collective import group_totals, mean
from farthing.costs import CostSheet
from farthing.table import Bins, PartTable, PreparedTable, Schema
from farthing.trees import Forest, Predictor, Progress

if TYPE_CHECKING:
    from farthing.base.error_costs import ErrorPrices


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows, targets, weights and prices, all validated, in the form that methods take.

    Parameters
    ----------
    table : PreparedTable
        The rows: floats, with NaN for missing values and codes for categories.
    target : ndarray, shape (n_rows,)
        Class codes, which index ``classes``; or floats.
    weights : ndarray of float64, shape (n_rows,)
        Weight of each row, above zero.
    costs : CostSheet
        The prices, in the order of the columns.
    classes : ndarray, shape (n_classes,), or None
        The labels; some may have no row. None for a regression.
    qid : ndarray of int64, shape (n_rows,), optional
        The query of each row, for rankings.
    errors : ErrorPrices, optional
        Prices of errors, for methods that have a parameter ``error_costs``; None means 1 per error.

    Examples
    --------
    >>> rows = TrainingSet.of([[1.0], [2.0], [3.0]], np.array([0, 1, 1]), classes=np.array(["no", "yes"]))
    >>> rows.take(np.array([1, 2])).target
    array([1, 1])
    """

    table: PreparedTable
    target: NDArray[Any]
    weights: NDArray[np.float64]
    costs: CostSheet
    classes: NDArray[Any] | None = None
    qid: NDArray[np.int64] | None = None
    errors: ErrorPrices | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        target: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
        costs: CostSheet | None = None,
        classes: NDArray[Any] | None = None,
    ) -> TrainingSet:
        """Build one from a table and an encoded target; weights and costs default to 1 each."""
        table = PreparedTable.of(X)
        return cls(
            table,
            target,
            np.ones(len(table)) if weights is None else weights,
            CostSheet.of(costs, table.schema.names),
            classes,
        )

    def __len__(self) -> int:
        return len(self.target)

    @property
    def values(self) -> NDArray[np.floating]:
        """The encoded table, shape (n_rows, n_features); may be the user's own array: never write to it."""
        return self.table.values

    @property
    def schema(self) -> Schema:
        """Names and types of the columns."""
        return self.table.schema

    @property
    def n_classes(self) -> int:
        """Number of classes; a regression has none."""
        if self.classes is None:
            raise TypeError("the rows of a regression have no classes")
        return len(self.classes)

    def bins(self, max_bins: int, n_threads: int = 1) -> Bins:
        """Return the binned table, which is shared by all fits on the same rows."""
        return self.table.bins(max_bins, n_threads)

    def progress(self, forest: Forest, *, cap: float | None = None, n_threads: int = 1) -> Progress:
        """Return the state of the rows after the trees of a forest.

        Parameters
        ----------
        forest : Forest
            Grown on the bins of these rows, if they have no values.
        cap : float, optional
            Budget of each row.
        n_threads : int
            Threads to use; any number gives the same bits.
        """
        if not isinstance(self.table, PartTable):
            return _advanced(self.values, forest, self.costs, cap, n_threads)
        # Without values: the rows of a part are made block by block, from their bins.
        unread = np.broadcast_to(np.float64(np.nan), self.table.shape)
        whole = Progress(unread, forest.n_outputs, self.costs, n_threads=n_threads)
        if forest.n_nodes == forest.n_trees:  # constants, which read nothing
            Predictor(forest).advance(whole, 0, forest.n_trees)
            return whole
        end = 0
        for values in self.table.blocks():
            block = _advanced(values, forest, self.costs, cap, n_threads)
            begin, end = end, end + len(values)
            whole.outputs[begin:end] = block.outputs
            whole.touched[begin:end] = block.touched
        return whole

    def take(self, rows: NDArray[Any]) -> TrainingSet:
        """Return some of the rows, by index or by mask; the schema stays that of all rows."""
        return replace(
            self,
            table=self.table.part(rows),
            target=self.target[rows],
            weights=self.weights[rows],
            qid=None if self.qid is None else self.qid[rows],
            errors=None if self.errors is None else self.errors.take(rows),
        )

    def reweighed(self, factors: NDArray[np.float64] | None) -> TrainingSet:
        """Return the rows with their weights multiplied by the factor of their class; None leaves them."""
        return self if factors is None else replace(self, weights=self.weights * factors[self.target])

    def priced(self, errors: ErrorPrices) -> TrainingSet:
        """Return the rows with prices of errors."""
        return TrainingSet(self.table, self.target, self.weights, self.costs, self.classes, self.qid, errors)

    def growth_weights(self) -> NDArray[np.float64]:
        """Return the weights by which trees are grown: times the price of the row's errors, if any."""
        return self.weights if self.errors is None else self.weights * self.errors.factors(self.target)

    def prior(self) -> NDArray[np.float64]:
        """Return the prediction without any feature: weighted class frequencies, or the weighted mean."""
        if self.classes is None:
            return np.array([mean(self.target, self.weights)])
        # A batch of one row, since `normalise` takes batches.
        counts = group_totals(self.target, self.weights, len(self.classes))
        return normalise(counts[np.newaxis]).ravel()

    def header(self, prior: NDArray[np.float64] | None = None, budget: float | None = None) -> dict[str, Any]:
        """Return the fields that every `FittedModel` of these rows has, with error prices if there are any.

        Parameters
        ----------
        prior : ndarray of float64, shape (n_outputs,), optional
            The raw output of a row that acquired nothing; None means that of the method `prior`.
        budget : float or None
            The hard budget at prediction.
        """
        fields = {
            "schema": self.schema,
            "costs": self.costs,
            "prior": self.prior() if prior is None else prior,
            "budget": budget,
        }
        if self.classes is None:
            return fields
        if self.errors is not None:
            fields["error_costs"] = self.errors.table
        return {**fields, "classes": self.classes}


def _advanced(
    values: NDArray[np.floating], forest: Forest, costs: CostSheet, cap: float | None, n_threads: int
) -> Progress:
    budget = None if cap is None else np.full(len(values), cap)
    progress = Progress(values, forest.n_outputs, costs, budget=budget, n_threads=n_threads)
    Predictor(forest).advance(progress, 0, forest.n_trees)
    return progress
