"""Tree models of other libraries, brought under the contract."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from farthing.base import (
    ContractClassifier,
    ContractRegressor,
    TreesMixin,
    register,
    sigmoid,
    softmax,
)
from farthing.costs import CostSheet
from farthing.errors import ModelImportError
from farthing.forests.imported import xgboost_links as float32
from farthing.table import Column, Schema
from farthing.trees import Forest, Imported, read_treelite
from farthing.trees.imports import LINKS

_TINY = np.finfo(np.float64).tiny


class ImportedMixin(TreesMixin):
    """What imported classifiers and regressors share.

    Attributes
    ----------
    link_ : str
        From the sum of the trees to the prediction: "identity", "sigmoid", "softmax" or "exponential".
    divisor_ : float
        What the sum is divided by first: the number of trees if they are averaged.
    scale_ : float
        What it is multiplied by in the sigmoid.
    single_ : bool
        Whether the trees are added and the link computed in float32, as XGBoost does.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "link_": str,
        "divisor_": float,
        "scale_": float,
        "single_": bool,
    }
    model: Any
    costs: Any

    def _take(self, imported: Imported) -> None:
        """Make the trees of another model this one's."""
        self.forest_ = imported.forest
        self.link_ = imported.link
        self.divisor_ = imported.divisor
        self.scale_ = imported.scale
        self.single_ = imported.single

    @property
    def _single_sums(self) -> bool:  # type: ignore[override]
        return self.single_

    def _stand_for(self, imported: Imported, costs: Any, names: Sequence[str] | None) -> None:
        """Stand for a model that was fitted elsewhere."""
        self._take(imported)
        n_features = imported.forest.n_features
        if names is not None and len(names) != n_features:
            raise ValueError(f"the model has {n_features} features; got {len(names)} feature_names")
        all_names = [f"x{j}" for j in range(n_features)] if names is None else [str(name) for name in names]
        schema = Schema(tuple(Column(name, "numeric") for name in all_names), named=names is not None)
        self._adopt(schema)
        self.costs_ = CostSheet.of(costs, schema.names)
        self.budget_ = None
        # What the trees say on average, which is what their roots hold.
        roots = np.zeros(imported.forest.n_outputs)
        for first, column in zip(imported.forest.offsets[:-1], imported.forest.target, strict=True):
            roots[column : column + imported.forest.width] += imported.forest.value[first]
        self.prior_ = roots

    def _train(self, model: Any, values: NDArray[np.floating], target: NDArray[Any], weights: Any) -> Any:
        """Fit a copy of the model and take its trees."""
        learner = clone(model)
        options = {} if (weights == 1).all() else {"sample_weight": weights}
        learner.fit(values, target, **options)
        self._take(read(learner))
        return learner

    def _file_params(self) -> dict[str, Any]:
        return {**super()._file_params(), "model": None}

    def _check_stored(self) -> None:
        super()._check_stored()
        if self.link_ not in LINKS:
            raise ValueError(f"link_ must be one of {', '.join(LINKS)}; got {self.link_!r}")
        if not (0 < self.divisor_ < np.inf and np.isfinite(self.scale_)):
            raise ValueError(f"divisor_ and scale_ must be finite; got {self.divisor_!r}, {self.scale_!r}")


