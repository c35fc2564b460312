"""Free is free on real tables: without costs or a trade-off, every method is its cost-blind twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier

import farthing
from farthing.base import get, registered, trials
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier
from farthing.checks.fitting import CheckedEstimator, tradeoff_of
from farthing.checks.free_is_free import check_plain, check_scale, check_zero_costs, check_zero_tradeoff
from farthing.checks.problems import Problem
from farthing.datasets import load_heart_disease, load_pima_diabetes
from farthing.forests import ImportedClassifier

METHODS = [
    name
    for name in registered()
    if get(name).__module__.split(".")[0] == farthing.__name__ and "costs" in get(name)().get_params()
]
DATA = {"heart": load_heart_disease(frame=False), "pima": load_pima_diabetes(frame=False)}


def checked(estimator: Any, table: str, n_rows: int) -> CheckedEstimator:
    """Return an estimator to be checked on a bundled table with its real prices."""
    data = DATA[table]
    order = np.random.default_rng(0).permutation(len(data.y))[: n_rows + 30]
    y = data.y if is_classifier(estimator) else (data.y == np.unique(data.y)[-1]).astype(float)
    X, y = data.X[order], y[order]
    return CheckedEstimator(estimator, [Problem(X[:-30], y[:-30], X[-30:], data.costs)])


@pytest.mark.parametrize("table", sorted(DATA))
@pytest.mark.parametrize("method", METHODS)
def test_free_is_free_on_real_tables(method, table):
    case = checked(trials(method)[-1], table, 120)
    (problem,) = case.problems
    check_zero_costs(case, problem)
    if tradeoff_of(case.estimator) is not None:
        check_zero_tradeoff(case, problem)
    if table == "heart":  # the same fits at other scales would double the time on the second table
        check_scale(case, problem)


FOREST = RandomForestClassifier(5, max_depth=4, random_state=0)


@pytest.mark.parametrize("table", sorted(DATA))
@pytest.mark.parametrize(
    ("estimator", "twin"),
    [
        *(
            (AdaBoostBTClassifier(rule=rule), AdaBoostClassifier())
            for rule in ("basic", "greedy", "smoothed")
        ),
        (ImportedClassifier(model=FOREST), FOREST),
    ],
)
def test_without_costs_a_method_predicts_what_its_twin_does(estimator, twin, table):
    case = checked(estimator, table, 120)
    check_plain(case, twin)
