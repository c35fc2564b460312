"""What a method pays for 99 % of the best."""

import numpy as np
import pytest
from experiments.lib.ranking_methods import MISER, PLAIN, Model
from experiments.papers.xu2012 import Reached, areas


def model(score, spend, *, best=True):
    spend = float(spend)
    return Model(spend, score, spend, 10 * spend, np.array([score, score + 0.1]), best)


METHODS = {
    MISER: [model(0.50, 1), model(0.899, 5), model(0.9, 20)],
    PLAIN: [model(0.895, 40, best=False), model(0.9, 50)],
}
ALL = np.arange(2)


def test_circles_and_any_round():
    circles, rounds = Reached(METHODS), Reached(METHODS, every_round=True)
    assert circles.costs(ALL, lambda m: m.spend) == {MISER: 5, PLAIN: 50}
    assert rounds.costs(ALL, lambda m: m.spend) == {MISER: 5, PLAIN: 40}
    assert circles.share(MISER, ALL, lambda m: m.model_cost) == pytest.approx(0.1)
    assert rounds.share(MISER, ALL, lambda m: m.spend) == pytest.approx(0.125)


def test_a_plain_booster_that_does_not_get_there_counts_with_its_dearest_model():
    methods = {MISER: [model(0.9, 10)], PLAIN: [model(0.6, 30), model(0.7, 40)]}
    reached = Reached(methods)
    assert reached.costs(ALL, lambda m: m.spend)[PLAIN] == np.inf
    assert reached.share(MISER, ALL, lambda m: m.spend) == 0.25


def test_the_area_is_that_of_what_validation_chooses():
    area = areas(METHODS, np.array([0.5, 5.0, 60.0]), np.array([0.2, 0.2]))
    assert area[MISER] == pytest.approx(np.mean([[0.2, 0.2], [0.899, 0.999], [0.9, 1.0]], axis=0))
    assert area[PLAIN] == pytest.approx(np.mean([[0.2, 0.2], [0.2, 0.2], [0.9, 1.0]], axis=0))
