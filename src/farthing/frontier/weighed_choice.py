"""The front door for caps on several resources: fits on weighted sums, the best of which is kept.

A weight says what a unit of a resource counts, in units of the costs. For each combination of weights the
front door is fitted at the weighted prices, with the largest budget that the caps allow. For caps on means,
the variants of its chosen fit are then measured in each resource; the best one within all caps is taken. For
hard caps, a fit on part of the rows decides about the others within the caps, and the weights of the best
score are fitted again on all rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from farthing.base import AnyBudgetMixin, Frontier, Point
from farthing.costs import CostSheet, within_budget
from farthing.errors import BudgetWarning
from farthing.frontier.budget_amount import budget_of, resource_caps
from farthing.frontier.budgeted_model import ChosenModel
from farthing.frontier.data_split import SweepRows, split_rows
from farthing.frontier.evaluation import Evaluation
from farthing.frontier.last_fit import pick, variant_of
from farthing.frontier.scorers import scorer_of
from farthing.frontier.weight_sweep import combinations

if TYPE_CHECKING:
    from farthing.frontier.budgeted_base import BudgetedBase

# Variants of a fit that are measured in each resource.
_MEASURED: Final = 40
# Fits at ever smaller budgets, if no variant of the first one is within the caps.
_TRIES: Final = 3
# The share of the rows on which fits within hard caps are compared.
_HELD_OUT: Final = 0.25


@dataclass(frozen=True)
class Caps:
    """What a row may take, on average or at most.

    Parameters
    ----------
    sheet : CostSheet
        The prices, with their resources.
    money : float or None
        The cap of the costs; None means no limit.
    resources : mapping of str to float
        Caps of resources.
    """

    sheet: CostSheet
    money: float | None
    resources: Mapping[str, float]

    def weighted_budget(self, weights: Mapping[str, float]) -> float:
        """Return the largest weighted sum that is possible within the caps.

        Examples
        --------
        >>> sheet = CostSheet({"age": 1, "chol": 5}, unit="USD", resources={"minutes": {"chol": 20}})
        >>> Caps(sheet, 4.0, {"minutes": 8.0}).weighted_budget({"minutes": 0.5})
        8.0
        """
        whole = self.sheet.total(self.sheet.features)
        amounts = [
            factor * min(self.resources[name], each.total(each.features))
            for name, factor in weights.items()
            for each in [self.sheet.resources[name]]
        ]
        return min(whole if self.money is None else self.money, whole) + math.fsum(amounts)

    def excess(self, point: Point) -> float:
        """Return the largest ratio of what a model takes to its cap; at most 1 is within all of them."""
        limits = [(point.details[name], cap) for name, cap in self.resources.items()]
        limits += [] if self.money is None else [(point.spend, self.money)]
        return max((_ratio(taken, cap) for taken, cap in limits), default=0.0)

    def keep(self, point: Point) -> bool:
        """Return whether the means of a model are within all caps."""
        return within_budget(point.spend, self.money) and all(
            within_budget(point.details[name], cap) for name, cap in self.resources.items()
        )


@dataclass(frozen=True)
class Weighed:
    """A fit of the front door at weighted prices, seen at the prices themselves.

    Parameters
    ----------
    weights : dict of str to float
        What a unit of each resource counted; empty if only the costs did.
    door : BudgetedBase
        Fitted at the weighted prices.
    path : list of Point
        Its variants, with the mean cost as ``spend`` and the mean of each resource in ``details``.
    chosen : Point or None
        That which is taken; None if no variant is within the caps.
    """

    weights: dict[str, float]
    door: BudgetedBase
    path: list[Point]
    chosen: Point | None

    @property
    def score(self) -> float:
        """The estimated score, minus infinity if there is none."""
        return -math.inf if self.chosen is None else self.chosen.score

    def model(self, caps: Caps, points: list[Point]) -> ChosenModel:
        """Return the fitted model at the prices themselves; its frontier has the points of all weights."""
        assert self.chosen is not None
        inner = self.door.fitted_
        assert isinstance(inner, ChosenModel)
        taken = variant_of(inner.model, _own_params(inner, self.chosen))
        frontier = Frontier(
            tuple(points),
            inner.frontier.failures,
            inner.frontier.score_name,
            caps.sheet.unit,
            caps.sheet.total(caps.sheet.features),
            inner.frontier.n_skipped,
        )
        return replace(
            inner,
            costs=caps.sheet,
            budget=None if self.weights else taken.fitted_.budget,
            model=taken,
            chosen=self.chosen,
            path=[replace(point, params=_own_params(inner, point)) for point in self.path],
            frontier=frontier,
            weights=self.weights,
        )


def weighed_fit(door: BudgetedBase, rows: SweepRows, sheet: CostSheet) -> ChosenModel:
    """Fit the front door for a budget that caps several resources.

    Parameters
    ----------
    door : BudgetedBase
        Its ``budget`` is a mapping.
    rows : SweepRows
        All rows.
    sheet : CostSheet
        The prices, with their resources.

    Returns
    -------
    ChosenModel
        At the prices of the sheet; hard caps are its own.
    """
    caps = Caps(sheet, budget_of(door.budget, sheet), resource_caps(door.budget, sheet))
    tried = [
        weights if any(weights.values()) else {} for weights in combinations(sheet, names=caps.resources)
    ]
    limit = None if door.time_limit is None else door.time_limit / (len(tried) + 1)
    inner = clone(door).set_params(free=None, time_limit=limit)
    if door.budget_kind == "hard":
        return _within_hard_caps(inner, rows, caps, tried)
    found = [_aimed(inner, rows, caps, weights) for weights in tried]
    best = max(found, key=lambda each: each.score)
    if best.chosen is None:
        best = _nothing(inner, rows, caps)
    if best.chosen is not None and not any([best.chosen.max_spend, *best.chosen.details.values()]):
        warnings.warn(
            f"no model that was tried is better within {door.budget!r} than the best guess without any "
            "feature, which is taken",
            BudgetWarning,
            stacklevel=4,
        )
    points = [point for each in found for point in _named(each)]
    return best.model(caps, points or best.path)


def _aimed(door: BudgetedBase, rows: SweepRows, caps: Caps, weights: dict[str, float]) -> Weighed:
    """Fit at some weights, and choose the variant within caps on the means."""
    budget = caps.weighted_budget(weights)
    for _ in range(_TRIES if door.time_limit is None else 1):
        fitted = _fitted(door, rows, caps, weights, budget)
        inner = fitted.fitted_
        assert isinstance(inner, ChosenModel)
        path = _measured(inner, rows, caps)
        inside = [point for point in path if caps.keep(point)]
        if inside:
            aims = isinstance(inner.model, AnyBudgetMixin)
            return Weighed(weights, fitted, path, pick(inside, caps.money, is_any_budget=aims))
        least = min((caps.excess(point) for point in path), default=math.inf)
        if not 1 < least < math.inf:
            break
        budget = 0.9 * min(budget, inner.chosen.spend) / least
    return Weighed(weights, fitted, path, None)


def _nothing(door: BudgetedBase, rows: SweepRows, caps: Caps) -> Weighed:
    """Return the model that buys nothing, for caps that no fit keeps."""
    fitted = _fitted(door, rows, caps, {}, 0.0)
    inner = fitted.fitted_
    assert isinstance(inner, ChosenModel)
    path = _measured(inner, rows, caps)
    return Weighed({}, fitted, path, min(path, key=lambda point: point.spend))


def _fitted(
    door: BudgetedBase, rows: SweepRows, caps: Caps, weights: dict[str, float], budget: float
) -> BudgetedBase:
    prices = caps.sheet.weighted(weights) if weights else caps.sheet
    with warnings.catch_warnings():
        # Of a weighted budget that buys nothing: other weights may.
        warnings.simplefilter("ignore", BudgetWarning)
        fitted: BudgetedBase = clone(door).set_params(costs=prices, budget=budget)
        return fitted.fit(rows.table, rows.y, sample_weight=rows.weights)


def _measured(inner: ChosenModel, rows: SweepRows, caps: Caps) -> list[Point]:
    """Return variants of a fit with what they take of the costs and of each resource, on new rows."""
    some = rows.of_positive_weight()
    decide = some.decider(inner.model, None)
    points = []
    for point in _thinned(inner.path):
        variant = variant_of(inner.model, point.params)
        acquired = decide(variant).acquired
        own = _mean(inner.costs, acquired, some)
        # As much more on new rows as the front door expects of the weighted sum.
        growth = point.spend / own if own > 0 else inner.growth
        means = {name: growth * _mean(each, acquired, some) for name, each in caps.sheet.resources.items()}
        spent = caps.sheet.total_rows(acquired)
        points.append(
            replace(
                point,
                method=inner.chosen.method,
                params={**inner.chosen.params, **point.params},
                spend=growth * float(np.average(spent, weights=some.weights)),
                max_spend=float(spent.max(initial=0.0)),
                details=means,
                estimator=None,
                source=None,
            )
        )
    return points


def _own_params(inner: ChosenModel, point: Point) -> dict[str, Any]:
    """Return the parameters of the variant of a fit that a measured point is of."""
    for own in inner.path:
        if {**inner.chosen.params, **own.params} == point.params:
            return dict(own.params)
    raise LookupError(f"the fit has no variant {point.params}")


def _within_hard_caps(
    door: BudgetedBase, rows: SweepRows, caps: Caps, tried: list[dict[str, float]]
) -> ChosenModel:
    classifies = is_classifier(door)
    some = rows.of_positive_weight()
    scorer = scorer_of(door.scoring, classifies=classifies)
    learn, test = split_rows(some, None, _HELD_OUT, door.random_state, classifies=classifies)[0]
    held_out = some.take(test)
    scores: list[float] = []
    # Folds that are lists of rows are those of all rows.
    is_listed = door.cv is not None and not isinstance(door.cv, int) and not hasattr(door.cv, "split")
    part = clone(door).set_params(cv=None) if is_listed else door
    for weights in tried:
        fitted = _fitted(part, some.take(learn), caps, weights, caps.weighted_budget(weights))
        model = door.variant({}, _capped(fitted, caps, weights, math.nan))
        made = model.decide(held_out.table)
        classes = model.classes_ if classifies else None
        evaluation = Evaluation(
            held_out.y, made.prediction, made.probabilities, made.spent, classes, held_out.all_weights
        )
        scores.append(scorer(evaluation)[0])
    place = int(np.argmax(scores))
    weights = tried[place]
    fitted = _fitted(door, rows, caps, weights, caps.weighted_budget(weights))
    return _capped(fitted, caps, weights, scores[place])


def _capped(door: BudgetedBase, caps: Caps, weights: dict[str, float], score: float) -> ChosenModel:
    """Return a fit at the prices themselves, with hard caps of its own."""
    inner = door.fitted_
    assert isinstance(inner, ChosenModel)
    chosen = replace(
        inner.chosen, spend=math.nan, max_spend=math.nan, score=score, error=math.nan, loss=math.nan
    )
    unit, whole = caps.sheet.unit, caps.sheet.total(caps.sheet.features)
    return replace(
        inner,
        costs=caps.sheet,
        budget=caps.money,
        resource_caps=dict(caps.resources),
        chosen=chosen,
        path=[replace(chosen, params={})],
        frontier=Frontier((), inner.frontier.failures, inner.frontier.score_name, unit, whole),
        weights=weights,
    )


def _thinned(path: list[Point]) -> list[Point]:
    """Return some of the variants, evenly by their spends, with the cheapest and the most expensive."""
    ordered = sorted(path, key=lambda point: point.spend)
    if len(ordered) <= _MEASURED:
        return ordered
    places = np.linspace(0, len(ordered) - 1, _MEASURED).round().astype(int)
    return [ordered[place] for place in places.tolist()]


def _mean(sheet: CostSheet, acquired: NDArray[np.bool_], rows: SweepRows) -> float:
    return float(np.average(sheet.total_rows(acquired), weights=rows.weights))


def _named(found: Weighed) -> Iterator[Point]:
    """Yield the points of a fit, which say the weights that it learned by."""
    for point in found.path:
        weights = {f"weight of {name}": weight for name, weight in found.weights.items()}
        yield replace(point, params={**point.params, **weights})


def _ratio(taken: float, cap: float) -> float:
    return taken / cap if cap > 0 else (0.0 if taken == 0 else math.inf)
