"""LightGBM with its cost penalties, on the Greedy Miser's scale, and its trees as ours."""

from __future__ import annotations

from typing import Any, Literal

import lightgbm
import numpy as np
from numpy.typing import NDArray

from farthing.forests import from_model
from farthing.learning.losses import classification_loss
from farthing.trees import Forest, Predictor

Penalty = Literal["coupled", "lazy"]


def penalised_classifier(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    prices: NDArray[np.float64],
    *,
    penalty: Penalty,
    tradeoff: float,
    n_rounds: int,
    max_depth: int,
    learning_rate: float,
    l2_regularization: float,
    min_samples_leaf: int,
) -> Forest:
    """Fit and read the trees, one for each class and round, or one per round for two classes.

    Parameters
    ----------
    X : ndarray of float64, shape (n_rows, n_features)
        Numbers; NaN is missing.
    y : ndarray of int64, shape (n_rows,)
        Classes as numbers from 0, each with a row.
    prices : ndarray of float64, shape (n_features,)
        What each feature costs.
    penalty : {"coupled", "lazy"}
        Whether the first use of a feature pays for all rows, or each row pays for itself.
    tradeoff : float
        As that of `GreedyMiserClassifier` with ``relative=True``: a share of the loss before the first tree.
        LightGBM's gain is twice ours, and its lazy penalty a sum over rows where ours is their mean.
    n_rounds, max_depth, learning_rate, l2_regularization, min_samples_leaf
        As those of the miser.
    """
    n_classes = int(y.max()) + 1
    loss = classification_loss(n_classes)
    start = loss.start(y, np.ones(len(y)))
    first = float(loss.values(y, np.repeat(start[:, np.newaxis], len(y), axis=1)).sum())
    settings: dict[str, Any] = {
        "objective": "binary" if n_classes == 2 else "multiclass",
        "num_leaves": 2**max_depth,
        "max_depth": max_depth,
        "learning_rate": learning_rate,
        "lambda_l2": l2_regularization,
        "min_data_in_leaf": min_samples_leaf,
        "num_threads": 1,
        "verbosity": -1,
        "seed": 0,
        "feature_pre_filter": False,
        "cegb_tradeoff": tradeoff * 2 * first / (len(y) if penalty == "lazy" else 1),
        f"cegb_penalty_feature_{penalty}": prices.tolist(),
    }
    if n_classes > 2:
        settings["num_class"] = n_classes
    booster = lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), num_boost_round=n_rounds)
    forest: Forest = from_model(booster).forest_
    ours = Predictor(forest).predict(X[:200])[0]
    theirs = np.reshape(np.asarray(booster.predict(X[:200], raw_score=True)), ours.shape)
    if not np.allclose(ours, theirs, atol=1e-6):
        raise RuntimeError("LightGBM's trees were misread")
    return forest
