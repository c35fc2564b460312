"""What a sheet of costs holds, as a value, and how it is shown."""

import copy
import json
import math
import pickle
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from sklearn.base import BaseEstimator, clone
from tests.costs.sheets import BLOOD, HEART, SHEETS, heart

from farthing.costs import CostSheet, Group
from farthing.errors import CostError

# --- what a sheet holds -------------------------------------------------------------------------------------


def test_the_arrays_of_a_sheet():
    sheet = heart()
    assert sheet.features == ("age", "chol", "fbs", "ca")
    assert sheet.own.tolist() == [1.0, 5.17, 3.10, 100.9]
    assert sheet.own.dtype == np.float64
    assert sheet.shared.tolist() == [2.10]
    assert sheet.shared.dtype == np.float64
    assert sheet.group_of.tolist() == [-1, 0, 0, -1]
    assert sheet.group_of.dtype == np.int64
    assert sheet.group_names == ("blood",)
    assert sheet.groups == {"blood": Group(2.10, ["chol", "fbs"])}
    assert sheet.unit == "CAD"
    assert [sheet.column(name) for name in sheet.features] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "costs",
    [
        OrderedDict(x0=1.5, x1=2),
        [1.5, 2],
        (1.5, 2),
        np.array([1.5, 2]),
        np.array([1.5, 2], dtype=np.float32),
        np.array([1.5, 2], dtype=object),
        np.ma.array([1.5, 2]),
        pd.Series([1.5, 2]),
        pd.Series([1.5, 2], index=["x0", "x1"]),
        pd.Series([1.5, 2], index=["x0", "x1"], dtype="Float64"),
        pl.Series([1.5, 2]),
        [Fraction(3, 2), Decimal(2)],
        [np.float16(1.5), np.int8(2)],
    ],
    ids=lambda costs: type(costs).__name__,
)
def test_every_kind_of_costs_gives_the_same_sheet(costs):
    assert CostSheet(costs) == CostSheet({"x0": 1.5, "x1": 2.0})


@pytest.mark.parametrize(
    "group", [Group(2.1, ["fbs", "chol"]), (2.1, ["chol", "fbs"]), {"cost": 2.1, "members": {"chol", "fbs"}}]
)
def test_every_kind_of_group_gives_the_same_sheet(group):
    assert CostSheet(HEART, {"blood": group}, "CAD") == heart()


def test_a_series_keeps_its_order_and_minus_zero_is_zero():
    sheet = CostSheet(pd.Series([2.0, -0.0], index=["b", "a"]))
    assert sheet.features == ("b", "a")
    assert math.copysign(1, sheet.own[1]) == 1
    assert sheet == CostSheet({"b": 2, "a": 0})


def test_names_are_plain_text():
    sheet = CostSheet({np.str_("age"): 1}, {np.str_("g"): (1, np.array(["age"]))}, np.str_("USD"))
    assert {type(name) for name in (*sheet.features, *sheet.group_names, sheet.unit)} == {str}
    assert type(sheet.groups["g"].members[0]) is str


# --- a value object -----------------------------------------------------------------------------------------


@given(SHEETS)
def test_a_sheet_survives_every_copy(sheet):
    for twin in (
        pickle.loads(pickle.dumps(sheet)),
        copy.copy(sheet),
        copy.deepcopy(sheet),
        # A file format may sort the keys of a mapping; nothing may hang on their order.
        CostSheet.from_dict(json.loads(json.dumps(sheet.to_dict(), sort_keys=True))),
        CostSheet(dict(zip(sheet.features, sheet.own, strict=True)), sheet.groups, sheet.unit),
    ):
        assert twin == sheet
        assert hash(twin) == hash(sheet)
        assert twin.own.tobytes() == sheet.own.tobytes()
        assert twin.shared.tobytes() == sheet.shared.tobytes()
        assert twin.group_of.tobytes() == sheet.group_of.tobytes()
        assert dict(twin.groups) == dict(sheet.groups)


@pytest.mark.parametrize(
    "other",
    [
        CostSheet(HEART, BLOOD, unit="USD"),
        CostSheet(HEART, unit="CAD"),
        CostSheet({**HEART, "age": 2}, BLOOD, unit="CAD"),
        CostSheet(HEART, {"blood": Group(2.2, ["chol", "fbs"])}, unit="CAD"),
        CostSheet(HEART, {"bloods": Group(2.1, ["chol", "fbs"])}, unit="CAD"),
        CostSheet(HEART, {"blood": Group(2.1, ["chol"])}, unit="CAD"),
        CostSheet(dict(reversed(HEART.items())), BLOOD, unit="CAD"),
        "a sheet",
    ],
)
def test_sheets_differ_when_an_entry_does(other):
    assert heart() != other
    assert len({heart(), heart(), other}) == 2


