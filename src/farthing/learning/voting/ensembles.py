"""The ensemble behind a vote: fitted on the training rows, or checked against them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from farthing.base import BudgetedEstimator, TrainingSet
from farthing.learning.voting.adapters import votes_of
from farthing.learning.voting.votes import LinearVotes, TreeVotes
from farthing.table import Schema


def learn_votes(given: Any, rows: TrainingSet) -> TreeVotes | LinearVotes:
    """Return the votes of an ensemble, a clone of which is fitted first if it is not fitted.

    Parameters
    ----------
    given : classifier, TreeVotes or LinearVotes
        The ensemble; a ``FrozenEstimator`` is unwrapped.
    rows : TrainingSet
        The training rows. A fitted ensemble must have the same columns and classes.

    Returns
    -------
    TreeVotes or LinearVotes
    """
    if rows.classes is None:
        raise TypeError("a vote is for a class; the rows of a regression have none")
    if isinstance(given, FrozenEstimator):
        given = given.estimator
    if isinstance(given, TreeVotes | LinearVotes) or _is_fitted(given):
        _check(given, rows.schema, rows.classes)
    elif isinstance(given, BudgetedEstimator):
        given = clone(given).fit_rows(rows)
    else:
        _refuse_categories(given, rows.schema)
        # Equal weights are not passed: they mean nothing, but a forest may sample other rows if it gets any.
        weighted = (rows.weights != rows.weights[0]).any() and has_fit_parameter(given, "sample_weight")
        options = {"sample_weight": rows.weights} if weighted else {}
        given = clone(given).fit(rows.values, rows.classes[rows.target], **options)
    votes = votes_of(given, rows.values)
    n_outputs = 1 if len(rows.classes) <= 2 else len(rows.classes)
    if votes.n_outputs != n_outputs:
        raise ValueError(
            f"y has {len(rows.classes)} classes, on which learners have {n_outputs} votes; "
            f"those of the {type(given).__name__} have {votes.n_outputs}"
        )
    return votes


def _check(given: Any, schema: Schema, classes: NDArray[Any]) -> None:
    """Check that a fitted ensemble has these columns and classes."""
    name, names = type(given).__name__, list(schema.names)
    if isinstance(given, TreeVotes | LinearVotes):
        n_features, known_classes = given.n_features, classes
    else:
        n_features, known_classes = given.n_features_in_, getattr(given, "classes_", classes)
    if isinstance(given, BudgetedEstimator):
        known = given.fitted_.schema
        if known != schema:
            raise ValueError(
                f"the {name} was fitted on the columns {list(known.names)}, or on other categories; "
                f"this table has {names}"
            )
    elif not isinstance(given, TreeVotes | LinearVotes):
        _refuse_categories(given, schema)
        known_names = list(getattr(given, "feature_names_in_", names))
        if known_names != names:
            raise ValueError(f"the {name} was fitted on the columns {known_names}; this table has {names}")
    if n_features != len(names):
        raise ValueError(f"the {name} knows {n_features} features, the table has {len(names)}")
    if not np.array_equal(known_classes, classes):
        raise ValueError(f"the {name} knows the classes {list(known_classes)}; y has {list(classes)}")


def _refuse_categories(given: Any, schema: Schema) -> None:
    for column in schema.columns:
        if column.is_categorical:
            raise ValueError(
                f"column {column.name!r} holds categories, which a {type(given).__name__} cannot read; "
                "encode it as numbers, or use an estimator of farthing"
            )


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
