"""Fitted models with early exits: a boosted model, and where rows may leave it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, FittedModel, TreeModel
from farthing.trees import Forest, Progress

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


class Descent(NamedTuple):
    """Rows that were sent from exit to exit until they left.

    Attributes
    ----------
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        Raw outputs at the exit of each row.
    acquired : ndarray of bool, shape (n_rows, n_features)
        What each row bought.
    n_trees : ndarray of int64, shape (n_rows,)
        How many trees each row walked.
    """

    outputs: NDArray[np.float64]
    acquired: NDArray[np.bool_]
    n_trees: NDArray[np.int64]


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

    def descend(
        self,
        values: NDArray[np.floating],
        budget: NDArray[np.float64] | None,
        stays: Stays,
        n_threads: int = 1,
    ) -> Descent:
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
        Descent
        """
        predictor = self.inner.predictor
        progress = Progress(values, len(self.prior), self.costs, budget=budget, n_threads=n_threads)
        rows, n_trees = np.arange(len(values)), np.zeros(len(values), dtype=np.int64)
        begin, exits = 0, self.exits
        for number, end in enumerate(exits, start=1):
            # Outputs, purchases and budgets of rows that left stay in ``progress`` as they were.
            predictor.advance(progress, begin, end, rows)
            n_trees[rows] = end
            if end < exits[-1]:
                rows = rows[stays(number, len(exits), progress.outputs[rows], rows)]
            begin = end
        return Descent(progress.outputs, progress.acquired, n_trees)

    @property
    def evaluation_cost(self) -> float:
        """The cost of evaluating all trees, which a row pays that never leaves; 0 if trees are free."""
        return float(self._evaluation_costs[-1])

    def evaluation_costs(self, n_trees: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cost of evaluating the first trees, as many as each row walked, shape (n_rows,)."""
        return self._evaluation_costs[n_trees]

    @cached_property
    def _evaluation_costs(self) -> NDArray[np.float64]:
        # Only models with a cost per tree have an account of it.
        free = np.zeros(self.inner.forest.n_trees + 1)
        return np.asarray(getattr(self.inner, "cumulative_evaluation_cost", free))

    def check(self) -> None:
        """Raise ValueError if the exits do not fit the boosted model."""
        super().check()
        check_one_sum(self.model)
        inner = self.inner
        if self.rounds_per_exit < 1:
            raise ValueError(f"rounds_per_exit must be at least 1; got {self.rounds_per_exit}")
        if inner.schema != self.schema or inner.costs != self.costs or inner.budget != self.budget:
            raise ValueError("the columns, costs and budget must be those of the inner model")
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
