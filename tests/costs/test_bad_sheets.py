"""Errors of sheets: bad amounts, groups, units and questions."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.costs.sheets import HEART, heart

from farthing.costs import CostSheet, Group
from farthing.errors import CostError

BAD_AMOUNTS = [
    (-1, "negative"),
    (-5e-324, "negative"),
    (Decimal("-1e-9999"), "negative"),
    (math.nan, "NaN"),
    (np.float32("nan"), "NaN"),
    (Decimal("sNaN"), "NaN"),
    (math.inf, "infinite"),
    (-math.inf, "negative"),
    (10**400, "infinite"),
    (10**5000, "infinite .a number too long to show"),
    (Decimal("1e400"), "infinite"),
    (None, "missing"),
    (pd.NA, "missing"),
    (pd.NaT, "missing"),
    ("7.27", "string '7.27'; write it as a number"),
    (True, "of type bool; expected a number"),
    (np.True_, "expected a number"),
    (1j, "of type complex; expected a number"),
    ([1], "of type list; expected a number"),
    ({"cost": 1}, "of type dict; expected a number"),
]


@pytest.mark.parametrize(
    ("bad", "words"),
    BAD_AMOUNTS,
    ids=[str(bad)[:20] if not isinstance(bad, int) else "integer" for bad, _ in BAD_AMOUNTS],
)
def test_a_bad_amount_names_the_feature_or_the_group(bad, words):
    with pytest.raises(CostError, match=f"the cost of 'chol' is .*{words}"):
        CostSheet({"age": 1, "chol": bad})
    with pytest.raises(CostError, match=f"the cost of 'x1' is .*{words}"):
        CostSheet([1, bad])
    with pytest.raises(CostError, match=f"group of 'chol' is .*{words}"):
        Group(bad, ["chol"])
    with pytest.raises(CostError, match=f"group 'blood': .*'chol' is .*{words}"):
        CostSheet({"chol": 1}, {"blood": (bad, ["chol"])})


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({}, "empty; give the cost of at least one"),
        ([], "empty"),
        (np.array([]), "empty"),
        (pd.Series([], dtype=float), "empty"),
        ({3: 1.0}, "feature name is 3, of type int; expected a string"),
        (pd.Series([1, 2], index=["age", "age"]), "feature 'age' is given twice; keep one"),
        (pd.Series([1, 2], index=[5, 6]), "feature name is 5"),
        (np.ones((2, 2)), r"shape \(2, 2\); expected one dimension"),
        (np.array(3.0), r"shape \(\); expected one dimension"),
        (np.ma.array([1, 2], mask=[False, True]), "'x1' is missing"),
        (pl.Series([1.0, None]), "'x1' is (missing|NaN)"),
        (pd.DataFrame({"cost": [1]}), "costs is a DataFrame; give one column"),
        (pl.DataFrame({"cost": [1]}), "costs is a DataFrame; give one column"),
        ("prices.csv", r"string 'prices.csv'; to read a file, use CostSheet.read"),
        (3.0, "of type float; expected a mapping"),
        (None, "of type NoneType; expected a mapping"),
        ({1.0, 2.0}, "of type set; expected a mapping"),
        (["a", "b"], "cost of 'x0' is the string 'a'"),
        (CostSheet([1]), "already"),
        ({"a": 1.7e308, "b": 1.0, "c": 1.7e308}, "add up to more than a float holds .*'a'"),
    ],
    ids=str,
)
def test_bad_costs(costs, words):
    with pytest.raises(CostError, match=words):
        CostSheet(costs)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (
            {"blood": Group(1, ["chole"])},
            r"group 'blood' has the unknown member 'chole' \(did you mean 'chol'\?\)",
        ),
        (
            {"a": Group(1, ["chol"]), "b": Group(1, ["chol"])},
            "'chol' is in two groups, 'a' and 'b'; keep it in one",
        ),
        ({"blood": (1, [])}, "group 'blood': a group has no members"),
        ({"blood": (1, "chol")}, r"group 'blood': .*write \['chol'\]"),
        ({"blood": (1, ["chol", "chol"])}, "group 'blood': feature 'chol' is given twice"),
        ({"blood": (1, [3])}, "group 'blood': a feature name is 3"),
        ({"blood": (1, {3})}, "group 'blood': a feature name is 3"),
        ({"blood": (1, 3)}, "group 'blood': the members of a group are of type int"),
        ({"blood": (1, {"chol": 1})}, "group 'blood': the members of a group are of type dict"),
        ({"blood": (1, ["chol"], 3)}, r"group 'blood' is of type tuple; expected Group\(cost, members\)"),
        ({"blood": 1}, "group 'blood' is of type int"),
        ({"blood": {"members": ["chol"]}}, "group 'blood' lacks 'cost'; expected 'cost' and 'members'"),
        ({"blood": {"cost": 1, "members": ["chol"], "tax": 1}}, "group 'blood' has the unknown entry 'tax'"),
        ({7: (1, ["chol"])}, "group name is 7"),
        ([Group(1, ["chol"])], "groups is of type list; expected a mapping"),
    ],
    ids=str,
)
def test_bad_groups(groups, words):
    with pytest.raises(CostError, match=words):
        CostSheet(HEART, groups)


def test_bad_unit():
    with pytest.raises(CostError, match="the unit is None"):
        CostSheet([1], unit=None)


def test_bad_questions():
    sheet = heart()
    for ask in (sheet.price, lambda name: sheet.total([name]), lambda name: sheet.price("age", [name])):
        with pytest.raises(
            CostError, match=r"feature 'chole' is not in the cost sheet \(did you mean 'chol'\?\)"
        ):
            ask("chole")
        with pytest.raises(
            CostError, match="0, of type int, is not a feature of the cost sheet; give names, or"
        ):
            ask(0)
        with pytest.raises(CostError, match="of type list"):
            ask(["chol"])
    with pytest.raises(CostError, match="feature 'zzz' is not in the cost sheet; it has 'age', 'chol'"):
        sheet.price("zzz")
    with pytest.raises(CostError, match=r"single string 'age'; write \['age'\]"):
        sheet.total("age")
    with pytest.raises(CostError, match=r"shape \(3,\); expected \(4,\)"):
        sheet.total(np.ones(3, dtype=bool))
    with pytest.raises(CostError, match="of type int"):
        sheet.total(3)
    for acquired in (np.ones((2, 3), bool), np.ones(4, bool), np.ones((2, 4))):
        with pytest.raises(CostError, match=r"expected a bool array of shape \(n_rows, 4\)"):
            sheet.total_rows(acquired)
