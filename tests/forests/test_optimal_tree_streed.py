"""Optimal trees against those of STreeD on the tables of Lomax and Vadera, on the same tests."""

import os

import pytest

from farthing.forests import OptimalTreeClassifier

pytest.importorskip("pystreed", reason="pystreed finds the trees to compare with")
if not os.environ.get("FARTHING_DATA"):
    pytest.skip("FARTHING_DATA names the folder with the tables", allow_module_level=True)

from experiments.lib.priced_rivals import BinaryTests, ThresholdTests
from experiments.lib.priced_splits import LEVELS, LOMAX, lomax_split

# Where pystreed 1.4.0 returns a tree that is not the best, 150.60; without its upper bound it finds 139.63.
NOT_ITS_BEST = {("breast", "high", 4)}


@pytest.mark.parametrize("table", LOMAX)
def test_the_total_cost_is_that_of_streed(table):
    for level in LEVELS:
        split = lomax_split(table, 1, level)
        X, y = split.train[0].astype("category"), split.train[1]
        rival = BinaryTests(split)
        for depth in (2, 3, 4):
            settings = {"max_depth": depth, "error_costs": split.errors, "node_penalty": 0.0}
            model = OptimalTreeClassifier(split.costs, max_levels=2, **settings).fit(X, y)
            # What the model itself pays on the training rows, not what its search reports.
            ours = (split.errors[y, model.predict(X)] + model.spend(X)).mean()
            bounded = (table, level, depth) not in NOT_ITS_BEST
            theirs = rival.training_cost(rival.fit(depth, use_upper_bound=bounded))
            assert model.forest_.depth() <= depth
            assert ours == pytest.approx(theirs, abs=1e-9)
            # Sets of values include the single ones, and so do intervals of numbers; thresholds do not.
            wider = OptimalTreeClassifier(split.costs, max_levels=6, **settings).fit(X, y)
            assert wider.objective_ <= theirs + 1e-9
            numbers = OptimalTreeClassifier(split.costs, numeric_tests="intervals", **settings)
            numbers.fit(*split.train)
            paid = (split.errors[y, numbers.predict(split.train[0])] + numbers.spend(split.train[0])).mean()
            assert paid == pytest.approx(numbers.objective_, abs=1e-9)
            assert paid <= theirs + 1e-9


@pytest.mark.parametrize("table", LOMAX)
def test_the_total_cost_on_thresholds_is_that_of_streed(table):
    for level in LEVELS:
        split = lomax_split(table, 1, level)
        X, y = split.train
        rival = ThresholdTests(split)
        for depth in (2, 3, 4):
            model = OptimalTreeClassifier(
                split.costs, max_depth=depth, error_costs=split.errors, node_penalty=0.0
            ).fit(X, y)
            ours = (split.errors[y, model.predict(X)] + model.spend(X)).mean()
            theirs = rival.training_cost(rival.fit(depth, use_upper_bound=False))
            assert model.forest_.depth() <= depth
            assert ours == pytest.approx(theirs, abs=1e-9)
