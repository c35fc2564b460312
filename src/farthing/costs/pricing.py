"""What sets of features cost: own costs one by one, and the shared cost of a group once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from farthing._core import SheetTotals
from farthing.costs import validation
from farthing.costs.group import Group
from farthing.errors import CostError
from farthing.typing import Flags, Floats, Integers


class Pricing:
    """The prices of a `CostSheet`, and what features cost by them; see there for its attributes."""

    __slots__ = (
        "_groups",
        "_index",
        "_places",
        "_totals",
        "_values",
        "calls",
        "features",
        "group_names",
        "group_of",
        "own",
        "shared",
    )

    features: tuple[str, ...]
    own: Floats
    group_names: tuple[str, ...]
    shared: Floats
    group_of: Integers
    calls: tuple[str, ...]
    _index: dict[str, int]
    _groups: Mapping[str, Group]
    # Copies of own, shared and group_of as Python numbers, which add faster than NumPy scalars.
    _values: tuple[tuple[float, ...], tuple[float, ...]]
    _places: tuple[int, ...]
    _totals: SheetTotals

    @property
    def numbers(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]]:
        """Own costs, shared costs and groups of the features (-1: none) as Python numbers."""
        return (*self._values, self._places)

    @property
    def groups(self) -> Mapping[str, Group]:
        """The groups by name, their members in the order of the sheet."""
        return self._groups

    @property
    def n_columns(self) -> int:
        """Number of features that are columns of a table."""
        return len(self.features) - len(self.calls)

    def call_prices(self) -> dict[str, float]:
        """Return the price of each call.

        Examples
        --------
        >>> from farthing import CostSheet
        >>> CostSheet([1, 2], calls={"trees": 0.5}).call_prices()
        {'trees': 0.5}
        """
        return dict(zip(self.calls, self._values[0][self.n_columns :], strict=True))

    def total(
        self,
        features: Iterable[str] | Flags,
        owned: Iterable[str] | Flags = (),
    ) -> float:
        """Return the cost of a set of features, given that another set is owned.

        Own costs are added one by one in the order of the sheet, then the shared costs in the order of the
        groups, so the total of a set always has the same bits.

        Parameters
        ----------
        features, owned : iterable of str, or bool array of shape (n_features,)
            Sets of features. A feature in both costs nothing, nor does a group with a member in ``owned``.

        Examples
        --------
        >>> from farthing import CostSheet, Group
        >>> sheet = CostSheet([1, 2, 4], groups={"sample": Group(8, ["x1", "x2"])})
        >>> sheet.total(["x0", "x1", "x2"]), sheet.total(["x1", "x2"], owned=["x1"])
        (15.0, 4.0)
        """
        return self._charge(self._columns(features), self._columns(owned))

    def price(self, feature: str, owned: Iterable[str] | Flags = ()) -> float:
        """Return the cost of one more feature when a set is owned: ``total([feature], owned)``."""
        return self._charge({self.column(feature)}, self._columns(owned))

    def total_rows(self, acquired: npt.ArrayLike) -> Floats:
        """Return the total of the features of each row, bit for bit that of `total`.

        Parameters
        ----------
        acquired : bool array of shape (n_rows, n_features)
            The features that each row bought.

        Returns
        -------
        ndarray of shape (n_rows,), float64

        Examples
        --------
        >>> from farthing import CostSheet, Group
        >>> sheet = CostSheet([1, 2], groups={"sample": Group(8, ["x0", "x1"])})
        >>> sheet.total_rows([[True, True], [False, False]])
        array([11.,  0.])
        """
        mask = np.asarray(acquired)
        if mask.ndim != 2 or mask.shape[1] != len(self.features) or mask.dtype != np.bool_:
            raise CostError(
                f"acquired has shape {mask.shape} and dtype {mask.dtype}; "
                f"expected a bool array of shape (n_rows, {len(self.features)}), a column for each feature"
            )
        return self._compiled_totals().of_rows(mask)

    def _compiled_totals(self) -> SheetTotals:
        """Return the prices in the compiled core, made at the first call."""
        try:
            return self._totals
        except AttributeError:
            totals = SheetTotals(self.own, self.shared, self.group_of)
            object.__setattr__(self, "_totals", totals)  # that of a sheet refuses
            return totals

    def column(self, feature: str) -> int:
        """Return the column of a feature in the sheet."""
        try:
            return self._index[feature]
        except (KeyError, TypeError):
            raise self._unknown(feature) from None

    def _charge(self, wanted: set[int], owned: set[int]) -> float:
        """Sum the price of columns; the compiled core adds in the same order and gives the same bits."""
        own, shared = self._values
        spent = 0.0
        unpaid = sorted(wanted - owned if owned else wanted)
        for column in unpaid:
            spent += own[column]
        if shared:
            group_of = self._places
            touched = {group_of[column] for column in unpaid}
            touched.discard(-1)
            # Whoever owns a member of a group has paid its shared cost.
            if owned:
                touched.difference_update([group_of[column] for column in owned])
            for place in sorted(touched):
                spent += shared[place]
        return spent

    def _columns(self, features: Iterable[str] | Flags) -> set[int]:
        """Return the columns of features that are given by name or as a mask."""
        if isinstance(features, np.ndarray) and features.dtype == np.bool_:
            if features.shape != (len(self.features),):
                raise CostError(
                    f"the mask has shape {features.shape}; "
                    f"expected ({len(self.features)},), an entry for each feature"
                )
            return set(np.flatnonzero(features).tolist())
        if isinstance(features, str):
            raise CostError(
                f"expected a list of features, got the single string {features!r}; write [{features!r}]"
            )
        index = self._index
        try:
            return {index[name] for name in features}
        except KeyError as error:  # the error holds the name; an iterator is exhausted by now
            raise self._unknown(error.args[0]) from None
        except TypeError:
            raise self._unknown(features) from None

    def _unknown(self, feature: object) -> CostError:
        if isinstance(feature, str):
            hint = (
                validation.nearest(feature, self.features) or f"; it has {validation.quoted(self.features)}"
            )
            return CostError(f"feature {feature!r} is not in the cost sheet{hint}")
        return CostError(
            f"{validation.brief(feature)}, of type {type(feature).__name__}, "
            "is not a feature of the cost sheet; "
            f"give names, or a bool array of shape ({len(self.features)},)"
        )
