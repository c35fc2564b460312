"""What rows buy, one entry after another: the column of the most gain per price, as a network foresees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.booster import Floats
from farthing.cascades.dynamic.entries import Entries, Reading
from farthing.cascades.dynamic.network import Network
from farthing.costs import CostSheet, RowLedger

# Budgets are kept to the ledger's own allowance for rounding; sums of another order are told from it by this.
_SLACK: Final = 1e-12
_DOUBT: Final = 1e-9
# A gain foreseen below this is about nothing; where nothing gains, the least bad is still the best.
_LEAST: Final = 1e-3


def worth(foreseen: NDArray[np.floating], prices: Floats) -> NDArray[np.floating]:
    """Return gain per price: positive, rising with the gain foreseen, infinite for what is free.

    Examples
    --------
    >>> worth(np.array([0.25, 0.25, -0.1]), np.array([1.0, 0.0, 1.0])).round(4)
    array([0.5, inf, 0. ])
    """
    gains = foreseen + np.sqrt(foreseen * foreseen + foreseen.dtype.type(_LEAST**2))
    # Far below zero the sum may vanish in its own rounding.
    np.maximum(gains, foreseen.dtype.type(1e-12), out=gains)
    with np.errstate(divide="ignore"):
        return np.asarray(gains / prices.astype(foreseen.dtype))


class Till:
    """The prices of the columns that a network knows, for many rows at once.

    Parameters
    ----------
    sheet : CostSheet
        The prices of all columns.
    columns : ndarray of int64, shape (n_columns,)
        Those that are for sale.
    """

    def __init__(self, sheet: CostSheet, columns: NDArray[np.int64]) -> None:
        self._sheet = sheet
        self._columns = columns
        self._own = sheet.own[columns]
        self._group_of = sheet.group_of[columns]
        self._shared = np.append(sheet.shared, 0.0)[self._group_of]

    def prices(self, owned: NDArray[np.bool_]) -> Floats:
        """Return what each column costs each row now, shape (n_rows, n_columns) or (1, n_columns)."""
        if (self._group_of < 0).all():
            return self._own[np.newaxis]
        prices = np.repeat(self._own[np.newaxis], len(owned), axis=0)
        for group in np.unique(self._group_of[self._group_of >= 0]):
            members = self._group_of == group
            unpaid = ~owned[:, members].any(axis=1)
            prices[np.ix_(unpaid, members)] += self._shared[members]
        return prices

    def totals(self, owned: NDArray[np.bool_]) -> Floats:
        """Return what rows have paid for what they own, bit by bit as the sheet does."""
        return self._sheet.total_rows(self.everything(owned))

    def everything(self, owned: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return what is owned among all columns of the table."""
        whole = np.zeros((len(owned), len(self._sheet.features)), dtype=np.bool_)
        whole[:, self._columns] = owned
        return whole


@dataclass(frozen=True, eq=False)
class Whims:
    """Purchases that no network has chosen, from which it learns what it would not have tried.

    Attributes
    ----------
    liking : ndarray of float, shape (n_rows, n_columns)
        A row buys what it likes most of what it has not got.
    share : float
        How often it does so, rather than ask the network; 1 is always.
    chance : Generator
        For the lots.
    """

    liking: NDArray[np.floating]
    share: float
    chance: np.random.Generator


@dataclass(eq=False)
class _Shoppers:
    """Rows that still buy: which they are, what they own, what is closed to them, what they have spent."""

    rows: NDArray[np.int64]
    entries: Entries
    sums: NDArray[np.floating]
    owned: NDArray[np.bool_]
    closed: NDArray[np.bool_]
    spent: Floats
    limit: Floats
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, chooser: Network, entries: Entries, budget: Floats | None) -> _Shoppers:
        shape = entries.amount.shape
        return cls(
            np.arange(shape[0]),
            entries,
            np.repeat(chooser.biases[0][np.newaxis], shape[0], axis=0),
            np.zeros(shape, dtype=np.bool_),
            np.zeros(shape, dtype=np.bool_),
            np.zeros(shape[0]),
            np.full(shape[0], np.inf) if budget is None else budget * (1 + _SLACK),
            np.zeros(shape[0], dtype=np.int64),
        )

    def take(self, rest: NDArray[np.bool_]) -> _Shoppers:
        arrays = (self.owned, self.closed, self.spent, self.limit, self.counts)
        taken = [array[rest] for array in arrays]
        return _Shoppers(self.rows[rest], self.entries.take(rest), self.sums[rest], *taken)


