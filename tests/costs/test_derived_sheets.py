"""Sheets from sheets, files and other tables of prices."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.costs.sheets import HEART, SHEETS, heart, subsets

from farthing.costs import CostSheet, Group
from farthing.errors import CostError


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
