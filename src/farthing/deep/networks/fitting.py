"""From rows to a fitted model: what `_learn` of both methods does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Final, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from farthing.base import TrainingSet
from farthing.deep.networks.model import GreedyNetworksModel
from farthing.deep.networks.settings import TrainingSettings, require_torch
from farthing.learning.losses import classification_loss
from farthing.learning.merged_rows import merged_rows

Model = TypeVar("Model", bound=GreedyNetworksModel)

# Larger weights are not meant as numbers of rows.
_MOST_COPIES: Final = 1 << 20


def learn(
    estimator: Any,
    model_type: type[Model],
    rows: TrainingSet,
    make_training: Callable[[TrainingSet, TrainingSettings], Any],
) -> Model:
    """Train networks with the parameters of an estimator.

    Parameters
    ----------
    estimator : GreedySelectionClassifier or InformationGainClassifier
        Its parameters are checked.
    model_type : type
        What to return.
    rows : TrainingSet
        The rows.
    make_training : callable
        Returns the `Training` of rows and settings; only here is PyTorch imported.
    """
    hidden = hidden_widths(estimator.hidden_units)
    require_torch()
    seed = int(check_random_state(estimator.random_state).randint(2**31))
    rows = copied_rows(merged_rows(rows))
    tradeoff = None if estimator.tradeoff is None else float(estimator.tradeoff)
    settings = TrainingSettings(
        hidden_units=hidden,
        dropout=float(estimator.dropout),
        max_questions=int(estimator.max_questions),
        n_epochs=int(estimator.n_epochs),
        batch_size=int(estimator.batch_size),
        learning_rate=float(estimator.learning_rate),
        validation_fraction=float(estimator.validation_fraction),
        n_iter_no_change=int(estimator.n_iter_no_change),
        is_blind=tradeoff == 0,
        budget=estimator.hard_cap(),
        seed=seed,
    )
    training = make_training(rows, settings)
    predictor, selector = training.train()
    prior = classification_loss(rows.n_classes).start(rows.target, rows.weights)
    return model_type(
        **rows.header(prior, estimator.hard_cap()),
        predictor=predictor,
        selector=selector,
        mean=training.column_inputs.mean,
        scale=training.column_inputs.scale,
        units=training.units,
        tradeoff=tradeoff,
    )


def copied_rows(rows: TrainingSet) -> TrainingSet:
    """Return merged rows as copies of weight 1, if their weights are whole numbers.

    A row of weight 2 and a row given twice are then the same input, and equal rows are still drawn, and held
    out, one by one.

    Examples
    --------
    >>> import numpy as np
    >>> rows = TrainingSet.of([[1.0], [2.0]], np.array([0, 1]), weights=np.array([1.0, 2.0]))
    >>> copied_rows(rows).values.ravel(), copied_rows(rows).weights
    (array([1., 2., 2.]), array([1., 1., 1.]))
    """
    whole = np.rint(rows.weights)
    if (whole != rows.weights).any() or whole.sum() > _MOST_COPIES:
        return rows
    copies = rows.take(np.repeat(np.arange(len(rows)), whole.astype(np.int64)))
    return replace(copies, weights=np.ones(len(copies)))


def hidden_widths(given: Any) -> tuple[int, ...]:
    """Return the widths of hidden layers; raise ValueError unless there is one and all are at least 1.

    Examples
    --------
    >>> hidden_widths([32, 16])
    (32, 16)
    """
    widths = tuple(given)
    if not widths or not all(isinstance(width, Integral) and int(width) >= 1 for width in widths):
        raise ValueError(f"hidden_units must be one or more whole numbers of at least 1; got {given!r}")
    return tuple(int(width) for width in widths)
