"""Read a price list from a file, as the arguments of the constructor of `CostSheet`.

TOML and JSON hold what the constructor takes::

    unit = "USD"                         {"unit": "USD",
    default = 1.0                         "default": 1.0,
    strict = false                        "strict": false,
    [costs]                               "costs": {"age": 1.0, "chol": 5.17, "fbs": 3.10},
    age = 1.0                             "groups": {"blood": {"cost": 2.10,
    chol = 5.17                                                "members": ["chol", "fbs"]}}}
    fbs = 3.10
    [groups.blood]
    cost = 2.10
    members = ["chol", "fbs"]

Further resources are tables of their own::

    [resources.minutes.costs]            "resources": {"minutes": {"costs": {"age": 1, "chol": 2},
    age = 1                                                        "groups": {"blood": 10}}}
    chol = 2
    [resources.minutes.groups]
    blood = 10

All but ``costs`` may be left out. ``default`` is the price of columns that are not listed; without it each
must be. With ``strict = false`` the list may have features that the table lacks.

CSV has the price of a feature bought alone, and the part of it that is shared by its group; other columns
are ignored::

    feature,cost,group,group_cost
    age,1.00,,
    chol,7.27,blood,2.10
    fbs,5.20,blood,2.10

A further resource has the columns ``resource:minutes`` and ``group_resource:minutes``, with the same meaning:
what a feature takes alone, and the part of it that its group shares.
"""

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from farthing.costs.group import Group
from farthing.costs.validation import amount, brief, quoted
from farthing.documents import json_document, read_text, toml_document
from farthing.errors import CostError

# Enough digits for the exact difference of any two doubles, so that only the conversion to float rounds:
# 8.30 - 2.10 is 6.2, not the 6.200000000000001 of floats.
_EXACT = Context(prec=1100)
_CSV_COLUMNS = ("feature", "cost", "group", "group_cost")
# Columns of further resources, such as resource:minutes.
_RESOURCE, _GROUP_RESOURCE = "resource:", "group_resource:"


class PriceList(NamedTuple):
    """The arguments of `CostSheet` from a file; its constructor checks them."""

    costs: Any
    groups: Any
    unit: Any
    default: Any = None
    strict: Any = True
    resources: Any = None


def read_prices(path: str | os.PathLike[str]) -> PriceList:
    """Read a ``.toml``, ``.json`` or ``.csv`` file; the caller adds the name of the file to errors."""
    suffix = Path(path).suffix
    parse = _PARSERS.get(suffix.lower())
    if parse is None:
        raise CostError(f"the extension {suffix!r} is unknown; expected {', '.join(_PARSERS)}")
    return parse(read_text(path, CostError))


def parse_toml(content: str) -> PriceList:
    """Parse the TOML form.

    Examples
    --------
    >>> parse_toml("costs = {age = 1, chol = 7.27}").costs
    {'age': 1, 'chol': 7.27}
    """
    return _arguments(toml_document(content, "a price list", CostError))


def parse_json(content: str) -> PriceList:
    """Parse the JSON form.

    Examples
    --------
    >>> parse_json('{"costs": {"age": 1, "chol": 7.27}, "unit": "USD"}').unit
    'USD'
    """
    return _arguments(json_document(content, "a price list", CostError))


def parse_csv(content: str) -> PriceList:
    r"""Parse the CSV form, where ``cost`` is the price alone and ``group_cost`` its shared part.

    Examples
    --------
    >>> parse_csv("feature,cost,group,group_cost\nthalach,102.90,B,101.90").costs
    {'thalach': 1.0}
    """
    # Decimals until the shared part is subtracted: own costs have the digits that the file suggests.
    rows = list(_csv_rows(content))
    costs, groups = _csv_amounts(rows, "cost", "group_cost")
    names = [name.removeprefix(_RESOURCE) for name in (rows[0] if rows else ()) if name.startswith(_RESOURCE)]
    resources = {}
    for name in names:
        own, shared = _csv_amounts(rows, _RESOURCE + name, _GROUP_RESOURCE + name)
        resources[name] = {"costs": own, "groups": {place: group.cost for place, group in shared.items()}}
    return PriceList(costs, groups, "", resources=resources or None)


