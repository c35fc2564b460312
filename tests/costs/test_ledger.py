import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.costs import CostSheet, Group, RowLedger

SHEETS = st.from_type(CostSheet)


def blood():
    return CostSheet([1, 2, 4, 16], {"blood": Group(8, ["x1", "x2"])})


def names(sheet, mask):
    return [name for name, has in zip(sheet.features, mask, strict=True) if has]


@given(st.data())
def test_the_ledger_has_the_bits_of_the_sheet(data):
    sheet = data.draw(SHEETS)
    n_features = len(sheet.features)
    columns = st.integers(0, n_features - 1)
    known = data.draw(st.sets(columns))
    everything = sheet.total(sheet.features)
    budget = data.draw(st.none() | st.floats(0, max(everything, 1.0)))
    ledger = RowLedger(sheet, budget, known)

    bought = set()
    for column in data.draw(st.permutations(range(n_features))):
        given_free = [sheet.features[j] for j in known]
        owned = [sheet.features[j] for j in known | bought]
        after = sheet.total([sheet.features[j] for j in bought | {column}], owned=given_free)
        fits = budget is None or after <= budget * (1 + 1e-12)

        assert ledger.price(column) == sheet.price(sheet.features[column], owned)
        assert ledger.affords(column) is fits
        if fits:
            ledger.buy(column)
            bought |= {column} - known
        assert ledger.spent == sheet.total([sheet.features[j] for j in bought], owned=given_free)
        assert set(np.flatnonzero(ledger.bought)) == bought
        assert set(np.flatnonzero(ledger.owned)) == bought | known
        assert budget is None or ledger.spent <= budget * (1 + 1e-12)


@given(st.data())
def test_the_order_of_purchases_leaves_no_trace(data):
    sheet = data.draw(SHEETS)
    order = data.draw(st.permutations(range(len(sheet.features))))
    ledger = RowLedger(sheet)
    for column in order:
        ledger.buy(column)
    assert ledger.spent == sheet.total(sheet.features)
    assert ledger.spent == sheet.total_rows(ledger.bought[None, :])[0]


def test_shared_costs_are_added_in_the_order_of_the_groups():
    # 1e16 swallows a lone 1: bought in this order, the groups would add up to 1e16 if taken as they came.
    sheet = CostSheet(
        [0, 0, 0, 0], {f"g{j}": Group(cost, [f"x{j}"]) for j, cost in enumerate([1.0, 1.0, 1e16])}
    )
    for order in ([2, 1, 0, 3], [2, 0, 3, 1], [1, 2, 3, 0], [3, 0, 1, 2]):
        ledger = RowLedger(sheet, budget=1e17)
        for column in order:
            ledger.buy(column)
        assert ledger.spent == sheet.total(sheet.features) == 1e16 + 2


def test_the_first_member_of_a_group_pays_for_it():
    ledger = RowLedger(blood())
    assert [ledger.price(j) for j in range(4)] == [1, 10, 12, 16]
    ledger.buy(2)
    assert ledger.spent == 12
    assert [ledger.price(j) for j in range(4)] == [1, 2, 0, 16]
    ledger.buy(1)
    ledger.buy(1)
    assert ledger.spent == 14


@pytest.mark.parametrize("known", [[1], (j for j in [1]), {"x1": 3.5}, np.array([False, True, False, False])])
def test_what_is_known_is_free_and_so_is_its_group(known):
    ledger = RowLedger(blood(), budget=4, known=known)
    assert (ledger.owned.tolist(), ledger.bought.tolist()) == ([False, True, False, False], [False] * 4)
    assert (ledger.price(1), ledger.price(2), ledger.affords(2)) == (0, 4, True)
    ledger.buy(1)
    assert (ledger.spent, ledger.bought.any()) == (0, False)
    ledger.buy(2)
    assert ledger.spent == 4


def test_a_budget_holds_to_a_part_in_a_million_million():
    sheet = CostSheet([0.1, 0.2])
    assert 0.1 + 0.2 > 0.3
    ledger = RowLedger(sheet, budget=0.3)
    ledger.buy(0)
    assert ledger.affords(1)
    tight = RowLedger(sheet, budget=0.3 * (1 - 1e-11))
    tight.buy(0)
    assert not tight.affords(1)
    with pytest.raises(
        ValueError, match=r"'x1' would take the spend from 0.1 to 0.3, over the budget .*affords"
    ):
        tight.buy(1)
    assert (tight.spent, tight.bought.tolist()) == (0.1, [True, False])


def test_a_budget_of_nothing_buys_what_is_free():
    ledger = RowLedger(CostSheet([0, 1]), budget=0)
    assert (ledger.affords(0), ledger.affords(1)) == (True, False)
    unlimited = RowLedger(CostSheet([0, 1]), budget=math.inf)
    assert unlimited.affords(1)


def test_the_masks_follow_the_ledger_and_cannot_be_written():
    ledger = RowLedger(blood())
    owned, bought = ledger.owned, ledger.bought
    assert (owned.dtype, owned.shape) == (np.bool_, (4,))
    ledger.buy(3)
    assert names(ledger.sheet, owned) == names(ledger.sheet, bought) == ["x3"]
    for mask in (owned, bought):
        with pytest.raises(ValueError, match="read-only"):
            mask[0] = True


def test_ledgers_share_nothing():
    sheet = blood()
    first, second = RowLedger(sheet), RowLedger(sheet)
    first.buy(1)
    assert second.spent == 0
    assert second.price(1) == 10


def test_the_repr_tells_the_account():
    ledger = RowLedger(blood(), budget=20)
    ledger.buy(2)
    assert repr(ledger) == "RowLedger(spent=12, budget=20.0, bought=['x2'])"


@pytest.mark.parametrize("budget", [-1, math.nan, np.float32("nan"), -math.inf, "3", True, [3], 1j])
def test_bad_budgets(budget):
    with pytest.raises(ValueError, match=r"the budget is .*expected a number"):
        RowLedger(blood(), budget=budget)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ([4], "known has the column 4; expected columns from 0 to 3"),
        ([-1], "known has the column -1"),
        (["x9"], "feature 'x9' is not in the cost sheet"),
        ("x1", r"single string 'x1'; write \['x1'\]"),
        ([True, False, False, False], "a list of bools; make it a NumPy array"),
        (np.ones(3, dtype=bool), r"shape \(3,\); expected \(4,\)"),
    ],
)
def test_bad_knowledge(known, words):
    with pytest.raises(ValueError, match=words):
        RowLedger(blood(), known=known)
