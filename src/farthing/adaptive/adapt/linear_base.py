"""What the linear methods share: parameters, several starts, and the choice among their results."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from farthing.adaptive.adapt.base import ADAPT_CONSTRAINTS, AdaptClassifier
from farthing.adaptive.adapt.expensive_model import answering
from farthing.adaptive.adapt.initial_pair import initial_pairs
from farthing.adaptive.adapt.model import AdaptModel
from farthing.adaptive.adapt.objective import Problem
from farthing.base import Guarantee, TrainingSet
from farthing.base.parameters import CLASS_WEIGHT, NON_NEGATIVE, SHARE, at_least
from farthing.costs import CostsLike
from farthing.learning.group_penalty import GroupPenalty
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores


class LinearAdapt(AdaptClassifier):
    """An Adapt model with a linear gate and a linear f1."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        **ADAPT_CONSTRAINTS,
        "p_full": [SHARE],
        "tradeoff": [NON_NEGATIVE],
        "n_alternations": [at_least(1)],
        "n_starts": [at_least(1)],
    }

    def __init__(
        self,
        expensive: Any = None,
        *,
        p_full: float = 0.5,
        tradeoff: float = 0.01,
        n_alternations: int = 10,
        start: Any = None,
        n_starts: int = 3,
        expensive_features: Any = None,
        n_folds: int | None = 3,
        class_weight: Any = None,
        costs: CostsLike = None,
        call_cost: float = 0.0,
        budget: float | None = None,
        send_share: float | None = None,
        guarantee: Guarantee | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.expensive = expensive
        self.p_full = p_full
        self.tradeoff = tradeoff
        self.n_alternations = n_alternations
        self.start = start
        self.n_starts = n_starts
        self.expensive_features = expensive_features
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.costs = costs
        self.call_cost = call_cost
        self.budget = budget
        self.send_share = send_share
        self.guarantee = guarantee
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _default_share(self) -> float | None:
        return self.p_full

    @abstractmethod
    def _alternate(
        self, design: LinearDesign, problem: Problem, penalty: GroupPenalty, start: LinearScores
    ) -> tuple[LinearScores, list[float]]:
        """Learn gate and f1 from one start; return them, and the objective after each half step."""

    def _learn_pairs(self, rows: TrainingSet, problem: Problem) -> list[tuple[LinearScores, list[float]]]:
        design = LinearDesign.of(rows.values, rows.schema, problem.shares, 1 + problem.n_scores)
        penalty = GroupPenalty(rows.costs, float(self.tradeoff), design.zeros.columns)
        # Without a gate there is nothing to start it from.
        n_starts = self.n_starts if self.p_full > 0 else 1
        starts = initial_pairs(design, problem, self.start, n_starts, self.p_full)
        return [self._alternate(design, problem, penalty, start) for start in starts]

    def _best(self, found: list[AdaptModel], rows: TrainingSet, problem: Problem) -> AdaptModel:
        if len(found) == 1:
            return found[0]
        acquired = answering(found[0].expensive).acquires(rows.values)

        # (OPT) counts the price of gate and f1 alone, and the gate's odds in place of its decisions: a gate
        # that needs to send more rows than it may could win by it. So systems are compared as they are cut.
        def objective(model: AdaptModel) -> float:
            scores, cheap = model.pair.outputs(rows.values)
            sent = scores[:, 0] > model.threshold
            paid = model.calls.account(cheap)
            paid[sent] = model.calls.account(cheap[sent], acquired[sent])
            return problem.system_loss(scores.T, sent) + self.tradeoff * problem.mean(
                model.costs.total_rows(paid)
            )

        return min(found, key=objective)
