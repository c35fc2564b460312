"""Linear models of other libraries under the contract: they buy the columns that have a coefficient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Lasso, LogisticRegression, Ridge

from farthing.base import (
    ClassifierModel,
    ContractClassifier,
    ContractRegressor,
    FittedModel,
    RegressorModel,
    TrainingSet,
    register,
    sigmoid,
    softmax,
)
from farthing.costs import CostSheet, CostsLike
from farthing.errors import ModelImportError
from farthing.forests.imported.estimators import ImportedMixin
from farthing.forests.imported.linear_reader import read_linear
from farthing.forests.imported.models import inverse_link
from farthing.forests.imported.probes import check_same
from farthing.forests.imported.source import ImportedLinear, labels_of
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.table import Schema
from farthing.trees.imports import LINKS
from farthing.walks import Policy
from farthing.walks.plans import Link, LinkStep, Plan, Station, StationPlan

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportedLinearModel(FittedModel):
    """What imported linear classifiers and regressors share.

    Parameters
    ----------
    scores : LinearScores
        The linear scores. A row buys the columns with a nonzero coefficient, in order.
    link : str
        The link from the scores to the prediction.
    """

    scores: LinearScores
    link: str

    makes_calls: ClassVar[bool] = False

    def policy(self, seed: int | None = None) -> Policy:  # nothing is random
        """Return a policy that asks for every column in use."""
        return self.scores.policy()

    def plan(self) -> Plan:
        """Return a single station, which buys every column in use."""
        scores = self.scores
        station = Station(tuple(scores.used.tolist()), scores.sum_plan(scores.coef, scores.intercept))
        return StationPlan((station,), self.prior, partial=True)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows at once; see `FittedModel.outputs`."""
        if budget is None:
            return self.scores.outputs(values, n_threads)
        scores, acquired, _ = self.scores.outputs_within(values, self.costs, budget, n_threads)
        return scores, acquired

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.link not in LINKS:
            raise ValueError(f"link must be one of {', '.join(LINKS)}; got {self.link!r}")
        if self.scores.n_features != len(self.schema.names) or self.scores.n_outputs != len(self.prior):
            raise ValueError("the scores do not fit the columns and the prior")


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportedLinearClassifierModel(ImportedLinearModel, ClassifierModel):
    """Linear scores that become one probability per class."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the link, shape (n_rows, n_classes)."""
        return sigmoid(outputs) if self.link == "sigmoid" else softmax(outputs)

    def link_steps(self) -> Link:
        """Return the step to probabilities."""
        return (LinkStep("sigmoid" if self.link == "sigmoid" else "softmax"),)

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.link not in ("sigmoid", "softmax"):
            raise ValueError(f"link must be 'sigmoid' or 'softmax' for a classifier; got {self.link!r}")
        self.check_probabilities()


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportedLinearRegressorModel(ImportedLinearModel, RegressorModel):
    """A linear score that becomes one value per row."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the link, shape (n_rows,)."""
        if self.link == "sigmoid":
            return sigmoid(outputs[:, :1])[:, 1]
        values = np.ascontiguousarray(outputs[:, 0])
        return np.exp(values) if self.link == "exponential" else values

    def link_steps(self) -> Link:
        """Return the steps to the value."""
        if self.link == "sigmoid":
            return (LinkStep("first"), LinkStep("sigmoid"), LinkStep("second"))
        return (LinkStep("first"), *([LinkStep("exponential")] if self.link == "exponential" else []))

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.link == "softmax" or self.scores.n_outputs != 1:
            raise ValueError(f"a regressor has one output and no softmax; got {self.link}")


