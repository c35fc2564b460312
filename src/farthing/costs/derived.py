"""Sheets that are made from another one: with other calls, other prices, or the columns of a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Self

from farthing.costs import validation
from farthing.costs.alignment import align_entries
from farthing.costs.budget import money_name
from farthing.costs.group import Group
from farthing.costs.pricing import Pricing
from farthing.costs.resources import Amounts
from farthing.errors import CostError


class Derivable(Pricing, ABC):
    """The part of `CostSheet` that makes other sheets from one, which stays as it is."""

    __slots__ = ("default", "resources", "strict", "unit")

    unit: str
    default: float | None
    strict: bool
    resources: Mapping[str, Self]

    @abstractmethod
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
        """Make a sheet from its entries, as `CostSheet` does."""

    def with_calls(self, calls: Mapping[str, float]) -> Self:
        """Return the sheet with these calls, in place of those that it has.

        A call whose name is that of a column is renamed.

        Examples
        --------
        >>> from farthing import CostSheet
        >>> CostSheet([1, 2]).with_calls({"trees": 0.5}).total(["x1", "trees"])
        2.5
        """
        columns = self.features[: self.n_columns]
        if not calls and not self.calls:
            return self
        return type(self)(
            dict(zip(columns, self._values[0], strict=False)),
            self._groups,
            self.unit,
            default=self.default,
            strict=self.strict,
            calls={_unlike(name, columns): price for name, price in calls.items()},
            resources=self._amounts(),
        )

    def without_calls(self) -> Self:
        """Return the sheet of the columns alone."""
        return self.with_calls({})

    def with_free(self, names: Iterable[str]) -> Self:
        """Return the sheet at which some columns cost nothing; they leave their groups.

        Examples
        --------
        >>> from farthing import CostSheet, Group
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
        return type(self)(
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

    def weighted(self, weights: Mapping[str, float]) -> Self:
        """Return the sheet of a weighted sum of costs and resources, to learn by.

        The costs themselves become a resource, so that a model that was learned by the weighted sum keeps the
        account of all, and may be capped in each.

        Parameters
        ----------
        weights : mapping of str to float
            What a unit of a resource counts, in units of the costs; a resource that is not listed counts 0.

        Examples
        --------
        >>> from farthing import CostSheet
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
        return type(self)(
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

    def scaled(self, factor: float) -> Self:
        """Return the sheet with every cost multiplied by a factor; exact for a power of two.

        Examples
        --------
        >>> from farthing import CostSheet
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
        return type(self)(
            {name: prices[name] for name in self.features[: self.n_columns]},
            groups,
            self.unit,
            default=None if self.default is None else self.default * times,
            strict=self.strict,
            calls={name: prices[name] for name in self.calls},
            resources=self._amounts(),
        )

    def align(self, names: Iterable[str]) -> Self:
        """Return the sheet in the order of a table's columns; the groups keep their order.

        The result lists exactly the columns, so it has no ``default`` and is ``strict``.

        Raises
        ------
        CostError
            If a column has no cost and there is no ``default``, or if a feature of a ``strict`` sheet is not
            a column.

        Examples
        --------
        >>> from farthing import CostSheet
        >>> CostSheet({"age": 1, "sex": 2}).align(["sex", "age"]).features
        ('sex', 'age')
        >>> CostSheet({"age": 1, "shoe": 2}, default=5, strict=False).align(["sex", "age"]).own
        array([5., 1.])
        """
        listed = self.features[: self.n_columns]
        if names == listed and self.default is None and self.strict:
            return self  # those of a sheet are unique
        columns = validation.unique(names, "column")
        if columns == listed and self.default is None and self.strict:
            return self
        prices = dict(zip(listed, self._values[0], strict=False))
        own, groups = align_entries(prices, self._groups, columns, default=self.default, strict=self.strict)
        resources = self._amounts([name for name in columns if name in prices])
        return type(self)(own, groups, self.unit, calls=self.call_prices(), resources=resources)

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


def _unlike(name: str, columns: Iterable[str]) -> str:
    """Return the name of a call, changed if a column has the same one."""
    taken = set(columns)
    while name in taken:
        name = f"{name} (call)"
    return name
