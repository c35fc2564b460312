"""The test of a column after which two different sets are worth most to the rows on either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.table import Bins
from farthing.typing import Flags, Floats

# Gains are compared on this grid, relative to the loss.
_GRID: Final = 2.0**24


@dataclass(frozen=True)
class SubsetTest:
    """A test, and the set of columns that each side buys.

    Parameters
    ----------
    column : int
        The column.
    code : int
        The last bin that goes left; of a categorical column the only one.
    missing_left : bool
        Whether a missing value goes left.
    left, right : int
        The number of the set of each side.
    gain : float
        By how much the loss of all rows falls: sets are chosen on each half of the rows, and judged on the
        other.
    error : float
        Standard error of the gain.
    """

    column: int
    code: int
    missing_left: bool
    left: int
    right: int
    gain: float
    error: float

    def goes_left(self, codes: NDArray[np.uint8], n_bins: int, *, categorical: bool) -> Flags:
        """Return which rows go left, by their bins."""
        left = codes == self.code if categorical else codes <= self.code
        return np.asarray(np.where(codes >= n_bins, self.missing_left, left))


@dataclass(frozen=True, eq=False)
class TestSearch:
    """Rows, and what each of them loses with each of several sets.

    Parameters
    ----------
    losses : ndarray of float64, shape (n_rows, n_sets)
        Held-out losses; the first set is the one that all rows have without a test.
    allowed : ndarray of bool, shape (n_features, n_sets)
        Whether a set and a column are affordable together.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    half : ndarray of int64, shape (n_rows,)
        0 or 1: the half of each row.
    least : float
        The least weight of the rows on a side.
    """

    __test__ = False  # not a test of pytest

    losses: Floats
    allowed: Flags
    weights: Floats
    half: NDArray[np.int64]
    least: float

    def best(self, columns: list[int], bins: Bins, codes: NDArray[np.uint8]) -> SubsetTest | None:
        """Return the test of the largest gain, or None if no test has one.

        Parameters
        ----------
        columns : list of int
            The columns that may be tested.
        bins : Bins
            The table, which knows kinds and numbers of bins.
        codes : ndarray of uint8, shape (n_features, n_rows)
            The bins of the rows.
        """
        found = [self._best_of(column, bins, codes[column]) for column in columns]
        tests = [test for test in found if test is not None]
        return max(tests, key=lambda test: test.gain, default=None)

    def _best_of(self, column: int, bins: Bins, codes: NDArray[np.uint8]) -> SubsetTest | None:
        n_bins, categorical = bins.n_bins(column), bool(bins.category_widths[column])
        sets = np.flatnonzero(self.allowed[column])
        if n_bins < 2 or not len(sets):
            return None
        sums, counts = self._sums(codes, n_bins, sets)
        missing = sums[:, n_bins], counts[n_bins]
        lower = sums[:, :n_bins], counts[:n_bins]
        if not categorical:
            lower = lower[0].cumsum(axis=1), lower[1].cumsum()
        whole, all_counts = sums.sum(axis=1, keepdims=True), counts.sum()
        best: SubsetTest | None = None
        for missing_left in (False, True) if missing[1] > 0 else (False,):
            left = lower[0] + missing_left * missing[0][:, np.newaxis]
            weight = lower[1] + missing_left * missing[1]
            total = crossed(left) + crossed(whole - left)
            fits = (weight >= self.least) & (all_counts - weight >= self.least)
            total = np.where(fits, np.rint(total * _GRID) / _GRID, np.inf)
            code = int(np.argmin(total))
            if np.isfinite(total[code]):
                sides = left[:, code].sum(axis=0), (whole[:, 0] - left[:, code]).sum(axis=0)
                chosen = [int(sets[np.argmin(side)]) for side in sides]
                test = SubsetTest(column, code, missing_left, chosen[0], chosen[1], 0.0, 0.0)
                test = self._judged(test, codes, n_bins, sets, categorical=categorical)
                if best is None or test.gain > best.gain:
                    best = test
        return best

    def _sums(self, codes: NDArray[np.uint8], n_bins: int, sets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return sums of losses, (2, n_bins + 1, n_sets), and weights, (n_bins + 1,), of each bin."""
        place = self.half * (n_bins + 1) + codes
        sums = np.empty((2 * (n_bins + 1), len(sets)))
        for number, chosen in enumerate(sets.tolist()):
            sums[:, number] = np.bincount(
                place, weights=self.losses[:, chosen] * self.weights, minlength=len(sums)
            )
        counts: Floats = np.bincount(codes, weights=self.weights, minlength=n_bins + 1).astype(np.float64)
        # On a grid, so that equal sets stay equal in any order of the rows.
        sums = np.rint(sums * _GRID) / _GRID
        return sums.reshape(2, n_bins + 1, len(sets)), counts

    def _judged(
        self,
        test: SubsetTest,
        codes: NDArray[np.uint8],
        n_bins: int,
        sets: NDArray[np.int64],
        *,
        categorical: bool,
    ) -> SubsetTest:
        """Return the test with its gain: each half has the sets that are best for the other half."""
        goes_left = test.goes_left(codes, n_bins, categorical=categorical)
        falls = np.zeros(len(codes))
        for side in (goes_left, ~goes_left):
            for half in (0, 1):
                judged, other = side & (self.half == half), side & (self.half != half)
                sums = self.weights[other] @ self.losses[np.ix_(other, sets)]
                chosen = int(sets[np.argmin(np.rint(sums * _GRID))])
                falls[judged] = self.losses[judged, 0] - self.losses[judged, chosen]
        gain = float(self.weights @ falls)
        mean = gain / float(self.weights.sum())
        error = float(np.sqrt(self.weights @ (falls - mean) ** 2))
        return SubsetTest(
            test.column, test.code, test.missing_left, test.left, test.right, round(gain, 9), error
        )


def crossed(sums: Floats) -> Floats:
    """Return the loss of each bin, if the set of each half is the best one of the other half.

    Parameters
    ----------
    sums : ndarray of float64, shape (2, n_bins, n_sets)
        Losses of the two halves.

    Examples
    --------
    >>> crossed(np.array([[[1.0, 2.0]], [[4.0, 3.0]]]))
    array([6.])
    """
    first, second = sums.argmin(axis=2)
    every = np.arange(sums.shape[1])
    return np.asarray(sums[0, every, second] + sums[1, every, first])
