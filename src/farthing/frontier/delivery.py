"""From the curves of a sweep to the model that is handed over, with figures of that very model.

Within a mean budget every setting is judged by models that were aimed at the budget, one per fold. The best
setting is fitted on all rows and aimed by the same rule. Its spend is measured on those rows, and multiplied
by how much more the folds' models spent on new rows. Its score is that of the folds' models of the same
spend. If the last fit turns out worse than the folds promised, as it does for methods that are unstable, the
next best settings are tried, too.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from sklearn.base import clone

from farthing.base import AnyBudgetMixin, BudgetedEstimator, Point
from farthing.base.choice import choose
from farthing.costs import spending_limit, within_budget
from farthing.deadline import DeadlineReached, check_deadline, deadline
from farthing.errors import BudgetWarning
from farthing.frontier.aiming import aim_at
from farthing.frontier.data_split import SweepRows
from farthing.frontier.fold_curves import Judged, SettingCurves, with_params
from farthing.frontier.optimism import optimism
from farthing.frontier.paired_choice import Contender, rank
from farthing.frontier.row_values import difference
from farthing.frontier.progress_bar import Progress

# Settings that are fitted on all rows before the best of them is kept.
_MOST_REFITS: Final = 3
# Rows on which the spend of every variant is measured; that of the model handed over is measured on all.
_MOST_ROWS: Final = 5000
# Budgets over which settings are compared, as shares of the largest mean spend.
_SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# A spend that differs by more than this factor from what the folds spent is said.
_FAR: Final = 1.25
# Under a time limit, a fit must be expected to take at most its time left over this.
_SAFETY: Final = 1.7
# A fit that is expected to take no more than this part of the limit is made even if the time is over.
_GRACE: Final = 0.05


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
    """

    model: BudgetedEstimator
    chosen: Point
    path: list[Point]
    promised: Point
    optimism: float = 0.0

    @property
    def is_worse_than_promised(self) -> bool:
        """Whether the score is lower than that of the folds by more than a standard error."""
        slack = 0.0 if math.isnan(self.promised.error) else self.promised.error
        return self.chosen.score < self.promised.score - slack


@dataclass(frozen=True)
class LastFitLimit:
    """The time of the last fit.

    Parameters
    ----------
    end : float
        When it is over, in seconds since the epoch.
    seconds : float
        The whole limit, of which the last fit has a part.
    """

    end: float
    seconds: float

    def end_of(self, expected: float) -> float:
        """Return when to stop a fit; one that takes little is made even if the time is over.

        Parameters
        ----------
        expected : float
            Seconds that the fit is expected to take.
        """
        grace = _GRACE * self.seconds
        return max(self.end, time.time() + _SAFETY * grace) if expected <= grace else self.end


def of_fold(seconds: float) -> float:
    """Return how long a fit on the rows of a fold may take if one on all rows must follow in some seconds."""
    return seconds / _SAFETY


