"""Forward selection: against trying every purchase at every step, and what it should buy."""

import numpy as np

from farthing.cascades.miser_cascade.forward_selection import (
    _LEAST_GAIN,
    _inner,
    _Trial,
    forward_order,
    purchases,
)
from farthing.costs import CostSheet, Group, RowLedger
from farthing.learning.losses import SQUARED
from farthing.learning.out_of_fold import Fold, OutOfFoldTrainer, Settings
from farthing.table import Bins, Schema

NONE = np.array([], dtype=np.int64)


def nursery_of(X, y, sheet):
    rows, held = np.arange(len(y)), np.arange(len(y)) % 3 == 0
    folds = [Fold(rows[~held], rows[held])]
    settings = Settings(8, None, 0.3, 3, None, 2, 1.0, 1)
    bins = Bins(X, Schema.learn(X))
    return OutOfFoldTrainer(
        bins, SQUARED, y, np.ones(len(y)), sheet=sheet, folds=folds, final=folds[0].learn, settings=settings
    )


def every_purchase_tried(nursery, free, most):
    trial, ledger, order = _Trial(_inner(nursery), free), RowLedger(nursery.sheet), free.tolist()
    ledger.buy_all(order)
    least = _LEAST_GAIN * trial.loss
    for _ in range(most):
        worths = {}
        for columns in purchases(nursery.sheet):
            left = tuple(column for column in columns if not ledger.owned[column])
            if left and (gain := trial.gain(left)) > least:
                worths[left] = gain / ledger.price_all(left)
        if not worths:
            break
        best = max(worths, key=lambda left: worths[left])
        trial.own(best)
        ledger.buy_all(best)
        order += best
    return order


def test_a_sum_of_effects_is_bought_as_if_all_were_tried():
    # What a column wins does not depend on the others much, so the order of the queue is the true one.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = X @ np.array([4.0, 3.0, 2.0, 1.0, 0.0, 0.0])
    nursery = nursery_of(X, y, CostSheet([8.0, 1.0, 1.5, 1.0, 1.0, 1.0]))
    order = forward_order(nursery, NONE, 3)
    assert order.tolist() == every_purchase_tried(nursery, NONE, 3)
    assert order[0] == 1  # column 0 tells more, but costs eight times as much


def test_free_columns_come_first_and_noise_is_left_out():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 4))
    nursery = nursery_of(X, np.sign(X[:, 2]) + X[:, 0], CostSheet([0.0, 1.0, 1.0, 1.0]))
    assert forward_order(nursery, np.array([0]), 9).tolist() == [0, 2]


def test_a_group_is_bought_whole_where_its_shared_price_is_too_much_for_one():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 4))
    y = X[:, 0] + X[:, 1] + X[:, 2] + 0.5 * X[:, 3]
    panel = Group(6.0, ["x0", "x1", "x2"])
    together = forward_order(nursery_of(X, y, CostSheet([0.1] * 3 + [5.0], groups={"panel": panel})), NONE, 1)
    assert together.tolist() == [0, 1, 2]
    apart = forward_order(nursery_of(X, y, CostSheet([6.0] * 3 + [0.5])), NONE, 1)
    assert apart.tolist() == [3]


def test_it_makes_no_more_purchases_than_it_may():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    nursery = nursery_of(X, X.sum(axis=1), CostSheet([1.0] * 5))
    assert len(forward_order(nursery, NONE, 2)) == 2
    assert not len(forward_order(nursery, NONE, 0))


def test_the_rows_that_set_the_exits_do_not_choose_the_features():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(600, 5)), rng.normal(size=600)
    nursery = nursery_of(X, y + X[:, 1], CostSheet([1.0] * 5))
    changed = (y + X[:, 1]).copy()
    changed[nursery.held] = 100 * X[nursery.held, 3]
    other = nursery_of(X, changed, nursery.sheet)
    assert forward_order(nursery, NONE, 3).tolist() == forward_order(other, NONE, 3).tolist()
