"""Learning of a graph of states, and its models of other budgets; the two estimators add the graph."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import (
    AnyBudgetMixin,
    BudgetKind,
    ContractClassifier,
    Frontier,
    Point,
    TrainingSet,
    ValidatedMixin,
)
from farthing.base.inputs import check_cap
from farthing.cascades.dag.backward import BackwardPass
from farthing.cascades.dag.graph import StateGraph
from farthing.cascades.dag.levels import Levels
from farthing.cascades.dag.model import StateGraphModel
from farthing.cascades.dag.parameters import CONSTRAINTS
from farthing.cascades.dag.policy_learners import (
    LinearPolicies,
    PolicyLearner,
    SklearnPolicies,
    TreePolicies,
)
from farthing.cascades.dag.state_learners import LinearStates, SklearnStates, StateLearner, TreeStates
from farthing.cascades.dag.state_scores import stopping_losses
from farthing.cascades.dag.tournament import RULES
from farthing.learning.booster import TreeSettings
from farthing.learning.folds import Fold, folds_of
from farthing.learning.losses import classification_loss
from farthing.learning.out_of_fold import OutOfFoldTrainer
from farthing.learning.sklearn_fit import check_sklearn


class StateGraphClassifier(AnyBudgetMixin, ValidatedMixin, ContractClassifier):
    """Base class of the classifiers that walk a graph of states."""

    model_type = StateGraphModel
    budget_kind = "mean"
    price_parameters = ("evaluation_cost",)
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    fitted_: StateGraphModel

    budget: float | None
    tradeoff: float
    n_tradeoffs: int
    loss: str
    policy: str
    state_classifier: Any
    policy_learner: Any
    scores_in_policy: bool
    confidence_gates: bool = False
    n_estimators: int
    n_iter_no_change: int | None
    learning_rate: float
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_leaf: int
    l2_regularization: float
    max_bins: int
    policy_estimators: int
    policy_depth: int
    evaluation_cost: float
    n_folds: int | None
    random_state: Any

    @abstractmethod
    def _graph(self, rows: TrainingSet) -> StateGraph:
        """Return the states, and what leads from one to another."""

    # Learning.

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> StateGraphModel:
        budget = check_cap(self.budget)
        # With one class there is nothing to ask for.
        graph = self._graph(rows) if rows.n_classes > 1 else StateGraph.root_alone(len(rows.schema))
        folds = self._folds(rows)
        rule = RULES[self.policy]
        if self.confidence_gates and not (rule.regresses and self.scores_in_policy):
            raise ValueError("confidence_gates needs policy='regression' and scores_in_policy=True")
        learning = BackwardPass(
            rows,
            graph,
            folds,
            self._state_learner(rows, folds),
            self._policy_learner(),
            rule,
            self.loss,
            self.scores_in_policy,
            float(self.evaluation_cost),
        )
        levels = Levels.of(
            float(self.tradeoff),
            self.n_tradeoffs,
            learning.gain(),
            graph=graph,
            costs=rows.costs,
            rule=rule,
            gates=bool(self.confidence_gates),
        )
        learned = learning.run(levels)
        sheet = rows.costs
        if self.evaluation_cost:
            paid = np.array(graph.names, dtype=object)[learned.classifier_places >= 0].tolist()
            sheet = sheet.with_calls({f"classifier of {name}": float(self.evaluation_cost) for name in paid})
        model = StateGraphModel(
            **{**rows.header(), "costs": sheet},
            states=graph.states,
            edges=graph.edges,
            classifiers=learned.classifiers,
            classifier_places=learned.classifier_places,
            policies=learned.policies,
            policy_places=learned.policy_places,
            orders=learned.orders,
            rule=str(self.policy),
            reads_scores=bool(self.scores_in_policy),
            tradeoffs=levels.tradeoffs,
            path_levels=levels.point_levels,
            path_offsets=levels.offsets,
            path_spend=learned.spend,
            path_risk=learned.risk,
            point=0,
        )
        return self._measured(model, validation).at(budget)

    def _folds(self, rows: TrainingSet) -> list[Fold]:
        if self.n_folds is None:
            every = np.arange(len(rows))
            return [Fold(every, every)]
        return folds_of(rows.values, rows.target, self.n_folds, check_random_state(self.random_state))

    def _state_learner(self, rows: TrainingSet, folds: list[Fold]) -> StateLearner:
        given = self.state_classifier
        if given is None:
            trainer = OutOfFoldTrainer(
                rows,
                classification_loss(rows.n_classes),
                folds=folds,
                final=np.arange(len(rows)),
                settings=TreeSettings.of(self),
                max_bins=self.max_bins,
                n_iter_no_change=self.n_iter_no_change,
            )
            return TreeStates(trainer)
        if isinstance(given, str):
            _check_name("state_classifier", given, ("linear", "quadratic"))
            return LinearStates(rows, folds, quadratic=given == "quadratic")
        check_sklearn("state_classifier", given, otherwise="'linear', 'quadratic' or None")
        return SklearnStates(given, rows, folds)

    def _policy_learner(self) -> PolicyLearner:
        given = self.policy_learner
        if given is None:
            settings = TreeSettings(
                n_estimators=self.policy_estimators,
                learning_rate=self.learning_rate,
                max_depth=self.policy_depth,
                min_samples_leaf=self.min_samples_leaf,
                l2_regularization=self.l2_regularization,
                n_threads=self.n_threads(),
            )
            return TreePolicies(settings, self.max_bins, self.n_iter_no_change)
        if isinstance(given, str):
            _check_name("policy_learner", given, ("linear",))
            return LinearPolicies()
        if not RULES[self.policy].regresses:
            check_sklearn("policy_learner", given, otherwise="'linear' or None")
        elif not is_regressor(given):
            raise TypeError(
                f"policy='regression' needs a regressor as policy_learner; got {type(given).__name__}"
            )
        return SklearnPolicies(given)

    def _measured(self, model: StateGraphModel, validation: TrainingSet | None) -> StateGraphModel:
        """Return the model with the path of the validation rows, if there are any."""
        if validation is None:
            return model
        spend, risk = np.empty((2, len(model.path_spend)))
        for point in range(len(spend)):
            outputs, acquired = model.at_point(point).outputs(validation.values, n_threads=self.n_threads())
            losses = stopping_losses(model.settle(outputs, acquired), validation.target, self.loss)
            spend[point] = np.average(model.costs.total_rows(acquired), weights=validation.weights)
            risk[point] = np.average(losses, weights=validation.weights)
        return model.with_path(spend, risk)

    # Other budgets.

    def model_at(self, cap: float | None, budget_kind: BudgetKind) -> StateGraphModel:
        """Return the fitted model of another mean budget, which shares what was learned."""
        return self.fitted_.at(cap)

    def held_out_spend(self) -> float | None:
        """Return what this model spent on average on rows held out within the fit; None if unknown."""
        return float(self.fitted_.path_spend[self.fitted_.point])

    def path(self) -> Frontier:
        """Return the models of all trade-offs and thresholds, cheapest first.

        Returns
        -------
        Frontier
            Points with the budget to set. The spend is the mean over held-out rows, ``max_spend`` that of a
            row that buys everything; the score is their mean loss, negated.
        """
        check_is_fitted(self)
        model = self.fitted_
        whole = model.max_spend()
        points = [
            Point(
                type(self).__name__,
                {"budget": float(model.path_spend[place])},
                float(model.path_spend[place]),
                whole if model.path_spend[place] > 0 else 0.0,
                -float(model.path_risk[place]),
                source=partial(self._at_point, int(place)),
            )
            for place in np.argsort(model.path_spend, kind="stable")
        ]
        costs = model.costs
        return Frontier(
            tuple(points),
            score_name=f"mean {self.loss}, negated",
            unit=costs.unit,
            full_cost=costs.total(costs.features),
        )

    def _at_point(self, point: int) -> Self:
        model = self.fitted_
        return self.variant({"budget": float(model.path_spend[point])}, model.at_point(point))

    # Files.

    def file_params(self) -> dict[str, Any]:
        """Return the parameters for a file: without the estimators of scikit-learn to fit."""
        params = super().file_params()
        for name in ("state_classifier", "policy_learner"):
            if not isinstance(params[name], str):
                params[name] = None
        return params


def _check_name(parameter: str, given: str, names: tuple[str, ...]) -> None:
    if given not in names:
        expected = ", ".join(map(repr, names))
        raise ValueError(f"{parameter} must be {expected}, an estimator or None; got {given!r}")
