"""Prices of errors from the front door to the methods, and how models are compared by them."""

import numpy as np
import pytest

from farthing import BudgetedClassifier, ErrorCosts, sweep
from farthing.base import SweepContext
from farthing.costs import CostSheet
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier, DiagnosticPolicyClassifier
from farthing.frontier.candidates import candidates
from farthing.frontier.evaluation import Evaluation
from farthing.frontier.scorers import scorer_of

COSTS = ErrorCosts([[0, 50], [200, 0]])


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


def context(error_costs):
    return SweepContext(100, 3, 2, CostSheet([1.0, 2.0, 3.0]), error_costs=error_costs)


def test_every_candidate_that_takes_prices_gets_them():
    tried = candidates("auto", context(COSTS))
    takes = [one.estimator for one in tried if "error_costs" in one.estimator.get_params(deep=False)]
    assert {type(one).__name__ for one in takes} >= {
        "BudgetTreeClassifier",
        "DiagnosticPolicyClassifier",
        "EarlyExitClassifier",
        "MiserCascadeClassifier",
    }
    # A copy: estimators are cloned.
    assert all(repr(one.error_costs) == repr(COSTS) for one in takes)


def test_without_prices_nothing_changes():
    tried = candidates("auto", context(None))
    assert "DiagnosticPolicyClassifier" not in {one.method for one in tried}
    assert all(one.estimator.get_params(deep=False).get("error_costs") is None for one in tried)


def test_prices_of_ones_own_stay():
    own = BudgetTreeClassifier(error_costs=7.0)
    (tried,) = candidates([own], context(COSTS))
    assert tried.estimator.error_costs == 7.0


def test_the_chosen_model_has_the_prices_and_the_least_cost(heart):
    methods = [DiagnosticPolicyClassifier(max_depth=2), BudgetTreeClassifier(max_depth=3)]
    model = BudgetedClassifier(heart.costs, methods=methods, scoring=COSTS, cv=2).fit(heart.X, heart.y)
    assert np.array_equal(model.model_.error_costs_, COSTS.costs)
    assert np.array_equal(model.error_costs_, COSTS.costs)
    frontier = model.frontier_
    # The smooth cost decides: half of what is expected and half of what was made.
    assert model.chosen_.method == min(frontier.points, key=lambda point: point.loss).method
    assert frontier.score_name == "cost of a row, negated"


def test_a_fold_may_lack_a_class():
    """Three rows of the rarest class: some folds have none to learn from, and one to be wrong on."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(63, 2))
    y = np.repeat(["a", "b", "c"], [30, 30, 3])
    rows = np.arange(63)
    with_none = [(rows[:60], rows[60:])]
    found = sweep([DiagnosticPolicyClassifier()], X, y, scoring=ErrorCosts(1 - np.eye(3)), cv=with_none)
    # All three rows are wrong, for 1 each, and may have spent something.
    assert found.points[0].score <= -1


def test_a_model_that_is_too_sure_of_itself_gains_nothing():
    labels = np.array([0, 1])
    scorer = scorer_of(ErrorCosts([[0, 10], [10, 0]]), classifies=True)
    for sure in (0.6, 0.9, 1.0):
        probabilities = np.array([[sure, 1 - sure], [sure, 1 - sure]])  # right once, wrong once
        told = Evaluation(labels, np.zeros(2, int), probabilities, np.array([1.0, 3.0]), classes=labels)
        assert scorer(told)[0] == -7.0
        assert scorer.loss(told) == 7.0


def test_numbers_and_labels():
    assert ErrorCosts(3.0).over(np.array(["a", "b"])).costs.tolist() == [[0, 3], [3, 0]]
    assert ErrorCosts(3.0, ["a", "b"]).costs.tolist() == [[0, 3], [3, 0]]
    assert ErrorCosts(2.0).decide(np.array([[0.3, 0.3, 0.4]])).tolist() == [2]
