"""The row ledger: what one row owns, has paid and can still afford."""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Collection, Iterable, Mapping
from numbers import Real

import numpy as np

from farthing.costs.budget import spending_limit
from farthing.costs.sheet import CostSheet
from farthing.typing import Flags


class RowLedger:
    """The ledger of one row: what it owns and has spent, and its budget.

    Features are given as columns of the sheet. Sums are bit for bit those of the sheet: ``spent`` is always
    ``sheet.total(bought, owned=known)``, whatever the order of the purchases.

    Parameters
    ----------
    sheet : CostSheet
        The prices.
    budget : float, optional
        The budget, at least zero; None means no limit.
    known : iterable of int or str, or bool array of shape (n_features,)
        The columns, or the names, that are owned from the start and free; their groups are free with them.
    caps : mapping of str to float, optional
        The most that the row may take of further resources of the sheet.

    Examples
    --------
    >>> from farthing.costs import Group
    >>> sheet = CostSheet([1, 2, 4], groups={"sample": Group(8, ["x1", "x2"])})
    >>> ledger = RowLedger(sheet, budget=12)
    >>> ledger.price(1), ledger.price(2)
    (10.0, 12.0)
    >>> ledger.buy(1)
    >>> ledger.spent, ledger.price(2), ledger.affords(2), ledger.affords(0)
    (10.0, 4.0, False, True)
    """

    __slots__ = (
        "_bought",
        "_capped",
        "_columns",
        "_group_of",
        "_own",
        "_owned",
        "_paid",
        "_places",
        "_shared",
        "_spent",
        "budget",
        "limit",
        "sheet",
    )

    def __init__(
        self,
        sheet: CostSheet,
        budget: float | None = None,
        known: Iterable[int] | Iterable[str] | Flags = (),
        caps: Mapping[str, float] | None = None,
    ) -> None:
        self.sheet = sheet
        self.budget = _checked_budget(budget)
        #: The budget with its slack for rounding; infinite without a budget.
        self.limit = spending_limit(self.budget)
        # Python numbers and bytes, not arrays: access to single entries is faster, and NumPy can view bytes.
        self._own, self._shared, self._group_of = sheet.numbers
        self._owned = bytearray(len(self._own))
        self._bought = bytearray(len(self._own))
        self._paid = bytearray(len(self._shared))  # groups with an owned feature
        self._columns: list[int] = []  # bought, in the order of the sheet
        self._places: list[int] = []  # groups whose shared cost the row paid, in order
        self._spent = 0.0
        owned = _known_columns(sheet, known)
        for column in owned:
            self._set_owned(column)
        # A ledger for each resource that is capped: all of them must afford what the row buys.
        self._capped = {
            name: RowLedger(sheet.resources[name], cap, owned) for name, cap in (caps or {}).items()
        }

    @property
    def caps(self) -> dict[str, float]:
        """The caps of further resources."""
        return {name: float(ledger.budget or 0.0) for name, ledger in self._capped.items()}

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget, or a cap of a resource."""
        return self.budget is not None or bool(self._capped)

    def fresh(self, known: Iterable[int]) -> RowLedger:
        """Return a ledger with the same prices and limits, of a row that has bought nothing."""
        return RowLedger(self.sheet, self.budget, tuple(known), self.caps)

    def taken(self) -> dict[str, float]:
        """Return what the row took of each further resource of the sheet."""
        known = self.owned & ~self.bought
        return {name: sheet.total(self.bought, owned=known) for name, sheet in self.sheet.resources.items()}

    @property
    def owned(self) -> Flags:
        """What the row owns, known or bought: a live, read-only view, shape (n_features,)."""
        return _view(self._owned)

    @property
    def bought(self) -> Flags:
        """What the row paid for: a live, read-only view, shape (n_features,)."""
        return _view(self._bought)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what the row paid for, in the order of the sheet."""
        features = self.sheet.features
        return tuple([features[column] for column in self._columns])

    @property
    def spent(self) -> float:
        """What the row paid: ``sheet.total(bought, owned=known)``."""
        return self._spent

    def price(self, column: int) -> float:
        """Return what a column would cost now: 0 if owned, without the shared cost if its group is paid."""
        if self._owned[column]:
            return 0.0
        place = self._group_of[column]
        return (
            self._own[column] if place < 0 or self._paid[place] else self._own[column] + self._shared[place]
        )

    def price_all(self, columns: Iterable[int]) -> float:
        """Return what a set of columns would cost now, added up as `CostSheet.total` does.

        Examples
        --------
        >>> RowLedger(CostSheet([1, 2, 4]), known=[2]).price_all([0, 1, 2])
        3.0
        """
        unpaid = sorted({column for column in columns if not self._owned[column]})
        price = 0.0
        for column in unpaid:
            price += self._own[column]
        for place in sorted({self._group_of[column] for column in unpaid}):
            if place >= 0 and not self._paid[place]:
                price += self._shared[place]
        return price

    def affords_all(self, columns: Collection[int]) -> bool:
        """Return whether the row can buy all of these columns within its budget and all caps."""
        if self._capped and not all(each.affords_all(columns) for each in self._capped.values()):
            return False
        if self.budget is None:
            return True
        unpaid = {column for column in columns if not self._owned[column]}
        if not unpaid:
            return True
        # The whole sum again, in the order of the sheet. Adding a price to `_spent` would round differently,
        # and a purchase could pass here and yet exceed the budget by `sheet.total`.
        spent = 0.0
        for column in sorted(unpaid.union(self._columns)):
            spent += self._own[column]
        due = {self._group_of[column] for column in unpaid}
        for place in sorted(due.union(self._places)):
            if place in self._places or (place >= 0 and not self._paid[place]):
                spent += self._shared[place]
        return spent <= self.limit

    def affords(self, column: int) -> bool:
        """Return whether the row can buy a column within its budget and all caps."""
        if self._capped and not all(each.affords(column) for each in self._capped.values()):
            return False
        return self.budget is None or self._spent_with(column) <= self.limit

    def buy(self, column: int) -> None:
        """Pay for a column; nothing happens if it is owned.

        Raises
        ------
        ValueError
            If the budget does not allow it; call `affords` first.
        """
        if self._owned[column]:
            return
        spent = self._spent_with(column)
        if spent > self.limit:
            raise ValueError(
                f"feature {self.sheet.features[column]!r} would take the spend "
                f"from {self._spent:g} to {spent:g}, over the budget of {self.budget:g}; "
                "ask affords() before buy()"
            )
        for name, each in self._capped.items():
            if not each.affords(column):
                raise ValueError(
                    f"feature {self.sheet.features[column]!r} would go over the cap of {each.budget:g} "
                    f"{name}; ask affords() before buy()"
                )
        for each in self._capped.values():
            each.buy(column)
        self._take(column)
        self._spent = spent

    def buy_all(self, columns: Collection[int]) -> None:
        """Pay for several columns, as `buy` would one after another.

        Raises
        ------
        ValueError
            If the budget does not allow it; call `affords_all` first.

        Examples
        --------
        >>> ledger = RowLedger(CostSheet([1, 2, 4]), budget=6)
        >>> ledger.buy_all([2, 1])
        >>> ledger.spent
        6.0
        """
        if not self.affords_all(columns):
            raise ValueError(
                f"these features would take the spend from {self._spent:g} over the budget of "
                f"{self.budget}, or over the cap of a resource; ask affords_all() before buy_all()"
            )
        for each in self._capped.values():
            each.buy_all(columns)
        for column in columns:
            if not self._owned[column]:
                self._take(column)
        spent = 0.0
        for column in self._columns:
            spent += self._own[column]
        for place in self._places:
            spent += self._shared[place]
        self._spent = spent

    def __repr__(self) -> str:
        return f"RowLedger(spent={self._spent:g}, budget={self.budget}, bought={list(self.names)})"

    def _take(self, column: int) -> None:
        place = self._group_of[column]
        if place >= 0 and not self._paid[place]:
            insort(self._places, place)
        insort(self._columns, column)
        self._bought[column] = True
        self._set_owned(column)

    def _set_owned(self, column: int) -> None:
        self._owned[column] = True
        place = self._group_of[column]
        if place >= 0:
            self._paid[place] = True

    def _spent_with(self, column: int) -> float:
        """Return the spend after buying one more column, added in the order of `CostSheet.total`."""
        if self._owned[column]:
            return self._spent
        # As in `affords_all`, the sum is computed anew. `_columns` is sorted, so no sort is needed.
        own, columns = self._own, self._columns
        at = bisect(columns, column)
        spent = 0.0
        for earlier in columns[:at]:
            spent += own[earlier]
        spent += own[column]
        for later in columns[at:]:
            spent += own[later]

        place = self._group_of[column]
        places = self._places if place < 0 or self._paid[place] else sorted([*self._places, place])
        for paid in places:
            spent += self._shared[paid]
        return spent


