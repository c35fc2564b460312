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
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from farthing.costs import CostSheet, Group
from farthing.errors import CostError

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


# --- the account --------------------------------------------------------------------------------------------


def test_total_and_price_of_the_heart_sheet():
    sheet = heart()
    assert sheet.total([]) == 0.0
    assert sheet.total(["fbs", "chol"]) == 5.17 + 3.10 + 2.10
    assert sheet.price("chol") == 5.17 + 2.10
    assert sheet.price("chol", owned=["fbs"]) == 5.17
    assert sheet.price("chol", owned=["chol"]) == 0.0
    assert sheet.price("age", owned=["chol"]) == 1.0
    assert sheet.total(["age", "chol"], owned=["age", "fbs"]) == 5.17


def test_the_sum_goes_in_the_order_of_the_sheet_not_of_the_question():
    # 1e16 swallows a lone 1: the order of the additions shows in the result.
    sheet = CostSheet({"big": 1e16, "a": 1.0, "b": 1.0}, {"g": Group(1.0, ["b"])})
    assert sheet.total(["b", "a", "big"]) == 1e16
    assert sheet.align(["a", "b", "big"]).total(["big", "b", "a"]) == 1.0 + 1.0 + 1e16 + 1.0 > 1e16


@given(st.data())
def test_total_is_the_definition(data):
    sheet = data.draw(SHEETS)
    features, owned = data.draw(subsets(sheet)), data.draw(subsets(sheet))
    expected = naive_total(sheet, features, owned)
    assert sheet.total(features, owned) == expected
    assert sheet.total(iter([*features, *features]), iter(owned)) == expected
    masks = [np.array([name in some for name in sheet.features]) for some in (features, owned)]
    assert sheet.total(*masks) == expected
    assert type(sheet.total(*masks)) is float


@given(st.data())
def test_total_is_monotone(data):
    sheet = data.draw(SHEETS)
    smaller = data.draw(subsets(sheet))
    larger = smaller | data.draw(subsets(sheet))
    owned = data.draw(subsets(sheet))
    assert sheet.total(smaller, owned) <= sheet.total(larger, owned)
    assert sheet.total(larger, owned | smaller) <= sheet.total(larger, owned)


@given(st.data())
def test_price_is_marginal(data):
    sheet = data.draw(SHEETS)
    owned = data.draw(subsets(sheet))
    feature = data.draw(st.sampled_from(sheet.features))
    price = sheet.price(feature, owned)
    together = sheet.total(owned | {feature})
    assert math.isclose(together, sheet.total(owned) + price, rel_tol=1e-14)
    assert price == sheet.total([feature], owned)
    assert price <= sheet.price(feature)


@given(st.data())
def test_total_rows_is_total_row_by_row(data):
    sheet = data.draw(SHEETS)
    n_rows = data.draw(st.integers(0, 6))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rows = np.random.default_rng(seed).random((n_rows, len(sheet.features))) < 0.5
    expected = [
        naive_total(sheet, {f for f, has in zip(sheet.features, row, strict=True) if has}) for row in rows
    ]
    for layout in (rows, np.asfortranarray(rows)):
        totals = sheet.total_rows(layout)
        assert totals.dtype == np.float64
        assert totals.tolist() == expected


def test_total_rows_beyond_one_block():
    sheet = CostSheet([0.1, 0.2, 0.3, 0.7], {"g": Group(0.4, ["x0", "x3"])})
    rows = np.random.default_rng(0).random((10_001, 4)) < 0.5
    assert sheet.total_rows(rows).tolist() == [sheet.total(row) for row in rows]


@given(st.data())
def test_a_group_is_charged_once(data):
    # Whole numbers add without rounding, so the account can be taken apart.
    own = data.draw(st.lists(st.integers(0, 1000), min_size=1, max_size=8))
    shared = data.draw(st.integers(1, 1000))
    sheet = CostSheet(own, {"g": Group(shared, [f"x{j}" for j in range(len(own))])})
    bought = data.draw(st.sets(st.sampled_from(sheet.features), min_size=1))
    assert sheet.total(bought) - sum(own[sheet.column(name)] for name in bought) == shared
    order = data.draw(st.permutations(sorted(bought)))
    prices = [sheet.price(name, owned=order[:place]) for place, name in enumerate(order)]
    assert sum(prices) == sheet.total(bought)
    assert prices[0] == own[sheet.column(order[0])] + shared


# --- other sheets from a sheet ------------------------------------------------------------------------------


