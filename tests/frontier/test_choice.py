"""Which point is taken: not simply the luckiest."""

import math

import numpy as np
import pytest

from farthing.base.choice import choose
from farthing.boosting import AdaBoostBTClassifier
from farthing.cascades import MiserCascadeClassifier
from farthing.frontier import Frontier, Point
from farthing.frontier.scorers import Evaluation, brier


def point(score, loss, spend=1.0, error=0.02, estimator=None, **params):
    return Point("Method", params, spend, spend, score, error, loss, estimator=estimator)


def test_within_half_a_standard_error_the_least_loss_wins():
    points = [point(0.80, 0.4), point(0.795, 0.3), point(0.785, 0.1)]
    assert choose(points) is points[1]


def test_without_a_standard_error_only_equals_are_as_good():
    points = [point(0.80, 0.4, error=math.nan), point(0.80, 0.3, error=math.nan), point(0.79, 0.1)]
    assert choose(points) is points[1]


def test_without_losses_the_best_score_wins_and_the_cheapest_of_equals():
    points = [point(0.79, math.nan), point(0.80, math.nan, spend=2.0), point(0.80, math.nan, spend=1.0)]
    assert choose(points) is points[2]


def test_of_a_path_of_budgets_the_dearest_stands():
    path = MiserCascadeClassifier()
    points = [
        point(0.90, 0.1, spend=1.0, estimator=path, budget=1.0),
        point(0.80, 0.3, spend=2.0, estimator=path, budget=2.0),
        point(0.70, 0.3, spend=9.0, estimator=path, budget=9.0),
    ]
    assert Frontier(tuple(points)).choose(5.0) is points[1]
    other = point(0.85, 0.2, spend=1.5, estimator=path, budget=2.0, max_depth=2)
    assert Frontier((*points, other)).choose(5.0) is other
    votes = [point(p.score, p.loss, p.spend, estimator=AdaBoostBTClassifier(), **p.params) for p in points]
    assert Frontier(tuple(votes)).choose(5.0) is votes[0]


@pytest.mark.parametrize("hard", [True, False])
def test_budgets_are_kept(hard):
    points = (Point("a", {}, 1.0, 4.0, 0.8, 0.0, 0.3), Point("b", {}, 2.0, 2.0, 0.7, 0.0, 0.3))
    chosen = Frontier(points).choose(2.0, hard=hard)
    assert chosen is points[int(hard)]
    assert Frontier(points).choose(0.5, hard=hard) is None


def test_the_table_has_what_would_be_taken():
    frontier = Frontier((point(0.80, 0.4, n=1), point(0.795, 0.3, n=2)), full_cost=10.0)
    assert "n=2" in frontier.table([5.0])


def test_brier_against_its_definition():
    rng = np.random.default_rng(0)
    chances, y, weights = rng.dirichlet(np.ones(3), 20), rng.integers(0, 3, 20), rng.uniform(size=20)
    told = Evaluation(y, chances.argmax(axis=1), chances, np.zeros(20), np.arange(3), weights)
    naive = [sum((chances[i, k] - (y[i] == k)) ** 2 for k in range(3)) for i in range(20)]
    assert brier(told) == pytest.approx(np.average(naive, weights=weights))
    sure = Evaluation(y, chances.argmax(axis=1), None, np.zeros(20), np.arange(3))
    assert brier(sure) == pytest.approx(2 * np.mean(chances.argmax(axis=1) != y))
    # A class that the model has not seen: all that it said was wrong.
    unknown = Evaluation(np.array([3]), np.array([0]), np.array([[1.0, 0.0, 0.0]]), np.zeros(1), np.arange(3))
    assert brier(unknown) == 2.0