def test_a_sheet_never_changes():
    sheet = heart()
    for name in ("unit", "own", "anything"):
        with pytest.raises(AttributeError, match=name):
            setattr(sheet, name, 1)
        with pytest.raises(AttributeError, match=name):
            delattr(sheet, name)
    for array in (sheet.own, sheet.shared, sheet.group_of):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(TypeError):
        sheet.groups["blood"] = Group(1, ["age"])
    with pytest.raises(AttributeError):
        sheet.groups["blood"].cost = 0.0
    costs, members = {"a": 1.0}, ["a"]
    sheet = CostSheet(costs, {"g": Group(1, members)})
    costs["a"], members[0] = 9.0, "b"
    assert sheet.total(["a"]) == 2.0


def test_a_sheet_is_a_parameter_of_an_estimator():
    class Model(BaseEstimator):
        def __init__(self, costs=None):
            self.costs = costs

    model = Model(costs=heart())
    assert clone(model).costs == heart()
    assert clone(model).get_params() == model.get_params()
    assert "chol" in repr(model)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"features": ["age"]}, "1 features, but 4 costs"),
        ({"features": "abcd"}, "'features' of a stored sheet is of type str; expected list"),
        ({"features": ["age", "age", "fbs", "ca"]}, "'age' is given twice"),
        ({"features": ["age", 1, "fbs", "ca"]}, "name is 1"),
        ({"costs": [1.0, -1.0, 1.0, 1.0]}, "'chol' is negative"),
        ({"costs": [1.0, None, 1.0, 1.0]}, "'chol' is missing"),
        ({"costs": {}}, "'costs' of a stored sheet is of type dict"),
        ({"groups": [3]}, "a stored group is a dict with the keys 'name', 'cost', 'members'; got a int"),
        ({"groups": [{"name": "g", "cost": 1.0}]}, "a stored group is a dict"),
        ({"groups": [{"name": "g", "cost": 1.0, "members": ["z"]}]}, "unknown member 'z'"),
        (
            {"groups": [{"name": "g", "cost": "1", "members": ["age"]}]},
            "'cost' of a stored group is of type str",
        ),
        (
            {"groups": [{"name": "g", "cost": 1.0, "members": [f]} for f in ("age", "ca")]},
            "group 'g' is given twice",
        ),
        ({"unit": 3}, "'unit' of a stored sheet is of type int"),
        ({"more": 3}, "a stored sheet is a dict with the keys .*; got the keys .*'more'"),
    ],
)
def test_a_damaged_dict_is_an_error(change, words):
    with pytest.raises(CostError, match=words):
        CostSheet.from_dict({**heart().to_dict(), **change})


def test_what_is_no_dict_is_an_error():
    for plain in (None, [], "sheet"):
        with pytest.raises(CostError, match="a stored sheet is a dict"):
            CostSheet.from_dict(plain)


# --- display ------------------------------------------------------------------------------------------------


def test_the_repr_is_an_aligned_table():
    assert repr(heart()).splitlines() == [
        "CostSheet: 4 features, 1 group, in CAD",
        "feature     own  group  shared",
        "age        1.00",
        "chol       5.17  blood    2.10",
        "fbs        3.10  blood    2.10",
        "ca       100.90",
    ]
    assert repr(CostSheet([1])).splitlines() == ["CostSheet: 1 feature", "feature  own", "x0         1"]


def test_the_repr_of_many_features_is_short():
    lines = repr(CostSheet(range(519))).splitlines()
    assert len(lines) == 21
    assert lines[0] == "CostSheet: 519 features"
    assert lines[2].split() == ["x0", "0"]
    assert lines[14] == "... (501 more)"
    assert lines[-1].split() == ["x518", "518"]
    assert len(repr(CostSheet(range(24))).splitlines()) == 26


def test_the_repr_of_odd_names_and_amounts():
    lines = repr(CostSheet({"a\nb": 1 / 3, "": 1e12, "n" * 100: 0}, {"  ": (1, [""])}, "a\tb")).splitlines()
    assert len(lines) == 5
    assert lines[0].endswith(r"1 group, in 'a\tb'")
    assert lines[2].split() == [r"'a\nb'", "0.333333"]
    assert lines[3].split() == ["''", "1e+12", "'", "'", "1"]
    assert lines[4].split() == ["n" * 37 + "...", "0"]


@given(SHEETS)
def test_every_feature_has_its_line(sheet):
    assert len(repr(sheet).split("\n")) == 2 + len(sheet.features)
