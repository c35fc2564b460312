"""The order of purchases is that of walks, for every kind of policy, budgets and refusals included."""

import numpy as np
import pytest

from farthing.boosting import AdaBoostBTClassifier, GreedyMiserClassifier
from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetForestClassifier
from farthing.table import encode
from farthing.walks.purchase_order import purchase_order

HEART = load_heart_disease()


@pytest.mark.parametrize("budget", [None, 60.0])
@pytest.mark.parametrize(
    "estimator",
    [
        BudgetForestClassifier(n_estimators=4, max_depth=3, random_state=0),
        GreedyMiserClassifier(n_estimators=10, tradeoff=0.001),
        MiserCascadeClassifier(n_estimators=5, n_stages=3, n_folds=1, max_depth=1, random_state=0),
        AdaBoostBTClassifier(n_estimators=10),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_order_is_that_of_the_walk(estimator, budget):
    model = estimator.set_params(costs=HEART.costs).fit(HEART.X[60:], HEART.y[60:])
    X = HEART.X[:60]
    acquired = model.acquired(X, budget=budget)
    fitted = model.fitted_
    cap = fitted.budget if budget is None else budget
    found = list(
        purchase_order(fitted.policy, fitted.costs, encode(fitted.schema, X).values, acquired, budget=cap)
    )
    for row, answers in enumerate(X.to_dict(orient="records")):
        walk, bought = model.walk(budget=budget), []
        while (ask := walk.ask) is not None:
            bought.append(ask.feature)
            walk.tell(answers[ask.feature])
        assert found[row] == bought
        assert sorted(found[row]) == sorted(np.array(fitted.costs.features)[acquired[row]])


def test_what_was_not_bought_was_refused():
    model = GreedyMiserClassifier(n_estimators=10, tradeoff=0.001, costs=HEART.costs).fit(HEART.X, HEART.y)
    fitted, X = model.fitted_, HEART.X[:1]
    walk, bought = model.walk(), []
    acquired = np.zeros((1, len(fitted.costs.features)), dtype=bool)
    while (ask := walk.ask) is not None:
        if ask.feature in ("thal", "ca"):
            walk.refuse()
            continue
        bought.append(ask.feature)
        acquired[0, fitted.costs.column(ask.feature)] = True
        walk.tell(X.iloc[0][ask.feature])
    assert len(bought) > 2
    values = encode(fitted.schema, X).values
    assert list(purchase_order(fitted.policy, fitted.costs, values, acquired)) == [bought]