def _checked_budget(budget: object) -> float | None:
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, Real):
        got = type(budget).__name__
        # ValueError, so that all invalid budgets raise the same error.
        raise ValueError(f"the budget is of type {got}; expected a number or None")  # noqa: TRY004
    if math.isnan(budget) or budget < 0:
        raise ValueError(f"the budget is {budget}; expected a number of at least zero, or None for no limit")
    return float(budget)


def _known_columns(sheet: CostSheet, known: Iterable[int] | Iterable[str] | Flags) -> list[int]:
    """Return the known columns, given as columns, names or a mask."""
    n_features = len(sheet.features)
    if isinstance(known, np.ndarray) and known.dtype == np.bool_:
        if known.shape != (n_features,):
            raise ValueError(
                f"known has shape {known.shape}; expected ({n_features},), an entry for each feature"
            )
        return np.flatnonzero(known).tolist()
    if isinstance(known, str):
        raise ValueError(f"known is the single string {known!r}; write [{known!r}]")  # noqa: TRY004
    columns = []
    for item in known:
        if isinstance(item, (bool, np.bool_)):
            raise ValueError("known is a list of bools; make it a NumPy array to use it as a mask")  # noqa: TRY004
        columns.append(sheet.column(item) if isinstance(item, str) else int(item))
        if not 0 <= columns[-1] < n_features:
            raise ValueError(f"known has the column {item}; expected columns from 0 to {n_features - 1}")
    return columns


def _view(flags: bytearray) -> Flags:
    # No copy: the array shares the memory of the bytearray.
    view = np.frombuffer(flags, dtype=np.bool_)
    view.flags.writeable = False
    return view
