"""Moments of weighted rows, from which linear least squares follows without the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing._core import ridge_slopes, row_offsets, weighed_offsets
from farthing.typing import Floats

# Rows that are multiplied at a time.
_BLOCK: Final = 4096
# Rows whose mean is the centre of products.
_SAMPLE: Final = 256


@dataclass(frozen=True, eq=False)
class Moments:
    """The total weight, the means and the products about the means of rows whose last entries are outputs.

    Attributes
    ----------
    weight : float
        Total weight of the rows.
    means : ndarray of float64, shape (n_terms + n_outputs,)
    products : ndarray of float64, shape (n_terms + n_outputs, n_terms + n_outputs)
        Weighted sums of the products of all pairs of entries, about their means.
    n_terms : int
        How many of the entries are terms.

    Examples
    --------
    >>> entries = np.array([[0.0, 1.0, 2.0], [1.0, 3.0, 5.0]])
    >>> moments = Moments.of(entries, n_terms=1)
    >>> slopes = moments.ridge(0.0)
    >>> slopes.round(12), moments.intercept(slopes).round(12)
    (array([[2.]]), array([1.]))
    """

    weight: float
    means: Floats
    products: Floats
    n_terms: int

    @classmethod
    def of(
        cls,
        entries: Floats,
        n_terms: int,
        weights: Floats | None = None,
        numbers: NDArray[np.int64] | None = None,
        kept: NDArray[np.int64] | None = None,
    ) -> Moments:
        """Compute the moments of rows.

        Parameters
        ----------
        entries : ndarray of float64, shape (n_entries, n_rows)
            The terms, then the outputs, each one contiguous.
        n_terms : int
            How many of the entries kept are terms.
        weights : ndarray of float64, shape (n_numbers,), optional
            None means 1 each.
        numbers : ndarray of int64, shape (n_numbers,), optional
            Which of the rows; None means all.
        kept : ndarray of int64, shape (n_terms + n_outputs,), optional
            Which of the entries; None means all.
        """
        kept = np.arange(len(entries)) if kept is None else kept
        numbers = np.arange(entries.shape[1]) if numbers is None else numbers
        # About a mean of some rows, which is close to that of all: more exact than sums far from zero.
        centre = row_offsets(entries, kept, numbers[:_SAMPLE], np.zeros(len(kept))).mean(axis=1)
        sums = np.zeros((len(kept) + 1, len(kept) + 1))
        # Block by block, since a table does not stay in the cache.
        for begin in range(0, len(numbers), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            of_some = None if weights is None else weights[some]
            # A product of one and the same array with itself takes half the time.
            offsets, weighed = weighed_offsets(entries, kept, numbers[some], centre, of_some)
            sums += weighed @ offsets.T
        return cls._about(float(sums[-1, -1]), centre, sums[:-1, :-1], sums[-1, :-1], n_terms)

    @property
    def terms(self) -> Floats:
        """The products of the terms with each other, shape (n_terms, n_terms)."""
        return self.products[: self.n_terms, : self.n_terms]

    @property
    def along(self) -> Floats:
        """The products of the terms with the outputs, shape (n_terms, n_outputs)."""
        return self.products[: self.n_terms, self.n_terms :]

    @property
    def squares(self) -> Floats:
        """The weighted sums of squares, not about the means, shape (n_terms + n_outputs,)."""
        return np.asarray(self.products.diagonal() + self.weight * self.means**2)

    @property
    def variances(self) -> Floats:
        """The variances of the outputs, shape (n_outputs,)."""
        return np.asarray(self.products.diagonal()[self.n_terms :] / self.weight)

    def part(self, places: NDArray[np.int64]) -> Moments:
        """Return the moments of some of the terms and of all outputs."""
        kept = np.concatenate([places, np.arange(self.n_terms, len(self.means))])
        products = self.products.take(kept, axis=0).take(kept, axis=1)
        return Moments(self.weight, self.means[kept], products, len(places))

    def changed(
        self, entries: Floats, weights: Floats, numbers: NDArray[np.int64], kept: NDArray[np.int64]
    ) -> Moments:
        """Return the moments after rows came, of positive weights, or left, of negative ones.

        What is left is exact to the rounding of what was there before, so that a small remainder of large
        terms needs a penalty.

        Parameters
        ----------
        entries, weights, numbers, kept
            As in `of`; the rows that came or left.

        Examples
        --------
        >>> entries = np.array([[0.0, 1.0, 2.0], [1.0, 3.0, 5.0]])
        >>> moments = Moments.of(entries, 1).changed(entries, np.array([-1.0]), np.array([2]), np.arange(2))
        >>> np.allclose(moments.products, Moments.of(entries, 1, numbers=np.array([0, 1])).products)
        True
        """
        # About the old means, where the rows that stay have sums of zero.
        offsets, weighed = weighed_offsets(entries, kept, numbers, self.means, weights)
        sums = weighed @ offsets.T
        products = self.products + sums[:-1, :-1]
        return Moments._about(
            self.weight + float(sums[-1, -1]), self.means, products, sums[-1, :-1], self.n_terms
        )

    def without(self, part: Moments) -> Moments:
        """Return the moments of the other rows, given those of some of them; as exact as in `changed`.

        Examples
        --------
        >>> entries = np.array([[0.0, 1.0, 2.0], [1.0, 3.0, 5.0]])
        >>> first = Moments.of(entries, 1).without(Moments.of(entries, 1, numbers=np.array([1, 2])))
        >>> first.weight, first.means
        (1.0, array([0., 1.]))
        """
        apart = part.means - self.means
        products = self.products - part.products - part.weight * np.outer(apart, apart)
        weight = self.weight - part.weight
        return Moments._about(weight, self.means, products, -part.weight * apart, self.n_terms)

    @classmethod
    def _about(cls, weight: float, centre: Floats, products: Floats, sums: Floats, n_terms: int) -> Moments:
        """Return moments from products and sums about a centre that need not be the mean."""
        shift = sums / weight
        return cls(weight, centre + shift, products - sums[:, np.newaxis] * shift, n_terms)

    def ridge(self, penalty: float) -> Floats:
        """Return the slopes of least squares with a penalty, by a Cholesky factorisation.

        Parameters
        ----------
        penalty : float
            Weight of the squared slopes against the sum of squared errors; intercepts are free.

        Returns
        -------
        ndarray of float64, shape (n_terms, n_outputs)
        """
        slopes = ridge_slopes(self.products, self.n_terms, penalty)
        if slopes is None:
            raise np.linalg.LinAlgError("the products of the terms and the penalty are not positive definite")
        return slopes

    def intercept(self, slopes: Floats) -> Floats:
        """Return the intercepts of least squares with given slopes, shape (n_outputs,)."""
        return np.asarray(self.means[self.n_terms :] - self.means[: self.n_terms] @ slopes)
