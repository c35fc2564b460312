"""The fit on all rows: aimed at the budget, with figures of that very model and of its variants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from sklearn.base import clone

from farthing.base import AnyBudgetMixin, BudgetedEstimator, Frontier, Point
from farthing.base.choice import choose
from farthing.costs import spending_limit, within_budget
from farthing.deadline import check_deadline
from farthing.frontier.aiming import aim_at
from farthing.frontier.data_split import SweepRows
from farthing.frontier.expected_spend import ExpectedSpend
from farthing.frontier.fold_curves import SettingCurves, with_params
from farthing.typing import Floats
from farthing.walks import Decisions

# From a model of a fit to its decisions about some rows.
Decide: TypeAlias = Callable[[Any], Decisions]

# Rows on which the spend of every variant is measured; that of the model handed over is measured on all.
_MOST_ROWS: Final = 5000
# A spend that differs by more than this factor from what the folds spent is said.
_FAR: Final = 1.25
# Variants for other budgets that are further apart in spend than this get another one between them, unless
# their nominal budgets are nearly the same, until there are so many more. Below a share of the largest spend
# there is no need of any.
_DENSE: Final = 0.1
_NARROW: Final = 0.01
_MOST_BETWEEN: Final = 16
_LEAST_SHARE: Final = 0.01


@dataclass(frozen=True, eq=False)
class Delivery:
    """A fitted model and its figures.

    Parameters
    ----------
    model : estimator
        Fitted on all rows.
    chosen : Point
        Its spend on new rows and its score, as estimated.
    path : list of Point
        The same for each of its variants, with the parameters that the variant sets.
    promised : Point
        The mean of the folds' models when they were aimed at the budget.
    optimism : float
        How much of the score is due to the choice, see `farthing.frontier.optimism`.
    growth : float
        How much more new rows spend than those that the model learned from, as a factor.
    """

    model: BudgetedEstimator
    chosen: Point
    path: list[Point]
    promised: Point
    optimism: float = 0.0
    growth: float = 1.0

    def with_models(self, frontier: Frontier) -> Frontier:
        """Return a frontier whose points of this fit, and no others, hand out models fitted on all rows."""
        fixed = {k: v for k, v in self.chosen.params.items() if all(k not in p.params for p in self.path)}
        made = {_named({**fixed, **point.params}): point.params for point in self.path}
        points = [
            replace(point, source=partial(variant_of, self.model, made[_named(point.params)]))
            if point.method == self.chosen.method and _named(point.params) in made
            else replace(point, source=None)
            for point in frontier.points
        ]
        return replace(frontier, points=tuple(points))

    @property
    def is_worse_than_promised(self) -> bool:
        """Whether the score is lower than that of the folds by more than a standard error."""
        slack = 0.0 if math.isnan(self.promised.error) else self.promised.error
        return self.chosen.score < self.promised.score - slack


def fit_on_all(
    setting: SettingCurves, promised: Point, rows: SweepRows, budget: float | None, *, hard: bool
) -> Delivery:
    """Fit a setting on all rows, and aim it at the budget.

    Parameters
    ----------
    setting : SettingCurves
        What the folds gave.
    promised : Point
        The point that it was chosen for.
    rows : SweepRows
        All rows.
    budget : float or None
        Limit on the mean spend, or on that of every row; None means no limit.
    hard : bool
        Whether it applies to every row.
    """
    aims = budget is not None and not hard
    # Within a mean budget the whole fit is made, and aimed afterwards.
    model = clone(setting.candidate.estimator if aims else promised.estimator)
    if not isinstance(model, BudgetedEstimator):
        raise TypeError(
            f"{setting.candidate.method} does not keep the contract, so it cannot be the model; "
            "farthing.sweep takes any estimator, for comparison"
        )
    rows.fit(model)
    cap = budget if hard else None
    some = _some(rows)
    decide: Decide = some.decider(model, cap)
    expected = ExpectedSpend(setting.growth, has_factors=rows.factors is not None)
    path = _path(setting, model, some, cap, decide, expected=expected)
    if budget is not None and not hard:

        def spend_of(moved: BudgetedEstimator) -> float:
            return expected.of(moved, decide(moved).spent, some.weights)

        whole, model = model, _aim(setting, model, path, promised, spend_of=spend_of, budget=budget)
        if model is not whole:
            path = reachable(path, model)
    spend = rows.spend(model, cap)
    mean = expected.of(model, spend, rows.weights)
    varied = {name for fold in setting.folds for params in fold.params for name in params}
    own = {name: value for name, value in model.get_params().items() if name in varied}
    figures = promised if hard or budget is None else _quote(setting, own, mean)
    chosen = replace(
        figures,
        params={**setting.candidate.params, **own},
        spend=mean,
        max_spend=float(spend.max()),
        estimator=with_params(setting.candidate.estimator, own),
    )
    # The model itself comes last.
    return Delivery(
        model, chosen, [*path, replace(chosen, params=own, estimator=None)], promised, growth=setting.growth
    )


def deliver_again(
    model: BudgetedEstimator,
    path: Sequence[Point],
    rows: SweepRows,
    budget: float | None,
    *,
    hard: bool,
    growth: float,
) -> Delivery:
    """Fit a model that was handed over before on other rows, and aim it by the same rule.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : sequence of Point
        The figures of its variants; the model itself comes last.
    rows, budget, hard
        As in `deliver`.
    growth : float
        How much more new rows spend than those that a model learned from.
    """
    again = rows.fit(clone(model))
    cap = budget if hard else None
    some = _some(rows)
    decide: Decide = some.decider(again, cap)

    expected = ExpectedSpend(growth, has_factors=rows.factors is not None)

    def spend_of(variant: BudgetedEstimator) -> float:
        return expected.of(variant, decide(variant).spent, some.weights)

    if budget is not None and not hard and isinstance(again, AnyBudgetMixin):
        known = [(aim, spend_of(again.at(aim))) for aim in again.other_budgets()]
        again = again.at(aim_at(budget, known, lambda aim: spend_of(again.at(aim))))
    spends, scores = np.array([(point.spend, point.score) for point in path]).T
    order = np.argsort(spends, kind="stable")
    found = []
    for params, variant in [*again.variants(), (dict(path[-1].params), again)]:
        spend = decide(variant).spent
        mean = expected.of(variant, spend, some.weights)
        score = path[-1].score if hard else float(np.interp(mean, spends[order], scores[order]))
        found.append(
            replace(path[-1], params=dict(params), spend=mean, max_spend=float(spend.max()), score=score)
        )
    varied = {name for point in path for name in point.params}
    own = {name: value for name, value in again.get_params().items() if name in varied}
    last = replace(found[-1], params=own)
    return Delivery(again, last, [*found[:-1], last], path[-1], growth=growth)


def pick(path: Sequence[Point], budget: float | None, *, is_any_budget: bool) -> Point:
    """Return the variant of a fitted model to take within a mean budget, or the cheapest if none is.

    Of a method that aims at budgets itself the most expensive one is taken, else the one to choose by score.

    Parameters
    ----------
    path : sequence of Point
        The variants, at least one.
    budget : float or None
        Limit on the mean spend; None means no limit.
    is_any_budget : bool
        Whether more spend is no worse.
    """
    fits = [point for point in path if within_budget(point.spend, budget)]
    found = None
    if fits:
        found = max(fits, key=lambda point: point.spend) if is_any_budget else choose(fits)
    return min(path, key=lambda point: point.spend) if found is None else found


def variant_of(model: BudgetedEstimator, params: Any) -> BudgetedEstimator:
    """Return the variant of a fitted model that sets some parameters.

    Raises
    ------
    LookupError
        If the fit does not contain it.
    """
    own = model.get_params(deep=False)
    if all(name in own and own[name] == value for name, value in params.items()):
        return model
    if isinstance(model, AnyBudgetMixin) and set(params) == {"budget"}:
        return model.at(params["budget"])
    for found, variant in model.variants():
        if found == params:
            return variant
    raise LookupError(f"the fit of {type(model).__name__} has no variant with {params}")


def mixed_with(
    model: BudgetedEstimator, chosen: Point, path: Sequence[Point], budget: float, *, row_cap: float | None
) -> dict[str, Any]:
    """Return the next more expensive variant, and the share of rows that a mean budget pays it for.

    Parameters
    ----------
    model : estimator
        Fitted.
    chosen : Point
        The variant within the budget.
    path : sequence of Point
        All variants.
    budget : float
        The mean budget.
    row_cap : float or None
        What the variant within the budget allows every row.

    Returns
    -------
    dict
        ``above`` and ``share`` of `ChosenModel`: none and 0 if no variant is more expensive, or none is
        better. The cap on every row is one for both, so a variant with another one is passed over.
    """
    none: dict[str, Any] = {"above": None, "share": 0.0}
    if chosen.spend > budget:
        return none
    above = [p for p in path if p.spend > spending_limit(budget) and p.score > chosen.score]
    for point in sorted(above, key=lambda point: point.spend):
        variant = variant_of(model, point.params)
        if variant.fitted_.budget == row_cap:
            share = (budget - chosen.spend) / (point.spend - chosen.spend)
            return {"above": variant, "share": float(share)}
    return none


def _named(params: Mapping[str, Any]) -> str:
    return repr(sorted(params.items(), key=lambda item: item[0]))


def _aim(
    setting: SettingCurves,
    model: BudgetedEstimator,
    path: Sequence[Point],
    promised: Point,
    *,
    spend_of: Callable[[BudgetedEstimator], float],
    budget: float,
) -> BudgetedEstimator:
    """Return the variant of the last fit to hand over within a mean budget."""
    fits = [point for point in path if point.spend <= spending_limit(budget)]
    if isinstance(model, AnyBudgetMixin) and model.budget_kind == "mean":
        nominal = [(point.params["budget"], point.spend) for point in path if set(point.params) == {"budget"}]
        return model.at(aim_at(budget, nominal, lambda aim: spend_of(model.at(aim))))
    if not fits:
        return variant_of(model, min(path, key=lambda point: point.spend).params)
    if setting.is_any_budget:
        return variant_of(model, max(reversed(fits), key=lambda point: point.spend).params)
    # The variant that was chosen, or else one with few changed parameters; of these the most expensive.
    given = setting.candidate.params
    best = max(
        fits,
        key=lambda point: ({**given, **point.params} == promised.params, -len(point.params), point.spend),
    )
    return variant_of(model, best.params)


def reachable(path: Sequence[Point], model: BudgetedEstimator) -> list[Point]:
    """Return the points of a fit that a variant of it still contains, as a shorter booster its own prefixes.

    No parameters mean the model itself, which is another one than that of the whole fit.
    """
    contained = [dict(params) for params, _ in model.variants()]
    moves = isinstance(model, AnyBudgetMixin)
    return [
        point
        for point in path
        if point.params and ((moves and set(point.params) == {"budget"}) or dict(point.params) in contained)
    ]


def _quote(setting: SettingCurves, params: Mapping[str, Any], spend: float) -> Point:
    """Return the score of a variant of the last fit, from the folds' models that spend as it does."""
    # The whole fit is the variant that changes nothing, under whatever values its parameters have.
    given = setting.candidate.estimator.get_params()
    named = setting.named(params) or setting.named({k: v for k, v in params.items() if given.get(k) != v})
    if named is not None and not setting.is_any_budget and not are_far(named.spend, spend):
        return named
    return setting.at_spend(spend, params)


