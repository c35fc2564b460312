"""Guarantees of methods that have thresholds or shares of rows in place of budgets, and of the front door."""

from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import farthing
from farthing import BudgetedClassifier, Guarantee, certify
from farthing.adaptive import AdaptGbrtClassifier, AdaptLinClassifier, L1GateClassifier
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier, GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier, MiserCascadeClassifier
from farthing.costs import CostSheet
from farthing.datasets import load_thyroid
from farthing.forests import BudgetTreeClassifier, PrunedForestClassifier
from farthing.learning.guarantees.ladders import by_spend

DATA = load_thyroid()
X, Y = np.asarray(DATA.X, dtype=float)[:3000], np.asarray(DATA.y)[:3000]
BINARY = np.where(Y == 3, "well", "ill")
COSTS = CostSheet(DATA.costs.own)
LEARN, TEST, NEW = slice(0, 1000), slice(1000, 2000), slice(2000, 3000)


def exits():
    return EarlyExitClassifier(GreedyMiserClassifier(n_estimators=30), costs=COSTS, rounds_per_exit=2)


def vote():
    return AdaBoostClassifier(costs=COSTS, n_estimators=30, curtail=True, curtailment_error=0.2)


def gate():
    return AdaptGbrtClassifier(LogisticRegression(max_iter=500), costs=COSTS, n_estimators=10, random_state=0)


@cache
def fitted(make):
    """Fit once for all tests, which do not change the model."""
    return make().fit(X[LEARN], BINARY[LEARN])


@pytest.mark.parametrize("make", [exits, gate], ids=["exits", "gate"])
def test_the_mean_spend_stays_within_the_budget(make):
    model = fitted(make)
    ladder = model.guarantee_ladder(Guarantee(budget=1.0))
    spends = [float(np.mean(ladder.make(rung).spend(X[TEST]))) for rung in ladder.rungs]
    assert spends == sorted(spends), "from the cheapest to the most expensive"
    budget = (spends[0] + 3 * spends[-1]) / 4
    kept = certify(model, X[TEST], Guarantee(budget=budget))
    assert kept.certificate_.spend <= budget
    assert np.mean(kept.spend(X[NEW])) <= budget
    assert by_spend(ladder, X[LEARN]) is ladder, "its order needs no rows"
    # The boldest of the variants that are certified, not merely one of them.
    assert np.mean(kept.spend(X[TEST])) >= spends[0]


@pytest.mark.parametrize("make", [exits, gate, vote], ids=["exits", "gate", "vote"])
def test_the_labels_are_those_of_the_whole_model(make):
    model = fitted(make)
    guarantee = Guarantee(agreement=0.95)
    kept = certify(model, X[TEST], guarantee)
    ladder = model.guarantee_ladder(guarantee)
    whole = ladder.make(ladder.whole)
    assert np.mean(kept.predict(X[NEW]) == whole.predict(X[NEW])) >= 0.95
    assert np.mean(kept.spend(X[NEW])) <= np.mean(whole.spend(X[NEW]))
    assert kept.certificate_.agreed >= 0.95


def test_a_vote_without_error_has_no_variants():
    model = AdaBoostClassifier(costs=COSTS, n_estimators=5).fit(X[LEARN], BINARY[LEARN])
    with pytest.raises(TypeError, match="no curtailment_error"):
        certify(model, X[TEST], Guarantee(budget=5.0))


def lasso_gate():
    return L1GateClassifier(LogisticRegression(max_iter=500), costs=COSTS, random_state=0)


def linear_gate():
    return AdaptLinClassifier(LogisticRegression(max_iter=500), costs=COSTS, random_state=0)


def budgeted_vote():
    """A vote whose hard budget holds beside what is guaranteed of the mean."""
    return AdaBoostBTClassifier(
        costs=COSTS, budget=40.0, n_estimators=30, curtail=True, curtailment_error=0.2
    )


@pytest.mark.parametrize(
    "make", [exits, gate, lasso_gate, linear_gate, vote, budgeted_vote], ids=lambda make: make.__name__
)
def test_the_constructor_takes_a_guarantee(make, tmp_path):
    model = make().set_params(guarantee=Guarantee(agreement=0.9)).fit(X[:2000], BINARY[:2000])
    assert model.certificate_.n_rows == 500
    ladder = model.guarantee_ladder(model.guarantee)
    whole = ladder.make(ladder.whole)
    assert np.mean(model.predict(X[NEW]) == whole.predict(X[NEW])) >= 0.9
    model.save(tmp_path / "model.farthing")
    assert farthing.load(tmp_path / "model.farthing").certificate_ == model.certificate_


