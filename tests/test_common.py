"""The contract, for every method that Farthing registers, at its defaults and at its trial settings."""

import pytest

import farthing
from farthing.base import get, registered, trials
from farthing.checks import yield_checks

METHODS = [name for name in registered() if get(name).__module__.split(".")[0] == farthing.__name__]

# scikit-learn's own checks are of the class, not of its settings, and take longer than all others: once each.
OF_THE_CLASS = "scikit-learn: check_estimator passes"

CASES = [
    pytest.param(check, id=f"{estimator!r}: {name}")
    for method in METHODS
    for number, estimator in enumerate(trials(method))
    for name, check in yield_checks(estimator)
    if number == 0 or name != OF_THE_CLASS
]


@pytest.mark.parametrize("check", CASES)
def test_contract(check):
    check()


def test_every_class_is_checked_by_scikit_learn():
    assert sum(OF_THE_CLASS in case.id for case in CASES) == len(METHODS)


def test_there_are_methods():
    assert {"BudgetTreeClassifier", "GradientBoostingRegressor"} <= set(METHODS)
