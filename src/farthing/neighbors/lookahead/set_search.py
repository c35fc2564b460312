"""The set of columns of the least loss and price: branch and bound, of bounded width if the sets are many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Flags, Floats

# Sets of each step that are returned.
_NOTED: Final = 2


@dataclass(eq=False)
class SetSearch:
    """Look for the set of the least total, its loss plus its price, size by size.

    A loss may go up or down with another column, so nothing but the least possible loss bounds it from below;
    a price never goes down. Hence a set and all that contain it cost at least ``floor`` plus the price of the
    set: where that is not below the least total so far, they are cut off. Of what is left, only supersets of
    the best ``width`` sets of a step are tried, and sets without any take no place among these. Without a
    width the search is exact: no set of the columns that contains the first one costs less than the best that
    is found, or than what is had without.

    Parameters
    ----------
    losses : callable
        From sets, shape (n_sets, n_features), to what each loses on average, shape (n_sets,).
    prices : callable
        From sets to their prices in units of loss, shape (n_sets,); no less for more columns.
    columns : ndarray of int64
        The columns that sets are made of.
    floor : float
        No loss is less.
    width : int or None
        Sets of a step whose supersets are tried; None means all.
    max_size : int
        Columns of the largest sets.

    Attributes
    ----------
    tried : dict of bytes to float
        The total of each set whose loss was asked for, by its bytes; no set is asked for twice.
    """

    losses: Callable[[Flags], Floats]
    prices: Callable[[Flags], Floats]
    columns: NDArray[np.int64]
    floor: float
    width: int | None
    max_size: int
    tried: dict[bytes, float] = field(default_factory=dict, init=False)
    _followed: set[bytes] = field(default_factory=set, init=False)

    def best(self, start: Flags, first: Flags, least: float) -> tuple[Flags, Floats]:
        """Return the best two sets of each step, with their totals.

        Parameters
        ----------
        start : ndarray of bool, shape (n_features,)
            What every set has.
        first : ndarray of bool, shape (n_sets, n_features)
            Sets that the search begins with, beside ``start`` itself.
        least : float
            A total that is had without any of these sets.
        """
        sets = np.unique(np.concatenate([first | start, start[np.newaxis]]), axis=0)
        sets = sets[sets.sum(axis=1) <= max(self.max_size, int(start.sum()))]
        kept, totals_kept = [], []
        while len(sets):
            totals = self._totals(sets)
            order = np.argsort(totals, kind="stable")
            kept.append(sets[order[:_NOTED]])
            totals_kept.append(totals[order[:_NOTED]])
            least = min(least, float(totals[order[0]]))
            sets = self._branches(sets[order], least)
        return np.concatenate(kept), np.concatenate(totals_kept)

    def _totals(self, sets: Flags) -> Floats:
        new = np.array([one.tobytes() not in self.tried for one in sets])
        if new.any():
            totals = self.losses(sets[new]) + self.prices(sets[new])
            self.tried.update(zip((one.tobytes() for one in sets[new]), totals.tolist(), strict=True))
        return np.array([self.tried[one.tobytes()] for one in sets])

    def _branches(self, sets: Flags, least: float) -> Flags:
        """Return the supersets with one more column that are not cut off, of the first sets that have any."""
        grown: list[Flags] = []
        for one in sets:
            if len(grown) == self.width:
                break
            larger = self._larger(one)
            larger = larger[self.floor + self.prices(larger) < least]
            if len(larger):
                grown.append(larger)
                self._followed.add(one.tobytes())
        if not grown:
            return sets[:0]
        # One that was tried before may be followed now; one that was followed has nothing left.
        found = np.unique(np.concatenate(grown), axis=0)
        return np.asarray(found[[one.tobytes() not in self._followed for one in found]])

    def _larger(self, one: Flags) -> Flags:
        more = self.columns[~one[self.columns]]
        if one.sum() >= self.max_size:
            more = more[:0]
        grown = np.repeat(one[np.newaxis], len(more), axis=0)
        grown[np.arange(len(more)), more] = True
        return grown