def buy_rows(
    chooser: Network, entries: Entries, till: Till, budget: Floats | None, whims: Whims | None = None
) -> NDArray[np.int64]:
    """Let rows buy until nothing is for sale that they can pay.

    Parameters
    ----------
    chooser : Network
        Foresees what each column would gain.
    entries : Entries
        Of the rows. Only what is bought is looked at.
    till : Till
        The prices.
    budget : ndarray of float64, shape (n_rows,), optional
        What each row may spend.
    whims : Whims, optional
        Purchases that the network does not choose.

    Returns
    -------
    ndarray of int64, shape (n_rows, n_purchases)
        The columns that each row bought, in this order; -1 behind the end.
    """
    order = np.full(entries.amount.shape, -1, dtype=np.int64)
    all_by_whim = whims is not None and whims.share >= 1
    now = _Shoppers.of(chooser, entries, budget)
    while True:
        prices = till.prices(now.owned)
        now.closed |= now.spent[:, np.newaxis] + prices > (now.limit * (1 + _DOUBT))[:, np.newaxis]
        if (rest := ~now.closed.all(axis=1)).sum() < len(rest):
            prices = prices if len(prices) == 1 else prices[rest]
            now = now.take(rest)
        if not len(now.rows):
            return order[:, : max(1, int((order >= 0).sum(axis=1).max(initial=0)))]
        here = np.arange(len(now.rows))
        if all_by_whim:
            wanted = np.where(now.closed, -np.inf, whims.liking[now.rows]).argmax(axis=1)
        else:
            value = worth(chooser.outputs(now.sums), prices)
            value[now.closed] = -np.inf
            wanted = value.argmax(axis=1)
            if whims is not None:
                odd = np.flatnonzero(whims.chance.random(len(here)) < whims.share)
                liking = np.where(now.closed[odd], -np.inf, whims.liking[now.rows[odd]])
                wanted[odd] = liking.argmax(axis=1)
        price = np.broadcast_to(prices, now.closed.shape)[here, wanted]
        now.closed[here, wanted] = True
        now.owned[here, wanted] = True
        near = np.flatnonzero(now.spent + price > now.limit * (1 - _DOUBT))
        over = near[till.totals(now.owned[near]) > now.limit[near]]
        now.owned[over, wanted[over]] = False
        bought = now.owned[here, wanted]
        now.spent += np.where(bought, price, 0.0)
        order[now.rows[bought], now.counts[bought]] = wanted[bought]
        now.counts += bought
        if not all_by_whim:
            heard = now.sums if bought.all() else now.sums[bought]
            chooser.hear(heard, now.entries if bought.all() else now.entries.take(bought), wanted[bought])
            now.sums[bought] = heard


class AskingPolicy:
    """The lazy view of the same: one row, one question at a time.

    Parameters
    ----------
    chooser, reader : Network
        What to ask next, and what to answer.
    reading : Reading
        How values become inputs.
    """

    def __init__(self, chooser: Network, reader: Network, reading: Reading) -> None:
        self._networks = chooser, reader
        self._sums = [network.biases[0][np.newaxis].copy() for network in self._networks]
        self._reading = reading
        self._closed = np.zeros(len(reading.columns), dtype=np.bool_)
        self._values = np.full((1, int(reading.columns[-1]) + 1), np.nan)

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column of the most gain per price that can be paid."""
        if self._closed.all():
            return None
        columns = self._reading.columns
        prices = np.array([ledger.price(column) for column in columns.tolist()])
        value = worth(self._networks[0].outputs(self._sums[0])[0], prices)
        value[self._closed] = -np.inf
        while (number := int(value.argmax())) >= 0 and value[number] > -np.inf:
            if ledger.affords(int(columns[number])):
                return int(columns[number])
            self._closed[number] = True
            value[number] = -np.inf
        return None

    def hear(self, column: int, value: float) -> None:
        """Take the answer."""
        number = int(np.searchsorted(self._reading.columns, column))
        self._values[0, column] = value
        entries, heard = self._reading.entries(self._values), np.array([number])
        for network, sums in zip(self._networks, self._sums, strict=True):
            network.hear(sums, entries, heard)
        self._closed[number] = True

    def output(self) -> Floats:
        """Return the scores of the classes, shape (n_classes,)."""
        return np.asarray(self._networks[1].outputs(self._sums[1])[0])
