"""The trade-off curves of one setting: one curve per fold, and the point that aiming at a budget gives.

A method that aims at budgets itself gives another curve on other rows: at the same nominal budget one fold
may buy much and another next to nothing. A figure for a mean budget is therefore made of one model per fold,
each aimed at the budget on its own curve, as the model that is fitted on all rows will be. Variants of other
methods, such as thresholds and numbers of rounds, spend about the same on any rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from farthing.base import AnyBudgetMixin, Point
from farthing.base.choice import choose, path_ends
from farthing.costs import spending_limit, within_budget
from farthing.frontier.candidates import Candidate
from farthing.frontier.row_values import RowValues, Standing, cross_fitted
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class FoldCurve:
    """Spend and score of the variants of one fit, on the rows that its fold holds out.

    Parameters
    ----------
    params : sequence of mapping
        What each variant sets.
    figures : ndarray of float64, shape (n_variants, 5)
        Mean spend, largest spend, score, its standard error and loss of each variant.
    weight : float
        Weight of the rows held out.
    aimed_spend, own_spend : float
        Mean spend of one variant, the one that the budget takes, on the rows held out and on those that the
        fit learned from.
    aimed_variance : float
        Squared standard error of the former.
    seconds : float
        What the fit took, with the evaluation of its variants.
    values : RowValues, optional
        Score and loss of each held-out row, for each variant.
    """

    params: Sequence[Mapping[str, Any]]
    figures: Floats
    weight: float
    aimed_spend: float
    own_spend: float
    aimed_variance: float
    seconds: float = 0.0
    values: RowValues | None = None

    def within(self, budget: float | None) -> int:
        """Return the variant that spends most within a mean budget, or the cheapest one if none is.

        None means no limit.
        """
        spend = self.figures[:, 0]
        fits = np.flatnonzero(spend <= spending_limit(budget))
        # Of equal spends the last: variants are in the order of their budgets.
        return int(fits[::-1][np.argmax(spend[fits][::-1])]) if len(fits) else int(np.argmin(spend))

    def nearest(self, spend: float) -> int:
        """Return the variant whose mean spend is nearest to a given one."""
        return int(np.argmin(np.abs(self.figures[:, 0] - spend)))


@dataclass(frozen=True, eq=False)
class SettingCurves:
    """The curves of one setting on all folds.

    Parameters
    ----------
    candidate : Candidate
        The setting.
    folds : sequence of FoldCurve
        One for each fold.
    overlap : float
        How often a row is held out, on average.
    is_finalist : bool
        Whether the setting was evaluated on all folds; one that left a race has fewer.
    shift : pair of float
        Added to score and loss of every point: how much harder or easier the folds are that it lacks.
    """

    candidate: Candidate
    folds: Sequence[FoldCurve]
    overlap: float
    is_finalist: bool = True
    shift: tuple[float, float] = (0.0, 0.0)

    @property
    def is_any_budget(self) -> bool:
        """Whether the method aims at budgets itself, so that more spend is no worse."""
        return isinstance(self.candidate.estimator, AnyBudgetMixin)

    @property
    def growth(self) -> float:
        """How much more the models spend on new rows than on those they learned from, as a factor.

        Models are surer of the rows that they learned from, so that these leave early exits sooner.
        """
        shares = self._shares
        own = float(shares @ np.array([fold.own_spend for fold in self.folds]))
        more = float(shares @ np.array([fold.aimed_spend for fold in self.folds])) - own
        variance = float(shares**2 @ np.array([fold.aimed_variance for fold in self.folds]))
        # With few rows the difference is mostly noise, so it is shrunk as James and Stein do. There is no
        # reason for new rows to spend less: that is noise, too.
        kept = max(0.0, 1 - variance / more**2) if more > 0 else 0.0
        return 1 + kept * more / own if own > 0 else 1.0

    @property
    def seconds(self) -> float:
        """What a fit took, on average."""
        return float(np.mean([fold.seconds for fold in self.folds]))

    @property
    def seconds_on_all(self) -> float:
        """What a fit on all rows is expected to take.

        Folds are taken of small tables, which take hardly longer for more rows. One split is taken of large
        ones, which take time in proportion to the rows; it holds out a quarter unless it is told otherwise.
        """
        held_out = [fold.weight for fold in self.folds]
        total = sum(held_out) / self.overlap
        learned = total - float(np.mean(held_out))
        return self.seconds * ((total / learned) ** 0.25 if learned > 0 else 4 / 3)

    def points(self) -> list[Point]:
        """Return a point for each variant that every fold has: the mean over folds."""
        return list(self._by_variant.values())

    def named(self, params: Mapping[str, Any]) -> Point | None:
        """Return the point of a variant; None if some fold lacks it."""
        return self._by_variant.get(_key(params))

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        """For each fold, where each variant is, by its parameters."""
        return [{_key(params): i for i, params in enumerate(fold.params)} for fold in self.folds]

    @cached_property
    def _by_variant(self) -> dict[str, Point]:
        places = self._places
        return {
            key: self._mean([variants[key] for variants in places], self.folds[0].params[first])
            for key, first in places[0].items()
            # Variants may depend on the data, such as a number of rounds: one that a fold lacks has no mean.
            if all(key in variants for variants in places)
        }

    def judged(self, budget: float | None, *, hard: bool) -> Judged | None:
        """Return the point by which the setting is judged within a budget; None if it has none within it.

        A method that aims at budgets itself is judged by models that were aimed, one per fold; another one by
        the variant to choose among those within the budget. The values of the rows are those of variants that
        other rows chose, see `cross_fitted`: the best of a hundred variants is better on the rows that chose
        it than on new ones, and methods with few variants would lose by that.

        Parameters
        ----------
        budget : float or None
            Limit on the mean spend, or on that of every row; None means no limit.
        hard : bool
            Whether it applies to every row.
        """
        point, fitting = self._point(budget, hard=hard)
        if point is None or not within_budget(point.spend_of(hard=hard), budget):
            return None
        values = [fold.values for fold in self.folds if fold.values is not None]
        if len(values) < len(self.folds):
            return Judged(point, None)
        if fitting is None:
            places = [fold.within(budget) for fold in self.folds]
            return Judged(point, Standing.of(list(zip(values, places, strict=True))))
        places_of = [[variants[key] for variants in self._places] for key in fitting]
        parts = [one.of_models([places[number] for places in places_of]) for number, one in enumerate(values)]
        return Judged(point, cross_fitted(parts))

    def _point(self, budget: float | None, *, hard: bool) -> tuple[Point | None, list[str] | None]:
        """Return the point of `judged`, and the variants that it was chosen from, by their keys.

        None in place of the variants means models that were aimed, one per fold.
        """
        if not hard and self.is_any_budget:
            return self.aimed(budget), None
        fitting = {
            key: point
            for key, point in self._by_variant.items()
            if within_budget(point.spend_of(hard=hard), budget)
        }
        ends = {id(point) for point in path_ends(fitting.values())}
        return choose(fitting.values()), [key for key, point in fitting.items() if id(point) in ends]

    def overall(self, budgets: Sequence[float]) -> float:
        """Return the mean loss over several mean budgets; without a loss, the score negated.

        Parameters
        ----------
        budgets : sequence of float
            Ascending. One that is below the cheapest model counts as that of the cheapest.
        """
        found = [self._point(budget, hard=False)[0] for budget in budgets]
        points = [
            point
            for point, budget in zip(found, budgets, strict=True)
            if point is not None and within_budget(point.spend, budget)
        ]
        losses = [-point.score if math.isnan(point.loss) else point.loss for point in points]
        losses = losses[:1] * (len(budgets) - len(losses)) + losses
        return float(np.mean(losses)) if losses else math.inf

    @property
    def most_spend(self) -> float:
        """The largest mean spend of a model."""
        return max(float(fold.figures[:, 0].max()) for fold in self.folds)

    def aimed(self, budget: float | None) -> Point:
        """Return the mean of the folds' models, each aimed at a mean budget, if the method does that.

        None means no limit.
        """
        return self._mean([fold.within(budget) for fold in self.folds], {"budget": budget})

    def at_spend(self, spend: float, params: Mapping[str, Any]) -> Point:
        """Return the mean of the folds' models whose spend is nearest to a given one."""
        return self._mean([fold.nearest(spend) for fold in self.folds], params)

    @property
    def _shares(self) -> Floats:
        weights = np.array([fold.weight for fold in self.folds])
        return np.asarray(weights / weights.sum())

    def _mean(self, places: Sequence[int], params: Mapping[str, Any]) -> Point:
        shares = self._shares
        figures = np.array([fold.figures[place] for fold, place in zip(self.folds, places, strict=True)])
        # Folds are disjoint, so their errors are independent. With repeats a row counts several times, and
        # the variance grows by the overlap.
        errors = shares * figures[:, 3]
        return Point(
            self.candidate.method,
            {**self.candidate.params, **params},
            spend=float(shares @ figures[:, 0]),
            max_spend=float(figures[:, 1].max()),
            score=float(shares @ figures[:, 2]) + self.shift[0],
            error=float(np.sqrt(self.overlap * np.sum(errors**2))),
            loss=float(shares @ figures[:, 4]) + self.shift[1],
            estimator=with_params(self.candidate.estimator, params),
        )


@dataclass(frozen=True, eq=False)
class Judged:
    """The point by which a setting is judged, and the values of its rows, if there are any."""

    point: Point
    standing: Standing | None


def _key(params: Mapping[str, Any]) -> str:
    return json.dumps(dict(params), sort_keys=True)


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return an unfitted estimator with other parameters; a clone of each of hundreds would be slow."""
    # A shallow copy shares the other parameters; only the path to a nested one is copied.
    made = copy(estimator)
    for name, value in params.items():
        outer, _, inner = name.partition("__")
        setattr(made, outer, with_params(getattr(made, outer), {inner: value}) if inner else value)
    return made
