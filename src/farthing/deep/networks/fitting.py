"""From rows to a fitted model: what `_learn` of both methods does."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeVar

from sklearn.utils import check_random_state

from farthing.base import TrainingSet
from farthing.deep.networks.model import GreedyNetworksModel
from farthing.deep.networks.settings import TrainingSettings, require_torch
from farthing.learning.losses import classification_loss
from farthing.learning.merged_rows import merged_rows

Model = TypeVar("Model", bound=GreedyNetworksModel)


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
    # A row of weight 2 and a row given twice are then the same input.
    rows = merged_rows(rows)
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
