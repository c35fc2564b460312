"""One class against the rest, on a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from farthing.base import BudgetedEstimator, ContractClassifier, TrainingSet, register
from farthing.base.inputs import check_cap
from farthing.boosting import AdaBoostClassifier, AdaBoostRSClassifier
from farthing.costs import CostSheet, CostsLike
from farthing.multiclass.model import OneVsRestModel, checked_model, with_calls_of
from farthing.table import Schema


@register(
    auto=False,
    trials=[
        {"estimator": AdaBoostRSClassifier(n_estimators=3, n_samples=2, random_state=0)},
        {"estimator": AdaBoostClassifier(n_estimators=3, curtail=True)},
    ],
)
class OneVsRestClassifier(ContractClassifier):
    """A binary method for many classes: one model for each class, which tells it from the others.

    The models of a row share one account: what one of them buys is free for the others. They are asked in the
    order of the classes. The probabilities are those of the models, divided by their sum. With two classes
    there is a single model, that of the second.

    Within a budget, or with models whose questions depend on prices, rows are answered one by one: about a
    millisecond each for ten classes of ten small trees, where a table without a budget takes some ten
    microseconds a row.

    Parameters
    ----------
    estimator : classifier, optional
        The binary method, from this library; None means an `AdaBoostClassifier` at its defaults, which
        ignores prices. Its ``budget``, if it has one, is that of a row for all classes together: each of n
        models is fitted with an n-th of it, and may spend an equal share of what the models before it left.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features, in place of the estimator's; None keeps those.
    n_jobs : int, optional
        Threads, in place of the estimator's; any number gives the same bits.

    Attributes
    ----------
    models_ : list of classifiers
        The fitted binary models, in the order of the classes.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from farthing.neighbors import ValueOfClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(150, 3))
    >>> y = np.digitize(X[:, 0], [-0.5, 0.5])
    >>> model = OneVsRestClassifier(ValueOfClassifier(budget=2), costs=[1, 1, 5]).fit(X, y)
    >>> model.predict_proba(X).shape, float(model.spend(X).max())
    ((150, 3), 2.0)
    """

    model_type = OneVsRestModel
    fitted_: OneVsRestModel

    def __init__(self, estimator: Any = None, *, costs: CostsLike = None, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.n_jobs = n_jobs

    def _learn(self, rows: TrainingSet) -> OneVsRestModel:
        # Of two classes, the model of the second one says all about the first.
        codes = [rows.n_classes - 1] if rows.n_classes <= 2 else range(rows.n_classes)
        template, budget = self._template(), check_cap(self._estimator_param("budget"))
        if budget is not None:
            template.set_params(budget=budget / len(codes))
        models = [clone(template).fit_rows(_against_rest(rows, code)) for code in codes]
        prior = np.concatenate([checked_model(model).prior for model in models])
        cap = budget if template.budget_kind == "hard" else None
        header = rows.header(prior, cap)
        header["costs"] = with_calls_of(rows.costs, [checked_model(model) for model in models])
        return OneVsRestModel(**header, models=models)

    def _template(self) -> BudgetedEstimator:
        """Return the estimator to fit, with the threads of the wrapper in place of its own."""
        if self.estimator is None:
            template = AdaBoostClassifier()
        elif isinstance(self.estimator, ContractClassifier) and self.estimator.asks == "columns":
            template = clone(self.estimator)
        else:
            raise TypeError(
                "estimator must be a classifier of this library that buys columns, such as "
                f"AdaBoostClassifier; got {type(self.estimator).__name__}"
            )
        if self.n_jobs is not None and "n_jobs" in template.get_params(deep=False):
            template.set_params(n_jobs=self.n_jobs)
        return template

    def _estimator_param(self, name: str) -> Any:
        return getattr(self.estimator, name, None)

    def _cost_sheet(self, schema: Schema) -> CostSheet:
        costs = self._estimator_param("costs") if self.costs is None else self.costs
        return CostSheet.of(costs, schema.names)


def _against_rest(rows: TrainingSet, code: int) -> TrainingSet:
    """Return the rows with a binary target: whether they are of a class."""
    return replace(rows, target=(rows.target == code).astype(np.int64), classes=np.array([False, True]))
