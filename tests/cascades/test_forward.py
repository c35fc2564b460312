"""Forward selection: against trying every purchase at every step, and what it should buy."""

import numpy as np

from farthing.base import TrainingSet
from farthing.cascades.miser_cascade.forward_selection import (
    LEAST_GAIN,
    PurchaseTrial,
    forward_order,
    inner_trainer,
    purchases,
)
from farthing.costs import CostSheet, Group, RowLedger
from farthing.learning.booster import TreeSettings
from farthing.learning.folds import Fold
from farthing.learning.losses import SQUARED
from farthing.learning.out_of_fold import OutOfFoldTrainer

NONE = np.array([], dtype=np.int64)


def trainer_of(X, y, sheet):
    numbers, held_out = np.arange(len(y)), np.arange(len(y)) % 3 == 0
    folds = [Fold(numbers[~held_out], numbers[held_out])]
    settings = TreeSettings(
        n_estimators=8, learning_rate=0.3, max_depth=3, min_samples_leaf=2, l2_regularization=1.0
    )
    rows = TrainingSet.of(X, y, costs=sheet)
    return OutOfFoldTrainer(rows, SQUARED, folds=folds, final=folds[0].learn, settings=settings)


def every_purchase_tried(trainer, free, most):
    trial, ledger, order = (
        PurchaseTrial(inner_trainer(trainer), free),
        RowLedger(trainer.costs),
        free.tolist(),
    )
    ledger.buy_all(order)
    least = LEAST_GAIN * trial.loss
    for _ in range(most):
        worths = {}
        for columns in purchases(trainer.costs):
            left = tuple(column for column in columns if not ledger.owned[column])
            if left and (gain := trial.gains([left])[0]) > least:
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
    trainer = trainer_of(X, y, CostSheet([8.0, 1.0, 1.5, 1.0, 1.0, 1.0]))
    order = forward_order(trainer, NONE, 3)
    assert order.tolist() == every_purchase_tried(trainer, NONE, 3)
    assert order[0] == 1  # column 0 tells more, but costs eight times as much


def test_free_columns_come_first_and_noise_is_left_out():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 4))
    trainer = trainer_of(X, np.sign(X[:, 2]) + X[:, 0], CostSheet([0.0, 1.0, 1.0, 1.0]))
    assert forward_order(trainer, np.array([0]), 9).tolist() == [0, 2]


def test_a_group_is_bought_whole_where_its_shared_price_is_too_much_for_one():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 4))
    y = X[:, 0] + X[:, 1] + X[:, 2] + 0.5 * X[:, 3]
    panel = Group(6.0, ["x0", "x1", "x2"])
    together = forward_order(trainer_of(X, y, CostSheet([0.1] * 3 + [5.0], groups={"panel": panel})), NONE, 1)
    assert together.tolist() == [0, 1, 2]
    apart = forward_order(trainer_of(X, y, CostSheet([6.0] * 3 + [0.5])), NONE, 1)
    assert apart.tolist() == [3]


def test_it_makes_no_more_purchases_than_it_may():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    trainer = trainer_of(X, X.sum(axis=1), CostSheet([1.0] * 5))
    assert len(forward_order(trainer, NONE, 2)) == 2
    assert not len(forward_order(trainer, NONE, 0))


def test_the_rows_that_set_the_exits_do_not_choose_the_features():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(600, 5)), rng.normal(size=600)
    trainer = trainer_of(X, y + X[:, 1], CostSheet([1.0] * 5))
    changed = (y + X[:, 1]).copy()
    changed[trainer.held_out] = 100 * X[trainer.held_out, 3]
    other = trainer_of(X, changed, trainer.costs)
    assert forward_order(trainer, NONE, 3).tolist() == forward_order(other, NONE, 3).tolist()