def deliver(
    settings: Sequence[SettingCurves],
    rows: SweepRows,
    budget: float | None,
    *,
    hard: bool,
    limit: LastFitLimit | None = None,
    progress: bool = False,
) -> Delivery | None:
    """Choose a setting within a budget and fit it on all rows; None if nothing is within the budget.

    Parameters
    ----------
    settings : sequence of SettingCurves
        The curves of the sweep.
    rows : SweepRows
        All rows.
    budget : float or None
        Limit on the mean spend, or on that of every row; None means no limit.
    hard : bool
        Whether it applies to every row.
    limit : LastFitLimit, optional
        When to stop. Settings whose fit would take longer are passed over, as long as a faster one is left.
    progress : bool
        Whether to show a bar.
    """
    tried: list[Delivery] = []
    late: list[tuple[SettingCurves, Point]] = []
    cut_off: list[tuple[SettingCurves, Point]] = []

    def fit_again(setting: SettingCurves, promised: Point, end: float | None) -> None:
        bar = Progress(1, "fit on all rows", shown=progress, expected=setting.seconds_on_all)
        with deadline(end), bar:
            tried.append(_refit(setting, promised, rows, budget, hard=hard))
            bar.step()

    choice = ranked(settings, budget, hard=hard)
    lucky = optimism(
        [how.standing for one, how in choice if how.standing is not None and one.is_finalist]
    )
    for setting, judged in choice:
        promised = judged.point
        expected = setting.seconds_on_all
        end = None if limit is None else limit.end_of(expected)
        if end is not None and time.time() + _SAFETY * expected > end:
            late.append((setting, promised))
            continue
        try:
            fit_again(setting, promised, end)
        except DeadlineReached:
            cut_off.append((setting, promised))
            continue
        if not tried[-1].is_worse_than_promised or len(tried) == _MOST_REFITS:
            break
        if limit is not None and time.time() > limit.end:
            break
    if not tried and (late or cut_off):
        # There is to be a model to hand over, whatever the time.
        fit_again(*min(late or cut_off, key=lambda one: one[0].seconds), None)
    if not tried:
        return None
    best = choose([replace(one.chosen, estimator=None) for one in tried])
    places = [i for i, one in enumerate(tried) if best is not None and one.chosen.score == best.score]
    found = tried[places[0] if places else 0]
    _warn_if_far(found)
    return replace(found, optimism=lucky)


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
    if not params:
        return model
    if isinstance(model, AnyBudgetMixin) and set(params) == {"budget"}:
        return model.at(params["budget"])
    for found, variant in model.variants():
        if found == params:
            return variant
    raise LookupError(f"the fit of {type(model).__name__} has no variant with {params}")


def ranked(
    settings: Sequence[SettingCurves], budget: float | None, *, hard: bool
) -> list[tuple[SettingCurves, Judged]]:
    """Return the settings that have a model within a budget, the best first, with how they are judged.

    Parameters
    ----------
    settings : sequence of SettingCurves
        The curves of the sweep. Of a race those count that were evaluated on all folds.
    budget : float or None
        Limit on the mean spend, or on that of every row; None means no limit.
    hard : bool
        Whether it applies to every row.
    """
    found = [(one, how) for one in settings if (how := one.judged(budget, hard=hard)) is not None]
    order = _by_rows([pair for pair in found if pair[0].is_finalist])
    # Who left a race comes before the first who is worse on the rows that both have.
    for pair in _by_points([pair for pair in found if not pair[0].is_finalist]):
        places = [i for i, other in enumerate(order) if _is_better(pair[1], other[1])]
        order.insert(places[0] if places else len(order), pair)
    return order


def _is_better(one: Judged, other: Judged) -> bool:
    """Return whether a setting is better than another that was judged by its rows and more."""
    if one.standing is None or other.standing is None:
        return one.point.score > other.point.score
    if not np.isin(one.standing.rows, other.standing.rows).all():
        return False
    rest = other.standing.on(one.standing.rows)
    gained = difference(one.standing.scores, rest.scores, rest.weights)
    return gained.mean > gained.error


def _by_rows(found: list[tuple[SettingCurves, Judged]]) -> list[tuple[SettingCurves, Judged]]:
    """Order settings that were judged by the same rows."""
    standings = [how.standing for _, how in found if how.standing is not None]
    if len(standings) < len(found):
        return _by_points(found)  # a score without values of rows
    whole = max((one.most_spend for one, _ in found), default=0.0)
    overall = [one.overall([share * whole for share in _SHARES]) for one, _ in found]
    order = rank([Contender(*pair) for pair in zip(standings, overall, strict=True)])
    return [found[place] for place in order]


def _by_points(found: list[tuple[SettingCurves, Judged]]) -> list[tuple[SettingCurves, Judged]]:
    """Order settings by their points alone."""
    left, order = list(found), []
    while (best := choose(how.point for _, how in left)) is not None:
        order.append(next(pair for pair in left if pair[1].point is best))
        left.remove(order[-1])
    return order