@register(trials=[{"model": RandomForestClassifier(5, max_depth=3, random_state=0, bootstrap=False)}])
class ImportedClassifier(ImportedMixin, ContractClassifier):
    """A classifier of scikit-learn, LightGBM or XGBoost that is made of trees, with an account of its spend.

    `from_model` makes one of a fitted model. Fitted itself, it trains a copy of ``model`` on the encoded
    table, where a category is its number, and takes over the trees.

    Parameters
    ----------
    model : classifier, optional
        What `fit` trains: anything that `from_model` takes. None is a decision tree. A file does not hold it.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each. They do not change the model, only its account.
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

    def __init__(self, model: Any = None, *, costs: Any = None, n_jobs: int | None = None) -> None:
        self.model = model
        self.costs = costs
        self.n_jobs = n_jobs

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: NDArray[np.float64],
        sheet: CostSheet,  # noqa: ARG002 - the model knows no prices
    ) -> None:
        model = DecisionTreeClassifier(random_state=0) if self.model is None else self.model
        if not is_classifier(model):
            raise ValueError(f"model must be a classifier; got {type(model).__name__}")
        learner = self._train(model, values, target, weights)
        self.classes_ = self.classes_[learner.classes_]  # those that have a row
        shares = self.prior_[learner.classes_].clip(_TINY)
        if self.link_ == "sigmoid":
            self.prior_ = np.log(shares[1:] / shares[:1]) / self.scale_
        else:
            self.prior_ = np.log(shares) if self.link_ == "softmax" else shares * self.divisor_

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        means = outputs / self.divisor_
        if self.link_ == "sigmoid":
            odds = means * self.scale_
            return float32.sigmoid(odds) if self.single_ else sigmoid(odds)
        if self.link_ == "softmax":
            return float32.softmax(means) if self.single_ else softmax(means)
        return means

    def _check_stored(self) -> None:
        super()._check_stored()
        if self.link_ == "exponential":
            raise ValueError("link_ must be 'identity', 'sigmoid' or 'softmax' for a classifier")
        expected = 1 if self.link_ == "sigmoid" else len(self.classes_)
        if self.forest_.n_outputs != expected:
            raise ValueError(f"{self.link_} takes {expected} outputs; got {self.forest_.n_outputs}")


@register(trials=[{"model": RandomForestRegressor(5, max_depth=3, random_state=0, bootstrap=False)}])
class ImportedRegressor(ImportedMixin, ContractRegressor):
    """A regressor of scikit-learn, LightGBM or XGBoost that is made of trees, with an account of its spend.

    Rankers come over as regressors: the prediction is the score to sort by.

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

    def __init__(self, model: Any = None, *, costs: Any = None, n_jobs: int | None = None) -> None:
        self.model = model
        self.costs = costs
        self.n_jobs = n_jobs

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.float64],
        weights: NDArray[np.float64],
        sheet: CostSheet,  # noqa: ARG002 - the model knows no prices
    ) -> None:
        self._train(
            DecisionTreeRegressor(random_state=0) if self.model is None else self.model,
            values,
            target,
            weights,
        )
        mean = np.log(self.prior_.clip(_TINY)) if self.link_ == "exponential" else self.prior_
        self.prior_ = mean * self.divisor_

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        means = np.ascontiguousarray(outputs[:, 0]) / self.divisor_
        if self.link_ != "exponential":
            return means
        return float32.exponential(means) if self.single_ else np.exp(means)

    def _check_stored(self) -> None:
        super()._check_stored()
        if self.link_ not in ("identity", "exponential") or self.forest_.n_outputs != 1:
            raise ValueError(f"a regressor has one output and no {self.link_}")


def from_model(
    model: Any,
    costs: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    feature_names: Sequence[str] | None = None,
) -> ImportedClassifier | ImportedRegressor:
    """Bring a fitted tree model of another library under the contract, with the same predictions.

    The result can be audited, walked, saved, and pruned if it is a forest. Raw scores are the same to the
    last bit as those of scikit-learn and LightGBM, which add in float64, and of XGBoost, which adds in
    float32, base score first, tree by tree. Probabilities are the same to the last float32 bit, but for
    XGBoost where the C library's float32 exponential is not the nearest one: there, in about one row of a
    thousand, the last bit may differ. Libraries keep values at leaves only, so where a walk stops at an inner
    node, that has the mean of the leaves below by the training rows that reached them.

    Parameters
    ----------
    model : estimator, lightgbm.Booster, xgboost.Booster or treelite.Model
        Of scikit-learn: decision trees, extra trees, random forests, gradient boosting, histogram gradient
        boosting. Needs treelite: ``pip install farthing[import]``.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    classes : sequence, optional
        The labels, for a bare booster, which knows none; 0, 1, ... if left out.
    feature_names : sequence of str, optional
        The names of the columns, if the model knows none.

    Returns
    -------
    ImportedClassifier or ImportedRegressor

    Raises
    ------
    ModelImportError
        For what cannot be brought over: other kinds of models, tests of categories, several targets,
        outlier scores, boosters that start from another model, outputs such as one sigmoid a class.
    ImportError
        If treelite is not installed.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> booster = GradientBoostingRegressor(n_estimators=3).fit(X, X[:, 0] > 3)
    >>> model = from_model(booster, costs=[2.5])
    >>> bool((model.predict(X) == booster.predict(X)).all()), model.spend(X[:2])
    (True, array([2.5, 2.5]))
    """
    imported = read(model)
    names = _names_of(model) if feature_names is None else feature_names
    if imported.n_classes == 0:
        regressor = ImportedRegressor(costs=costs)
        regressor._stand_for(imported, costs, names)
        return regressor
    labels = getattr(model, "classes_", None) if classes is None else np.asarray(classes)
    labels = np.arange(imported.n_classes) if labels is None else np.asarray(labels)
    if len(labels) != imported.n_classes or not np.array_equal(np.unique(labels), labels):
        raise ValueError(
            f"classes must be {imported.n_classes} labels in ascending order; got {labels.tolist()}"
        )
    classifier = ImportedClassifier(costs=costs)
    classifier.classes_ = labels
    classifier._stand_for(imported, costs, names)
    return classifier


