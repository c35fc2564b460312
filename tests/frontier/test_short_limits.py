"""Under a short time limit something sensible is found: fast methods first, a fast fit to fall back on."""

import time

import numpy as np
import pytest

from farthing import BudgetedClassifier
from farthing.base import SweepContext
from farthing.costs import CostSheet
from farthing.deadline import check_deadline
from farthing.errors import BudgetWarning
from farthing.forests import BudgetTreeClassifier
from farthing.frontier.candidates import candidates


class EndlessOnAll(BudgetTreeClassifier):
    """Fits folds at once, and all rows never."""

    def fit(self, X, y, sample_weight=None):
        while len(y) > 100:
            check_deadline()
            time.sleep(0.001)
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)


def own(tried):
    """The names of Farthing's methods: other tests register theirs."""
    return [one.method for one in tried if type(one.estimator).__module__.startswith("farthing.")]


@pytest.mark.parametrize(
    ("n_classes", "first"), [(2, "BudgetTreeClassifier"), (None, "GradientBoostingRegressor")]
)
def test_fast_methods_come_first(n_classes, first):
    context = SweepContext(1000, 10, n_classes, CostSheet([1.0] * 10), None, "mean", 0)
    fast = own(candidates("auto", context, fast_first=True))
    best = own(candidates("auto", context))
    assert fast[0] == first
    assert best[0].startswith("MiserCascade")
    assert sorted(fast) == sorted(best)
    methods = list(dict.fromkeys(fast))
    # The best and slowest comes last, but before the second setting of any.
    assert methods[-1].startswith("MiserCascade")
    assert fast[: len(methods)] == methods


def test_on_several_classes_adaboost_is_tried_only_if_it_is_named():
    boosters = {"AdaBoostClassifier", "AdaBoostBTClassifier", "AdaBoostRSClassifier"}
    for n_classes, by_default in ((2, boosters - {"AdaBoostRSClassifier"}), (3, set())):
        context = SweepContext(1000, 10, n_classes, CostSheet([1.0] * 10), 4.0, "hard", 0)
        assert boosters & set(own(candidates("auto", context))) == by_default
        assert boosters <= set(own(candidates("all", context)))
        assert set(own(candidates(sorted(boosters), context))) == boosters


def test_a_last_fit_that_is_cut_off_leaves_a_sensible_model(table):
    methods = [EndlessOnAll(max_depth=4), BudgetTreeClassifier(max_depth=1)]
    door = BudgetedClassifier(budget=3.0, methods=methods, cv=3, time_limit=4.0).fit(*table)
    # On the folds the endless one is better.
    assert door.frontier_.choose(3.0).method == "EndlessOnAll"
    assert door.chosen_.method == "BudgetTreeClassifier"
    assert door.chosen_.params.get("budget") != 0.0
    assert door.score(*table) > 0.7


class EndlessCopies(BudgetTreeClassifier):
    """A fitted model whose copies never end, as calibration fits them."""

    def fit(self, X, y, sample_weight=None):
        while hasattr(X, "__array_interface__"):  # not the table of a sweep
            check_deadline()
            time.sleep(0.001)
        return super().fit(X, y, sample_weight)


def test_calibration_is_cut_off(table):
    door = BudgetedClassifier(
        budget=3.0, methods=[EndlessCopies(max_depth=2)], cv=2, calibrate=True, time_limit=3.0
    )
    with pytest.warns(BudgetWarning, match="no time to calibrate"):
        door.fit(*table)
    assert door.fitted_.temperature == 1.0