@pytest.mark.parametrize("make", [gate, budgeted_vote], ids=lambda make: make.__name__)
def test_the_constructor_takes_a_guarantee_of_the_spend(make):
    whole = np.mean(fitted(make).spend(X[TEST]))
    budget = 1.2 * float(whole)
    model = make().set_params(guarantee=Guarantee(budget=budget)).fit(X[:2000], BINARY[:2000])
    assert model.certificate_.budget == budget
    assert np.mean(model.spend(X[NEW])) <= budget
    if make is budgeted_vote:
        assert model.spend(X[NEW]).max() <= 40.0


def test_a_mean_budget_and_a_guarantee_of_it_say_the_same_twice():
    with pytest.raises(ValueError, match="say the same twice"):
        gate().set_params(budget=5.0, guarantee=Guarantee(budget=5.0)).fit(X[:200], BINARY[:200])


def test_a_vote_that_is_not_curtailed_says_what_a_guarantee_needs():
    with pytest.raises(TypeError, match="no curtailment_error"):
        AdaBoostClassifier(costs=COSTS, n_estimators=5, guarantee=Guarantee(budget=5.0)).fit(
            X[:200], BINARY[:200]
        )


# Of small tables: a fold and all rows may lead to models of different spend.
@pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
def test_the_front_door_takes_a_guarantee(tmp_path):
    methods = [MiserCascadeClassifier(n_estimators=10, n_stages=4)]
    door = BudgetedClassifier(COSTS, guarantee=Guarantee(budget=15.0), methods=methods, cv=2)
    door.fit(X[:2000], Y[:2000])
    assert door.certificate_.n_rows == 500
    assert door.certificate_.budget == 15.0
    assert np.mean(door.spend(X[NEW])) <= 15.0
    assert door.at(10.0).certificate_ is None
    door.save(tmp_path / "door.farthing")
    assert farthing.load(tmp_path / "door.farthing").certificate_ == door.certificate_


def test_the_front_door_refuses_what_a_guarantee_cannot_mean():
    door = BudgetedClassifier(COSTS, 10.0, guarantee=Guarantee(budget=15.0), methods=[BudgetTreeClassifier()])
    with pytest.raises(ValueError, match="leave out budget"):
        door.fit(X[:200], Y[:200])
    with pytest.raises(ValueError, match="leave out sample_weight"):
        door.set_params(budget=None).fit(X[:200], Y[:200], sample_weight=np.ones(200))


@pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
def test_report_and_service_say_what_is_guaranteed():
    from farthing.report import summarize  # noqa: PLC0415
    from farthing.service.model_description import describe  # noqa: PLC0415

    door = BudgetedClassifier(
        COSTS, 15.0, methods=[MiserCascadeClassifier(n_estimators=10, n_stages=3)], cv=2
    )
    plain = door.fit(X[:1200], Y[:1200])
    sure = BudgetedClassifier(COSTS, guarantee=Guarantee(budget=15.0), methods=door.methods, cv=2).fit(
        X[:1200], Y[:1200]
    )
    low, high = summarize(plain, X[:1200], Y[:1200]).spend_interval
    assert 0 <= low < plain.chosen_.spend < high
    summary = summarize(sure, X[:1200], Y[:1200])
    assert summary.spend_interval is None
    assert summary.certificate == str(sure.certificate_)
    # A variant of a variant, too.
    assert sure.at(12.0).at(8.0).chosen_.spend <= 8.0
    assert describe(plain)["guarantee"] is None
    assert describe(sure)["guarantee"]["budget"] == 15.0
    assert describe(sure)["guarantee"]["text"] == str(sure.certificate_)


@pytest.mark.parametrize(
    "make", [MiserCascadeClassifier, PrunedForestClassifier], ids=["cascade", "pruned forest"]
)
def test_new_prices_keep_the_budget_of_a_guarantee(make):
    """The certificate goes, since nothing was tested at these prices; the budget stays."""
    model = make(COSTS, guarantee=Guarantee(budget=15.0), n_estimators=10, random_state=0)
    model.fit(X[:2000], BINARY[:2000])
    prices = CostSheet(1.3 * COSTS.own)
    dearer = model.reprice(prices)
    assert dearer.certificate_ is None
    spends = [np.mean(model.at(budget).reprice(prices).spend(X[NEW])) for budget in (15.0, None)]
    assert np.mean(dearer.spend(X[NEW])) == spends[0] < spends[1]