def read(model: Any) -> Imported:
    """Read a fitted model of another library through treelite."""
    treelite, frontend, sklearn = (_treelite(name) for name in ("", ".frontend", ".sklearn"))
    library, kind = type(model).__module__.split(".")[0], type(model).__name__
    try:
        if isinstance(model, treelite.Model):
            return read_treelite(model, single=model.input_type == "float32")
        if library == "lightgbm":
            return read_treelite(frontend.from_lightgbm(getattr(model, "booster_", model)), single=False)
        if library == "xgboost":
            booster = model.get_booster() if hasattr(model, "get_booster") else model
            found = read_treelite(frontend.from_xgboost(booster), single=True, single_sums=True)
            return replace(found, forest=_with_base(found, booster)) if found.link == "sigmoid" else found
        if library == "sklearn":
            check_is_fitted(model)
            single = not kind.startswith("HistGradientBoosting")
            return read_treelite(sklearn.import_model(_as_forest(model)), single=single)
    except (treelite.TreeliteError, NotImplementedError, AssertionError) as error:
        raise ModelImportError(f"a {kind} cannot be brought over: {error}") from error
    raise ModelImportError(
        f"a {kind} of {library} cannot be brought over; there are tree models of scikit-learn, LightGBM, "
        "XGBoost and treelite"
    )


def _with_base(found: Imported, booster: Any) -> Forest:
    """Return the trees with the base score as XGBoost turns it into log-odds, in float32."""
    settings = json.loads(booster.save_config())["learner"]["learner_model_param"]
    share = np.float32(np.atleast_1d(json.loads(settings["base_score"]))[0])
    if share == np.float32(0.5):  # log-odds of zero, for which there is no tree
        return found.forest
    odds = np.float32(1) / share - np.float32(1)
    values = found.forest.value.copy()
    values[0] = np.float32(-np.log(np.float64(odds)))
    return replace(found.forest, value=values)


def _as_forest(model: Any) -> Any:
    """Return a single tree of scikit-learn as a forest of one, which treelite knows."""
    for tree, forest in (
        (DecisionTreeClassifier, RandomForestClassifier),
        (DecisionTreeRegressor, RandomForestRegressor),
    ):
        if isinstance(model, tree):
            shell = forest(n_estimators=1)
            shell.estimators_ = [model]
            for name in ("n_features_in_", "n_outputs_", "n_classes_", "classes_"):
                if hasattr(model, name):
                    setattr(shell, name, getattr(model, name))
            return shell
    return model


def _names_of(model: Any) -> list[str] | None:
    """Return the names of the columns that the model was trained on, None if it had none."""
    names = getattr(model, "feature_names_in_", None)
    if names is None and type(model).__module__.startswith("xgboost"):
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        names = booster.feature_names
    if names is None and type(model).__module__.startswith("lightgbm"):
        names = getattr(model, "booster_", model).feature_name()
        if names == [f"Column_{j}" for j in range(len(names))]:
            return None
    return None if names is None else [str(name) for name in names]


def _treelite(part: str) -> Any:
    try:
        return import_module(f"treelite{part}")
    except ImportError as error:
        raise ImportError("from_model needs treelite: pip install 'farthing[import]'") from error
