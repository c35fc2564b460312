"""Bootstrap samples of rows, which depend on the content of the rows, not on their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

# The random stream of the hold-out split; those of the trees are numbered from 0.
_HOLD_OUT: Final = 2**62
# Integer weights mean repeated rows only up to this many copies on average, which bounds the memory; larger
# ones are treated as real weights.
_MOST_COPIES: Final = 64


@dataclass(frozen=True, slots=True)
class SamplingUnits:
    """The units that a bootstrap draws from: the rows of a table, repeated by their weights.

    If all weights are integers, a row of weight w is w units, so that a weight is the same as repeating the
    row. Otherwise a row is one unit, which counts with its weight when it is drawn. Units are sorted by the
    content of the rows, so a seed draws the same rows in whatever order the table holds them.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_units,)
        The row of each unit.
    unit_weights : ndarray of float64, shape (n_rows,)
        What one unit of each row weighs.
    """

    rows: NDArray[np.int64]
    unit_weights: NDArray[np.float64]

    @classmethod
    def of(
        cls, values: NDArray[np.floating], target: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> Self:
        """Make the units of a table.

        Parameters
        ----------
        values : ndarray of float, shape (n_rows, n_features)
            The encoded table.
        target : ndarray of int64, shape (n_rows,)
            Codes of classes.
        weights : ndarray of float64, shape (n_rows,)
            Weights above zero.

        Examples
        --------
        >>> units = SamplingUnits.of(np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([1.0, 3.0]))
        >>> sorted(units.rows.tolist())
        [0, 1, 1, 1]
        """
        # By content first. Rows that tie in all three keys are interchangeable, so their order is irrelevant.
        order = np.lexsort((weights, target, content_keys(values)))
        whole = bool((weights == np.floor(weights)).all()) and weights.sum() <= _MOST_COPIES * len(weights)
        if not whole:
            return cls(order, weights)
        return cls(np.repeat(order, weights[order].astype(np.int64)), np.ones(len(weights)))

    def row_weights(self) -> NDArray[np.float64]:
        """Return the weight of each row with every unit taken once, shape (n_rows,)."""
        return self._weights(self.rows)

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
        drawn = _generator(seed, tree).integers(0, len(self.rows), size=len(self.rows))
        return self._weights(self.rows[drawn])

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

    def _weights(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        counts = np.bincount(rows, minlength=len(self.unit_weights))
        return np.asarray(counts * self.unit_weights, dtype=np.float64)


def content_keys(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    """Return a hash of each row; rows with the same values have the same hash.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows, n_features)

    Returns
    -------
    ndarray of uint64, shape (n_rows,)

    Examples
    --------
    >>> first, second, third = content_keys(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    keys = np.zeros(len(values), dtype=np.uint64)
    for column in range(values.shape[1]):
        numbers = values[:, column].astype(np.float64) + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan  # NaNs of any payload become one
        keys += numbers.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        # The finalizer of SplitMix64; after each column, so that the order of the columns matters.
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


def _generator(seed: int, stream: int) -> np.random.Generator:
    """Return a counter-based generator whose key is the seed and the stream."""
    # Philox streams of different keys are independent, so trees can be grown in any order or thread.
    return np.random.Generator(np.random.Philox(key=np.array([seed, stream], dtype=np.uint64)))
