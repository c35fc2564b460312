"""Units: what is bought together, such as the pixels of a superpixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.typing import Flags, Floats


def units_of(costs: CostSheet) -> NDArray[np.int64]:
    """Return the unit of each column, numbered from 0 in the order of the columns, shape (n_features,).

    All columns of a group are one unit if none of them has an own cost: the first one pays for all. Every
    other column is a unit of its own.

    Examples
    --------
    >>> from farthing.costs import Group
    >>> sheet = CostSheet([0, 0, 1, 1], groups={"a": Group(2, ["x0", "x1"]), "b": Group(1, ["x2", "x3"])})
    >>> units_of(sheet)
    array([0, 0, 1, 2])
    """
    group_of = costs.group_of[: costs.n_columns]
    own = costs.own[: costs.n_columns]
    together = [
        group >= 0 and costs.shared[group] > 0 and not own[group_of == group].any() for group in group_of
    ]
    keys = np.where(together, group_of, len(costs.shared) + np.arange(len(group_of)))
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[place.ravel()]


def is_free(costs: CostSheet) -> bool:
    """Return whether nothing has a price."""
    return not (costs.own.any() or costs.shared.any())


@dataclass(frozen=True)
class UnitPrices:
    """The prices of units, for many rows at once.

    Attributes
    ----------
    own : ndarray of float64, shape (n_units,)
        Own costs.
    shared : ndarray of float64, shape (n_units,)
        The shared cost of the group, or 0.
    same_group : ndarray of bool, shape (n_units, n_units)
        Whether a unit pays the shared cost of another one; False everywhere without groups.
    mean : float
        The mean price of a unit with nothing owned, by which all prices are divided.
    """

    own: Floats
    shared: Floats
    same_group: Flags
    mean: float

    @classmethod
    def of(cls, costs: CostSheet, units: NDArray[np.int64]) -> UnitPrices:
        """Return the prices of units, divided by the mean price; 1 each if nothing has a price."""
        first = np.unique(units, return_index=True)[1]
        group = costs.group_of[first]
        shared = np.where(group >= 0, np.append(costs.shared, 0.0)[group], 0.0)
        same = (group[:, np.newaxis] == group) & (group >= 0)
        own = costs.own[first].astype(np.float64)
        if is_free(costs):
            return cls(np.ones(len(first)), np.zeros(len(first)), np.zeros_like(same), 1.0)
        mean = float((own + shared).mean())  # multiplied by a power of two if all prices are
        return cls(own / mean, shared / mean, same, mean)

    @property
    def are_shared(self) -> bool:
        """Whether some unit pays the shared cost of another one."""
        return bool((self.same_group & ~np.eye(len(self.own), dtype=np.bool_)).any())
