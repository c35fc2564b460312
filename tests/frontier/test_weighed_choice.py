"""The front door for caps on several resources: what is chosen, what holds, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farthing
from farthing.boosting import GreedyMiserRegressor
from farthing.costs import CostSheet, within_budget
from farthing.errors import BudgetWarning, ExportError, RepriceError
from farthing.forests import BudgetTreeClassifier
from farthing.frontier.weighed_choice import Caps

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
# Two columns say nearly the same: one costs money, the other time. The third has the rest.
X[:, 1] = X[:, 0] + 0.1 * RNG.normal(size=240)
Y = (X[:, 0] + 0.5 * X[:, 2] > 0).astype(int)
SHEET = CostSheet([5, 1, 2, 1], unit="EUR", resources={"minutes": {"x0": 1, "x1": 60, "x2": 10}})
MINUTES = SHEET.resources["minutes"]
METHODS = [BudgetTreeClassifier(max_depth=depth) for depth in (1, 2, 3)]


def door(budget: Any, **options: Any) -> farthing.BudgetedClassifier:
    return farthing.BudgetedClassifier(SHEET, budget, **{"methods": METHODS, "cv": 2} | options)


@pytest.fixture(scope="module")
def mean() -> farthing.BudgetedClassifier:
    return door({"EUR": 6.0, "minutes": 20.0}).fit(X, Y)


@pytest.fixture(scope="module")
def hard() -> farthing.BudgetedClassifier:
    return door({"EUR": 7.0, "minutes": 15.0}, budget_kind="hard").fit(X, Y)


def test_weights_find_what_money_alone_does_not(mean):
    # By money alone the column of 60 minutes is the better buy.
    by_money = door({"EUR": 6.0}).fit(X, Y)
    assert by_money.spend(X, resource="minutes").mean() > 20
    assert mean.fitted_.weights["minutes"] > 0
    assert mean.spend(X).mean() <= 6
    assert mean.spend(X, resource="minutes").mean() <= 20
    assert mean.score(X, Y) > 0.8


def test_figures_are_of_the_costs_and_of_each_resource(mean):
    chosen = mean.chosen_
    assert within_budget(chosen.spend, 6.0)
    assert within_budget(chosen.details["minutes"], 20.0)
    assert chosen.spend >= mean.spend(X).mean() * (1 - 1e-9)  # new rows spend no less, by estimate
    assert mean.costs_ == SHEET
    assert mean.frontier_.unit == "EUR"
    assert {"weight of minutes"} <= {name for point in mean.frontier_ for name in point.params}


def test_hard_caps_hold_on_every_row(hard):
    for budget, caps in [
        (None, {"EUR": 7.0, "minutes": 15.0}),
        ({"minutes": 5.0}, {"EUR": 7.0, "minutes": 5.0}),
        (3.0, {"EUR": 3.0, "minutes": 15.0}),
    ]:
        acquired = hard.acquired(X, budget=budget)
        assert within_budget(SHEET.total_rows(acquired), caps["EUR"]).all()
        assert within_budget(MINUTES.total_rows(acquired), caps["minutes"]).all()
    assert hard.acquired(X).any()
    assert hard.score(X, Y) > 0.8


@pytest.mark.parametrize("kind", ["mean", "hard"])
@pytest.mark.parametrize("budget", [None, 3.0, {"minutes": 11.0}, {"EUR": 6.0, "minutes": 70.0}])
def test_walks_and_array_calls_agree(kind, budget, request):
    model = request.getfixturevalue(kind)
    made = model.decide(X, budget=budget)
    for row in range(0, 240, 6):
        walk = model.walk(budget=budget)
        while (ask := walk.ask) is not None:
            assert ask.price == SHEET.price(ask.feature, owned=walk.decision.acquired)
            walk.tell(X[row, SHEET.column(ask.feature)])
        decision = walk.decision
        assert decision.prediction == made.prediction[row]
        assert list(decision.probabilities.values()) == made.probabilities[row].tolist()
        assert decision.spent == made.spent[row]
        assert decision.resources == {"minutes": MINUTES.total(decision.acquired)}


@pytest.mark.parametrize("kind", ["mean", "hard"])
def test_files(kind, request, tmp_path: Path):
    model = request.getfixturevalue(kind)
    model.save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing")
    made, again = model.decide(X), loaded.decide(X)
    np.testing.assert_array_equal(made.probabilities, again.probabilities)
    np.testing.assert_array_equal(made.acquired, again.acquired)
    assert loaded.budget == model.budget
    if kind == "mean":
        assert loaded.chosen_.details == model.chosen_.details


def test_other_budgets_of_a_mean_fit(mean):
    with warnings.catch_warnings():
        warnings.simplefilter("error", BudgetWarning)
        assert mean.at({"EUR": 6.0, "minutes": 20.0}).chosen_.spend == mean.chosen_.spend
    with pytest.warns(BudgetWarning, match="takes 0.01 minutes or less"):
        mean.at({"minutes": 0.01})


def test_other_budgets_of_a_hard_fit(hard):
    other = hard.at({"EUR": 3.0, "minutes": 12.0})
    assert other.spend(X).max() <= 3
    assert other.spend(X, resource="minutes").max() <= 12
    assert hard.at(3.0).spend(X).max() <= 3


def test_shares_of_what_all_features_take():
    caps = door({"EUR": "50%", "minutes": "10%"}, budget_kind="hard").fit(X, Y).fitted_
    assert (caps.budget, caps.resource_caps) == (4.5, {"minutes": pytest.approx(7.1)})


def test_caps_that_nothing_keeps_give_the_prior():
    # x3 costs no minutes, but 1 EUR.
    with pytest.warns(BudgetWarning, match="without any feature"):
        model = door({"EUR": 0.5, "minutes": 0.0}).fit(X, Y)
    assert not model.acquired(X).any()


def test_weighted_budget_is_the_largest_sum_within_the_caps():
    caps = Caps(SHEET, 6.0, {"minutes": 20.0})
    assert caps.weighted_budget({"minutes": 0.25}) == 11.0
    assert Caps(SHEET, None, {"minutes": 500.0}).weighted_budget({"minutes": 1.0}) == 9.0 + 71.0


def test_regressors():
    model = farthing.BudgetedRegressor(
        SHEET,
        {"EUR": 8.0, "minutes": 20.0},
        methods=[GreedyMiserRegressor(n_estimators=10, tradeoff=t) for t in (0.0, 0.01, 0.1)],
        cv=2,
    ).fit(X, X[:, 0] + 0.5 * X[:, 2])
    assert model.spend(X, resource="minutes").mean() <= 20
    assert model.spend(X).mean() <= 8
    assert model.score(X, X[:, 0] + 0.5 * X[:, 2]) > 0.3


def test_what_does_not_go_with_several_resources(mean, hard):
    with pytest.raises(ValueError, match="'hours', which the cost sheet lacks"):
        door({"hours": 1.0}).fit(X, Y)
    with pytest.raises(ValueError, match="mixture fills one budget"):
        door({"minutes": 5.0}, mixture=True).fit(X, Y)
    with pytest.raises(ValueError, match="zero or more"):
        door({"minutes": -5.0}).fit(X, Y)
    with pytest.raises(ValueError, match="call fit again"):
        mean.refit(X, Y)
    with pytest.raises(RepriceError, match="weighted sum"):
        mean.reprice(CostSheet([1, 1, 1, 1]))
    with pytest.raises(ExportError, match="hard caps of several resources"):
        hard.fitted_.plan()
    ranker = farthing.BudgetedRanker(SHEET, {"minutes": 5.0})
    with pytest.raises(ValueError, match="takes one budget"):
        ranker.fit(X, Y, qid=np.arange(240) // 10)
