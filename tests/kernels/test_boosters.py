"""Boosting in the compiled core against its definition in Python: the same bits."""

import time
from dataclasses import replace

import numpy as np
import pytest

from farthing._core import logistic_losses
from farthing.base import TrainingSet
from farthing.costs import CostSheet
from farthing.deadline import DeadlineReached, deadline
from farthing.learning.booster import TreeSettings
from farthing.learning.fold_boosters import CompiledBoosters, FoldBoosters, PythonBoosters
from farthing.learning.folds import Fold, folds_of
from farthing.learning.losses import LOGISTIC, SQUARED, logistic_steps, softmax_loss
from farthing.learning.out_of_fold import Holdings, OutOfFoldTrainer
from farthing.table import PreparedTable
from farthing.trees import Predictor

N_ROWS = 90
TREES = {"n_estimators": 12, "learning_rate": 0.3, "l2_regularization": 1.0}
SETS = [np.array([], dtype=np.int64), np.array([1]), np.array([0, 2]), np.arange(5)]


def make_trainer(loss, weighted, seed=0, **changes):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(N_ROWS, 5)), 1).astype(object)
    X[:, 3] = rng.choice(list("abcde"), N_ROWS)
    X[rng.random(N_ROWS) < 0.2, 1] = np.nan
    signal = X[:, 0].astype(float) + (X[:, 3] == "b") + np.nan_to_num(X[:, 1].astype(float))
    noisy = signal + rng.normal(size=N_ROWS) / 2
    target = noisy if loss is SQUARED else np.digitize(noisy, [0.5] if loss is LOGISTIC else [0.0, 1.0])
    weights = rng.integers(1, 4, N_ROWS).astype(float) if weighted else np.full(N_ROWS, 2.0)
    costs = CostSheet([1.0, 2.0, 3.0, 1.0, 2.0], groups={"pair": (1.0, ["x0", "x4"])})
    rows = TrainingSet(PreparedTable.of(X), target, weights, costs, None if loss is SQUARED else np.arange(3))
    trainer = OutOfFoldTrainer(
        rows,
        loss,
        folds=folds_of(rows.values, rows.target, 3, np.random.RandomState(0)),
        final=np.arange(N_ROWS),
        settings=TreeSettings(max_depth=3, **TREES),
        n_iter_no_change=3,
    )
    made = replace(trainer, **changes)
    return replace(made, settings=replace(made.settings, multi_output=loss is MULTI_OUTPUT))


def assert_same(trainer, compiled, twin):
    assert compiled.n_rounds == twin.n_rounds
    assert np.array_equal(compiled.held_out[:, trainer.held_out], twin.held_out[:, trainer.held_out])
    for name, array in twin.forest.arrays().items():
        assert np.array_equal(array, getattr(compiled.forest, name)), name


# The same loss once more, for trees with a value for each class.
MULTI_OUTPUT = replace(softmax_loss(3))
LOSSES = pytest.mark.parametrize(
    "loss",
    [SQUARED, LOGISTIC, softmax_loss(3), MULTI_OUTPUT],
    ids=["squared", "logistic", "softmax", "softmax, one tree for all"],
)


@LOSSES
@pytest.mark.parametrize("weighted", [False, True])
def test_boosters_have_the_bits_of_their_definition(loss, weighted):
    trainer = make_trainer(loss, weighted)
    found = trainer.boosters(SETS)
    assert found[0].n_rounds == 0 < found[-1].n_rounds
    for columns, booster in zip(SETS, found, strict=True):
        assert_same(trainer, booster, trainer.booster_by_definition(columns))