def _refit(
    setting: SettingCurves, promised: Point, rows: SweepRows, budget: float | None, *, hard: bool
) -> Delivery:
    aims = budget is not None and not hard
    # Within a mean budget the whole fit is made, and aimed afterwards.
    model = clone(setting.candidate.estimator if aims else promised.estimator)
    if not isinstance(model, BudgetedEstimator):
        raise TypeError(
            f"{setting.candidate.method} does not keep the contract, so it cannot be the model; "
            "farthing.sweep takes any estimator, for comparison"
        )
    model.fit(rows.table, rows.y, **rows.fit_options(model))
    cap = budget if hard else None
    path = _path(setting, model, rows, cap)
    if budget is not None and not hard:
        model = _aim(setting, model, path, promised, rows, budget)
    spend = model.spend(rows.table, budget=cap)
    varied = {name for fold in setting.folds for params in fold.params for name in params}
    own = {name: value for name, value in model.get_params().items() if name in varied}
    figures = (
        promised if hard or budget is None else _quote(setting, own, _mean(spend, rows) * setting.growth)
    )
    chosen = replace(
        figures,
        params={**setting.candidate.params, **own},
        spend=_mean(spend, rows) * setting.growth,
        max_spend=float(spend.max()),
        estimator=with_params(setting.candidate.estimator, own),
    )
    # The model itself comes last.
    return Delivery(model, chosen, [*path, replace(chosen, params=own, estimator=None)], promised)


def _aim(
    setting: SettingCurves,
    model: BudgetedEstimator,
    path: Sequence[Point],
    promised: Point,
    rows: SweepRows,
    budget: float,
) -> BudgetedEstimator:
    """Return the variant of the last fit to hand over within a mean budget."""
    fits = [point for point in path if point.spend <= spending_limit(budget)]
    if isinstance(model, AnyBudgetMixin) and model.budget_kind == "mean":
        some = _some(rows)
        nominal = [(point.params["budget"], point.spend) for point in path if set(point.params) == {"budget"}]

        def spend_of(aim: float) -> float:
            return _mean(model.at(aim).spend(some.table), some) * setting.growth

        found = aim_at(budget, nominal, spend_of)
        return model.at(found)
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


def _quote(setting: SettingCurves, params: Mapping[str, Any], spend: float) -> Point:
    """Return the score of a variant of the last fit, from the folds' models that spend as it does."""
    named = setting.named(params)
    if named is not None and not setting.is_any_budget and not _are_far(named.spend, spend):
        return named
    return setting.at_spend(spend, params)


def _path(
    setting: SettingCurves, model: BudgetedEstimator, rows: SweepRows, cap: float | None
) -> list[Point]:
    """Return the figures of each variant of a fitted model."""
    some = _some(rows)
    points = []
    for params, variant in model.variants():
        check_deadline()
        spend = variant.spend(some.table, budget=cap)
        expected = _mean(spend, some) * setting.growth
        point = _quote(setting, params, expected)
        most = float(spend.max())
        points.append(replace(point, params=dict(params), spend=expected, max_spend=most, estimator=None))
    return points


def _some(rows: SweepRows) -> SweepRows:
    """Return the rows on which spends are measured."""
    if len(rows.y) <= _MOST_ROWS:
        return rows
    return rows.take(np.sort(np.random.default_rng(0).choice(len(rows.y), _MOST_ROWS, replace=False)))


def _are_far(one: float, other: float) -> bool:
    low, high = sorted([one, other])
    return high > _FAR * low


def _mean(spend: Any, rows: SweepRows) -> float:
    return float(np.average(spend, weights=rows.weights))


def _warn_if_far(found: Delivery) -> None:
    if _are_far(found.chosen.spend, found.promised.spend):
        warnings.warn(
            f"the model fitted on all rows spends {found.chosen.spend:.4g} on average, where those of the "
            f"folds spent {found.promised.spend:.4g}; its score is quoted from models that spend as it does",
            BudgetWarning,
            stacklevel=4,
        )
