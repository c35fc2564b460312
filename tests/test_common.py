"""The contract, for every method that Farthing registers, at its defaults and at its trial settings."""

import pytest

import farthing
from farthing.base import get, registered, trials
from farthing.checks import yield_checks

METHODS = [name for name in registered() if get(name).__module__.split(".")[0] == farthing.__name__]

CASES = [
    pytest.param(check, id=f"{estimator!r}: {name}")
    for method in METHODS
    for estimator in trials(method)
    for name, check in yield_checks(estimator)
]


@pytest.mark.parametrize("check", CASES)
def test_contract(check):
    check()


def test_there_are_methods():
    assert {"BudgetTreeClassifier", "GradientBoostingRegressor"} <= set(METHODS)
