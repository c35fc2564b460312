"""A fit that is followed round by round is the model with early exits; the choice holds its budget."""

import numpy as np
import pytest
from experiments.lib.mean_budgets import Followed, Split, follow

from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier
from farthing.costs import CostSheet


@pytest.fixture(scope="module")
def split():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.digitize(X[:, 0] + X[:, 1] * (X[:, 2] > 0), [-0.5, 0.5])
    parts = [(X[a:b], y[a:b]) for a, b in ((0, 200), (200, 300), (300, 400))]
    return Split("made up", CostSheet([1.0, 2.0, 4.0, 8.0]), *parts)


@pytest.mark.parametrize("budget", [None, 5.0])
def test_it_is_the_model_with_early_exits(split, budget):
    model = GreedyMiserClassifier(n_estimators=6, max_depth=2, charge="row", budget=budget, costs=split.costs)
    model.fit(*split.train)
    followed = follow(model.forest_, split, (0.6,), model.budget_)
    assert len(followed.spend) == 2 * (6 + 1)  # before the first round and after each, without exits and with
    early = EarlyExitClassifier.around(model, threshold=0.6, rounds_per_exit=1)
    for number, teller in ((6, model), (13, early)):
        for (X, y), accuracy, spend in (
            (split.validation, followed.accuracy, followed.spend),
            (split.test, followed.right.mean(axis=1), followed.test_spend),
        ):
            assert accuracy[number] == np.mean(teller.predict(X) == y)
            assert spend[number] == pytest.approx(teller.spend(X).mean(), rel=1e-12)
    own = model.predict_proba(split.validation[0])[np.arange(100), split.validation[1]]
    assert followed.loss[6] == pytest.approx(-np.log(own).mean(), rel=1e-9)


def test_the_best_within_a_budget():
    columns = np.array([[0, 0.5, 1, 0], [3, 0.7, 2, 3], [4, 0.7, 1, 4], [9, 0.9, 1, 9]]).T
    models = Followed(*columns, np.ones((4, 5), dtype=np.bool_))
    assert [models.within(budget) for budget in (0, 2, 3, 4, 8.99, 9)] == [0, 0, 1, 2, 2, 3]
    assert Followed.joined([models.first(1), models.first(2)]).within(3) == 2
    assert Followed(*(columns + 1), models.right).within(0.5) is None
