"""The ensemble that a vote is taken of: fitted for the table at hand, or checked that it was."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from farthing.base import BudgetedEstimator, ContractClassifier
from farthing.learning.voting.adapters import votes_of
from farthing.learning.voting.votes import LinearVotes, TreeVotes
from farthing.table import Schema


def learn_votes(
    given: Any,
    host: ContractClassifier,
    values: NDArray[np.floating],
    target: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> TreeVotes | LinearVotes:
    """Return the votes of an ensemble, a clone of which is fitted first if it is not fitted.

    Parameters
    ----------
    given : classifier, TreeVotes or LinearVotes
        The ensemble.
    host : ContractClassifier
        The model that takes the votes, in its fit: it has its columns, prices and classes.
    values, target, weights
        What the host is fitted on.
    """
    if isinstance(given, FrozenEstimator):
        given = given.estimator
    if isinstance(given, TreeVotes | LinearVotes) or _is_fitted(given):
        _check(given, host)
    elif isinstance(given, BudgetedEstimator):
        given = clone(given)
        given.classes_ = host.classes_
        given._fit_encoded(host.schema_, host.costs_, values, target, weights)
    else:
        _refuse_categories(given, host.schema_)
        # Equal weights change nothing, but may make a forest draw other rows.
        weighs = (weights != weights[0]).any() and has_fit_parameter(given, "sample_weight")
        options = {"sample_weight": weights} if weighs else {}
        given = clone(given).fit(values, host.classes_[target], **options)
    return votes_of(given, values)


def _check(given: Any, host: ContractClassifier) -> None:
    """Check that a fitted ensemble knows the columns and the classes of the host."""
    name, names = type(given).__name__, list(host.schema_.names)
    if isinstance(given, TreeVotes | LinearVotes):
        n_features, classes = given.n_features, host.classes_
    else:
        n_features, classes = given.n_features_in_, getattr(given, "classes_", host.classes_)
    if isinstance(given, BudgetedEstimator):
        if given.schema_ != host.schema_:
            raise ValueError(
                f"the {name} was fitted on the columns {list(given.schema_.names)}, or on other categories; "
                f"this table has {names}"
            )
    elif not isinstance(given, TreeVotes | LinearVotes):
        _refuse_categories(given, host.schema_)
        known = getattr(given, "feature_names_in_", names)
        if list(known) != names:
            raise ValueError(f"the {name} was fitted on the columns {list(known)}; this table has {names}")
    if n_features != len(names):
        raise ValueError(f"the {name} knows {n_features} features, the table has {len(names)}")
    if not np.array_equal(classes, host.classes_):
        raise ValueError(f"the {name} knows the classes {list(classes)}; y has {list(host.classes_)}")


def _refuse_categories(given: Any, schema: Schema) -> None:
    for column in schema.columns:
        if column.is_categorical:
            raise ValueError(
                f"column {column.name!r} is of categories, which a {type(given).__name__} cannot read; "
                "encode it as numbers, or take an estimator of farthing"
            )


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
