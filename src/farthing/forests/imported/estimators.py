"""Estimators that train a tree model of another library and import its trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from farthing.base import BudgetedEstimator, ContractClassifier, ContractRegressor, TrainingSet, register
from farthing.costs import CostsLike
from farthing.errors import ModelImportError
from farthing.forests.imported.models import (
    ImportedClassifierModel,
    ImportedRegressorModel,
    fields_of,
    inverse_link,
)
from farthing.forests.imported.probes import check_same
from farthing.forests.imported.reading import read
from farthing.forests.imported.source import Source
from farthing.trees import Imported

# Probabilities of zero are raised to this before a logarithm.
_TINY = np.finfo(np.float64).tiny


class ImportedMixin(BudgetedEstimator):
    """What imported classifiers and regressors share."""

    model: Any

    def file_params(self) -> dict[str, Any]:
        """Return the parameters to save: without the model of the other library."""
        return {**super().file_params(), "model": None}


@register(trials=[{"model": RandomForestClassifier(5, max_depth=3, random_state=0, bootstrap=False)}])
class ImportedClassifier(ImportedMixin, ContractClassifier):
    """A classifier made of trees, of scikit-learn, LightGBM, XGBoost or CatBoost, and its spend.

    `from_model` makes one from a fitted model. `fit` trains a copy of ``model`` on the encoded table, where
    categories are replaced by their codes, and imports its trees.

    Parameters
    ----------
    model : classifier, optional
        The model to train: anything that `from_model` takes. None means a decision tree. It is not saved.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each. They affect the reported spend, not the model.
    n_jobs : int, optional
        Threads of prediction, as in joblib.

    Attributes
    ----------
    forest_ : Forest
        The trees, after the base score if there is one.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = ImportedClassifier(RandomForestClassifier(3, max_depth=2, random_state=0), costs=heart.costs)
    >>> bool(model.fit(heart.X, heart.y).spend(heart.X).mean() > 0)
    True
    """

    model_type = ImportedClassifierModel

    def __init__(self, model: Any = None, *, costs: CostsLike = None, n_jobs: int | None = None) -> None:
        self.model = model
        self.costs = costs
        self.n_jobs = n_jobs

    def _learn(self, rows: TrainingSet) -> ImportedClassifierModel:
        # A fixed seed: scikit-learn's trees break ties between features at random.
        model = DecisionTreeClassifier(random_state=0) if self.model is None else self.model
        if not is_classifier(model):
            raise ValueError(f"model must be a classifier; got {type(model).__name__}")
        learner, source, imported = _train(model, rows)
        present = learner.classes_  # codes of the classes that have a row
        # The prior has the scale of the summed outputs: the inverse of the link, so that `conclude` returns
        # the class shares for a row that looks at nothing.
        shares = rows.prior()[present].clip(_TINY)
        if imported.link == "sigmoid":
            prior = np.log(shares[1:] / shares[:1]) / imported.scale
        else:
            prior = np.log(shares) if imported.link == "softmax" else shares * imported.divisor
        header = {**rows.header(prior=prior), "classes": np.asarray(rows.classes)[present]}
        fitted = ImportedClassifierModel(**header, **fields_of(imported))
        check_same(type(model).__name__, source, fitted)
        return fitted


@register(trials=[{"model": RandomForestRegressor(5, max_depth=3, random_state=0, bootstrap=False)}])
class ImportedRegressor(ImportedMixin, ContractRegressor):
    """A regressor made of trees, of scikit-learn, LightGBM, XGBoost or CatBoost, and its spend.

    Rankers are imported as regressors: the prediction is the score to sort by.

    Parameters
    ----------
    model, costs, n_jobs
        As in `ImportedClassifier`.

    Attributes
    ----------
    forest_ : Forest
        The trees, after the base score if there is one.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> ImportedRegressor(DecisionTreeRegressor(max_depth=1)).fit(X, X[:, 0] > 3).predict([[0.0], [7.0]])
    array([0., 1.])
    """

    model_type = ImportedRegressorModel

    def __init__(self, model: Any = None, *, costs: CostsLike = None, n_jobs: int | None = None) -> None:
        self.model = model
        self.costs = costs
        self.n_jobs = n_jobs

    def _learn(self, rows: TrainingSet) -> ImportedRegressorModel:
        model = DecisionTreeRegressor(random_state=0) if self.model is None else self.model
        _, source, imported = _train(model, rows)
        mean = rows.prior()
        # As for classifiers: the inverse of the link, then of the division by the number of trees.
        prior = inverse_link(imported.link, mean) / imported.scale
        header = rows.header(prior=prior * imported.divisor)
        fitted = ImportedRegressorModel(**header, **fields_of(imported))
        check_same(type(model).__name__, source, fitted)
        return fitted


def _train(model: Any, rows: TrainingSet) -> tuple[Any, Source, Imported]:
    """Fit a copy of the model on the encoded table; return it, as it was read, and its trees."""
    learner = clone(model)
    # Some models take no weights, so they are left out where they change nothing.
    options = {} if (rows.weights == 1).all() else {"sample_weight": rows.weights}
    learner.fit(rows.values, rows.target, **options)
    source = read(learner)
    if not isinstance(source.parts, Imported):
        raise ModelImportError(
            f"model must be made of trees; got {type(model).__name__}; use ImportedLinearClassifier or "
            "ImportedLinearRegressor"
        )
    return learner, source, source.parts
