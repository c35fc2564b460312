"""Prices of the outputs of a transformer: an input is paid once, whatever the number of its outputs."""

from __future__ import annotations

from farthing.costs import CostSheet, Group
from farthing.errors import CostError
from farthing.pipelines.column_map import ColumnMap


def output_costs(sheet: CostSheet, columns: ColumnMap) -> CostSheet:
    """Return the cost sheet of the outputs x0, x1, ... of a transformer.

    The single output of an input has its price and its group. Several outputs of one input are a group that
    shares the price.

    Parameters
    ----------
    sheet : CostSheet
        The prices of the inputs.
    columns : ColumnMap
        The outputs of each input.

    Raises
    ------
    CostError
        If an input with several outputs shares a cost with others: a feature is in one group only.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from farthing.table import PreparedTable
    >>> table = PreparedTable.of(np.array([["ash", 1], ["oak", 2], ["elm", 1]], dtype=object))
    >>> encoder = OneHotEncoder().fit([["ash", 1.0], ["oak", 2.0], ["elm", 1.0]])
    >>> columns = ColumnMap.learn(encoder, table.schema, table.values)
    >>> output_costs(CostSheet([3, 4]), columns)
    CostSheet: 5 features, 2 groups
    feature  own  group          shared
    x0         0  outputs of x0       3
    x1         0  outputs of x0       3
    x2         0  outputs of x0       3
    x3         0  outputs of x1       4
    x4         0  outputs of x1       4
    """
    own: dict[str, float] = {}
    groups: dict[str, tuple[float, list[str]]] = {
        name: (group.cost, []) for name, group in sheet.groups.items()
    }
    for place, column in enumerate(columns.sources.tolist()):
        output, name, price = f"x{place}", sheet.features[column], float(sheet.own[column])
        group = int(sheet.group_of[column])
        if len(columns.outputs_of[column]) > 1:
            if group >= 0:
                raise CostError(
                    f"column {name!r} is in the group {sheet.group_names[group]!r} and has several outputs "
                    "in the preprocessing, which cannot be priced; encode it as one column (OrdinalEncoder), "
                    "or pass it through: methods take categories as they are"
                )
            own[output] = 0.0
            groups.setdefault(_new_group(name, sheet), (price, []))[1].append(output)
        else:
            own[output] = price
            if group >= 0:
                groups[sheet.group_names[group]][1].append(output)
    return CostSheet(
        own, {name: Group(cost, members) for name, (cost, members) in groups.items() if members}, sheet.unit
    )


def _new_group(name: str, sheet: CostSheet) -> str:
    """Return the name of the group of a column's outputs, which no group of the sheet has."""
    group = f"outputs of {name}"
    while group in sheet.groups:
        group += "'"
    return group
