"""Sheets that the tests of prices share."""

from hypothesis import strategies as st

from farthing.costs import CostSheet, Group

SHEETS = st.from_type(CostSheet)
HEART = {"age": 1, "chol": 5.17, "fbs": 3.10, "ca": 100.9}
BLOOD = {"blood": Group(2.10, ["chol", "fbs"])}


def heart():
    return CostSheet(HEART, BLOOD, unit="CAD")


def subsets(sheet):
    return st.sets(st.sampled_from(sheet.features))


def naive_total(sheet, features, owned=()):
    """The definition, word by word."""
    spent = 0.0
    for name, cost in zip(sheet.features, sheet.own, strict=True):
        if name in features and name not in owned:
            spent += float(cost)
    for group in sheet.groups.values():
        members = set(group.members)
        if members & (set(features) - set(owned)) and not members & set(owned):
            spent += group.cost
    return spent
