"""Rows drawn with replacement, by their content and not by their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

# Streams of draws beside those of the trees, which are numbered from 0.
_HOLD_OUT: Final = 2**62
# A row is laid out at most this often on average; beyond that, whole weights are treated as any others.
_MOST_COPIES: Final = 64


@dataclass(frozen=True, slots=True)
class Units:
    """The rows of a table as units to draw from.

    If all weights are whole numbers, a row of weight w is w units, so that a weight is the same as repeating
    the row. Otherwise a row is one unit, which counts with its weight when it is drawn. The units lie in an
    order that depends on the content of the rows only: the draws of a seed are the same rows wherever they
    stand in the table.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_units,)
        The row of each unit.
    weight : ndarray of float64, shape (n_rows,)
        What one unit of each row weighs.
    """

    rows: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls, values: NDArray[np.floating], target: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> Self:
        """Lay out a table.

        Parameters
        ----------
        values : ndarray of float, shape (n_rows, n_features)
            An encoded table.
        target : ndarray of int64, shape (n_rows,)
            Classes as numbers.
        weights : ndarray of float64, shape (n_rows,)
            Positive weights.

        Examples
        --------
        >>> units = Units.of(np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([1.0, 3.0]))
        >>> sorted(units.rows.tolist())
        [0, 1, 1, 1]
        """
        order = np.lexsort((weights, target, content_keys(values)))
        whole = bool((weights == np.floor(weights)).all()) and weights.sum() <= _MOST_COPIES * len(weights)
        if not whole:
            return cls(order, weights)
        return cls(np.repeat(order, weights[order].astype(np.int64)), np.ones(len(weights)))

    def all(self) -> NDArray[np.float64]:
        """Return the weight of each row with every unit taken once, shape (n_rows,)."""
        return self._weights(self.rows)

    def drawn(self, seed: int, tree: int) -> NDArray[np.float64]:
        """Return the weight of each row after as many draws with replacement as there are units.

        Parameters
        ----------
        seed, tree : int
            The draws are a pure function of both.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            Zero for rows that were not drawn, which are out of the bag.
        """
        lots = _generator(seed, tree).integers(0, len(self.rows), size=len(self.rows))
        return self._weights(self.rows[lots])

    def part(self, share: float, seed: int) -> tuple[Self, Self]:
        """Part the units by lot.

        Parameters
        ----------
        share : float
            The share of the units in the second part.
        seed : int
            The draws are a pure function of it.

        Returns
        -------
        rest, held : Units
            Both have at least one unit if there are two.
        """
        n_units = len(self.rows)
        n_held = min(max(round(share * n_units), 1), n_units - 1)
        held = np.zeros(n_units, dtype=np.bool_)
        held[_generator(seed, _HOLD_OUT).permutation(n_units)[:n_held]] = True
        return type(self)(self.rows[~held], self.weight), type(self)(self.rows[held], self.weight)

    def _weights(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        counts = np.bincount(rows, minlength=len(self.weight))
        return np.asarray(counts * self.weight, dtype=np.float64)


def content_keys(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    """Return a number for each row that is the same for rows of the same values.

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
        numbers = values[:, column].astype(np.float64) + 0.0  # one zero, not two
        numbers[np.isnan(numbers)] = np.nan  # and one NaN
        keys += numbers.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        # The finalizer of SplitMix64.
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


def _generator(seed: int, stream: int) -> np.random.Generator:
    """Return a counter-based generator whose key is the seed and the stream."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, stream], dtype=np.uint64)))
