"""Fitted models with early exits: a boosted model, and where rows may leave it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, FittedModel, TreeModel
from farthing.costs import CostSheet
from farthing.trees import Forest, Progress
from farthing.walks import PaidTrees, Stand
from farthing.walks.plans import Link

# (number of the exit from 1, number of all exits, raw outputs of the rows left, their numbers) to which of
# them go on.
Stays: TypeAlias = Callable[[int, int, NDArray[np.float64], NDArray[np.int64]], NDArray[np.bool_]]


def exit_trees(forest: Forest, rounds_per_exit: int) -> tuple[int, ...]:
    """Return the numbers of trees after which rows may leave: every few rounds, and at the end.

    A round is as many trees as it takes to add to every output once. Trees of one node before the first
    round, which hold the prediction without any feature, are no round.

    Examples
    --------
    >>> base = Forest.constant([0.5], n_features=1)
    >>> stump = Forest.from_arrays(
    ...     n_features=1, feature=[0, -1, -1], threshold=[0, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> exit_trees(Forest.concat([base, *[stump] * 5]), rounds_per_exit=2)
    (3, 5, 6)
    """
    trees_per_round = forest.n_outputs // forest.width
    # Single nodes in front hold the constant start of each output; they test nothing.
    sizes = np.diff(forest.offsets)[:trees_per_round]
    first = trees_per_round if (sizes == 1).all() else 0
    step = rounds_per_exit * trees_per_round
    return (*range(first + step, forest.n_trees, step), forest.n_trees)


def costs_by_exit(model: TreeModel, rounds_per_exit: int) -> CostSheet:
    """Return the cost sheet of a model with exits: the evaluation of the trees up to each exit is a call.

    Parameters
    ----------
    model : TreeModel
        The boosted model; the call of its cost sheet, if it has one, is the evaluation of all trees.
    rounds_per_exit : int
        Rounds of boosting between two exits.
    """
    costs, forest = model.costs, model.forest
    exits = exit_trees(forest, rounds_per_exit)
    # A tree without a split is a constant, which costs nothing.
    counts = np.concatenate([[0], np.cumsum(np.diff(forest.offsets) > 1)])
    price = sum(costs.call_prices().values())
    blocks = zip((0, *exits), exits, strict=False)
    return costs.with_calls(
        {
            f"trees up to exit {number}": float(price * (counts[end] - counts[begin]) / counts[-1])
            for number, (begin, end) in enumerate(blocks, start=1)
        }
        if costs.calls
        else {}
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class EarlyExitModel(FittedModel):
    """A fitted boosted model, and where rows may leave it.

    Parameters
    ----------
    model : BudgetedEstimator
        The boosted model, fitted.
    rounds_per_exit : int
        Rounds of boosting between two exits.
    """

    model: BudgetedEstimator
    rounds_per_exit: int

    @property
    def inner(self) -> TreeModel:
        """The fitted trees of the boosted model."""
        return fitted_trees(self.model)

    @cached_property
    def exits(self) -> tuple[int, ...]:
        """After how many trees rows may leave; the last is the number of all trees."""
        return exit_trees(self.inner.forest, self.rounds_per_exit)

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the trees test, shape (n_features,)."""
        return self.inner.may_buy()

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn raw outputs into probabilities or values, as the boosted model does."""
        return self.inner.conclude(outputs)

    def label_shares(self, stands: Sequence[Stand]) -> NDArray[np.float64] | None:
        """Return what the boosted model knows of the labels where rows stand."""
        return self.inner.label_shares(stands)

    def link_steps(self) -> Link:
        """Return the steps of the boosted model."""
        return self.inner.link_steps()

    def descend(
        self,
        values: NDArray[np.floating],
        budget: NDArray[np.float64] | None,
        stays: Stays,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Send rows from exit to exit until they leave.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        budget : ndarray of float64, shape (n_rows,), or None
            What each row may spend.
        stays : callable
            Returns which rows continue after an exit.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            Raw outputs at the exit of each row.
        acquired : ndarray of bool, shape (n_rows, n_features)
            What each row bought.
        """
        predictor = self.inner.predictor
        progress = Progress(values, len(self.prior), self.costs, budget=budget, n_threads=n_threads)
        rows = np.arange(len(values))
        begin, exits, calls = 0, self.exits, self.call_places
        for number, end in enumerate(exits, start=1):
            # Outputs, purchases and budgets of rows that left stay in ``progress`` as they were.
            if calls:
                rows = predictor.advance_paid(progress, begin, end, rows, calls[number - 1])
            else:
                predictor.advance(progress, begin, end, rows)
            if end < exits[-1]:
                rows = rows[stays(number, len(exits), progress.outputs[rows], rows)]
            begin = end
        return progress.outputs, progress.acquired

    @property
    def call_places(self) -> tuple[int, ...]:
        """Where the cost sheet has the evaluation of the trees up to each exit; empty if they are free."""
        return tuple(range(self.costs.n_columns, len(self.costs.features)))

    def trees_policy(self) -> PaidTrees:
        """Return a walk through the trees from exit to exit."""
        return PaidTrees(self.inner.predictor, self.exits, self.call_places)

    def check(self) -> None:
        """Raise ValueError if the exits do not fit the boosted model."""
        super().check()
        check_one_sum(self.model)
        inner = self.inner
        if self.rounds_per_exit < 1:
            raise ValueError(f"rounds_per_exit must be at least 1; got {self.rounds_per_exit}")
        if inner.schema != self.schema or inner.budget != self.budget:
            raise ValueError("the columns and the budget must be those of the inner model")
        if self.costs != costs_by_exit(inner, self.rounds_per_exit):
            raise ValueError("the costs must be those of the inner model, with a call for each exit")
        if not np.array_equal(inner.prior, self.prior):
            raise ValueError("prior must be that of the inner model")


def fitted_trees(model: BudgetedEstimator) -> TreeModel:
    """Return the fitted trees of a model; raise TypeError if it is not made of trees."""
    fitted = model.fitted_
    if not isinstance(fitted, TreeModel):
        raise TypeError(f"a {type(model).__name__} is not made of trees")
    return fitted


def is_made_of_trees(model: object) -> bool:
    """Return whether a model, fitted or not, learns trees."""
    return isinstance(model, BudgetedEstimator) and issubclass(type(model).model_type, TreeModel)


def check_one_sum(model: BudgetedEstimator) -> None:
    """Raise TypeError unless rows can leave between the trees of a model, fitted or not."""
    kind = type(model).model_type
    if not issubclass(kind, TreeModel) or not kind.is_one_sum:
        raise TypeError(f"a {type(model).__name__} has exits of its own; use it as it is")
