"""Bootstrap samples of rows, which depend on the content of the rows, not on their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from farthing.collective import gather, peers, row_numbers, total

# The random stream of the hold-out split; those of the trees are numbered from 0.
_HOLD_OUT: Final = 2**62
# Integer weights mean repeated rows only up to this many copies on average, which bounds the memory; larger
# ones are treated as real weights.
_MOST_COPIES: Final = 64
# Units that are drawn at a time; the number does not matter to what is drawn.
_BLOCK: Final = 2**20


@dataclass(frozen=True, slots=True)
class SamplingUnits:
    """The units that a bootstrap draws from: the rows of a table, repeated by their weights.

    If all weights are integers, a row of weight w is w units, so that a weight is the same as repeating the
    row. Otherwise a row is one unit, which counts with its weight when it is drawn. Units are sorted by the
    content of the rows, so a seed draws the same rows in whatever order the table holds them.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_units,)
        The row of each unit; -1 for those of peers.
    unit_weights : ndarray of float64, shape (n_rows,)
        What one unit of each row weighs.
    """

    rows: NDArray[np.int64]
    unit_weights: NDArray[np.float64]

    @classmethod
    def of(
        cls, contents: NDArray[np.uint64], target: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> Self:
        """Make the units of a table.

        Parameters
        ----------
        contents : ndarray of uint64, shape (n_rows,)
            Hashes of the rows, see `PreparedTable.contents`.
        target : ndarray of int64, shape (n_rows,)
            Codes of classes.
        weights : ndarray of float64, shape (n_rows,)
            Weights above zero.

        Examples
        --------
        >>> from farthing.table import content_keys
        >>> contents = content_keys(np.array([[1.0], [2.0]]))
        >>> units = SamplingUnits.of(contents, np.array([0, 1]), np.array([1.0, 3.0]))
        >>> sorted(units.rows.tolist())
        [0, 1, 1, 1]
        """
        n_rows = len(weights)
        # Peers draw from the units of all of them, and need to know how these are ordered.
        target, contents = gather(target), gather(contents)
        every = gather(weights)
        # By content first. Rows that tie in all three keys are interchangeable, so their order is irrelevant.
        order = np.lexsort((every, target, contents))
        whole = bool((every == np.floor(every)).all()) and total(weights) <= _MOST_COPIES * len(every)
        if whole:
            order = np.repeat(order, every[order].astype(np.int64))
        return cls(_places_here(order, n_rows), np.ones(n_rows) if whole else weights)

    def row_weights(self) -> NDArray[np.float64]:
        """Return the weight of each row with every unit taken once, shape (n_rows,)."""
        return np.asarray(self._counts(self.rows) * self.unit_weights)

    def bootstrap(self, seed: int, tree: int) -> NDArray[np.float64]:
        """Return the weight of each row in the bootstrap sample of a tree.

        Parameters
        ----------
        seed, tree : int
            The sample is a pure function of both.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            Zero for rows out of the bag.
        """
        chance, n_units = _generator(seed, tree), len(self.rows)
        counts = np.zeros(len(self.unit_weights), dtype=np.int64)
        for begin in range(0, n_units, _BLOCK):
            drawn = chance.integers(0, n_units, size=min(_BLOCK, n_units - begin))
            counts += self._counts(self.rows[drawn])
        return np.asarray(counts * self.unit_weights)

    def split(self, fraction: float, seed: int) -> tuple[Self, Self]:
        """Split the units at random.

        Parameters
        ----------
        fraction : float
            The share of the units to hold out.
        seed : int
            The split is a pure function of it.

        Returns
        -------
        learn, held_out : SamplingUnits
            Both have at least one unit if there are two.
        """
        n_units = len(self.rows)
        # At least one unit on each side, whatever the fraction.
        n_held = min(max(round(fraction * n_units), 1), n_units - 1)
        held = np.zeros(n_units, dtype=np.bool_)
        held[_generator(seed, _HOLD_OUT).permutation(n_units)[:n_held]] = True
        return type(self)(self.rows[~held], self.unit_weights), type(self)(self.rows[held], self.unit_weights)

    def _counts(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(rows[rows >= 0], minlength=len(self.unit_weights))


def _generator(seed: int, stream: int) -> np.random.Generator:
    """Return a counter-based generator whose key is the seed and the stream."""
    # Philox streams of different keys are independent, so trees can be grown in any order or thread.
    return np.random.Generator(np.random.Philox(key=np.array([seed, stream], dtype=np.uint64)))


def _places_here(numbers: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    """Return which of the rows of this process have some numbers; -1 where it is none of them."""
    found = peers()
    if found is None:
        return numbers
    place = np.full(found.n_rows, -1, dtype=np.int64)
    place[row_numbers(n_rows)] = np.arange(n_rows)
    return np.asarray(place[numbers])
