"""A batch of rows on their way through questions, while networks are trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.deep.networks.column_inputs import ColumnInputs
from farthing.deep.networks.settings import TrainingSettings
from farthing.deep.networks.units import UnitPrices, is_free

Tensor: TypeAlias = Any


@dataclass(frozen=True)
class TrainingTable:
    """Training rows as tensors.

    Attributes
    ----------
    terms : Tensor of float32, shape (n_rows, n_used)
        Terms that are not 0 in all rows; if each column has only one, those of all columns.
    target : Tensor of int64, shape (n_rows,)
    weights : Tensor of float32, shape (n_rows,)
        With a mean of 1.
    column_of : Tensor of int64, shape (n_used,)
        The column of each term.
    units : Tensor of int64, shape (n_features,)
        The unit of each column.
    own, shared : Tensor of float32, shape (n_units,)
        Prices, in units of the mean price.
    same_group : Tensor of float32, shape (n_units, n_units), or None
        Whether a unit pays the shared cost of another one; None if none does.
    limit : float
        The budget in these units.
    """

    terms: Tensor
    target: Tensor
    weights: Tensor
    column_of: Tensor
    units: Tensor
    own: Tensor
    shared: Tensor
    same_group: Tensor
    limit: float
    is_blind: bool

    @classmethod
    def of(
        cls,
        rows: TrainingSet,
        inputs: ColumnInputs,
        units: NDArray[np.int64],
        settings: TrainingSettings,
    ) -> tuple[TrainingTable, NDArray[np.bool_]]:
        """Return the table, and which terms it has, shape (n_terms,)."""
        terms = inputs.terms(rows.values)
        used = np.asarray(terms.any(axis=0), dtype=np.bool_)
        numbers = inputs.first_terms
        if not used[~np.isin(np.arange(len(used)), numbers)].any():
            used[numbers] = True  # masks then multiply terms as they are, which saves a copy in each step
        prices = UnitPrices.of(rows.costs, units)
        free = is_free(rows.costs)
        capped = settings.budget is not None and not free
        table = cls(
            terms=torch.from_numpy(np.ascontiguousarray(terms[:, used])),
            target=torch.from_numpy(np.asarray(rows.target, dtype=np.int64).copy()),
            weights=torch.from_numpy((rows.weights / rows.weights.mean()).astype(np.float32)),
            column_of=torch.from_numpy(inputs.column_of[used]),
            units=torch.from_numpy(units.copy()),
            own=torch.from_numpy(prices.own.astype(np.float32)),
            shared=torch.from_numpy(prices.shared.astype(np.float32)),
            same_group=torch.from_numpy(prices.same_group.astype(np.float32)) if prices.are_shared else None,
            limit=float(settings.budget or 0.0) / prices.mean if capped else np.inf,
            is_blind=settings.is_blind or free,
        )
        return table, used

    def __len__(self) -> int:
        return len(self.target)

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.own)

    @property
    def whole(self) -> float:
        """What everything costs, or the budget if less; the number of units if prices do not count."""
        if self.is_blind:
            return float(self.n_units)
        shared = self.shared.sum()
        if self.same_group is not None:  # each group once
            shared = (self.shared / self.same_group.sum(dim=1).clamp(min=1.0)).sum()
        return min(self.limit, float(self.own.sum() + shared))

    def inputs(self, terms: Tensor, bought: Tensor) -> Tensor:
        """Return the inputs of networks, shape (n_rows, n_inputs).

        Parameters
        ----------
        terms : Tensor, shape (n_rows, n_used)
            All terms of the rows.
        bought : Tensor of float32, shape (n_rows, n_units)
            1 for what is bought, or shares.
        """
        masks = bought if self._each_its_own else bought[:, self.units]
        return torch.cat([masks, terms * (masks if self._aligned else masks[:, self.column_of])], dim=1)

    @property
    def _each_its_own(self) -> bool:
        return self.n_units == len(self.units)

    @property
    def _aligned(self) -> bool:
        return len(self.column_of) == len(self.units) and bool(
            (self.column_of == torch.arange(len(self.units))).all()
        )


class Rollout:
    """Rows of a table that buy unit after unit; rows that can buy no more leave."""

    def __init__(self, table: TrainingTable, rows: Tensor) -> None:
        self.table = table
        self.terms, self.target, self.weights = table.terms[rows], table.target[rows], table.weights[rows]
        self.bought = torch.zeros((len(rows), table.n_units))
        self.spent = torch.zeros(len(rows))
        self.places = torch.arange(len(rows))  # of those that are still here, among all

    def __len__(self) -> int:
        return len(self.target)

    @property
    def inputs(self) -> Tensor:
        """The inputs of networks for what the rows have bought."""
        return self.table.inputs(self.terms, self.bought)

    def prices(self) -> Tensor:
        """Return what each unit costs each row now, shape (n_rows, n_units)."""
        own, shared = self.table.own, self.table.shared
        if self.table.same_group is None:
            return (own + shared).expand(len(self), -1)
        paid = (self.bought @ self.table.same_group) > 0
        return own + torch.where(paid, 0.0, shared)

    def open(self) -> tuple[Tensor, Tensor]:
        """Drop the rows that can buy no more; return what the others can buy, and the prices of it.

        Returns
        -------
        may : Tensor of bool, shape (n_rows, n_units)
            What is free comes first, unless prices do not count.
        prices : Tensor of float32, shape (n_rows, n_units)
        """
        table, prices = self.table, self.prices()
        may = self.bought == 0
        if np.isfinite(table.limit):
            may = may & (self.spent[:, None] + prices <= table.limit * (1 + 1e-6) + 1e-6 * (prices > 0))
        if not table.is_blind:
            free = may & (prices == 0)
            may = torch.where(free.any(dim=1, keepdim=True), free, may)
        alive = may.any(dim=1)
        if not bool(alive.all()):
            self._take(alive)
            may, prices = may[alive], prices[alive]
        return may, prices

    def buy(self, units: Tensor, prices: Tensor) -> None:
        """Buy a unit for each row, shape (n_rows,), at prices of shape (n_rows, n_units)."""
        self.spent = self.spent + prices.gather(1, units[:, None])[:, 0]
        self.bought = self.bought.scatter(1, units[:, None], 1.0)

    def losses(self, scores: Tensor) -> Tensor:
        """Return the log loss of each row, shape (n_rows,)."""
        return torch.nn.functional.cross_entropy(scores, self.target, reduction="none")

    def mean(self, values: Tensor) -> Tensor:
        """Return the weighted mean over the rows."""
        return (self.weights * values).sum() / self.weights.sum()

    def _take(self, rows: Tensor) -> Self:
        for name in ("terms", "target", "weights", "bought", "spent", "places"):
            setattr(self, name, getattr(self, name)[rows])
        return self
