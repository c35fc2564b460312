"""The account: totals, and what a feature costs beside what is owned."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.costs.sheets import SHEETS, heart, naive_total, subsets

from farthing.costs import CostSheet, Group


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
