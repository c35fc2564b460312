"""Which features to buy for some rows, by what is left to learn on rows held out."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farthing.costs import RowLedger
from farthing.learning.booster import Floats
from farthing.learning.fold_boosters import FoldBoosters
from farthing.learning.out_of_fold import Columns, OutOfFoldTrainer
from farthing.table import Bins

# Boosters that only say what is still unknown learn fast and stay shallow.
_RATE: Final = 0.3
_DEPTH: Final = 4
# Rounds on what was owned before, and after each purchase.
_ROUNDS_BEFORE: Final = 6
_ROUNDS_BETWEEN: Final = 1
# Rounds that show what a feature is worth.
_ROUNDS_TRIED: Final = 2
# Bins that features are chosen by: enough to see a shape, few enough that each has some rows.
_COARSE: Final = 8
# Sums of gradients on a grid of this part of the largest are exact, in whatever order they are added.
_GRID: Final = 2.0**28
# Gains are compared on a grid of this part of the largest.
_DIGITS: Final = 2.0**20


def shop(
    nursery: OutOfFoldTrainer,
    codes: NDArray[np.uint8],
    ledger: RowLedger,
    *,
    n_candidates: int = 1,
    ridge: float = 5.0,
) -> list[int]:
    """Buy features one after another, each the one of the most gain per price, until none is worth it.

    The folds of the nursery grow boosters on what is owned, side by side. Rows held out by a fold are told by
    its booster, so that their residuals are those of rows never seen: on rows that a booster was grown on, it
    soon looks as if nothing were left to gain.

    Such a gain knows each feature alone. With ``n_candidates`` the first so many features are tried out: a few
    rounds with each of them show by how much the loss of the rows held out falls per price, and the best of
    them is bought.

    Parameters
    ----------
    nursery : OutOfFoldTrainer
        Rows and folds, each row held out once.
    codes : ndarray of uint8, shape (n_features, n_rows)
        The rows in a few bins; see `coarse_codes`.
    ledger : RowLedger
        What is owned, and the budget; changed by what is bought.
    n_candidates : int
        Features that are tried out before each purchase; 1 is none, the first is bought.
    ridge : float
        See `Gains`.

    Returns
    -------
    list of int
        The columns bought, in this order.
    """
    makings = FoldBoosters(_quick(nursery))
    gains = Gains(codes)
    bought: list[int] = []
    rounds = _ROUNDS_BEFORE
    while True:
        makings.go_on(columns_of(ledger), rounds)
        rounds = _ROUNDS_BETWEEN
        columns = _best(gains(*makings.steps(), ridge), ledger, n_candidates)
        if not columns:
            return bought
        column = _best_tried(makings, columns, ledger)
        ledger.buy(column)
        bought.append(column)


def _quick(nursery: OutOfFoldTrainer) -> OutOfFoldTrainer:
    """Return a nursery of the same rows whose boosters learn fast and stay shallow."""
    deepest = nursery.settings.max_depth
    depth = _DEPTH if deepest is None else min(_DEPTH, deepest)
    return nursery.with_settings(replace(nursery.settings, learning_rate=_RATE, max_depth=depth))


def _best_tried(makings: FoldBoosters, columns: list[int], ledger: RowLedger) -> int:
    """Return the column that takes most off the loss of the rows held out, per price; the first if free."""
    prices = np.array([ledger.price(column) for column in columns])
    if len(columns) == 1 or prices[0] == 0:
        return columns[0]
    owned = columns_of(ledger)
    before = makings.loss_after(owned, _ROUNDS_TRIED)
    after = [makings.loss_after(np.union1d(owned, [column]), _ROUNDS_TRIED) for column in columns]
    worth = np.rint((before - np.array(after)) / _power_of_two(before) * _DIGITS) / prices
    return columns[int(worth.argmax())]


def coarse_codes(bins: Bins, weights: Floats) -> NDArray[np.uint8]:
    """Return the bins of a table, those of numbers joined to a few of about the same weight.

    The heaviest bin of a column, such as that of a value which most rows have, stays alone. So do missing
    values, and categories.

    Parameters
    ----------
    bins : Bins
        The table.
    weights : ndarray of float64, shape (n_rows,)
        Of the rows.

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
        weight[heaviest] = 0.0
        before = (np.cumsum(weight) - weight) / max(float(weight.sum()), np.finfo(np.float64).tiny)
        joined = np.append(1 + np.minimum(before * (_COARSE - 1), _COARSE - 2).astype(np.uint8), _COARSE)
        joined[heaviest] = 0
        codes[column] = joined[codes[column]]
    return codes


