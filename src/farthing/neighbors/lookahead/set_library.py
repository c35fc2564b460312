"""The sets of columns that plans choose from: the best for all rows, and for rows with the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.neighbors.lookahead.subset_booster import SubsetBooster
from farthing.typing import Flags, Floats

# Rows whose losses under all pairs are known, and rows of a group under larger sets.
_SAMPLE: Final = 600
_OF_GROUP: Final = 48
# Groups of fewer rows name no sets of their own.
_LEAST: Final = 8


@dataclass(frozen=True, eq=False)
class SetSearch:
    """Search the sets of least expected loss and price, by branch and bound of bounded width.

    Sets grow column by column; of each size the best few are kept, and a set whose price alone is more than
    the best total is cut off. Pairs are all tried, since two columns may tell something only together.

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
    width : int
        How many sets of a size are kept.
    max_size : int
        Columns of the largest sets.
    """

    booster: SubsetBooster
    codes: NDArray[np.uint8]
    columns: NDArray[np.int64]
    tradeoff: float
    width: int
    max_size: int

    @property
    def costs(self) -> CostSheet:
        """The prices."""
        return self.booster.rows.costs

    def library(self, most: int) -> Flags:
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
        weights = self.booster.rows.weights[rows]
        beam = np.unique(self._best(pairs, np.average(losses, axis=0, weights=weights)) | start, axis=0)
        beam = np.unique(np.concatenate([beam, start[np.newaxis]]), axis=0)
        few = _spread(rows, _OF_GROUP)
        weights = self.booster.rows.weights[few]
        kept, worths = [], []
        nothing = float(
            np.average(
                self.booster.losses(few, np.zeros((1, len(start)), dtype=np.bool_))[:, 0], weights=weights
            )
        )
        least = nothing
        for _ in range(self.max_size):
            means = np.average(self.booster.losses(few, beam), axis=0, weights=weights)
            totals = means + self.tradeoff * self.prices(beam)
            order = np.argsort(totals, kind="stable")[: self.width]
            kept.append(beam[order[:2]])
            worths.append(share * (nothing - totals[order[:2]]))
            least = min(least, float(totals[order[0]]))
            beam = self._larger(beam[order], least)
            if not len(beam):
                break
        return np.concatenate(kept), np.concatenate(worths)

    def _best(self, sets: Flags, means: Floats) -> Flags:
        totals = means + self.tradeoff * self.prices(sets)
        return np.asarray(sets[np.argsort(totals, kind="stable")[: self.width]])

    def _larger(self, sets: Flags, least: float) -> Flags:
        """Return the sets with one more column whose price leaves room for a lower total than the least."""
        grown = np.repeat(sets, len(self.columns), axis=0)
        grown[np.arange(len(grown)), np.tile(self.columns, len(sets))] = True
        grown = grown[grown.sum(axis=1) <= self.max_size]
        grown = np.unique(grown, axis=0)
        known = {one.tobytes() for one in sets}
        grown = grown[[one.tobytes() not in known for one in grown]] if len(grown) else grown
        return np.asarray(grown[self.tradeoff * self.prices(grown) < least])

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
