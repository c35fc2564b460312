"""Selection of the features to buy for some rows, by their gains on held-out residuals."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farthing.costs import RowLedger, per_price
from farthing.learning.fold_boosters import FoldBoosters
from farthing.learning.out_of_fold import Columns, OutOfFoldTrainer
from farthing.table import Bins
from farthing.typing import Floats

# The boosters only show which part of the target is unexplained, so they learn fast and stay shallow.
_RATE: Final = 0.3
_DEPTH: Final = 4
# Rounds on what was owned before, and after each purchase.
_ROUNDS_BEFORE: Final = 6
_ROUNDS_BETWEEN: Final = 1
# Rounds that measure the gain of a candidate.
_ROUNDS_TRIED: Final = 2
# Bins that features are chosen by: enough to see a shape, few enough that each has some rows.
_COARSE: Final = 8
# Gradients are rounded to this grid, relative to the largest: their sums are then exact in any order.
_GRID: Final = 2.0**28
# Gains are compared on this grid, relative to the largest.
_DIGITS: Final = 2.0**20


def select_features(
    trainer: OutOfFoldTrainer,
    codes: NDArray[np.uint8],
    ledger: RowLedger,
    *,
    n_candidates: int = 1,
    ridge: float = 5.0,
) -> list[int]:
    """Buy features one after another, always the one with the largest gain per price, until none has a gain.

    The folds of the trainer grow boosters on what is owned, side by side. Each held-out row gets its residual
    from a booster that has not seen it: the residuals of rows that a booster was grown on soon look as if
    nothing were left to gain.

    This gain treats each feature alone. With more than one candidate, the best features by that gain are
    tried out: a few rounds with each measure how much the held-out loss falls per price, and the best of them
    is bought.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        Rows and folds, each row held out once.
    codes : ndarray of uint8, shape (n_features, n_rows)
        The rows in a few bins; see `coarse_codes`.
    ledger : RowLedger
        What is owned, and the budget; changed by what is bought.
    n_candidates : int
        Features that are tried out before each purchase; with 1 the best by gain is bought untried.
    ridge : float
        See `Gains`.

    Returns
    -------
    list of int
        The columns bought, in this order.
    """
    boosters = FoldBoosters.of(_quick(trainer))
    gains = Gains(codes)
    bought: list[int] = []
    rounds = _ROUNDS_BEFORE
    while True:
        # Boosting continues, so that residuals show what the last purchase left unexplained.
        boosters.boost(owned_columns(ledger), rounds)
        rounds = _ROUNDS_BETWEEN
        candidates = _best(gains(*boosters.steps(), ridge), ledger, n_candidates)
        if not candidates:
            return bought
        column = _best_tried(boosters, candidates, ledger)
        ledger.buy(column)
        bought.append(column)


def _quick(trainer: OutOfFoldTrainer) -> OutOfFoldTrainer:
    """Return a trainer of the same rows whose boosters learn fast and stay shallow."""
    deepest = trainer.settings.max_depth
    depth = _DEPTH if deepest is None else min(_DEPTH, deepest)
    return replace(trainer, settings=replace(trainer.settings, learning_rate=_RATE, max_depth=depth))


def _best_tried(boosters: FoldBoosters, columns: list[int], ledger: RowLedger) -> int:
    """Return the column that lowers the held-out loss most per price; the first if it is free."""
    prices = np.array([ledger.price(column) for column in columns])
    if len(columns) == 1 or prices[0] == 0:
        return columns[0]
    owned = owned_columns(ledger)
    before = boosters.loss_after(owned, _ROUNDS_TRIED)
    after = boosters.losses_after([np.union1d(owned, [column]) for column in columns], _ROUNDS_TRIED)
    # Rounded to a grid, so that differences in the last bits do not decide between candidates.
    worth = per_price(np.rint((before - np.array(after)) / _power_of_two(before) * _DIGITS), prices)
    return columns[int(worth.argmax())]


def coarse_codes(bins: Bins, weights: Floats) -> NDArray[np.uint8]:
    """Return the bins of a table, with those of numeric columns merged into a few of about equal weight.

    The heaviest bin of a column, such as that of a value which most rows have, is not merged. Nor are missing
    values, and categories.

    Parameters
    ----------
    bins : Bins
        The table.
    weights : ndarray of float64, shape (n_rows,)
        Weight of each row.

    Returns
    -------
    ndarray of uint8, shape (n_features, n_rows)

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.repeat(np.arange(15.0), [30] + [1] * 14)[:, np.newaxis]
    >>> coarse_codes(Bins(X, Schema.learn(X)), np.ones(44))[0, 30:]
    array([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7], dtype=uint8)
    """
    codes = bins.codes()
    for column in range(bins.n_features):
        n_bins = bins.n_bins(column)
        if n_bins <= _COARSE or bins.category_widths[column]:
            continue
        weight = np.bincount(codes[column], weights=weights, minlength=n_bins + 1)[:n_bins]
        heaviest = int(weight.argmax())
        # The heaviest bin becomes code 0, which `Gains` does not store: its sums are the rest of the total.
        weight[heaviest] = 0.0
        before = (np.cumsum(weight) - weight) / max(float(weight.sum()), np.finfo(np.float64).tiny)
        merged = np.append(1 + np.minimum(before * (_COARSE - 1), _COARSE - 2).astype(np.uint8), _COARSE)
        merged[heaviest] = 0
        codes[column] = merged[codes[column]]
    return codes


class Gains:
    """The gain of each column: the loss reduction of one Newton step per bin and output.

    The gain is half the sum over bins and outputs of G^2 / (H + ridge), minus that of one bin for all rows.
    Missing values have a bin of their own. Sums are exact, so the order of the rows changes no choice.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_features, n_rows)
        The bin of each value; 0 should be the most frequent: its sums are what the others leave of the total.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> Gains(codes)(np.array([[1.0, 1.0, -1.0, -1.0]]), np.ones((1, 4)), ridge=2.0)
    array([1., 0.])
    """

    def __init__(self, codes: NDArray[np.uint8]) -> None:
        self._shape = len(codes), int(codes.max(initial=0)) + 1
        # One sparse matrix product sums all bins of all columns. Code 0, the most frequent, is left out.
        column, row = np.nonzero(codes)
        bin_of = column * self._shape[1] + codes[column, row]
        size = self._shape[0] * self._shape[1], codes.shape[1]
        self._members = csr_array((np.ones(len(row)), (bin_of, row)), shape=size)

    def __call__(self, gradients: Floats, hessians: Floats, ridge: float) -> Floats:
        """Return the gain of each column, shape (n_features,).

        Parameters
        ----------
        gradients, hessians : ndarray of float64, shape (n_outputs, n_rows)
            Negative gradients and hessians, times weights.
        ridge : float
            Added to the hessians of each bin, above zero.
        """
        n_outputs = len(gradients)
        steps = np.concatenate([gradients, hessians])
        unit = _power_of_two(float(np.abs(steps).max(initial=0.0)))
        # Integers of at most 2^28 in doubles: sums of up to 2^25 rows are exact, hence the same in any
        # order. Scaling by a power of two loses no bits.
        steps = np.ascontiguousarray(np.rint(steps / unit * _GRID).T)
        sums = (self._members @ steps).reshape(*self._shape, 2 * n_outputs)
        total = steps.sum(axis=0)
        sums[:, 0] = total - sums[:, 1:].sum(axis=1)

        def halves(sums: Floats) -> Floats:
            sums = sums * (unit / _GRID)
            return np.asarray((sums[..., :n_outputs] ** 2 / (sums[..., n_outputs:] + ridge)).sum(axis=-1) / 2)

        return np.asarray(halves(sums).sum(axis=1) - halves(total))


def _best(gains: Floats, ledger: RowLedger, most: int) -> list[int]:
    """Return the affordable columns with the largest gain per price, the best first; free ones first.

    Those that gain nothing are left out, so there may be fewer than asked for, or none.
    """
    prices = np.array([ledger.price(column) for column in range(len(gains))])
    # Gains that differ in their last digits count as equal, so that a weight is the same as repeating a row.
    unit = _power_of_two(float(gains.max(initial=0.0)))
    gains = np.rint(gains / unit * _DIGITS)
    # A price of zero gives infinity, so free features come first.
    ratio = np.where((gains > 0) & ~ledger.owned, per_price(gains, prices), -np.inf)
    order = np.argsort(-ratio, kind="stable").tolist()
    gaining = (column for column in order if ratio[column] > -np.inf and ledger.affords(column))
    return [*islice(gaining, most)]


def _power_of_two(value: float) -> float:
    """Return the smallest power of two that is not below a value, 1 for zero."""
    return float(2.0 ** np.ceil(np.log2(value))) if value > 0 else 1.0


def owned_columns(ledger: RowLedger) -> Columns:
    """Return the columns that a ledger owns, ascending."""
    return np.flatnonzero(ledger.owned).astype(np.int64)
