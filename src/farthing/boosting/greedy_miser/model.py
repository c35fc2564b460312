"""The fitted model of a Greedy Miser: rounds of trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, RegressorModel, TreeModel
from farthing.learning.losses import scores_to_probabilities


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyMiserModel(TreeModel):
    """Boosted trees: one tree of a single node for each output, then one tree per output and round.

    Parameters
    ----------
    evaluation_cost : float
        The cost of evaluating all trees.
    validation_losses : ndarray of float64, shape (n_rounds_tried,)
        The loss of the validation rows after each round that was tried; empty without such rows.
    """

    evaluation_cost: float
    validation_losses: NDArray[np.float64]

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting."""
        return int(self.forest.n_trees // len(self.prior) - 1)

    def tested(self, n_rounds: int | None = None) -> NDArray[np.bool_]:
        """Return which features the first rounds test, shape (n_features,); None means all rounds."""
        last = self.n_rounds if n_rounds is None else n_rounds
        # The first trees, one per output, are the constants before the first round.
        columns = self.forest.feature[: self.forest.offsets[(last + 1) * len(self.prior)]]
        found: NDArray[np.bool_] = np.zeros(self.forest.n_features, dtype=np.bool_)
        found[columns[columns >= 0]] = True
        return found

    def first_rounds(self, n_rounds: int) -> Self:
        """Return the model of the first rounds only."""
        return replace(
            self,
            forest=self.forest.trees(0, (n_rounds + 1) * len(self.prior)),
            # All rounds have the same number of trees.
            evaluation_cost=self.evaluation_cost * n_rounds / max(1, self.n_rounds),
        )

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.forest.width != 1 or self.forest.n_trees % len(self.prior):
            raise ValueError("the trees are not rounds of one tree for each output")
        if not (0 <= self.evaluation_cost < np.inf):
            raise ValueError(f"evaluation_cost must be zero or more; got {self.evaluation_cost!r}")


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyMiserClassifierModel(GreedyMiserModel, ClassifierModel):
    """Raw outputs are one log-odds for two classes, else one score per class."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities, shape (n_rows, n_classes)."""
        return scores_to_probabilities(outputs, len(self.classes))


@dataclass(frozen=True, eq=False, kw_only=True)
class GreedyMiserRegressorModel(GreedyMiserModel, RegressorModel):
    """The raw output is the prediction, or the score of a document."""