@register(trials=[{"model": LogisticRegression(C=0.1)}])
class ImportedLinearClassifier(ImportedMixin, ContractClassifier):
    """A linear classifier of scikit-learn, with its spend accounted for.

    `from_model` makes one from a fitted model. `fit` trains a copy of ``model`` on the standardised columns,
    where each category is an indicator and a missing value counts as the mean. A prediction buys all columns
    with a nonzero coefficient, so an L1 penalty saves money.

    Parameters
    ----------
    model : classifier, optional
        A linear classifier of scikit-learn with probabilities; None means a logistic regression. It is not
        saved.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each. They affect the reported spend, not the model.

    Attributes
    ----------
    scores_ : LinearScores
        The coefficients.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = ImportedLinearClassifier(costs=heart.costs).fit(heart.X, heart.y)
    >>> bool(model.score(heart.X, heart.y) > 0.8)
    True
    """

    model_type = ImportedLinearClassifierModel

    def __init__(self, model: Any = None, *, costs: CostsLike = None) -> None:
        self.model = model
        self.costs = costs

    def _learn(self, rows: TrainingSet) -> ImportedLinearClassifierModel:
        model = LogisticRegression() if self.model is None else self.model
        if not is_classifier(model):
            raise ValueError(f"model must be a classifier; got {type(model).__name__}")
        learner, parts = _train(model, rows)
        present = learner.classes_  # codes of the classes that have a row
        shares = rows.prior()[present].clip(_TINY)
        prior = np.log(shares[1:] / shares[:1]) if parts.link == "sigmoid" else np.log(shares)
        header = {**rows.header(prior=prior), "classes": np.asarray(rows.classes)[present]}
        return ImportedLinearClassifierModel(**header, scores=parts.scores, link=parts.link)


@register(trials=[{"model": Lasso(alpha=0.05)}])
class ImportedLinearRegressor(ImportedMixin, ContractRegressor):
    """A linear regressor of scikit-learn, with its spend accounted for.

    Parameters
    ----------
    model : regressor, optional
        A linear regressor of scikit-learn; None means a ridge regression. It is not saved.
    costs
        As in `ImportedLinearClassifier`.

    Attributes
    ----------
    scores_ : LinearScores
        The coefficients.

    Examples
    --------
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> ImportedLinearRegressor().fit(X, 2 * X[:, 0]).predict([[3.5]])
    array([7.])
    """

    model_type = ImportedLinearRegressorModel

    def __init__(self, model: Any = None, *, costs: CostsLike = None) -> None:
        self.model = model
        self.costs = costs

    def _learn(self, rows: TrainingSet) -> ImportedLinearRegressorModel:
        _, parts = _train(Ridge() if self.model is None else self.model, rows)
        prior = inverse_link(parts.link, rows.prior())
        return ImportedLinearRegressorModel(**rows.header(prior=prior), scores=parts.scores, link=parts.link)


def linear_model(
    parts: ImportedLinear, header: dict[str, Any], classes: NDArray[Any] | None
) -> ImportedLinearClassifierModel | ImportedLinearRegressorModel:
    """Return the fitted model of linear scores that were read."""
    if parts.n_classes:
        return ImportedLinearClassifierModel(
            **header, classes=np.asarray(classes), scores=parts.scores, link=parts.link
        )
    return ImportedLinearRegressorModel(**header, scores=parts.scores, link=parts.link)


def _train(model: Any, rows: TrainingSet) -> tuple[Any, ImportedLinear]:
    """Fit a copy of the model on the standardised terms; return it, and its scores over the columns."""
    shares = rows.weights / rows.weights.sum()
    design = LinearDesign.of(rows.values, rows.schema, shares, 1)
    learner = clone(model)
    # Some models take no weights, so they are left out where they change nothing.
    options = {} if (rows.weights == 1).all() else {"sample_weight": rows.weights}
    learner.fit(design.terms, rows.target, **options)
    source = read_linear(learner)
    if source is None or not isinstance(source.parts, ImportedLinear):
        raise ModelImportError(f"model must be a linear model of scikit-learn; got {type(model).__name__}")
    found = source.parts
    columns = Schema.learn(design.terms)
    header = {"schema": columns, "costs": CostSheet.of(None, columns.names), "prior": found.scores.intercept}
    check_same(type(model).__name__, source, linear_model(found, header, labels_of(learner)))
    # The terms are standardised already, so the coefficients are those of the terms of the design.
    scores = replace(design.zeros, coef=found.scores.coef, intercept=found.scores.intercept)
    return learner, replace(found, scores=scores)
