"""The fitted model of a Greedy Miser: rounds of trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from farthing._core import round_shares
from farthing.base import PricedErrorsModel, RegressorModel, TreeModel
from farthing.costs import CostSheet
from farthing.learning.losses import probability_steps, scores_to_probabilities
from farthing.trees import Forest, Progress
from farthing.typing import Floats
from farthing.walks.plans import Link


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyMiserModel(TreeModel):
    """Boosted trees: those of a single node, then round by round, one for each output or one for all.

    Parameters
    ----------
    evaluation_cost : float
        The cost of evaluating all trees that have a split; the cost sheet has it as a call.
    validation_losses : ndarray of float64, shape (n_rounds_tried,)
        The loss of the validation rows after each round that was tried; empty without such rows.
    """

    evaluation_cost: float
    validation_losses: NDArray[np.float64]

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting."""
        return int(self.forest.n_trees // trees_per_round(self.forest) - 1)

    def n_trees_after(self, n_rounds: int) -> int:
        """Return the number of trees of the first rounds, with those of a single node before them."""
        return (n_rounds + 1) * trees_per_round(self.forest)

    def tested(self, n_rounds: int | None = None) -> NDArray[np.bool_]:
        """Return which features the first rounds test, shape (n_features,); None means all rounds."""
        last = self.n_rounds if n_rounds is None else n_rounds
        columns = self.forest.feature[: self.forest.offsets[self.n_trees_after(last)]]
        found: NDArray[np.bool_] = np.zeros(self.forest.n_features, dtype=np.bool_)
        found[columns[columns >= 0]] = True
        return found

    def first_rounds(self, n_rounds: int) -> Self:
        """Return the model of the first rounds only."""
        forest = self.forest.trees(0, self.n_trees_after(n_rounds))
        cost = float(self.cumulative_evaluation_cost[forest.n_trees])
        # What is left for features stays the same, as the trees learned with it.
        saved = self.evaluation_cost - cost
        budget = None if self.budget is None else max(0.0, self.budget - saved)
        costs = self.costs_after(n_rounds)
        return replace(self, forest=forest, evaluation_cost=cost, costs=costs, budget=budget)

    def costs_after(self, n_rounds: int) -> CostSheet:
        """Return the cost sheet of the first rounds, with the evaluation of their trees as a call."""
        cost = float(self.cumulative_evaluation_cost[self.n_trees_after(n_rounds)])
        return with_tree_call(self.costs, cost)

    def spends_after(self, n_rounds: int, acquired: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return what rows have paid after some rounds, from what they acquired, shape (n_rows,)."""
        sheet = self.costs_after(n_rounds)
        return sheet.total_rows(acquired[:, : len(sheet.features)])

    def start(
        self, values: NDArray[np.floating], budget: NDArray[np.float64] | None, n_threads: int = 1
    ) -> Progress:
        """Return rows before the first tree, with what the evaluation costs set aside."""
        progress = Progress(values, len(self.prior), self.costs, budget=budget, n_threads=n_threads)
        if self.costs.calls:
            progress.mark(self.costs.n_columns, np.arange(len(values)), owned=True)
        return progress

    def acquired_by(self, progress: Progress, rows: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        """Return what rows acquired so far; those that looked at no feature have not been evaluated."""
        acquired = progress.acquired if rows is None else progress.acquired_by(rows)
        n_columns = self.costs.n_columns
        acquired[:, n_columns:] &= acquired[:, :n_columns].any(axis=1, keepdims=True)
        return acquired

    def splits_in(self, number: int) -> bool:
        """Return whether a tree of the round of this number, from 1, has a split."""
        sizes = np.diff(self.forest.offsets)[self.n_trees_after(number - 1) : self.n_trees_after(number)]
        return bool((sizes > 1).any())

    @cached_property
    def cumulative_evaluation_cost(self) -> NDArray[np.float64]:
        """The cost of evaluating the first k trees for every k from 0 to all, shape (n_trees + 1,)."""
        # A tree without a split is a constant, which costs nothing.
        splits = np.diff(self.forest.offsets) > 1
        counts = np.concatenate([[0], np.cumsum(splits)])
        # Multiplied before the division, so that the last is exactly the cost of all trees.
        return np.asarray(self.evaluation_cost * counts / max(1, counts[-1]))

    def model_cost(self, n_rounds: int | None = None) -> float:
        """Return the cost of the first rounds by equation 3: of their trees and of all features they test."""
        last = self.n_rounds if n_rounds is None else n_rounds
        trees = self.cumulative_evaluation_cost[self.n_trees_after(last)]
        return float(trees + self.costs.without_calls().total(self.tested(last)))

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        forest = self.forest
        if forest.width not in (1, len(self.prior)) or forest.n_trees % trees_per_round(forest):
            raise ValueError("the trees are not rounds of one tree for each output, or for all")
        if not (0 <= self.evaluation_cost < np.inf):
            raise ValueError(f"evaluation_cost must be zero or more; got {self.evaluation_cost!r}")
        if sum(self.costs.call_prices().values()) != self.evaluation_cost:
            raise ValueError("the cost sheet must have the evaluation of the trees as a call")


def trees_per_round(forest: Forest) -> int:
    """Return the number of trees that it takes to add to every output once.

    Examples
    --------
    >>> trees_per_round(Forest.constant([0.0, 1.0], n_features=1))
    1
    """
    return forest.n_outputs // forest.width


def with_tree_call(costs: CostSheet, evaluation_cost: float) -> CostSheet:
    """Return a cost sheet with the evaluation of all trees as a call, unless it is free.

    Examples
    --------
    >>> with_tree_call(CostSheet([1]), 2.0).calls, with_tree_call(CostSheet([1]), 0.0).calls
    (('trees',), ())
    """
    return costs.with_calls({"trees": evaluation_cost} if evaluation_cost else {})


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyMiserClassifierModel(GreedyMiserModel, PricedErrorsModel):
    """Raw outputs are one log-odds for two classes, else one score per class."""

    boosted_kind = "shares"

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities, shape (n_rows, n_classes)."""
        return scores_to_probabilities(outputs, len(self.classes))

    def boosted_labels(self, outputs: Floats, steps: Floats, walked: NDArray[np.bool_]) -> Floats:
        """Return the shares of the classes that the last round was fitted to, (n_stands, n_classes)."""
        before, own = self.conclude(outputs), walked
        if outputs.shape[1] == 1:  # one log-odds, that of the second class
            steps, own = np.tile(steps, 2), np.tile([False, True], (len(outputs), 1)) & walked
        # What classes without a tree of this round have is what the others leave.
        return round_shares(before, steps, own.view(np.uint8))

    def link_steps(self) -> Link:
        """Return the step to probabilities."""
        return probability_steps(len(self.classes))

    def shifted(self, offsets: NDArray[np.float64]) -> Self:
        """Return the model whose score of each class is higher by an offset, shape (n_classes,).

        The trees before the first round, which are constants, hold it. One score of two classes is that of
        the second.
        """
        shift = offsets[1:] - offsets[:1] if len(self.prior) == 1 else offsets
        value = self.forest.value.copy()
        value[: len(shift), 0] += shift
        return replace(self, prior=self.prior + shift, forest=replace(self.forest, node_values=value))


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyMiserRegressorModel(GreedyMiserModel, RegressorModel):
    """The raw output is the prediction, or the score of a document."""
