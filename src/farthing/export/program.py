"""A fitted model as all that an export writes: its plan, its link, its prices and its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from farthing.base import BudgetedEstimator, ErrorCosts, FittedModel
from farthing.errors import ExportError
from farthing.export.links import apply_link
from farthing.export.prices import Prices
from farthing.typing import Floats
from farthing.walks.drawn_votes import DrawnVotePlan
from farthing.walks.plans import (
    Handover,
    Link,
    MessagePlan,
    Plan,
    StationPlan,
    TreePlan,
    first_true,
)


@dataclass(frozen=True, eq=False)
class LabelCut:
    """The label of a row by its first raw output alone: ``above`` from ``cut`` on, else ``below``."""

    cut: float
    below: int
    above: int


@dataclass(frozen=True, eq=False)
class Program:
    """What an export writes.

    Parameters
    ----------
    method : str
        The class of the estimator.
    plan : Plan
        The policy.
    link : tuple of LinkStep
        From raw outputs to results: probabilities, or one value.
    prices : Prices
        What a walk may buy.
    n_outputs : int
        Raw outputs of the plan.
    classes : list or None
        The labels; None for a model that predicts numbers.
    error_costs : ndarray of float64, shape (n_classes, n_classes), or None
        What errors cost, true by predicted class.
    label_cut : LabelCut or None
        For one raw output and two classes.
    unseen : ndarray of float64, shape (n_results,)
        The results of a row that looked at nothing.
    unseen_label : int
        Its label.
    settles : bool
        Whether such rows have these results.
    budget : float or None
        The hard budget of walks for which none is given.
    """

    method: str
    plan: Plan
    link: Link
    prices: Prices
    n_outputs: int
    classes: list[Any] | None
    error_costs: Floats | None
    label_cut: LabelCut | None
    unseen: Floats
    unseen_label: int
    settles: bool
    budget: float | None

    @classmethod
    def of(cls, model: BudgetedEstimator) -> Program:
        """Return the program of a fitted estimator.

        Raises
        ------
        ExportError
            If the model cannot be written; it names the method and says why.
        """
        fitted = model.fitted_
        try:
            plan, link = fitted.plan(), fitted.link_steps()
            prices = Prices.of(fitted, plan)
        except ExportError as error:
            raise ExportError(f"{type(model).__name__} cannot be exported: {error}") from error
        error_costs = getattr(fitted, "error_costs", None)
        classes = fitted.classes.tolist() if hasattr(fitted, "classes") else None
        n_outputs = _n_outputs(plan)
        unseen = np.atleast_1d(fitted.conclude(fitted.prior[np.newaxis])[0])
        return cls(
            method=type(model).__name__,
            plan=plan,
            link=link,
            prices=prices,
            n_outputs=n_outputs,
            classes=classes,
            error_costs=error_costs,
            label_cut=_label_cut(link, error_costs)
            if n_outputs == 1 and classes and len(classes) == 2
            else None,
            unseen=np.asarray(unseen, dtype=np.float64),
            unseen_label=int(_labels(unseen[np.newaxis], error_costs)[0]) if classes else -1,
            settles=_settles(fitted),
            budget=fitted.budget,
        )

    @property
    def n_results(self) -> int:
        """Probabilities, or 1 for a value."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def handover(self) -> Handover | None:
        """The model that answers in place of this one, if there is one."""
        return self.plan.handover if isinstance(self.plan, TreePlan | StationPlan) else None

    @property
    def answer_width(self) -> int:
        """Numbers of an answer that is a list: of a message, or of the probabilities of another model."""
        if isinstance(self.plan, MessagePlan):
            return self.n_outputs
        return 0 if self.handover is None else self.n_results


def _n_outputs(plan: Plan) -> int:
    if isinstance(plan, DrawnVotePlan):
        return len(plan.prior)
    return len(plan.start) if isinstance(plan, StationPlan | MessagePlan) else plan.trees.forest.n_outputs


def _labels(results: Floats, error_costs: Floats | None) -> Any:
    if error_costs is None:
        return np.argmax(results, axis=1)
    return ErrorCosts(error_costs).decide(results)


def _label_cut(link: Link, error_costs: Floats | None) -> LabelCut:
    """Return the score at which the label changes, so that no language needs an exponential to decide."""

    def label(score: float) -> int:
        return int(_labels(apply_link(link, np.array([[score]])), error_costs)[0])

    below, above = label(-1024.0), label(1024.0)
    return LabelCut(first_true(lambda score: label(score) == above), below, above)


def _settles(fitted: FittedModel) -> bool:
    """Return whether rows that looked at nothing get the prior."""
    other = fitted.prior[np.newaxis] + 1.0
    looked = np.zeros((1, len(fitted.costs.features)), dtype=np.bool_)
    return not np.array_equal(fitted.settle(other, looked), other)


def is_tree_sum(plan: Plan) -> bool:
    """Return whether a plan is one sum over trees without a price, an exit or another model."""
    return isinstance(plan, TreePlan) and len(plan.ends) == 1 and not plan.calls and plan.handover is None
