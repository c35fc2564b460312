"""Values of rows by models that other rows chose: no gain from having many variants."""

import numpy as np

from farthing.frontier.row_values import RowValues, Standing, cross_fitted


def noisy_folds(rng, n_models, n_rows=40, n_folds=5):
    folds = []
    for fold in range(n_folds):
        losses = rng.uniform(size=(n_models, n_rows)).astype(np.float32)
        rows = fold * n_rows + np.arange(n_rows)
        folds.append(RowValues(-losses, losses, np.zeros_like(losses), np.ones(n_rows), rows))
    return folds


def test_the_best_of_many_equal_models_is_no_better_than_each():
    found, best = [], []
    for seed in range(40):
        folds = noisy_folds(np.random.default_rng(seed), n_models=100)
        found.append(cross_fitted(folds).losses.mean())
        best.append(np.concatenate([fold.losses for fold in folds], axis=1).mean(axis=1).min())
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - 0.5) < 4 * error
    assert np.mean(best) < 0.5 - 10 * error  # what the rows that choose would have promised


def test_one_model_is_itself():
    folds = noisy_folds(np.random.default_rng(0), n_models=1)
    made, plain = cross_fitted(folds), Standing.of([(fold, 0) for fold in folds])
    for name in ("scores", "losses", "weights", "rows"):
        assert np.array_equal(getattr(made, name), getattr(plain, name))


def test_a_model_that_is_truly_better_is_taken_for_every_row():
    rng = np.random.default_rng(1)
    folds = noisy_folds(rng, n_models=3)
    for fold in folds:
        fold.losses[1] -= 1
        fold.scores[1] += 1
    assert np.array_equal(cross_fitted(folds).losses, np.concatenate([fold.losses[1] for fold in folds]))


def test_a_single_row_has_a_model():
    losses = np.array([[0.5], [0.2]], dtype=np.float32)
    values = RowValues(-losses, losses, np.zeros((2, 1)), np.ones(1), np.arange(1))
    assert len(cross_fitted([values]).losses) == 1
