"""Calls pass through wrappers, sweeps, reports and files: the account balances in each."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import farthing
from farthing.boosting import GreedyMiserClassifier
from farthing.multiclass import OneVsRestClassifier
from farthing.report import audit, summarize, write_report
from farthing.walks.purchase_order import purchase_order

RNG = np.random.default_rng(2)
X = RNG.normal(size=(150, 4))
Y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.6, 0.6])
COSTS = [1.0, 2.0, 4.0, 8.0]
MISER = GreedyMiserClassifier(n_estimators=4, max_depth=2, tree_cost=0.25, costs=COSTS)

WRAPPED = [
    farthing.pipeline(StandardScaler(), MISER),
    OneVsRestClassifier(MISER),
    farthing.BudgetedClassifier(COSTS, budget=12, methods=[MISER], cv=2, random_state=0),
]


@pytest.fixture(scope="module", params=WRAPPED, ids=lambda model: type(model).__name__)
def model(request):
    return request.param.fit(X, Y)


def test_the_account_has_the_trees(model):
    assert model.costs_.calls
    acquired = model.acquired(X)
    np.testing.assert_array_equal(model.spend(X), model.costs_.total_rows(acquired))
    assert (acquired[:, 4:].any(axis=1) == acquired[:, :4].any(axis=1)).all()
    assert acquired[:, 4:].any()


@pytest.mark.parametrize("budget", [None, 1.5, 3.0, 6.5])
def test_walks_pay_what_the_arrays_pay(model, budget):
    decided = model.decide(X[:20], budget=budget)
    for row in range(20):
        walk = model.walk(budget=budget)
        while (ask := walk.ask) is not None:
            walk.tell(X[row, int(ask.feature[1:])])
        decision = walk.decision
        assert (decision.prediction, decision.spent) == (decided.prediction[row], decided.spent[row])
        np.testing.assert_array_equal(
            np.isin(model.costs_.features, decision.acquired), decided.acquired[row]
        )
    if budget is not None:
        assert decided.spent.max() <= budget


def test_files_keep_the_calls(model, tmp_path):
    model.save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing")
    assert loaded.costs_ == model.costs_
    np.testing.assert_array_equal(loaded.spend(X), model.spend(X))
    assert not getattr(loaded.get_params()["costs"], "calls", ())


def test_an_audit_lists_the_calls(model):
    found = audit(model, X)
    assert found.mean == pytest.approx(model.spend(X).mean())
    assert set(model.costs_.calls) <= set(found.features()["feature"])
    dearer = audit(model, X, np.array(COSTS) * 2)
    calls = np.array([*model.costs_.call_prices().values()])
    paid = (model.acquired(X)[:, 4:] @ calls).mean()
    assert dearer.mean - paid == pytest.approx(2 * (found.mean - paid))


def test_the_order_of_purchases_ends_with_the_calls(model):
    fitted, acquired = model.fitted_, model.acquired(X[:5])
    for row, names in enumerate(purchase_order(fitted.policy, model.costs_, X[:5], acquired)):
        assert set(names) == set(np.array(model.costs_.features)[acquired[row]])


def test_an_audit_counts_the_tests_of_trees_that_are_paid_for():
    free = GreedyMiserClassifier(n_estimators=4, max_depth=2, costs=COSTS).fit(X, Y)
    paid = GreedyMiserClassifier(n_estimators=4, max_depth=2, costs=COSTS, tree_cost=0.25).fit(X, Y)
    np.testing.assert_array_equal(audit(paid, X).uses[:4], audit(free, X).uses)
    capped = GreedyMiserClassifier(n_estimators=4, max_depth=2, costs=COSTS, tree_cost=0.25, budget=40)
    np.testing.assert_array_equal(audit(capped.fit(X, Y), X).uses[:4], audit(free, X).uses)


def test_a_report_shows_the_calls(tmp_path):
    model = WRAPPED[2].fit(X, Y)
    summary = summarize(model, X, Y)
    assert (summary.n_features, summary.purchases[-1].feature) == (4, "trees")
    for trace in summary.traces:
        assert sum(step.price for step in trace.steps) == pytest.approx(trace.spent)
        assert [step.feature for step in trace.steps].count("trees") == bool(trace.steps)
    write_report(tmp_path / "report.html", model, X, Y)
    assert "trees" in (tmp_path / "report.html").read_text()
