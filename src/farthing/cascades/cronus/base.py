"""What the estimators of Cronus share: learning the cascade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from farthing.base import TrainingSet
from farthing.cascades.cronus.model import as_chain
from farthing.cascades.cronus.objective import CronusObjective
from farthing.cascades.cronus.parameters import CONSTRAINTS
from farthing.cascades.cronus.training import train_cascade
from farthing.cascades.score_tree import ScoreTree
from farthing.learning.blas_threads import one_blas_thread
from farthing.learning.learner_terms import LearnerMixin
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class Weighed:
    """Rows with their weights in the loss.

    Parameters
    ----------
    rows : TrainingSet
        The rows; their weights are those of the price.
    target : ndarray of float64, shape (n_rows,)
        -1 and 1, or numbers of that scale.
    omega : ndarray of float64, shape (n_rows,)
        The weights of the loss.
    """

    rows: TrainingSet
    target: Floats
    omega: Floats

    def exact_objective(self, tree: ScoreTree, tradeoff: float, tree_cost: float) -> float:
        """Return half of the mean squared error at the exits, plus the mean price times the trade-off.

        Unlike the objective of the optimisation, rows leave for certain, and whatever is used at all costs
        its whole price.
        """
        scores, last = tree.ends(self.rows.values)
        costs = self.rows.costs
        names = np.array(costs.features)
        prices = np.array([costs.total(names[tree.columns(stage)]) for stage in range(len(tree.threshold))])
        prices = prices + tree_cost * np.cumsum(tree.n_new_terms)
        error = np.average((self.target - scores[:, 0]) ** 2, weights=self.omega) / 2
        return float(error + tradeoff * np.average(prices[last], weights=self.rows.weights))


class CronusBase(LearnerMixin):
    """What the classifier and the ranker share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    fitted_: Any
    tradeoff: float
    n_stages: int
    reject_fraction: float
    inflation: float
    sparsity: float
    last_sparsity: float | None
    steepness: float
    max_cycles: int
    tol: float

    def _cascade(self, learned: Weighed, held: Weighed) -> ScoreTree:
        """Learn a cascade; of those after each cycle return the best for held-out rows, at exact prices."""
        rows, target, omega = learned.rows, learned.target, learned.omega
        with one_blas_thread():
            terms, learners = self.learned_terms(replace(rows, weights=omega), target[:, np.newaxis])
            sparsity = np.full(self.n_stages, float(self.sparsity))
            sparsity[-1] = self.sparsity if self.last_sparsity is None else self.last_sparsity
            objective = CronusObjective(
                learners=learners,
                target=target,
                omega=omega / omega.sum(),
                shares=rows.weights / rows.weights.sum(),
                norm=self.price_norm(terms, rows),
                tradeoff=self.tradeoff,
                sparsity=sparsity,
                steepness=self.steepness,
            )
            trace = train_cascade(
                objective,
                reject_fraction=self.reject_fraction,
                inflation=self.inflation,
                max_cycles=self.max_cycles,
                tol=self.tol,
            )
        found = [as_chain([stage.without_small() for stage in stages], terms) for stages in trace.cascades]
        return min(found, key=lambda tree: held.exact_objective(tree, self.tradeoff, self.evaluation_price))
