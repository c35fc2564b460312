"""Further resources of a price list: amounts, groups, files, ledgers, weighted sums, caps."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import farthing
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet, Group, RowLedger, split_budget, within_budget
from farthing.datasets import load_heart_disease
from farthing.errors import CostError, WalkError
from farthing.forests import BudgetTreeClassifier

COSTS = {"age": 1.0, "chol": 5.17, "fbs": 3.1, "ecg": 15.5}
GROUPS = {"blood": Group(2.1, ["chol", "fbs"])}
MINUTES = {"costs": {"age": 1, "chol": 2, "ecg": 12}, "groups": {"blood": 10}}
SHEET = CostSheet(COSTS, GROUPS, "USD", resources={"minutes": MINUTES, "mSv": {"ecg": 0.25}})


def test_a_resource_is_a_price_list_of_the_same_features_and_groups() -> None:
    minutes = SHEET.resources["minutes"]
    assert minutes.unit == "minutes"
    assert minutes.total(["chol", "fbs"]) == 12
    assert minutes.price("fbs", owned=["chol"]) == 0
    assert SHEET.total(["chol", "fbs"]) == pytest.approx(10.37)
    assert SHEET.resources["mSv"].total(SHEET.features) == 0.25
    assert "minutes: age 1, chol 12, fbs 10, ecg 12" in repr(SHEET)


def test_a_group_of_a_resource_alone_costs_nothing() -> None:
    sheet = CostSheet(
        COSTS, resources={"minutes": {"costs": {}, "groups": {"room": Group(5, ["age", "ecg"])}}}
    )
    assert sheet.total(["age", "ecg"]) == 16.5
    assert sheet.resources["minutes"].total(["age", "ecg"]) == 5
    assert sheet == CostSheet.from_dict(sheet.to_dict())


@pytest.mark.parametrize("ending", ["toml", "json", "dict", "pickle", "csv"])
def test_files_keep_resources(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"prices.{ending}"
    if ending == "toml":
        path.write_text(SHEET.to_toml())
        assert CostSheet.read(path) == SHEET
    elif ending == "json":
        plain = {name: {"cost": group.cost, "members": group.members} for name, group in GROUPS.items()}
        resources = {"minutes": MINUTES, "mSv": {"ecg": 0.25}}
        path.write_text(json.dumps({"costs": COSTS, "groups": plain, "unit": "USD", "resources": resources}))
        assert CostSheet.read(path) == SHEET
    elif ending == "csv":
        path.write_text(
            "feature,cost,group,group_cost,resource:minutes,group_resource:minutes,resource:mSv\n"
            "age,1.00,,,1,,\nchol,7.27,blood,2.10,12,10,\nfbs,5.20,blood,2.10,10,10,\necg,15.5,,,12,,0.25\n"
        )
        assert CostSheet.read(path, unit="USD") == SHEET
    else:
        made = CostSheet.from_dict(SHEET.to_dict()) if ending == "dict" else pickle.loads(pickle.dumps(SHEET))
        assert made == SHEET
        assert hash(made) == hash(SHEET)
    assert CostSheet(COSTS, GROUPS, "USD") != SHEET


def test_changed_sheets_keep_their_resources() -> None:
    with_calls = SHEET.with_calls({"trees": 2.0})
    assert with_calls.resources["minutes"].features == with_calls.features
    assert with_calls.resources["minutes"].total(["trees", "age"]) == 1
    assert with_calls.without_calls() == SHEET
    turned = SHEET.align(["ecg", "fbs", "chol", "age"])
    assert turned.resources["minutes"].own.tolist() == [12, 0, 2, 1]
    few = CostSheet(COSTS, GROUPS, strict=False, default=1, resources={"minutes": MINUTES})
    assert few.align(["new", "chol"]).resources["minutes"].own.tolist() == [0, 2]
    assert SHEET.scaled(2).resources["minutes"] == SHEET.resources["minutes"]
    assert SHEET.with_free(["chol"]).resources["minutes"].total(["chol", "fbs"]) == 10


def test_a_weighted_sum_keeps_the_account_of_its_parts() -> None:
    both = SHEET.weighted({"minutes": 0.5})
    assert both.total(SHEET.features) == pytest.approx(SHEET.total(SHEET.features) + 0.5 * 25)
    assert both.price("fbs", owned=["chol"]) == pytest.approx(3.1)
    assert both.resources["USD"].total(SHEET.features) == SHEET.total(SHEET.features)
    assert list(both.resources) == ["USD", "minutes", "mSv"]
    assert both.weighted({}).resources["mSv"] == SHEET.resources["mSv"]
    with pytest.raises(CostError, match="no resource 'hours'"):
        SHEET.weighted({"hours": 1})


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"USD": {"age": 1}}, "the costs themselves"),
        ({"cost": {"age": 1}}, "the costs themselves"),
        ({"minutes": {"agee": 1}}, "did you mean 'age'"),
        ({"minutes": {"age": -1}}, "the minutes of 'age' is negative"),
        ({"minutes": {"age": float("nan")}}, "NaN"),
        ({"minutes": [1, 2]}, "by name"),
        ([1], "expected a mapping"),
        ({"minutes": {"costs": {}, "groups": {"lab": 3}}}, "which the costs lack"),
        ({"minutes": {"costs": {}, "groups": {"lab": (3, ["chol"])}}}, "is in the group 'blood'"),
        ({"minutes": {"costs": {}, "groups": {"blood": (3, ["chol"])}}}, "other members"),
        ({"minutes": {"costs": {}, "extra": 1}}, "unknown entry 'extra'"),
    ],
)
def test_mistakes_are_named(resources: Any, words: str) -> None:
    with pytest.raises(CostError, match=words):
        CostSheet(COSTS, GROUPS, "USD", resources=resources)


def test_budgets_by_name() -> None:
    assert split_budget({"cost": 3, "mSv": 1}, SHEET) == (3, {"mSv": 1})
    assert split_budget({"minutes": None}, SHEET) == (None, {})
    with pytest.raises(
        ValueError, match="'hours', which the cost sheet lacks; it has 'USD', 'minutes', 'mSv'"
    ):
        split_budget({"hours": 1}, SHEET)
    with pytest.raises(ValueError, match="are the same"):
        split_budget({"cost": 3, "USD": 3}, SHEET)


@given(
    order=st.permutations(range(4)),
    cap=st.floats(0, 30),
    budget=st.none() | st.floats(0, 30),
    known=st.sets(st.integers(0, 3), max_size=1),
)
def test_a_ledger_buys_what_all_caps_allow(order: Any, cap: float, budget: float | None, known: Any) -> None:
    ledger = RowLedger(SHEET, budget, known, {"minutes": cap})
    minutes, bought = SHEET.resources["minutes"], set[int]()
    owned = [SHEET.features[column] for column in known]
    for column in order:
        after = [SHEET.features[each] for each in {*bought, column} - known]
        fits = minutes.total(after, owned) <= cap * (1 + 1e-12)
        fits &= budget is None or SHEET.total(after, owned) <= budget * (1 + 1e-12)
        assert ledger.affords(column) == ledger.affords_all([column]) == (fits or column in known)
        if ledger.affords(column):
            ledger.buy(column)
            bought.add(column)
        else:
            with pytest.raises(ValueError, match="over the"):
                ledger.buy(column)
    names = [SHEET.features[each] for each in bought - known]
    assert ledger.taken()["minutes"] == minutes.total(names, owned)
    assert ledger.spent == SHEET.total(names, owned)


@pytest.fixture(scope="module")
def heart() -> Any:
    data = load_heart_disease()
    minutes = {"thalach": 20.0, "oldpeak": 20.0, "thal": 60.0, "ca": 30.0, "chol": 5.0, "cp": 2.0}
    own = dict(zip(data.costs.features, data.costs.own.tolist(), strict=True))
    sheet = CostSheet(own, data.costs.groups, data.costs.unit, resources={"minutes": minutes})
    return data.X, data.y, sheet


def test_caps_hold_in_arrays_walks_panels_and_files(heart: Any, tmp_path: Path) -> None:
    X, y, sheet = heart
    model = GreedyMiserClassifier(costs=sheet, n_estimators=10, tradeoff=0.0).fit(X, y)
    plain = GreedyMiserClassifier(costs=load_heart_disease().costs, n_estimators=10, tradeoff=0.0).fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    model.save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing")
    assert loaded.costs_ == model.costs_
    rows = X[:20]
    for cap in (0, 40, 1e9):
        budget = {"minutes": cap, sheet.unit: 120}
        taken = loaded.spend(rows, budget=budget, resource="minutes")
        assert np.all(within_budget(taken, cap))
        assert np.all(within_budget(loaded.spend(rows, budget=budget), 120))
        found = loaded.rounds(rows, 3, budget=budget)
        assert np.all(within_budget(sheet.resources["minutes"].total_rows(found.acquired), cap))
    decision = farthing.consult(model, rows.iloc[0].to_dict(), budget={"minutes": 40})
    assert decision.resources == {"minutes": sheet.resources["minutes"].total(decision.acquired)}
    with pytest.raises(ValueError, match="no resource 'hours'"):
        model.spend(rows, resource="hours")


def test_waiting_in_a_panel_is_the_longest_of_its_members(heart: Any) -> None:
    X, y, sheet = heart
    walk = BudgetTreeClassifier(costs=sheet).fit(X, y).walk()
    row = X.iloc[0].to_dict()
    walk.tell_panel({name: row[name] for name in ("ca", "chol", "cp")})
    assert (walk.resources["minutes"], walk.waited("minutes")) == (37.0, 30.0)
    walk.tell_panel({name: row[name] for name in ("thalach", "oldpeak")})
    assert (walk.resources["minutes"], walk.waited("minutes")) == (77.0, 50.0)
    with pytest.raises(WalkError, match="no resource 'hours'"):
        walk.waited("hours")


def test_a_question_says_what_it_takes(heart: Any) -> None:
    X, y, sheet = heart
    walk = BudgetTreeClassifier(costs=sheet, max_depth=2).fit(X, y).walk()
    assert walk.ask.resources == {"minutes": sheet.resources["minutes"].price(walk.ask.feature)}
