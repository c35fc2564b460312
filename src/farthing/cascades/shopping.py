"""Which features to buy for some rows, by what is left to learn on rows held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farthing.boosting.booster import Floats
from farthing.cascades.nursery import Columns, Nursery
from farthing.costs import RowLedger
from farthing.table import Bins

# Boosters that only say what is still unknown learn fast and stay shallow.
_RATE: Final = 0.3
_DEPTH: Final = 4
# Rounds on what was owned before, and after each purchase.
_ROUNDS_BEFORE: Final = 6
_ROUNDS_BETWEEN: Final = 1
# Bins that features are chosen by: enough to see a shape, few enough that each has some rows.
_COARSE: Final = 8
# Sums of gradients on a grid of this part of the largest are exact, in whatever order they are added.
_GRID: Final = 2.0**28
# Gains are compared on a grid of this part of the largest.
_DIGITS: Final = 2.0**20


def shop(nursery: Nursery, codes: NDArray[np.uint8], ledger: RowLedger, *, ridge: float = 5.0) -> list[int]:
    """Buy features one after another, each the one of the most gain per price, until none is worth it.

    The folds of the nursery grow boosters on what is owned, side by side. Rows held out by a fold are told by
    its booster, so that their residuals are those of rows never seen: on rows that a booster was grown on, it
    soon looks as if nothing were left to gain.

    Parameters
    ----------
    nursery : Nursery
        Rows and folds, each row held out once.
    codes : ndarray of uint8, shape (n_features, n_rows)
        The rows in a few bins; see `coarse_codes`.
    ledger : RowLedger
        What is owned, and the budget; changed by what is bought.
    ridge : float
        See `Gains`.

    Returns
    -------
    list of int
        The columns bought, in this order.
    """
    settings = replace(
        nursery.settings,
        learning_rate=_RATE,
        max_depth=_DEPTH if nursery.settings.max_depth is None else min(_DEPTH, nursery.settings.max_depth),
    )
    nursery = nursery.with_settings(settings)
    makings = [nursery.boosting(fold.learn) for fold in nursery.folds]
    held = np.empty_like(makings[0].scores)
    gains = Gains(codes)
    bought: list[int] = []
    rounds = _ROUNDS_BEFORE
    while True:
        owned = np.flatnonzero(ledger.owned).astype(np.int64)
        for making, fold in zip(makings, nursery.folds, strict=True):
            grow = nursery.grow(fold.learn, owned)
            for _ in range(rounds if len(owned) else 0):
                making.round(grow)
            held[:, fold.held] = making.scores[:, fold.held]
        rounds = _ROUNDS_BETWEEN
        gradients, hessians = nursery.loss.steps(nursery.target, held)
        curvature = np.ones_like(gradients) if hessians is None else hessians
        won = gains(gradients * nursery.weights, curvature * nursery.weights, ridge)
        column = _best(won, ledger)
        if column is None:
            return bought
        ledger.buy(column)
        bought.append(column)


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


def _best(won: Floats, ledger: RowLedger) -> int | None:
    """Return the affordable column of the most gain per price; free ones first, None if nothing gains."""
    prices = np.array([ledger.price(column) for column in range(len(won))])
    # Gains that differ in their last digits only are equal, so that a weight is the same as repeating a row.
    unit = _power_of_two(float(won.max(initial=0.0)))
    won = np.rint(won / unit * _DIGITS)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where((won > 0) & ~ledger.owned, won / prices, -np.inf)
    for column in np.argsort(-ratio, kind="stable").tolist():
        if ratio[column] == -np.inf:
            return None
        if ledger.affords(column):
            return int(column)
    return None


def _power_of_two(value: float) -> float:
    """Return the least power of two that is no less than a value, 1 for zero."""
    return float(2.0 ** np.ceil(np.log2(value))) if value > 0 else 1.0


def columns_of(ledger: RowLedger) -> Columns:
    """Return what a ledger owns, ascending."""
    return np.flatnonzero(ledger.owned).astype(np.int64)
