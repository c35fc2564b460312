"""Importances of features, beside their definition summed over the training rows."""

from __future__ import annotations

import numpy as np
import pytest

from farthing.boosting import GradientBoostingRegressor
from farthing.forests import BudgetForestClassifier, from_model


def naive(model, X):
    """Sum up over all splits how much the mean of the leaves below changes."""
    forest, shares = model.forest_, np.zeros(X.shape[1])
    scores = model.fitted_.node_scores()
    for tree in range(forest.n_trees):
        begin, end = forest.offsets[tree], forest.offsets[tree + 1]

        def leaves(node, begin=begin):
            if forest.feature[begin + node] < 0:
                return forest.cover[begin + node], forest.cover[begin + node] * scores[begin + node]
            parts = [leaves(forest.left[begin + node]), leaves(forest.right[begin + node])]
            return parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]

        for node in range(end - begin):
            if forest.feature[begin + node] >= 0:
                weight, total = leaves(node)
                for child in (forest.left[begin + node], forest.right[begin + node]):
                    w, t = leaves(child)
                    shares[forest.feature[begin + node]] += w * np.sum((t / w - total / weight) ** 2)
    return shares / shares.sum()


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, 3 * X[:, 1] + (X[:, 2] > 0) + 0.1 * rng.normal(size=300)


def test_boosted_trees(table):
    X, y = table
    model = GradientBoostingRegressor(n_estimators=10, max_depth=3).fit(X, y)
    np.testing.assert_allclose(model.feature_importances_, naive(model, X), rtol=1e-9, atol=1e-12)
    assert model.feature_importances_.argmax() == 1
    assert model.feature_importances_[1] > 0.8


def test_forests_of_classes(table):
    X, y = table
    labels = np.digitize(y, [-1, 1])
    model = BudgetForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(X, labels)
    np.testing.assert_allclose(model.feature_importances_, naive(model, X), rtol=1e-9, atol=1e-12)


def test_an_imported_tree_has_those_of_scikit_learn(table):
    from sklearn.tree import DecisionTreeRegressor  # noqa: PLC0415

    X, y = table
    tree = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        from_model(tree).feature_importances_, tree.feature_importances_, rtol=1e-5, atol=1e-8
    )


def test_a_constant_model_explains_nothing():
    model = GradientBoostingRegressor(n_estimators=2).fit(np.zeros((5, 2)), np.ones(5))
    assert model.feature_importances_.tolist() == [0.0, 0.0]
