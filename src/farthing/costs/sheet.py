"""The cost sheet: own costs of features and shared costs of groups."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from farthing._core import row_totals
from farthing.costs import plain_data, validation
from farthing.costs.alignment import align_entries
from farthing.costs.budget import money_name
from farthing.costs.display import render
from farthing.costs.group import Group, as_groups
from farthing.costs.measuring import Per, measure
from farthing.costs.readers import read_prices
from farthing.costs.resources import Amounts, as_resources
from farthing.costs.toml_text import to_toml
from farthing.errors import CostError
from farthing.notebook import html_table
from farthing.typing import Flags, Floats, Integers


class CostSheet:
    """The cost of each feature: its own cost, and possibly a cost shared with a group.

    The total of a set S of features is the sum of their own costs plus the shared cost of each group with a
    member in S, charged once. A sheet is a value: immutable, hashable, equal to any sheet with the same
    entries in the same order.

    Parameters
    ----------
    costs : mapping of str to float, Series, array of shape (n_features,), or list
        The own cost of each feature, finite and at least zero. Without names (an array, a list, a Series with
        the index 0, 1, 2, ...) the features are called ``x0``, ``x1``, ...
    groups : mapping of str to Group, optional
        The shared costs; each a `Group`, a pair ``(cost, members)`` or a mapping with these keys.
        A feature is in at most one group.
    unit : str
        The unit of the costs, for display: ``"USD"``, ``"ms"``.
    default : float, optional
        The cost of the columns of a table that are not listed. None means that each must be listed.
    strict : bool
        Whether each listed feature must be a column of the table. False ignores those that are not.
    calls : mapping of str to float, optional
        What a prediction pays for beside features, such as the evaluation of its trees or a call of an
        expensive model. Fitted models add them, see `with_calls`; a price list has none.
    resources : mapping of str to mapping, optional
        What features take beside money: minutes, millijoules. By name of the resource, either amounts by
        feature, or ``{"costs": amounts by feature, "groups": shared amounts by group}``; what is not listed
        takes nothing. A group that only a resource has is given as a `Group`. Budgets may cap each resource:
        ``budget={"USD": 100, "minutes": 30}``.

    Attributes
    ----------
    features : tuple of str
        The names, in the order of the sheet; those of the calls come last.
    calls : tuple of str
        The names of the calls.
    n_columns : int
        Number of features that are columns of a table, which come before the calls.
    own : ndarray of shape (n_features,), float64, read-only
        The own costs.
    group_names : tuple of str
        The names of the groups, in the order of the sheet.
    shared : ndarray of shape (n_groups,), float64, read-only
        The shared costs.
    group_of : ndarray of shape (n_features,), int64, read-only
        The index of the group of each feature in ``group_names``, -1 without a group.
    groups : mapping of str to Group
        The groups by name, their members in the order of the sheet.
    unit : str
        The unit of the costs.
    default : float or None
        The cost of columns that are not listed.
    strict : bool
        Whether each listed feature must be a column.
    resources : mapping of str to CostSheet
        What features take of each further resource: a sheet of the same features and groups, whose unit is
        the name of the resource.

    Examples
    --------
    >>> sheet = CostSheet(
    ...     {"age": 1, "chol": 5.17, "fbs": 3.10}, groups={"blood": Group(2.10, ["chol", "fbs"])}, unit="USD"
    ... )
    >>> sheet
    CostSheet: 3 features, 1 group, in USD
    feature   own  group  shared
    age      1.00
    chol     5.17  blood    2.10
    fbs      3.10  blood    2.10
    >>> sheet.total(["age", "chol", "fbs"])
    11.37
    >>> sheet.price("fbs"), sheet.price("fbs", owned=["chol"])
    (5.2, 3.1)
    """

    __slots__ = (
        "_groups",
        "_hash",
        "_index",
        "_places",
        "_values",
        "calls",
        "default",
        "features",
        "group_names",
        "group_of",
        "own",
        "resources",
        "shared",
        "strict",
        "unit",
    )

    features: tuple[str, ...]
    own: Floats
    group_names: tuple[str, ...]
    shared: Floats
    group_of: Integers
    unit: str
    default: float | None
    strict: bool
    calls: tuple[str, ...]
    resources: Mapping[str, CostSheet]
    _index: dict[str, int]
    _groups: Mapping[str, Group]
    # Copies of own, shared and group_of as Python numbers, which add faster than NumPy scalars.
    _values: tuple[tuple[float, ...], tuple[float, ...]]
    _places: tuple[int, ...]
    _hash: int

    @property
    def numbers(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[int, ...]]:
        """Own costs, shared costs and groups of the features (-1: none) as Python numbers."""
        return (*self._values, self._places)

    def __init__(
        self,
        costs: Any,
        groups: Mapping[str, Any] | None = None,
        unit: str = "",
        *,
        default: float | None = None,
        strict: bool = True,
        calls: Mapping[str, float] | None = None,
        resources: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(costs, CostSheet):
            raise CostError("costs is a CostSheet already; use it as it is")
        columns, values = validation.named_values(costs)
        called = dict(calls or {})
        features = validation.unique([*columns, *called])
        own = tuple(
            validation.amount(value, f"the cost of {name!r}")
            for name, value in zip(features, [*values, *called.values()], strict=True)
        )
        index = {name: column for column, name in enumerate(features)}
        found = as_groups(groups, {name: index[name] for name in columns})
        taken = as_resources(resources, columns, found, unit)
        places = [-1] * len(features)
        for place, group in enumerate(found.values()):
            for member in group.members:
                places[index[member]] = place
        shared = tuple(group.cost for group in found.values())

        put = super().__setattr__  # that of the class refuses
        put("features", features)
        put("own", _frozen(own, np.float64))
        put("group_names", tuple(found))
        put("shared", _frozen(shared, np.float64))
        put("group_of", _frozen(places, np.int64))
        put("unit", validation.text(unit, "the unit"))
        put("default", None if default is None else validation.amount(default, "the default price"))
        put("strict", validation.flag(strict, "strict"))
        put("calls", features[len(columns) :])
        put(
            "resources",
            MappingProxyType(
                {name: _in_resource(name, each, columns, found, called) for name, each in taken.items()}
            ),
        )
        put("_index", index)
        put("_groups", MappingProxyType(found))
        put("_values", (own, shared))
        put("_places", tuple(places))
        put("_hash", hash(self._identity()))
        # A finite total bounds the total of every subset, so no later sum has to check for overflow.
        if not np.isfinite(self.total(features)):
            largest = features[int(np.argmax(self.own))]
            raise CostError(
                f"the costs add up to more than a float holds (the largest is that of {largest!r}); "
                "express them in a larger unit"
            )

    @classmethod
    def uniform(cls, names: Iterable[str]) -> Self:
        """Return the sheet where each feature costs 1.

        Examples
        --------
        >>> CostSheet.uniform(["age", "sex"]).total(["age", "sex"])
        2.0
        """
        return cls(dict.fromkeys(validation.unique(names), 1.0))

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, unit: str | None = None) -> Self:
        """Read a price list from a ``.toml``, ``.json`` or ``.csv`` file.

        TOML and JSON hold the constructor's arguments. CSV has the columns ``feature``, ``cost``, ``group``
        and ``group_cost``, where ``cost`` is the price alone and ``group_cost`` its shared part.

        Parameters
        ----------
        path : str or path-like
            The file; its extension determines the format.
        unit : str, optional
            The unit, which overrides that of the file; a CSV file has none.
        """
        try:
            prices = read_prices(path)
            return cls(
                prices.costs,
                prices.groups,
                prices.unit if unit is None else unit,
                default=prices.default,
                strict=prices.strict,
                resources=prices.resources,
            )
        except CostError as error:
            raise CostError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def measure(
        cls,
        pipeline: Any,
        X: Any,
        *,
        per: Per = "batch",
        unit: str = "us",
        batch: int = 256,
        repeats: int = 7,
    ) -> Self:
        """Return the time that each block of a fitted pipeline takes, as prices per row.

        A block is a group: its features are computed together, so its time is the shared cost, and they cost
        nothing by themselves. `farthing.costs.measure` returns the spread of the times as well.

        Parameters
        ----------
        pipeline : ColumnTransformer, FeatureUnion, LazyPipeline or Sources
            Fitted.
        X : array, frame or list, shape (n_rows, ...)
            Sample rows, as the pipeline takes them.
        per : {"batch", "row"}
            The median time per row of a batch, as in a scoring job, or of a row alone, as in a consultation.
        unit : {"us", "ms", "s"}
            The unit of the prices.
        batch, repeats : int
            Rows of a batch, and how often each block is called.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.pipeline import FeatureUnion
        >>> from sklearn.preprocessing import PolynomialFeatures, StandardScaler
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> union = FeatureUnion([("scaled", StandardScaler()), ("products", PolynomialFeatures())]).fit(X)
        >>> sheet = CostSheet.measure(union, X)
        >>> sheet.groups["scaled"].members, bool(sheet.price("products__x0 x1") > 0)
        (('scaled__x0', 'scaled__x1', 'scaled__x2'), True)
        """
        own, groups = measure(pipeline, X, batch=batch, repeats=repeats).prices(per, unit)
        return cls(own, groups, unit)

    def to_toml(self, comments: Iterable[str] = ()) -> str:
        """Return the sheet as TOML, which `read` reads, with comments at the top; calls are left out.

        Examples
        --------
        >>> print(CostSheet({"age": 1}, unit="USD").to_toml(), end="")
        unit = "USD"
        <BLANKLINE>
        [costs]
        "age" = 1.0
        """
        costs = dict(zip(self.features[: self.n_columns], self._values[0], strict=False))
        matching: dict[str, Any] = {"default": self.default, "strict": self.strict}
        resources = self._amounts()
        return to_toml(costs, self._groups, self.unit, **matching, resources=resources, comments=comments)

    @classmethod
    def of(cls, costs: CostsLike, names: Iterable[str]) -> CostSheet:
        """Return the sheet of a table for the ``costs=`` argument of a user.

        Parameters
        ----------
        costs : None, CostSheet, mapping, Series, array, list, str or path-like
            None means a cost of 1 each. A sheet, a mapping, a Series or a file is matched by name, an array
            or a list by position.
        names : iterable of str
            The columns of the table.

        Examples
        --------
        >>> CostSheet.of({"sex": 2, "age": 1}, ["age", "sex"]).own
        array([1., 2.])
        """
        columns = validation.unique(names, "column")
        if costs is None:
            return cls.uniform(columns)
        if isinstance(costs, CostSheet):
            return costs.without_calls().align(columns)  # calls are those of another model
        if isinstance(costs, (str, os.PathLike)):
            return cls.read(costs).align(columns)
        if validation.is_named(costs):
            return cls(costs).align(columns)
        values = validation.by_position(costs)
        if len(values) != len(columns):
            raise CostError(
                f"{len(values)} costs for a table of {len(columns)} columns ({validation.quoted(columns)}); "
                "give one cost for each column, in their order, or a mapping by name"
            )
        return cls(dict(zip(columns, values, strict=True)))

    @property
    def groups(self) -> Mapping[str, Group]:
        """The groups by name, their members in the order of the sheet."""
        return self._groups

    @property
    def n_columns(self) -> int:
        """Number of features that are columns of a table."""
        return len(self.features) - len(self.calls)

    def with_calls(self, calls: Mapping[str, float]) -> CostSheet:
        """Return the sheet with these calls, in place of those that it has.

        A call whose name is that of a column is renamed.

        Examples
        --------
        >>> CostSheet([1, 2]).with_calls({"trees": 0.5}).total(["x1", "trees"])
        2.5
        """
        columns = self.features[: self.n_columns]
        if not calls and not self.calls:
            return self
        return CostSheet(
            dict(zip(columns, self._values[0], strict=False)),
            self._groups,
            self.unit,
            default=self.default,
            strict=self.strict,
            calls={_unlike(name, columns): price for name, price in calls.items()},
            resources=self._amounts(),
        )

    def without_calls(self) -> CostSheet:
        """Return the sheet of the columns alone."""
        return self.with_calls({})

    def with_free(self, names: Iterable[str]) -> CostSheet:
        """Return the sheet at which some columns cost nothing; they leave their groups.

        Examples
        --------
        >>> sheet = CostSheet({"age": 1, "chol": 5, "fbs": 3}, groups={"blood": Group(2, ["chol", "fbs"])})
        >>> sheet.with_free(["age", "chol"]).total(["age", "chol", "fbs"])
        5.0
        """
        free = [names] if isinstance(names, str) else list(names)
        for name in free:
            self.column(name)  # raises for one that is not there
        if not free:
            return self
        columns = self.features[: self.n_columns]
        left = {
            name: [one for one in group.members if one not in free] for name, group in self._groups.items()
        }
        return CostSheet(
            {
                name: 0.0 if name in free else price
                for name, price in zip(columns, self._values[0], strict=False)
            },
            {name: Group(self._groups[name].cost, members) for name, members in left.items() if members},
            self.unit,
            default=self.default,
            strict=self.strict,
            calls=self.call_prices(),
            resources=self._amounts([name for name in columns if name not in free]),
        )

    def weighted(self, weights: Mapping[str, float]) -> CostSheet:
        """Return the sheet of a weighted sum of costs and resources, to learn by.

        The costs themselves become a resource, so that a model that was learned by the weighted sum keeps the
        account of all, and may be capped in each.

        Parameters
        ----------
        weights : mapping of str to float
            What a unit of a resource counts, in units of the costs; a resource that is not listed counts 0.

        Examples
        --------
        >>> sheet = CostSheet({"age": 1, "chol": 5}, unit="USD", resources={"minutes": {"chol": 20}})
        >>> both = sheet.weighted({"minutes": 0.5})
        >>> both.price("chol"), both.resources["USD"].price("chol"), both.resources["minutes"].price("chol")
        (15.0, 5.0, 20.0)
        """
        if unknown := [name for name in weights if name not in self.resources]:
            raise CostError(
                f"the sheet has no resource {validation.quoted(unknown)}; it has "
                f"{validation.quoted(self.resources) or 'none'}"
            )
        factors = {
            name: validation.amount(weight, f"the weight of {name!r}") for name, weight in weights.items()
        }
        own, shared = self.own.copy(), self.shared.copy()
        for name, factor in factors.items():
            own += factor * self.resources[name].own
            shared += factor * self.resources[name].shared
        money = Amounts(
            dict(zip(self.features[: self.n_columns], self._values[0], strict=False)),
            dict(zip(self.group_names, self._values[1], strict=True)),
        )
        return CostSheet(
            dict(zip(self.features[: self.n_columns], own.tolist(), strict=False)),
            {
                name: Group(cost, group.members)
                for (name, group), cost in zip(self._groups.items(), shared.tolist(), strict=True)
            },
            f"weighted {self.unit}".strip(),
            calls=self.call_prices(),
            resources={
                money_name(self): {"costs": money.own, "groups": money.shared},
                **self._amounts(),
            },
        )

    def _amounts(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Return the resources as the constructor takes them, for some of the columns, by default for all."""
        kept = self.features[: self.n_columns] if names is None else set(names)
        return {
            name: {
                "costs": {
                    feature: own
                    for feature, own in zip(self.features, sheet.own.tolist(), strict=True)
                    if feature in kept and own
                },
                "groups": {
                    place: group.cost
                    for place, group in sheet.groups.items()
                    if not set(kept).isdisjoint(group.members)
                },
            }
            for name, sheet in self.resources.items()
        }

    def call_prices(self) -> dict[str, float]:
        """Return the price of each call.

        Examples
        --------
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
        return row_totals(self.own, self.shared, self.group_of, mask)

    def scaled(self, factor: float) -> CostSheet:
        """Return the sheet with every cost multiplied by a factor; exact for a power of two.

        Examples
        --------
        >>> CostSheet([1, 2]).scaled(0.5).own
        array([0.5, 1. ])
        """
        times = validation.amount(factor, "the factor of a scaled sheet")
        own, shared = self._values
        groups = {
            name: (cost * times, group.members)
            for (name, group), cost in zip(self._groups.items(), shared, strict=True)
        }
        prices = {name: cost * times for name, cost in zip(self.features, own, strict=True)}
        return CostSheet(
            {name: prices[name] for name in self.features[: self.n_columns]},
            groups,
            self.unit,
            default=None if self.default is None else self.default * times,
            strict=self.strict,
            calls={name: prices[name] for name in self.calls},
            resources=self._amounts(),
        )

    def align(self, names: Iterable[str]) -> CostSheet:
        """Return the sheet in the order of a table's columns; the groups keep their order.

        The result lists exactly the columns, so it has no ``default`` and is ``strict``.

        Raises
        ------
        CostError
            If a column has no cost and there is no ``default``, or if a feature of a ``strict`` sheet is not
            a column.

        Examples
        --------
        >>> CostSheet({"age": 1, "sex": 2}).align(["sex", "age"]).features
        ('sex', 'age')
        >>> CostSheet({"age": 1, "shoe": 2}, default=5, strict=False).align(["sex", "age"]).own
        array([5., 1.])
        """
        columns = validation.unique(names, "column")
        listed = self.features[: self.n_columns]
        if columns == listed and self.default is None and self.strict:
            return self
        prices = dict(zip(listed, self._values[0], strict=False))
        own, groups = align_entries(prices, self._groups, columns, default=self.default, strict=self.strict)
        resources = self._amounts([name for name in columns if name in prices])
        return CostSheet(own, groups, self.unit, calls=self.call_prices(), resources=resources)

    def to_dict(self) -> dict[str, Any]:
        """Return the sheet as lists, numbers and strings, for `from_dict`.

        Examples
        --------
        >>> CostSheet([1], unit="ms").to_dict()
        {'features': ['x0'], 'costs': [1.0], 'groups': [], 'unit': 'ms'}
        """
        return plain_data.to_dict(
            self.features[: self.n_columns],
            self._values[0][: self.n_columns],
            self._groups,
            self.unit,
            default=self.default,
            strict=self.strict,
            calls=self.call_prices(),
            resources=self._amounts(),
        )

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Build a sheet from the output of `to_dict`; anything else raises `CostError`."""
        costs, groups, unit, matching = plain_data.from_dict(plain)
        return cls(costs, groups, unit, **matching)

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                f"{cost:g}",
                *((self.group_names[place], f"{self.shared[place]:g}") if place >= 0 else ("", "")),
            )
            for name, cost, place in zip(self.features, self.own.tolist(), self._places, strict=True)
        ]
        title = f"Prices of {len(self.features)} features" + (f", in {self.unit}" if self.unit else "")
        return html_table(title, ["feature", "own", "group", "shared"], rows)

    def __repr__(self) -> str:
        own, _ = self._values
        pairs = [(name, group.cost) for name, group in self._groups.items()]
        groups = [pairs[place] if place >= 0 else None for place in self._places]
        lines = [render(self.features, own, groups, len(pairs), self.unit, n_calls=len(self.calls))]
        if self.default is not None:
            lines.append(f"(any other column costs {self.default:g})")
        if not self.strict:
            lines.append("(features that are not columns are ignored)")
        for name, sheet in self.resources.items():
            shown = {each: sheet.price(each) for each in self.features if sheet.price(each)}
            texts = [f"{each} {price:g}" for each, price in [*shown.items()][:8]]
            more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
            lines.append(f"{name}: {', '.join(texts) or 'none'}{more}")
        return "\n".join(lines)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CostSheet):
            return NotImplemented
        return self is other or self._identity() == other._identity()

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a CostSheet never changes; make a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a CostSheet never changes; {name!r} cannot be deleted")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, since pickle's default would call the __setattr__ that refuses.
        return type(self).from_dict, (self.to_dict(),)

    def _identity(self) -> tuple[object, ...]:
        matching = self.default, self.strict
        taken = tuple((name, sheet._identity()) for name, sheet in self.resources.items())  # noqa: SLF001
        return (
            *(self.features, self._values, self._places, self.group_names),
            *(self.unit, matching, self.calls, taken),
        )

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

    def column(self, feature: str) -> int:
        """Return the column of a feature in the sheet."""
        try:
            return self._index[feature]
        except (KeyError, TypeError):
            raise self._unknown(feature) from None

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


CostsLike: TypeAlias = CostSheet | Mapping[str, float] | npt.ArrayLike | os.PathLike[str] | None
"""What `CostSheet.of` accepts, and so every ``costs=``: None means a cost of 1 each, a string is a path."""


def _in_resource(
    name: str, taken: Amounts, columns: Iterable[str], groups: Mapping[str, Group], calls: Iterable[str]
) -> CostSheet:
    """Return the sheet of a resource: the features, groups and calls of the costs, with other amounts."""
    return CostSheet(
        {column: taken.own.get(column, 0.0) for column in columns},
        {place: Group(taken.shared.get(place, 0.0), group.members) for place, group in groups.items()},
        name,
        calls=dict.fromkeys(calls, 0.0),
    )


def _unlike(name: str, columns: Iterable[str]) -> str:
    """Return the name of a call, changed if a column has the same one."""
    taken = set(columns)
    while name in taken:
        name = f"{name} (call)"
    return name


def _frozen(values: Iterable[float], dtype: type[Any]) -> npt.NDArray[Any]:
    """Return an array over immutable bytes, which cannot be made writable."""
    return np.frombuffer(np.array(list(values), dtype=dtype).tobytes(), dtype=dtype)
