"""Trees of a forest, asked one by one, say together what the forest says."""

import numpy as np
import pytest
from experiments.lib.forest_runs import votes
from sklearn.ensemble import RandomForestClassifier

from farthing.forests import BudgetForestClassifier, from_model

X = np.random.default_rng(0).normal(size=(200, 4))
Y = np.digitize(X[:, 0] + X[:, 1] * (X[:, 2] > 0), [-0.5, 0.5])


def imported():
    pytest.importorskip("treelite")
    return from_model(RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, Y))


def grown(**params):
    return BudgetForestClassifier(n_estimators=5, random_state=0, **params).fit(X, Y)


@pytest.mark.parametrize("make", [grown, lambda: grown(impurity="pairs"), imported])
def test_trees_one_by_one_are_the_forest(make):
    model = make()
    parts = [votes(model, model.forest_.trees(t, t + 1), X) for t in range(model.forest_.n_trees)]
    outputs = np.sum([part[0] for part in parts], axis=0)
    assert np.array_equal(np.any([part[1] for part in parts], axis=0), model.acquired(X))
    assert np.array_equal(model.classes_[outputs.argmax(axis=1)], model.predict(X))
    whole, acquired = votes(model, model.forest_, X)
    assert whole == pytest.approx(outputs)
    assert np.array_equal(acquired, model.acquired(X))