@given(st.data(), st.integers(-40, 40))
def test_scaling_by_a_power_of_two_is_exact(data, power):
    sheet = data.draw(SHEETS)
    features, owned = data.draw(subsets(sheet)), data.draw(subsets(sheet))
    factor = 2.0**power
    scaled = sheet.scaled(factor)
    assert scaled.total(features, owned) == sheet.total(features, owned) * factor
    assert scaled.scaled(1 / factor) == sheet
    assert (scaled.unit, scaled.group_names) == (sheet.unit, sheet.group_names)


def test_scaled_by_zero_is_free_and_by_nonsense_an_error():
    assert heart().scaled(0).total(HEART) == 0.0
    for factor, word in [(-1, "negative"), (math.nan, "NaN"), (math.inf, "infinite"), ("2", "string")]:
        with pytest.raises(CostError, match=f"factor.*{word}"):
            heart().scaled(factor)
    with pytest.raises(CostError, match="'ca' is infinite"):
        heart().scaled(1e307)


@given(st.data())
def test_align_reorders_and_nothing_else(data):
    sheet = data.draw(SHEETS)
    names = data.draw(st.permutations(sheet.features))
    aligned = sheet.align(names)
    assert aligned.features == tuple(names)
    assert aligned.group_names == sheet.group_names
    assert [sheet.price(name) for name in names] == [aligned.price(name) for name in names]
    assert aligned.align(sheet.features) == sheet


def test_align_names_what_does_not_match():
    with pytest.raises(CostError, match=r"no cost is given for the columns 'sex', 'cp'; add them"):
        heart().align([*HEART, "sex", "cp"])
    with pytest.raises(
        CostError, match=r"the price list has 'ca', which is not a column of the table; remove or"
    ):
        heart().align(["age", "chol", "fbs"])
    with pytest.raises(CostError, match=r"column 'chole'.*list has 'chol'.*did you mean 'chole'\?"):
        heart().align(["age", "chole", "fbs", "ca"])
    with pytest.raises(CostError, match="column 'age' is given twice"):
        heart().align(["age", "age", "chol", "fbs", "ca"])
    with pytest.raises(CostError, match=r"write \['age'\]"):
        heart().align("age")
    with pytest.raises(CostError, match="and 4 more"):
        heart().align([f"c{j}" for j in range(10)])


def test_uniform_is_one_each():
    assert CostSheet.uniform(["b", "a"]) == CostSheet({"b": 1, "a": 1})
    with pytest.raises(CostError, match="'a' is given twice"):
        CostSheet.uniform(["a", "a"])
    with pytest.raises(CostError, match="empty"):
        CostSheet.uniform([])


@pytest.mark.parametrize(
    ("costs", "own"),
    [
        (None, [1, 1]),
        ({"b": 2, "a": 3}, [3, 2]),
        (pd.Series({"b": 2, "a": 3}), [3, 2]),
        (CostSheet({"b": 2, "a": 3}), [3, 2]),
        ([2, 3], [2, 3]),
        (np.array([2, 3]), [2, 3]),
        (pd.Series([2, 3]), [2, 3]),
        (pl.Series([2, 3]), [2, 3]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_of_matches_by_name_or_by_place(costs, own):
    sheet = CostSheet.of(costs, ["a", "b"])
    assert sheet.features == ("a", "b")
    assert sheet.own.tolist() == own


def test_of_keeps_the_groups_of_a_sheet_and_of_a_file(tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text("feature,cost,group,group_cost\nb,3,g,1\na,2,g,1\n")
    expected = CostSheet({"a": 1, "b": 2}, {"g": Group(1, ["a", "b"])})
    assert CostSheet.of(file, ["a", "b"]) == expected
    assert CostSheet.of(str(file), ["a", "b"]) == expected
    assert CostSheet.of(expected.align(["b", "a"]), ["a", "b"]) == expected


def test_of_names_the_columns_in_its_errors():
    with pytest.raises(CostError, match=r"3 costs for a table of 2 columns \('a', 'b'\); give one"):
        CostSheet.of([1, 2, 3], ["a", "b"])
    with pytest.raises(CostError, match="cost of 'b' is negative"):
        CostSheet.of([1, -2], ["a", "b"])
    with pytest.raises(CostError, match="column 'b'; add it"):
        CostSheet.of({"a": 1}, ["a", "b"])
    with pytest.raises(CostError, match="'a' is given twice"):
        CostSheet.of([1, 2], ["a", "a"])
    with pytest.raises(FileNotFoundError):
        CostSheet.of("nowhere.csv", ["a", "b"])


# --- bad entries --------------------------------------------------------------------------------------------

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