def _csv_amounts(
    rows: list[dict[str, str]], alone: str, together: str
) -> tuple[dict[str, float], dict[str, Group]]:
    """Return own amounts and groups, from the columns of amounts alone and of their shared parts."""
    is_money = alone == "cost"
    costs: dict[str, float] = {}
    shared: dict[str, tuple[Decimal, list[str]]] = {}
    for row in rows:
        feature = row["feature"]
        if feature in costs:
            raise CostError(f"feature {feature!r} is given twice; keep one row for each feature")
        # An empty cell of a resource takes nothing; a cost must be given.
        cost = _decimal(row[alone] or ("" if is_money else "0"), f"the {alone} of {feature!r}")
        given = row.get(together, "") or ("" if is_money or not row["group"] else "0")
        part = _shared_part(feature, cost, row["group"], (given, together, alone))
        costs[feature] = float(_EXACT.subtract(cost, part))
        if row["group"]:
            first_part, members = shared.setdefault(row["group"], (part, []))
            if part != first_part:
                raise CostError(
                    f"the {together} of {feature!r} is {part}, but that of {members[0]!r}, in the same group "
                    f"{row['group']!r}, is {first_part}; a group has one shared cost"
                )
            members.append(feature)
    return costs, {name: Group(float(part), members) for name, (part, members) in shared.items()}


_PARSERS: Mapping[str, Callable[[str], PriceList]] = {
    ".toml": parse_toml,
    ".json": parse_json,
    ".csv": parse_csv,
}


def _arguments(document: object) -> PriceList:
    """Check the outermost level of a TOML or JSON document."""
    if not isinstance(document, dict) or "costs" not in document:
        raise CostError("there is no entry 'costs'; put the features and their own costs under it")
    unknown = [key for key in document if key not in PriceList._fields]
    if unknown:
        raise CostError(
            f"unknown entry {quoted(unknown)}; expected {quoted(PriceList._fields)} "
            "(a feature belongs under 'costs')"
        )
    costs = document["costs"]
    if isinstance(costs, dict) and isinstance(costs.get("strict"), bool):
        raise CostError("'strict' is under 'costs'; in TOML, put it above the line [costs]")
    return PriceList(
        costs,
        document.get("groups"),
        document.get("unit", ""),
        document.get("default"),
        document.get("strict", True),
        document.get("resources"),
    )


def _csv_rows(content: str) -> Iterator[dict[str, str]]:
    """Yield the four columns of each row; a column or cell that is absent is empty.

    Only the name of the feature keeps surrounding blanks, since it must equal the name in the table.
    """
    reader = csv.reader(io.StringIO(content, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header)
        taken = [name for name in header if name.startswith((_RESOURCE, _GROUP_RESOURCE))]
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            cells_by_column = dict(zip(header, cells, strict=False))
            row = {name: cells_by_column.get(name, "").strip() for name in (*_CSV_COLUMNS, *taken)}
            if not row["feature"]:
                raise CostError(f"line {reader.line_num} names no feature; fill it in or remove the line")
            row["feature"] = cells_by_column["feature"]
            if len(cells) > len(header):
                raise CostError(
                    f"the row of {row['feature']!r} has {len(cells)} cells under a header of {len(header)}; "
                    "put quotes around a cell that has a comma in it"
                )
            yield row
    except csv.Error as error:
        raise CostError(f"not valid CSV: {error} (line {reader.line_num})") from None


def _check_header(header: list[str]) -> None:
    for name in ("feature", "cost"):
        if name not in header:
            raise CostError(
                f"there is no column {name!r}, only {quoted(header) or 'an empty file'}; "
                f"the first line must be {','.join(_CSV_COLUMNS)}"
            )
    for name in (*_CSV_COLUMNS, *(name for name in header if name.startswith((_RESOURCE, _GROUP_RESOURCE)))):
        if header.count(name) > 1:
            raise CostError(f"column {name!r} is given twice in the first line; keep one")


def _shared_part(feature: str, cost: Decimal, group: str, cell: tuple[str, str, str]) -> Decimal:
    """Return the part of a feature's cost that its group shares, zero without a group.

    The cell comes with the names of its column and of that of the cost.
    """
    group_cost, together, alone = cell
    what = f"the {together} of {feature!r}"
    if not group:
        if group_cost and _decimal(group_cost, what):
            raise CostError(f"{what} is {group_cost}, but the feature has no group; name its group or set 0")
        return Decimal(0)
    part = _decimal(group_cost, what)
    if part > cost:
        raise CostError(
            f"{what} ({group_cost}) is more than its {alone} ({cost}); "
            f"{alone} is the price alone, the shared part included"
        )
    return part


def _decimal(cell: str, what: str) -> Decimal:
    """Parse a cell as an exact decimal; `amount` raises the errors."""
    try:
        number = Decimal(cell) if cell else None
    except InvalidOperation:
        raise CostError(f"{what} is {brief(cell)}; expected a plain number such as 7.27") from None
    amount(number, what)
    return number or Decimal(0)  # drops the sign of -0
