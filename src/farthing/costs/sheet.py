"""The cost sheet: own costs of features and shared costs of groups."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from farthing.costs import plain_data, validation
from farthing.costs.derived import Derivable
from farthing.costs.display import render
from farthing.costs.group import Group, as_groups
from farthing.costs.measuring import Per, measure
from farthing.costs.readers import read_prices
from farthing.costs.resources import Amounts, as_resources
from farthing.costs.toml_text import to_toml
from farthing.errors import CostError
from farthing.notebook import html_table


class CostSheet(Derivable):
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

    __slots__ = ("_hash",)

    resources: Mapping[str, CostSheet]
    _hash: int

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
        if isinstance(costs, CostSheet):
            return costs.without_calls().align(names)  # calls are those of another model
        columns = validation.unique(names, "column")
        if costs is None:
            return cls.uniform(columns)
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


def _frozen(values: Iterable[float], dtype: type[Any]) -> npt.NDArray[Any]:
    """Return an array over immutable bytes, which cannot be made writable."""
    return np.frombuffer(np.array(list(values), dtype=dtype).tobytes(), dtype=dtype)
