"""Search for the set of features that is worth most to the rows of a branch, within its budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.branching.feature_selection import Gains
from farthing.costs import RowLedger, per_price
from farthing.learning.out_of_fold import OutOfFoldTrainer
from farthing.trees import explained_shares
from farthing.typing import Flags, Floats

#: Columns in ascending order, the key of a set.
Subset: TypeAlias = tuple[int, ...]

# As in `feature_selection`.
_RIDGE: Final = 5.0
# A set replaces another if it lowers the held-out loss by this share at least.
_LEAST_FALL: Final = 1e-3
# Losses are compared on this grid: a weight is then the same as repeating a row.
_GRID: Final = 2.0**24
# How many columns more than are affordable the search begins with that drops columns.
_EXTRA: Final = 6


@dataclass(frozen=True, eq=False)
class SetBoosters:
    """Boosters on sets of columns: each fold's booster scores the rows that the fold holds out.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows and the folds.
    scores : dict
        Held-out scores with each set so far, shape (n_outputs, n_rows).
    shares : dict
        What each column explains of the output of each booster, shape (n_features,).
    """

    trainer: OutOfFoldTrainer
    scores: dict[Subset, Floats] = field(default_factory=dict)
    shares: dict[Subset, Floats] = field(default_factory=dict)

    def grow(self, sets: Iterable[Subset]) -> None:
        """Grow the boosters of sets that have none."""
        new = [columns for columns in dict.fromkeys(sets) if columns not in self.scores]
        grown = self.trainer.boosters([np.array(columns, dtype=np.int64) for columns in new])
        for columns, booster in zip(new, grown, strict=True):
            self.scores[columns] = booster.held_out
            self.shares[columns] = explained_shares(booster.forest, booster.forest.node_values)


@dataclass(frozen=True, eq=False)
class SubsetSearch:
    """Held-out losses of sets of columns, for the rows of one branch.

    Parameters
    ----------
    boosters : SetBoosters
        Boosters on rows of the branch and others; branches may share them.
    own : ndarray of bool, shape (n_rows,)
        Which of these rows are those of the branch.
    codes : ndarray of uint8, shape (n_features, n_rows)
        The rows in a few bins; see `coarse_codes`.
    fixed : tuple of int
        Columns that the branch owns, whatever else it buys.
    limit : float
        The budget of a row.
    n_candidates : int
        Columns that are tried out at each step.
    n_swaps : int
        The most exchanges of a column for others.
    most_columns : int or None
        The most columns that are boosted on together; None means all.
    """

    boosters: SetBoosters
    own: Flags
    codes: NDArray[np.uint8]
    fixed: Subset
    limit: float
    n_candidates: int
    n_swaps: int
    most_columns: int | None = None

    @property
    def trainer(self) -> OutOfFoldTrainer:
        """The rows, the folds and the loss."""
        return self.boosters.trainer

    # Judging sets.

    @property
    def known(self) -> list[Subset]:
        """The sets that were judged so far."""
        return list(self.boosters.scores)

    @cached_property
    def weights(self) -> Floats:
        """Weights of the rows of the branch, shape (n_own,)."""
        return np.asarray(self.trainer.rows.weights[self.own])

    @cached_property
    def _gains(self) -> Gains:
        return Gains(self.codes[:, self.own])

    def losses(self, sets: Sequence[Subset]) -> Floats:
        """Return the mean loss of the rows of the branch with each set, shape (n_sets,)."""
        self.boosters.grow(sets)
        means = [np.average(self.row_losses(columns), weights=self.weights) for columns in sets]
        return np.asarray(np.rint(np.array(means) * _GRID) / _GRID)

    def row_losses(self, columns: Subset) -> Floats:
        """Return the loss of each row of the branch with a set that was judged, shape (n_own,)."""
        target = self.trainer.rows.target[self.own]
        return self.trainer.loss.values(target, self._scores(columns))

    def _scores(self, columns: Subset) -> Floats:
        return np.ascontiguousarray(self.boosters.scores[columns][:, self.own])

    def _best_of(self, sets: Sequence[Subset]) -> Subset:
        return sets[int(np.argmin(self.losses(sets)))]

    # Proposing columns.

    def ledger(self, columns: Iterable[int]) -> RowLedger:
        """Return the account of a row that owns some columns."""
        ledger = RowLedger(self.trainer.costs, self.limit)
        for column in sorted(columns):
            ledger.buy(column)
        return ledger

    def affords(self, columns: Subset) -> bool:
        """Return whether the budget pays for a set."""
        ledger = RowLedger(self.trainer.costs, self.limit)
        for column in columns:
            if not ledger.affords(column):
                return False
            ledger.buy(column)
        return True

    def gains(self, columns: Subset, rows: Flags | None = None) -> Floats:
        """Return what each column explains of the held-out residuals of a set, shape (n_features,).

        Parameters
        ----------
        columns : tuple of int
            The set.
        rows : ndarray of bool, shape (n_own,), optional
            The rows of the branch that count; None means all.
        """
        self.losses([columns])
        gradients, hessians = self.trainer.loss.steps(
            self.trainer.rows.target[self.own], self._scores(columns)
        )
        weights = self.weights if rows is None else self.weights * rows
        curvature = np.ones_like(gradients) if hessians is None else hessians
        return self._gains(gradients * weights, curvature * weights, _RIDGE)

    def promising(self, columns: Subset, without: int = -1, rows: Flags | None = None) -> list[int]:
        """Return affordable columns by their gains per price, best first; parameters as in `gains`.

        Parameters
        ----------
        without : int
            A column that is left out.
        """
        gains = self.gains(columns, rows)
        ledger = self.ledger(columns)
        prices = np.array([ledger.price(column) for column in range(len(gains))])
        top = float(gains.max(initial=0.0)) or 1.0
        worth = per_price(np.rint(gains / top * _GRID), prices)
        order = np.argsort(-worth, kind="stable").tolist()
        return [
            column
            for column in order
            if gains[column] > 0 and column != without and not ledger.owned[column] and ledger.affords(column)
        ]

    # Searching.

    def best(self, starts: Sequence[Subset] = ()) -> Subset:
        """Return the best set found: by adding columns, by leaving them out, and by exchanging them.

        Parameters
        ----------
        starts : sequence of tuple of int
            Sets to begin with, in place of those that are made of all columns.
        """
        found = [self.filled(start) for start in starts]
        if not found:
            # What helps most alone may be in the way later, so there are several first steps.
            found = [
                self.filled(self.fixed),
                self.filled(self.fixed, 1),
                self.filled(self._thinned()),
            ]
        return self.swapped(self._best_of(found))

    def filled(self, columns: Subset, n_candidates: int | None = None) -> Subset:
        """Add columns, always the one of those tried out that lowers the held-out loss most per price.

        Parameters
        ----------
        columns : tuple of int
            What is owned.
        n_candidates : int, optional
            Columns that are tried out at each step; 1 takes the most promising one. None means as many as
            the search has.
        """
        while candidates := self.promising(columns)[: n_candidates or self.n_candidates]:
            sets = [with_column(columns, column) for column in candidates]
            if len(sets) == 1:
                columns = sets[0]
                continue
            ledger = self.ledger(columns)
            prices = np.array([ledger.price(column) for column in candidates])
            if prices.min() == 0:
                columns = sets[int(np.argmin(prices))]
                continue
            falls = self.losses([columns])[0] - self.losses(sets)
            # If none helps alone, the least harmful: the next one may need it.
            worth = np.where(falls > 0, per_price(falls, prices), falls)
            columns = sets[int(np.argmax(worth))]
        return columns

    def _thinned(self) -> Subset:
        """Return an affordable set that is left when columns are dropped from those a free booster uses."""
        price = max(float(np.median(self.trainer.costs.own)), np.finfo(np.float64).tiny)
        most = int(min(len(self.codes), self.limit / price + _EXTRA))
        booster = self.trainer.booster(self._screened(most))
        shares = np.rint(explained_shares(booster.forest, booster.forest.node_values) * _GRID)
        order = np.argsort(-shares, kind="stable").tolist()
        columns = tuple(sorted({*self.fixed, *[c for c in order if shares[c] > 0][:most]}))
        while not self.affords(columns):
            # The column that the booster needs least; exchanges repair what was dropped too early.
            columns = without_column(columns, self.by_share(columns)[0])
        return columns

    def _screened(self, most: int) -> NDArray[np.int64]:
        """Return the columns to boost on together: those that gain most alone where there are too many."""
        n_features = len(self.codes)
        n_kept = n_features if self.most_columns is None else max(self.most_columns, most)
        if n_features <= n_kept:
            return np.arange(n_features)
        gains = self.gains(self.fixed)
        top = float(gains.max(initial=0.0)) or 1.0
        kept = np.argsort(-np.rint(gains / top * _GRID), kind="stable")[:n_kept]
        return np.union1d(np.array(self.fixed, dtype=np.int64), kept)

    def swapped(self, columns: Subset) -> Subset:
        """Exchange a column for others as long as the held-out loss falls."""
        for _ in range(self.n_swaps):
            least = self.losses([columns])[0]
            sets = [
                self._refilled(with_column(rest, column))
                for removed, rest in self.reduced(columns)
                for column in self.promising(rest, without=removed)[: self.n_candidates]
            ]
            if not sets:
                break
            best = self._best_of(sets)
            if self.losses([best])[0] >= least * (1 - _LEAST_FALL):
                break
            columns = best
        return columns

    def reduced(self, columns: Subset) -> list[tuple[int, Subset]]:
        """Return the columns whose loss harms least, and what is left without each, the best first."""
        removable = self.by_share(columns)[: self.n_candidates]
        sets = [without_column(columns, column) for column in removable]
        order = np.argsort(self.losses(sets), kind="stable")[: max(2, self.n_candidates // 2)]
        return [(removable[place], sets[place]) for place in order.tolist()]

    def by_share(self, columns: Subset) -> list[int]:
        """Return the columns that may be removed, those that explain least of the booster's output first."""
        self.losses([columns])
        shares = np.rint(self.boosters.shares[columns] * _GRID)
        return sorted((column for column in columns if column not in self.fixed), key=lambda c: shares[c])

    def _refilled(self, columns: Subset) -> Subset:
        """Spend what an exchange has left of the budget, untried."""
        ledger = self.ledger(columns)
        unpaid = [column for column in range(len(self.codes)) if not ledger.owned[column]]
        if not any(ledger.affords(column) for column in unpaid):
            return columns
        while candidates := self.promising(columns)[:1]:
            columns = with_column(columns, candidates[0])
        return columns


def with_column(columns: Subset, column: int) -> Subset:
    """Return a set with one more column.

    Examples
    --------
    >>> with_column((1, 3), 2)
    (1, 2, 3)
    """
    return tuple(sorted({*columns, column}))


def without_column(columns: Subset, column: int) -> Subset:
    """Return a set without a column.

    Examples
    --------
    >>> without_column((1, 2, 3), 2)
    (1, 3)
    """
    return tuple(other for other in columns if other != column)