class Gains:
    """What each column could take off the loss: a Newton step for each of its bins, of each output.

    The gain is half the sum over bins and outputs of G^2 / (H + ridge), less that of one bin for all rows.
    Missing values have a bin of their own. Sums are exact, so that no order of adding changes a choice.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_features, n_rows)
        The bin of each value; 0 should be the most frequent, since its sums come for nothing.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> Gains(codes)(np.array([[1.0, 1.0, -1.0, -1.0]]), np.ones((1, 4)), ridge=2.0)
    array([1., 0.])
    """

    def __init__(self, codes: NDArray[np.uint8]) -> None:
        self._shape = len(codes), int(codes.max(initial=0)) + 1
        column, row = np.nonzero(codes)
        bin_of = column * self._shape[1] + codes[column, row]
        size = self._shape[0] * self._shape[1], codes.shape[1]
        self._members = csr_array((np.ones(len(row)), (bin_of, row)), shape=size)

    def __call__(self, gradients: Floats, hessians: Floats, ridge: float) -> Floats:
        """Return the gain of each column, shape (n_features,).

        Parameters
        ----------
        gradients, hessians : ndarray of float64, shape (n_outputs, n_rows)
            Negative gradients and second derivatives, times weights.
        ridge : float
            Added to the second derivatives of each bin, above zero.
        """
        n_outputs = len(gradients)
        steps = np.concatenate([gradients, hessians])
        unit = _power_of_two(float(np.abs(steps).max(initial=0.0)))
        steps = np.ascontiguousarray(np.rint(steps / unit * _GRID).T)
        sums = (self._members @ steps).reshape(*self._shape, 2 * n_outputs)
        total = steps.sum(axis=0)
        sums[:, 0] = total - sums[:, 1:].sum(axis=1)

        def halves(sums: Floats) -> Floats:
            sums = sums * (unit / _GRID)
            return np.asarray((sums[..., :n_outputs] ** 2 / (sums[..., n_outputs:] + ridge)).sum(axis=-1) / 2)

        return np.asarray(halves(sums).sum(axis=1) - halves(total))


def _best(won: Floats, ledger: RowLedger, most: int) -> list[int]:
    """Return the affordable columns of the most gain per price, the best first; free ones before all.

    Those that gain nothing are left out, so there may be fewer than asked for, or none.
    """
    prices = np.array([ledger.price(column) for column in range(len(won))])
    # Gains that differ in their last digits only are equal, so that a weight is the same as repeating a row.
    unit = _power_of_two(float(won.max(initial=0.0)))
    won = np.rint(won / unit * _DIGITS)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((won > 0) & ~ledger.owned, won / prices, -np.inf)
    order = np.argsort(-ratio, kind="stable").tolist()
    gaining = (column for column in order if ratio[column] > -np.inf and ledger.affords(column))
    return [*islice(gaining, most)]


def _power_of_two(value: float) -> float:
    """Return the least power of two that is no less than a value, 1 for zero."""
    return float(2.0 ** np.ceil(np.log2(value))) if value > 0 else 1.0


def columns_of(ledger: RowLedger) -> Columns:
    """Return what a ledger owns, ascending."""
    return np.flatnonzero(ledger.owned).astype(np.int64)