def _path(
    setting: SettingCurves,
    model: BudgetedEstimator,
    some: SweepRows,
    cap: float | None,
    decide: Decide,
    *,
    expected: ExpectedSpend,
) -> list[Point]:
    """Return the figures of each variant of a fitted model.

    Those of a method that aims at budgets itself are made near to each other in spend.
    """

    def point(params: Mapping[str, Any], variant: BudgetedEstimator, spend: Floats) -> Point:
        check_deadline()
        mean = expected.of(variant, spend, some.weights)
        quoted = _quote(setting, params, mean)
        most = float(spend.max())
        return replace(quoted, params=dict(params), spend=mean, max_spend=most, estimator=None)

    if not isinstance(model, AnyBudgetMixin) or model.budget_kind == "hard":
        told = some.decide_variants(model, cap)
        return [point(params, variant, decided.spent) for params, variant, decided in told]
    points = [point(params, variant, decide(variant).spent) for params, variant in model.variants()]
    least = _LEAST_SHARE * max(one.spend for one in points)
    if least == 0:
        return points  # with a spend of 0 at every budget there is nothing between them
    for _ in range(_MOST_BETWEEN):
        known = sorted((p.params["budget"], p.spend) for p in points if set(p.params) == {"budget"})
        gaps = [
            (high_spend / max(low_spend, least), low, high)
            for (low, low_spend), (high, high_spend) in pairwise(known)
            if high - low > _NARROW * high
        ]
        ratio, low, high = max(gaps, default=(0.0, 0.0, 0.0))
        if ratio <= 1 + _DENSE:
            break
        between = model.at((low + high) / 2)
        points.append(point({"budget": between.budget}, between, decide(between).spent))
    # The model itself comes last.
    points.append(points.pop(next(i for i, one in enumerate(points) if not one.params)))
    return points


def _some(rows: SweepRows) -> SweepRows:
    """Return the rows on which spends are measured."""
    if len(rows.y) <= _MOST_ROWS:
        return rows
    return rows.take(np.sort(np.random.default_rng(0).choice(len(rows.y), _MOST_ROWS, replace=False)))


def are_far(one: float, other: float) -> bool:
    """Return whether two spends differ by more than a quarter."""
    low, high = sorted([one, other])
    return high > _FAR * low


def _mean(spend: Any, rows: SweepRows) -> float:
    return float(np.average(spend, weights=rows.weights))