@LOSSES
@pytest.mark.parametrize(
    "changes",
    [
        {"n_iter_no_change": None},
        {"n_iter_no_change": 1},
        {"settings": TreeSettings(max_leaf_nodes=4, min_samples_leaf=5, **TREES)},
        {"settings": TreeSettings(max_depth=1, newton=False, **TREES)},
        # So many rows in a leaf that some folds run out of splits before others do.
        {"settings": TreeSettings(max_depth=1, min_samples_leaf=22, **TREES), "n_iter_no_change": None},
        {"folds": [Fold(np.arange(60), np.arange(60, N_ROWS))], "final": np.arange(60)},
        {"folds": [Fold(np.arange(60), np.arange(60, N_ROWS))]},
        {"ensemble": True},
        {"settings": TreeSettings(max_depth=1, min_samples_leaf=22, **TREES), "ensemble": True},
    ],
    ids=[
        *("all rounds", "impatient", "leaves", "gradients", "run out", "one fold is final", "one fold"),
        *("mean of folds", "mean of folds, one runs out"),
    ],
)
def test_the_same_with_other_settings(loss, changes):
    trainer = make_trainer(loss, weighted=False, seed=1, **changes)
    assert_same(trainer, trainer.booster(np.arange(5)), trainer.booster_by_definition(np.arange(5)))


@LOSSES
def test_the_mean_of_folds_scores_rows_by_the_mean_of_their_boosters(loss):
    trainer = make_trainer(loss, weighted=True, ensemble=True, n_iter_no_change=None)
    columns = np.arange(5)
    mean = trainer.booster(columns)
    alone = [
        replace(trainer, final=fold.learn).final_forest(columns, mean.n_rounds) for fold in trainer.folds
    ]
    values = trainer.rows.values

    def scores(forest):
        return Predictor(forest).predict(values)[0]

    expected = np.mean([scores(forest) for forest in alone], axis=0)
    assert np.allclose(scores(mean.forest), expected, rtol=1e-12, atol=1e-12)


@LOSSES
def test_threads_do_not_change_bits(loss):
    one = make_trainer(loss, weighted=True)
    for n_threads in (2, 7):
        several = replace(one, settings=replace(one.settings, n_threads=n_threads))
        for alone, together in zip(one.boosters(SETS), several.boosters(SETS), strict=True):
            assert_same(one, together, alone)


@LOSSES
@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_trials_and_steps_have_the_bits_of_the_twin(loss, weighted):
    trainer = make_trainer(loss, weighted)
    compiled, twin = CompiledBoosters(trainer), PythonBoosters(trainer)
    for columns, n_rounds, must_split in ([SETS[2], 2, True], [SETS[0], 2, True], [SETS[3], 3, False]):
        before = compiled.loss()
        assert compiled.losses_after(SETS, 2) == twin.losses_after(SETS, 2)
        assert compiled.loss() == before == twin.loss()  # the trials are undone
        for boosters in (compiled, twin):
            boosters.boost(columns, n_rounds, must_split=must_split)
        for fold in range(len(trainer.folds)):
            assert np.array_equal(compiled.scores(fold), twin.scores(fold))
        assert np.array_equal(compiled.steps(), twin.steps())


@LOSSES
@pytest.mark.parametrize("cap", [None, 3.0])
def test_purchases_have_the_bits_of_the_twin(loss, cap):
    trainer = make_trainer(loss, weighted=True)
    trainer = replace(trainer, folds=[Fold(trainer.final, trainer.final[:0])])
    found = []
    for boosters in (CompiledBoosters(trainer), PythonBoosters(trainer)):
        holdings = Holdings(np.zeros(5, dtype=np.uint8), cap, np.array([0, 1, 3, 4]))
        steps = []
        for tradeoff in 100.0 * 0.5 ** np.arange(12):
            before = boosters.scores(0).copy()
            bought = boosters.buy(float(tradeoff), holdings)
            assert bought == (not np.array_equal(boosters.scores(0), before))
            steps.append((bought, holdings.owned.tolist()))
        found.append((steps, boosters.scores(0).copy()))
    assert found[0][0] == found[1][0]
    assert {bought for bought, _ in found[0][0]} == {False, True}
    assert np.array_equal(found[0][1], found[1][1])


