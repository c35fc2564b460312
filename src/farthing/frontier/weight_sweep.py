"""Sweeps over the weights of resources: models learned by money plus minutes, for caps on each of them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from farthing.base import BudgetedEstimator
from farthing.costs import CostSheet, money_name, split_budget, take_rows, within_budget
from farthing.errors import BudgetWarning
from farthing.table import PreparedTable

# What all of a resource counts, as a share of what all of the costs are.
_SHARES: Final = (0.0, 0.5, 2.0)
# Budgets to aim a fit at, as shares of what all features cost.
_BUDGETS: Final = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class WeightedPoint:
    """A model learned by a weighted sum, and what it takes of each resource on rows that were held out.

    Attributes
    ----------
    weights : dict of str to float
        What a unit of each resource counted in learning, in units of the costs.
    budget : float or None
        The budget of the weighted sum; None if the model has none.
    score : float
        Accuracy, or R squared.
    spends : dict of str to float
        The mean over rows of the costs, by their unit, and of each resource.
    model : estimator
        Fitted on the rows that were not held out; its costs are the weighted ones, of which the costs
        themselves are a resource.
    """

    weights: dict[str, float]
    budget: float | None
    score: float
    spends: dict[str, float]
    model: BudgetedEstimator


@dataclass(frozen=True)
class WeightSweep:
    """The points of a sweep over weights.

    Attributes
    ----------
    sheet : CostSheet
        The prices, with their resources.
    points : list of WeightedPoint
    """

    sheet: CostSheet
    points: list[WeightedPoint]

    def within(self, budget: Mapping[str, float]) -> WeightedPoint:
        """Return the point of the best score whose mean spends are within all caps; of equals, the cheapest.

        Parameters
        ----------
        budget : mapping of str to float
            Caps of the mean spend of the costs, by their unit, and of resources.

        Raises
        ------
        LookupError
            If no point is within the caps.
        """
        money, caps = split_budget(budget, self.sheet)
        limits = caps if money is None else {**caps, money_name(self.sheet): money}
        inside = [
            point
            for point in self.points
            if all(within_budget(point.spends[name], cap) for name, cap in limits.items())
        ]
        if not inside:
            raise LookupError(f"no model of the sweep is within {dict(budget)!r} on average")
        first = money_name(self.sheet)
        return max(inside, key=lambda point: (point.score, -point.spends[first]))


def sweep_weights(
    estimator: BudgetedEstimator,
    X: Any,
    y: Any,
    *,
    costs: CostSheet,
    weights: Mapping[str, Sequence[float]] | None = None,
    held_out: float = 0.25,
    random_state: int = 0,
) -> WeightSweep:
    """Fit an estimator at several weights of the resources, and measure what its models take of each.

    Parameters
    ----------
    estimator : estimator
        The front door or a method; it is cloned for each combination of weights. One fit is aimed at several
        budgets if it has ``at``; else its ``variants`` are the points.
    X, y
        As in ``fit``.
    costs : CostSheet
        The prices, with at least one resource.
    weights : mapping of str to sequence of float, optional
        The weights to try for each resource, in units of the costs. By default those at which all of a
        resource counts 0, 0.5 and 2 times as much as all of the costs.
    held_out : float
        The share of the rows on which scores and spends are measured. Points that are chosen by them look
        somewhat better than they are.
    random_state : int
        Seed of the split.

    Returns
    -------
    WeightSweep

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> from farthing.forests import BudgetTreeClassifier
    >>> heart = load_heart_disease()
    >>> own = dict(zip(heart.costs.features, heart.costs.own.tolist()))
    >>> sheet = CostSheet(own, heart.costs.groups, "CAD", resources={"minutes": {"thal": 90, "ca": 30}})
    >>> found = sweep_weights(BudgetTreeClassifier(max_depth=3), heart.X, heart.y, costs=sheet)
    >>> [point.weights for point in found.points][:1]
    [{'minutes': 0.0}]
    >>> found.within({"CAD": 150, "minutes": 100}).score > 0.6
    True
    """
    sheet = CostSheet.of(costs, PreparedTable.of(X, type(estimator).__name__).schema.names)
    if not sheet.resources:
        raise ValueError("costs has no resources to weigh; give CostSheet(..., resources={...})")
    learn, test = train_test_split(
        np.arange(len(y)),
        test_size=held_out,
        random_state=random_state,
        stratify=np.asarray(y) if is_classifier(estimator) else None,
    )
    points: list[WeightedPoint] = []
    labels = np.asarray(y)
    for each in combinations(sheet, weights):
        prices = sheet.weighted(each)
        fitted = clone(estimator).set_params(costs=prices)
        fitted.fit(take_rows(X, learn), labels[learn])
        for budget, model in _models(fitted, prices):
            points.append(_point(each, budget, model, take_rows(X, test), labels[test]))
    return WeightSweep(sheet, points)


def combinations(
    sheet: CostSheet,
    weights: Mapping[str, Sequence[float]] | None = None,
    *,
    names: Collection[str] | None = None,
) -> Iterator[dict[str, float]]:
    """Yield combinations of weights, that of the costs alone first.

    Parameters
    ----------
    sheet : CostSheet
        The prices, with their resources.
    weights : mapping of str to sequence of float, optional
        The weights to try for each resource. By default those at which all of a resource counts 0, 0.5 and 2
        times as much as all of the costs.
    names : collection of str, optional
        The resources to weigh by default; None means all of them.

    Examples
    --------
    >>> sheet = CostSheet({"age": 1, "chol": 5}, resources={"minutes": {"chol": 20}})
    >>> list(combinations(sheet))
    [{'minutes': 0.0}, {'minutes': 0.15}, {'minutes': 0.6}]
    """
    whole = sheet.total(sheet.features)
    scales = {
        name: each.total(each.features)
        for name, each in sheet.resources.items()
        if names is None or name in names
    }
    default = {name: [share * whole / scale for share in _SHARES] for name, scale in scales.items() if scale}
    tried = default if weights is None else {name: list(each) for name, each in weights.items()}
    for chosen in product(*tried.values()):
        yield dict(zip(tried, map(float, chosen), strict=True))


def _models(fitted: Any, prices: CostSheet) -> Iterator[tuple[float | None, BudgetedEstimator]]:
    """Yield the models of one fit, with the budgets that they are for."""
    if not hasattr(fitted, "at"):
        for _, model in fitted.variants():
            yield None, model
        return
    whole = prices.total(prices.features)
    for share in _BUDGETS:
        with warnings.catch_warnings():
            # A budget below the cheapest model: its point says what it takes.
            warnings.simplefilter("ignore", BudgetWarning)
            try:
                yield share * whole, fitted.at(share * whole)
            except LookupError:
                continue


def _point(
    weights: dict[str, float], budget: float | None, model: BudgetedEstimator, X: Any, y: Any
) -> WeightedPoint:
    made = model.decide(X)
    score = np.mean(made.prediction == y) if is_classifier(model) else r2_score(y, made.prediction)
    spends = {
        name: float(np.mean(each.total_rows(made.acquired)))
        for name, each in model.fitted_.costs.resources.items()
    }
    return WeightedPoint(weights, budget, float(score), spends, model)
