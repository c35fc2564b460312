"""A time limit cuts fits off."""

import time

import numpy as np
import pytest

from farthing import BudgetedClassifier
from farthing.boosting import GreedyMiserClassifier
from farthing.deadline import DeadlineReached, check_deadline, deadline
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier


class Endless(BudgetTreeClassifier):
    """Never finishes by itself."""

    def fit(self, X, y, sample_weight=None):
        while True:
            check_deadline()
            time.sleep(0.001)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    "model", [GreedyMiserClassifier(n_estimators=3), BudgetForestClassifier(n_estimators=3)]
)
def test_growing_trees_stops_at_the_deadline(table, model):
    with deadline(time.time() - 1), pytest.raises(DeadlineReached):
        model.fit(*table)
    model.fit(*table)


def test_the_inner_deadline_is_the_earlier_one():
    with deadline(time.time() - 1), deadline(time.time() + 1000), pytest.raises(DeadlineReached):
        check_deadline()
    with deadline(time.time() + 1000), deadline(None):
        check_deadline()


def test_a_fit_that_never_ends_is_cut_off(table):
    methods = [Endless(), BudgetTreeClassifier(max_depth=2)]
    door = BudgetedClassifier(budget=3.0, methods=methods, cv=2, time_limit=3.0).fit(*table)
    assert door.chosen_.method == "BudgetTreeClassifier"
    assert door.score(*table) > 0.9
    # One fold of it is cut off, the other is not begun; neither is a failure.
    assert door.frontier_.n_skipped == 2
    assert not door.frontier_.failures


def test_no_time_at_all_gives_a_model(table):
    door = BudgetedClassifier(budget=3.0, methods=[Endless()], cv=2, time_limit=0.01).fit(*table)
    assert not door.acquired(table[0]).any()