@LOSSES
@pytest.mark.parametrize("cap", [None, 3.0])
def test_falling_tradeoffs_have_the_bits_of_the_twin(loss, cap):
    trainer = make_trainer(loss, weighted=True)
    trainer = replace(trainer, folds=[Fold(trainer.final, trainer.final[:0])])
    found = []
    for boosters in (CompiledBoosters(trainer), PythonBoosters(trainer)):
        holdings = Holdings(np.zeros(5, dtype=np.uint8), cap, np.array([0, 1, 3, 4]))
        tradeoff, steps = 1000.0, []
        while tradeoff >= 0.05:
            tradeoff = boosters.buy_falling(tradeoff, holdings, least=0.05, fall=0.7)
            steps.append((tradeoff, holdings.owned.tolist()))
        found.append((steps, boosters.scores(0).copy()))
    assert found[0][0] == found[1][0]
    assert len(found[0][0]) > 1
    assert np.array_equal(found[0][1], found[1][1])


def test_falling_tradeoffs_end_with_the_time():
    trainer = make_trainer(LOGISTIC, weighted=False)
    boosters = CompiledBoosters(replace(trainer, folds=[Fold(trainer.final, trainer.final[:0])]))
    nothing = Holdings(np.zeros(5, dtype=np.uint8), 0.0, np.arange(5))  # a budget that buys nothing
    with deadline(time.time() + 0.01), pytest.raises(DeadlineReached):
        boosters.buy_falling(1e300, nothing, least=1e-300, fall=1 - 1e-9)


def test_a_loss_that_the_core_does_not_know_is_boosted_in_python():
    known = make_trainer(LOGISTIC, weighted=False)
    own = replace(known, loss=replace(LOGISTIC, core=None))
    assert own.core is None
    assert isinstance(FoldBoosters.of(own), PythonBoosters)
    assert isinstance(FoldBoosters.of(known), CompiledBoosters)
    for of_own, of_known in zip(own.boosters(SETS), known.boosters(SETS), strict=True):
        assert_same(known, of_known, of_own)
    columns = np.arange(5)
    assert np.array_equal(own.final_forest(columns, 4).value, known.final_forest(columns, 4).value)


def test_trees_with_a_value_for_each_class_search_by_the_largest_gradients():
    # More classes than splits are searched by.
    rng = np.random.default_rng(0)
    X, classes = rng.normal(size=(400, 4)), 40
    target = np.concatenate(
        [np.arange(classes), np.digitize(X[classes:, 0], np.linspace(-1.5, 1.5, classes - 1))]
    )
    rows = TrainingSet(PreparedTable.of(X), target, np.ones(400), CostSheet(np.ones(4)), np.arange(classes))
    settings = TreeSettings(max_depth=3, multi_output=True, **TREES)
    folds = [Fold(np.arange(300), np.arange(300, 400))]
    trainer = OutOfFoldTrainer(
        rows, softmax_loss(classes), folds=folds, final=np.arange(400), settings=settings
    )
    booster = trainer.booster(np.arange(4))
    assert booster.forest.value.shape[1] == classes
    assert_same(trainer, booster, trainer.booster_by_definition(np.arange(4)))


def test_the_time_limit_ends_growing():
    trainer = make_trainer(SQUARED, weighted=False)
    with deadline(time.time() - 1), pytest.raises(DeadlineReached):
        trainer.boosters(SETS)


def test_the_logistic_loss_and_its_steps():
    scores = np.array([-800.0, -3.0, 0.0, 2.0, 800.0])
    for y in (0.0, 1.0):
        truth = np.full(5, y)
        signed = np.where(truth == 1, -scores, scores)
        np.testing.assert_allclose(logistic_losses(truth, scores), np.logaddexp(0, signed), rtol=1e-14)
        (gradients,), (hessians,) = logistic_steps(truth, scores[np.newaxis])
        p = 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        np.testing.assert_allclose(gradients, y - p, atol=1e-15)
        np.testing.assert_allclose(hessians, np.maximum(p * (1 - p), abs(y - p) / 10), atol=1e-15)
