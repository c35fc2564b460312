"""Fits of scikit-learn models on some columns of a table, and their scores of rows they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from farthing.base import TrainingSet
from farthing.learning.folds import Fold
from farthing.learning.sklearn_model import SklearnModel
from farthing.learning.spread_classes import spread_classes
from farthing.typing import Floats


def check_sklearn(name: str, model: Any, *, otherwise: str) -> None:
    """Raise TypeError unless a parameter is a classifier that gives scores.

    Parameters
    ----------
    name : str
        The parameter.
    model : object
        What was given.
    otherwise : str
        What else the parameter may be, for the message.

    Examples
    --------
    >>> check_sklearn("expensive", 3, otherwise="None")
    Traceback (most recent call last):
    ...
    TypeError: expensive must be a classifier with predict_proba or decision_function, or None; got int
    """
    can = any(hasattr(model, call) for call in ("predict_proba", "decision_function"))
    if isinstance(model, type) or not can or not is_classifier(model):
        raise TypeError(
            f"{name} must be a classifier with predict_proba or decision_function, or {otherwise}; got "
            f"{model.__name__ if isinstance(model, type) else type(model).__name__}"
        )


def fit_sklearn(model: Any, rows: TrainingSet, columns: NDArray[np.int64]) -> SklearnModel:
    """Fit a copy of a scikit-learn classifier or regressor on some columns.

    Parameters
    ----------
    model : estimator
        Unfitted, or to be fitted again.
    rows : TrainingSet
        The rows. A classifier learns their labels, a regressor their target as it is.
    columns : ndarray of int64, shape (n_columns,)
        The columns that it reads, in its order; missing values are filled in as at prediction.

    Returns
    -------
    SklearnModel
    """
    learner = clone(model)
    # Wrapped before the fit as well, so that missing values are filled in the same way then and later.
    X = SklearnModel.wrap(learner, columns, rows.values).inputs(rows.values)
    options = {}
    if not (rows.weights == rows.weights[0]).all():
        if not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(f"{type(learner).__name__} takes no sample_weight; leave the weights out")
        options["sample_weight"] = rows.weights
    target = rows.target
    if not is_regressor(learner):
        assert rows.classes is not None
        target = rows.classes[rows.target]
        if (target == target[0]).all():
            name = type(learner).__name__
            raise ValueError(f"{name} needs rows of two classes; got one class, {target[0]!r}")
    learner.fit(X, target, **options)
    return SklearnModel.wrap(learner, columns, rows.values)


def held_out_scores(
    model: Any,
    rows: TrainingSet,
    columns: NDArray[np.int64],
    values: NDArray[np.floating],
    n_scores: int,
) -> Floats:
    """Return the scores of rows by a copy of a classifier that is fitted on others.

    Parameters
    ----------
    model, rows, columns
        As in `fit_sklearn`.
    values : ndarray, shape (n_held_out, n_features)
        The rows to predict, an encoded table.
    n_scores : int
        Scores of the model that is fitted on all rows; here some class may have no row.

    Returns
    -------
    ndarray of float64, shape (n_held_out, n_scores)
        Probabilities, or decisions if there are none.
    """
    if (rows.target == rows.target[0]).all():
        # scikit-learn cannot fit rows of one class; a model of them would be certain of that class.
        code = int(rows.target[0])
        certain = np.zeros((len(values), n_scores))
        certain[:, code if n_scores > 1 else 0] = 1.0 if n_scores > 1 or code else -1.0
        return certain
    fitted = fit_sklearn(model, rows, columns)
    scores = fitted.scores_at_once(values)
    if scores.shape[1] == n_scores:
        return scores
    if not hasattr(fitted.model, "predict_proba"):
        raise ValueError(f"a class has too few rows for folds; {type(model).__name__} needs n_folds=None")
    assert rows.classes is not None
    return spread_classes(scores, fitted.classes, rows.classes)


def out_of_fold_classifier(
    model: Any, rows: TrainingSet, columns: NDArray[np.int64], folds: Sequence[Fold]
) -> tuple[SklearnModel, Floats]:
    """Fit a classifier on all rows, and predict each row by copies that have not seen it.

    Parameters
    ----------
    model, rows, columns
        As in `fit_sklearn`.
    folds : sequence of Fold
        Every row is held out once. A single fold that learns from all rows means no folds: the fitted model
        predicts the rows that it was fitted on.

    Returns
    -------
    fitted : SklearnModel
        Calibrated on the held-out rows, if it gives no probabilities itself.
    probabilities : ndarray of float64, shape (n_rows, n_classes)
    """
    assert rows.classes is not None
    fitted = fit_sklearn(model, rows, columns)
    if len(folds[0].learn) == len(rows):
        scores = fitted.scores_at_once(rows.values)
    else:
        n_scores = fitted.scores_at_once(rows.values[:1]).shape[1]
        # A class without any row is no class of the fitted model.
        seen, codes = np.unique(rows.target, return_inverse=True)
        known = replace(rows, classes=rows.classes[seen], target=codes.ravel().astype(np.int64))
        scores = np.zeros((len(rows), n_scores))
        for fold in folds:
            scores[fold.held_out] = held_out_scores(
                model, known.take(fold.learn), columns, rows.values[fold.held_out], n_scores
            )
    codes = np.searchsorted(fitted.classes, rows.classes[rows.target])
    fitted = fitted.calibrated(scores, codes, rows.weights)
    return fitted, spread_classes(fitted.to_probabilities(scores), fitted.classes, rows.classes)
