"""What the estimators of CSTC share: the optimisation of the tree."""

from __future__ import annotations

from typing import Any, ClassVar

from farthing.base import TrainingSet
from farthing.cascades.cstc.finishing import as_score_tree, fine_tuned, pruned
from farthing.cascades.cstc.objective import CSTCObjective
from farthing.cascades.cstc.parameters import CONSTRAINTS
from farthing.cascades.cstc.tasks import Numbers, Task
from farthing.cascades.cstc.training import train_tree
from farthing.cascades.score_tree import ScoreTree, ScoreTreeRegressorModel, single_tree
from farthing.learning.blas_threads import one_blas_thread
from farthing.learning.holdout import hold_out_at_random
from farthing.learning.learner_terms import LearnerMixin


class CSTCBase(LearnerMixin):
    """What the classifier, the regressor and the ranker share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    fitted_: Any
    tradeoff: float
    depth: int
    sparsity: float
    steepness: float
    max_cycles: int
    tol: float
    validation_fraction: float | None
    random_state: Any

    def _tree(self, rows: TrainingSet, task: Task) -> tuple[ScoreTree, TrainingSet]:
        """Optimise, prune and tune the tree; return it with the rows that it did not learn from, if any."""
        learned, held = self._divided(rows)
        with one_blas_thread():
            terms, learners = self.learned_terms(learned, task.targets(learned))
            objective = CSTCObjective(
                learners=learners,
                shares=learned.weights / learned.weights.sum(),
                loss=task.loss(learned),
                norm=self.price_norm(terms, learned),
                depth=self.depth,
                tradeoff=self.tradeoff,
                sparsity=self.sparsity,
            )
            nodes, _ = train_tree(
                objective, task.n_outputs, max_cycles=self.max_cycles, tol=self.tol, steepness=self.steepness
            )
            nodes = {place: node.without_small() for place, node in nodes.items()}
            if held is not None:
                kept = held
                nodes = pruned(nodes, terms.terms(kept.values), lambda scores: task.risk(kept, scores))
            nodes = fine_tuned(nodes, learners, learned.weights, objective.loss)
        return as_score_tree(nodes, terms), learned if held is None else held

    def _divided(self, rows: TrainingSet) -> tuple[TrainingSet, TrainingSet | None]:
        """Return the rows to learn from and those to prune and calibrate by, or None."""
        # A single node over columns is not pruned, and hardly overfits.
        if self.validation_fraction is None or (self.depth == 1 and self.learners == "columns"):
            return rows, None
        return hold_out_at_random(rows, self.validation_fraction, self.random_state)

    def _model_of_numbers(self, rows: TrainingSet, task: Numbers) -> ScoreTreeRegressorModel:
        """Learn a tree of regressions."""
        tree, _ = self._tree(rows, task)
        return ScoreTreeRegressorModel(
            **single_tree(rows, tree.rescaled(task.spread, task.mean), self.evaluation_price)
        )
