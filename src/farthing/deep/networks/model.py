"""Fitted models that buy greedily, by what a network says of each unit, and how a row walks them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing._core import GreedyNetworks, GreedyRow
from farthing.base import ClassifierModel
from farthing.costs import RowLedger
from farthing.deep.networks.column_inputs import categorical_columns, first_rows
from farthing.deep.networks.network import Network
from farthing.deep.networks.units import is_free
from farthing.learning.losses import scores_to_probabilities
from farthing.typing import Flags, Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyNetworksModel(ClassifierModel):
    """A predictor for every set of columns, and a selector, which says what to buy next.

    Parameters
    ----------
    predictor : Network
        Log-odds of the second of two classes, or a score per class.
    selector : Network
        A number for each unit.
    mean, scale : ndarray of float64, shape (n_features,)
        A number enters as (value - mean) / scale.
    units : ndarray of int64, shape (n_features,)
        The unit of each column: what is bought together.
    tradeoff : float or None
        What a unit of price is worth, in nats; 0 means that prices do not count.
    """

    predictor: Network
    selector: Network
    mean: Floats
    scale: Floats
    units: NDArray[np.int64]
    tradeoff: float | None

    #: Whether the selector gives log-odds of shares of the entropy, and not scores of a policy.
    by_value: ClassVar[bool] = False
    makes_calls: ClassVar[bool] = False
    no_plan: ClassVar[str] = "it evaluates networks, which no plan holds"

    @cached_property
    def compiled(self) -> GreedyNetworks:
        """The networks in the compiled core."""
        return GreedyNetworks(
            first=first_rows(self.schema)[0],
            categorical=categorical_columns(self.schema).astype(np.uint8),
            mean=np.ascontiguousarray(self.mean),
            scale=np.ascontiguousarray(self.scale),
            units=np.ascontiguousarray(self.units),
            predictor=self.predictor.compiled,
            selector=self.selector.compiled,
            by_value=self.by_value,
            n_classes=len(self.classes),
            tradeoff=self.tradeoff or 0.0,
            is_blind=self.tradeoff == 0 or is_free(self.costs),
            own=self.costs.own,
            shared=self.costs.shared,
            group_of=self.costs.group_of,
        )

    def conclude(self, outputs: Floats) -> Floats:
        """Return the predictor's probabilities, shape (n_rows, n_classes)."""
        return scores_to_probabilities(outputs, len(self.classes))

    def policy(self, seed: int | None = None) -> GreedyNetworksPolicy:  # not stochastic
        """Return the policy of one row."""
        return GreedyNetworksPolicy(self)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: Floats | None = None,
        seeds: NDArray[np.int64] | None = None,  # not stochastic
        n_threads: int = 1,
    ) -> tuple[Floats, Flags]:
        """Predict many rows; see `FittedModel.outputs`."""
        table = np.asarray(values, dtype=np.float64)
        outputs, acquired = self.compiled.outputs(table, budget, n_threads=n_threads)
        return outputs, acquired

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        n_features, n_classes = len(self.schema.names), len(self.classes)
        if len(self.prior) != (1 if n_classes == 2 else n_classes):
            raise ValueError(f"{n_classes} classes do not fit a prior of {len(self.prior)}")
        for name, dtype in (("mean", np.float64), ("scale", np.float64), ("units", np.int64)):
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != (n_features,) or not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite numbers, one for each of {n_features} columns")
        if self.tradeoff is not None and not 0 <= self.tradeoff < np.inf:
            raise ValueError(f"tradeoff must be zero or more; got {self.tradeoff!r}")
        _ = self.compiled  # raises if shapes do not fit


class GreedyNetworksPolicy:
    """One row on its way: asks for the columns of one unit after the other."""

    def __init__(self, model: GreedyNetworksModel) -> None:
        self._costs = model.costs
        self._row = GreedyRow(model.compiled)
        self._asked = np.zeros(len(model.schema.names), dtype=np.bool_)

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column; None if none is worth its price, or affordable."""
        prices = self._prices(ledger)
        column = self._row.next(prices, self._affordable(ledger, prices))
        return None if column < 0 else column

    def hear(self, column: int, value: float) -> None:
        """Take the answer; NaN is missing, which is not the same as not bought."""
        self._asked[column] = True
        self._row.hear(column, float(value))

    def refuse(self, column: int) -> None:
        """Go on as if the column were not there."""
        self._asked[column] = True
        self._row.skip(column)

    def output(self) -> Floats:
        """Return the predictor's output for the answers so far, shape (n_outputs,)."""
        return np.asarray(self._row.output())

    def _prices(self, ledger: RowLedger) -> Floats:
        """Return what each column costs now, as `RowLedger.price`, shape (n_features,)."""
        costs, owned = self._costs, ledger.owned
        prices = costs.own.astype(np.float64)
        if len(costs.shared):
            paid = np.zeros(len(costs.shared) + 1, dtype=np.bool_)
            paid[costs.group_of[owned]] = True  # -1, no group, is the last place
            paid[-1] = True
            prices += np.where(paid[costs.group_of], 0.0, np.append(costs.shared, 0.0)[costs.group_of])
        prices[owned] = 0.0
        return prices

    def _affordable(self, ledger: RowLedger, prices: Floats) -> Flags:
        """Return which columns the row can pay for, as `RowLedger.affords`, shape (n_features,)."""
        affordable = np.ones(len(prices), dtype=np.bool_)
        if not ledger.is_limited:
            return affordable
        if ledger.caps:
            unsure = ~self._asked
        else:
            # Exact sums are formed only where rounding could matter.
            due = ledger.spent + prices
            affordable = due <= ledger.limit * (1 + 1e-9)
            unsure = affordable & (due > ledger.limit * (1 - 1e-9)) & ~self._asked
        for column in np.flatnonzero(unsure).tolist():
            affordable[column] = ledger.affords(column)
        return affordable
