"""The worked example of CONTRIBUTING: a method in one file, for which everything else works unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from examples.linear_tree import LinearTreeClassifier

import farthing
from farthing.base import trials
from farthing.checks import yield_checks
from farthing.datasets import load_heart_disease

CASES = [
    pytest.param(check, id=f"{estimator!r}: {name}")
    for estimator in trials(LinearTreeClassifier.__name__)
    for name, check in yield_checks(estimator, tables="small")
]


@pytest.mark.parametrize("check", CASES)
def test_the_contract(check):
    check()


def test_a_sweep_a_file_and_a_walk_take_it_as_it_is(tmp_path):
    heart = load_heart_disease()
    frontier = farthing.sweep(["LinearTreeClassifier"], heart.X, heart.y, heart.costs)
    assert not frontier.failures
    assert len(frontier) == 9
    cheap = frontier.within(0.5 * frontier.full_cost)
    model = cheap.estimator.fit(heart.X, heart.y)
    model.save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing")
    np.testing.assert_array_equal(loaded.predict_proba(heart.X), model.predict_proba(heart.X))
    decision = farthing.consult(loaded, heart.X.iloc[0].to_dict())
    assert decision.spent == model.spend(heart.X)[0]
