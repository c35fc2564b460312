"""Calls: what a prediction pays for beside features, as entries of the cost sheet."""

import pytest

from farthing.costs import CostSheet, Group, RowLedger
from farthing.errors import CostError

SHEET = CostSheet({"a": 1, "b": 2}, groups={"lab": Group(4, ["b"])}, unit="USD")


def test_calls_come_after_the_columns_and_have_a_price():
    sheet = SHEET.with_calls({"trees": 0.5, "expensive model": 8})
    assert sheet.features == ("a", "b", "trees", "expensive model")
    assert (sheet.calls, sheet.n_columns) == (("trees", "expensive model"), 2)
    assert sheet.total(["b", "trees"]) == 2 + 4 + 0.5
    assert sheet.total_rows([[True, False, True, True]]).tolist() == [9.5]
    assert sheet.price("trees", owned=["trees"]) == 0
    assert sheet.without_calls() == SHEET != sheet
    assert sheet.with_calls({"trees": 1}).call_prices() == {"trees": 1.0}


def test_calls_are_kept_by_scaling_alignment_and_files():
    sheet = SHEET.with_calls({"trees": 0.5})
    assert sheet.scaled(2).call_prices() == {"trees": 1.0}
    assert sheet.align(["b", "a"]).features == ("b", "a", "trees")
    assert CostSheet.from_dict(sheet.to_dict()) == sheet
    assert "calls" not in SHEET.to_dict()
    assert repr(sheet).startswith("CostSheet: 2 features, 1 call, 1 group, in USD")


def test_the_calls_of_a_model_are_not_those_of_another_table():
    assert CostSheet.of(SHEET.with_calls({"trees": 0.5}), ["a", "b"]) == SHEET


def test_a_column_keeps_its_name_when_a_call_has_the_same():
    sheet = CostSheet({"trees": 1}).with_calls({"trees": 2})
    assert sheet.features == ("trees", "trees (call)")


@pytest.mark.parametrize(
    "stored",
    [
        [{"name": "trees", "cost": -1.0}],
        [{"name": "trees", "cost": "1"}],
        [{"name": "a", "cost": 1.0}],
        [{"name": "trees", "cost": 1.0}] * 2,
        ["trees"],
        {"trees": 1.0},
    ],
)
def test_damaged_calls_are_refused(stored):
    with pytest.raises(CostError):
        CostSheet.from_dict({**SHEET.to_dict(), "calls": stored})


def test_a_ledger_charges_calls_like_features():
    ledger = RowLedger(SHEET.with_calls({"trees": 0.5}), budget=1.5)
    ledger.buy(2)
    assert (ledger.spent, ledger.affords(0), ledger.affords(1)) == (0.5, True, False)
