"""Trees of a forest, asked one by one, say together what the forest says."""

import numpy as np
import pytest
from experiments.lib.forest_runs import Part, Task, entropy, stopped_by_entropy, votes
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


def test_early_stopping_splits_no_node_of_little_entropy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("experiments.lib.forest_runs.ENTROPIES", np.array([0.0, 0.5, 2.0]))
    seen = []
    monkeypatch.setattr("experiments.lib.forest_runs.votes", lambda *a: (seen.append(a[1]), votes(*a))[1])
    model, part = grown(), Part(X, Y)
    curve = stopped_by_entropy(Task("", part, part, part), model)
    whole, half, roots = seen[::2]
    assert whole == model.forest_
    root = entropy(model.forest_.value)[model.forest_.offsets[:-1]].mean()
    inner = half.feature >= 0
    assert entropy(half.value)[inner].min() >= 0.5 * root
    # What became a leaf has little entropy, or was a leaf before: one of a full tree is pure.
    assert entropy(half.value)[~inner].max() < 0.5 * root
    assert roots.n_nodes == roots.n_trees
    assert curve[0] == pytest.approx([model.spend(X).mean(), np.mean(model.predict(X) != Y)] * 2)
    assert (np.diff(curve[:, 0]) < 0).all()
    assert curve[-1, 0] == 0
