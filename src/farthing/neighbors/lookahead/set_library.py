"""The sets of columns that plans choose from: the best for all rows, and for rows with the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.neighbors.lookahead.set_search import SetSearch
from farthing.neighbors.lookahead.subset_booster import SubsetBooster
from farthing.typing import Flags, Floats

# Rows whose losses under all pairs are known, and rows of a group under larger sets.
_SAMPLE: Final = 600
_OF_GROUP: Final = 48
# Groups of fewer rows name no sets of their own.
_LEAST: Final = 8


@dataclass(frozen=True, eq=False)
class SetLibrary:
    """Find the sets of least expected loss and price, by `SetSearch`.

    It begins with the best of all pairs, since two columns may tell something only together.

    Parameters
    ----------
    booster : SubsetBooster
        Answers for every set.
    codes : ndarray of uint8, shape (n_rows, n_features)
        The values of the rows, as a few answers per column; rows with the same answer are a group.
    columns : ndarray of int64
        The columns that sets are made of.
    tradeoff : float
        What a unit of price is worth, in units of loss.
    width : int or None
        As in `SetSearch`.
    max_size : int
        Columns of the largest sets.
    """

    booster: SubsetBooster
    codes: NDArray[np.uint8]
    columns: NDArray[np.int64]
    tradeoff: float
    width: int | None
    max_size: int

    @property
    def costs(self) -> CostSheet:
        """The prices."""
        return self.booster.rows.costs

    def sets(self, most: int) -> Flags:
        """Return at most so many sets, shape (n_sets, n_features); the first is empty."""
        rows = self.booster.rows
        n_rows, n_features = rows.values.shape
        sample = _spread(np.arange(n_rows), _SAMPLE)
        pairs = self._singles_and_pairs()
        losses = self.booster.losses(sample, pairs)
        weights = rows.weights
        found: dict[bytes, float] = {}

        def note(sets: Flags, worth: Floats | float) -> None:
            for one, value in zip(sets, np.broadcast_to(worth, len(sets)).tolist(), strict=True):
                key = one.tobytes()
                found[key] = max(found.get(key, -np.inf), value)

        # Without these, nothing can be compared: what is known at first, what single columns tell, and all.
        note(np.zeros((1, n_features), dtype=np.bool_), np.inf)
        note(_flags(self.columns[:, np.newaxis], n_features), np.inf)
        note(_flags(self.columns[np.newaxis], n_features), np.inf)
        note(*self._grown(sample, np.zeros(n_features, dtype=np.bool_), pairs, losses, 2.0))
        total = float(weights[sample].sum())
        for column in self.columns.tolist():
            start = np.zeros(n_features, dtype=np.bool_)
            start[column] = True
            for answer in np.unique(self.codes[sample, column]).tolist():
                inside = self.codes[sample, column] == answer
                if inside.sum() < _LEAST:
                    continue
                share = float(weights[sample[inside]].sum()) / total
                note(*self._grown(sample[inside], start, pairs, losses[inside], share))
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]
        return np.array([np.frombuffer(key, dtype=np.bool_) for key, _ in ranked])

    def _singles_and_pairs(self) -> Flags:
        n_features = self.booster.rows.values.shape[1]
        singles = self.columns[:, np.newaxis]
        first, second = np.triu_indices(len(self.columns), 1)
        pairs = np.column_stack([self.columns[first], self.columns[second]])
        return np.concatenate([_flags(singles, n_features), _flags(pairs, n_features)])

    def _grown(
        self, rows: NDArray[np.int64], start: Flags, pairs: Flags, losses: NDArray[np.float32], share: float
    ) -> tuple[Flags, Floats]:
        """Return the best sets of each size for some rows, with what they are worth to all rows.

        Parameters
        ----------
        rows : ndarray of int64
            The rows.
        start : ndarray of bool, shape (n_features,)
            What every set has.
        pairs, losses
            All singles and pairs, and the losses of the rows under these.
        share : float
            Of these rows in all.
        """
        weights = self.booster.rows.weights
        first = self._best(pairs, np.average(losses, axis=0, weights=weights[rows]))
        few = _spread(rows, _OF_GROUP)

        def mean_losses(sets: Flags) -> Floats:
            return np.asarray(np.average(self.booster.losses(few, sets), axis=0, weights=weights[few]))

        nothing = float(mean_losses(np.zeros((1, len(start)), dtype=np.bool_))[0])
        search = SetSearch(
            mean_losses,
            lambda sets: self.tradeoff * self.prices(sets),
            self.columns,
            float(np.average(self.booster.least_losses(few), weights=weights[few])),
            self.width,
            self.max_size,
        )
        sets, totals = search.best(start, first, nothing)
        return sets, share * (nothing - totals)

    def _best(self, sets: Flags, means: Floats) -> Flags:
        totals = means + self.tradeoff * self.prices(sets)
        return np.asarray(sets[np.argsort(totals, kind="stable")[: self.width]])

    def prices(self, sets: Flags) -> Floats:
        """Return the price of each set."""
        return self.costs.total_rows(sets)


def _flags(sets: NDArray[np.int64], n_features: int) -> Flags:
    """Return sets of column numbers, shape (n_sets, size), as flags."""
    flags = np.zeros((len(sets), n_features), dtype=np.bool_)
    np.put_along_axis(flags, sets, values=True, axis=1)
    return flags


def _spread(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most so many of the rows, evenly spread."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
