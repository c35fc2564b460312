"""The backward pass: policies from the last states to the root, each learned on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.cascades.dag.banks import Bank
from farthing.cascades.dag.graph import StateGraph
from farthing.cascades.dag.levels import Levels
from farthing.cascades.dag.policy_learners import CERTAIN, Evidence, PolicyLearner
from farthing.cascades.dag.state_learners import StateLearner
from farthing.cascades.dag.state_scores import policy_scores, stopping_losses
from farthing.cascades.dag.tournament import Rule
from farthing.costs import per_price
from farthing.deadline import check_deadline
from farthing.learning.folds import Fold
from farthing.typing import Floats, Integers

LEARNED: Final = -1
"""The first entry of the order of actions where a policy is learned."""
# What a purchase costs at least when falls of the loss are compared per unit of price.
_LEAST_PRICE: Final = 1e-300
NO_PLACE: Final = -1
"""The place of a state without a classifier, or without a learned policy."""


@dataclass(frozen=True, eq=False)
class LearnedGraph:
    """The result of the backward pass.

    Attributes
    ----------
    classifiers : Bank or None
        None if no state owns anything.
    classifier_places : ndarray of int64, shape (n_states,)
        The place of each state's classifier; `NO_PLACE` means the prior.
    policies : Bank or None
        None if no policy is learned.
    policy_places : ndarray of int64, shape (n_levels, n_states)
    orders : ndarray of int64, shape (n_levels, n_states, n_actions)
        Where no policy is learned: actions, of which the first is taken that a row can pay for.
    spend, risk : ndarray of float64, shape (n_points,)
        Weighted means over the rows, each row decided by policies that have not seen it.
    """

    classifiers: Bank | None
    classifier_places: Integers
    policies: Bank | None
    policy_places: NDArray[np.int64]
    orders: NDArray[np.int64]
    spend: Floats
    risk: Floats


@dataclass(frozen=True, eq=False)
class CostToGo:
    """What rows lose and spend from a state on, shape (n_points, n_rows) each."""

    loss: Floats
    spend: Floats


@dataclass(frozen=True, eq=False)
class StateEdges:
    """The actions of a state: what stopping loses, and what lies behind each purchase.

    Attributes
    ----------
    losses : ndarray of float64, shape (n_rows,)
        Of stopping.
    prices : ndarray of float64, shape (n_purchases,)
    ahead : list of CostToGo
        Behind each purchase.
    evaluation : float
        The price of evaluating the state's classifier.
    """

    losses: Floats
    prices: Floats
    ahead: list[CostToGo]
    evaluation: float

    def costs(self, tradeoff: float, point: int) -> Floats:
        """Return the cost of each action at a point of the path, shape (n_rows, n_actions)."""
        costs = [self.losses]
        for price, there in zip(self.prices.tolist(), self.ahead, strict=True):
            costs.append(there.loss[point] + tradeoff * (price + there.spend[point]))
        return np.column_stack(costs)

    def follow(self, actions: Integers, point: int, *, evaluated: bool) -> tuple[Floats, Floats]:
        """Return what rows lose and spend from here on if they take some actions, shape (n_rows,) each.

        Rows that stop pay for the classifier; if ``evaluated``, the policy needs it, and all rows do.
        """
        loss, spend = self.losses.copy(), np.full(len(self.losses), self.evaluation)
        purchases = zip(self.prices.tolist(), self.ahead, strict=True)
        for action, (price, there) in enumerate(purchases, start=1):
            taken = actions == action
            paid = price + self.evaluation if evaluated else price
            loss[taken], spend[taken] = there.loss[point, taken], paid + there.spend[point, taken]
        return loss, spend


@dataclass(eq=False)
class _PolicyTable:
    """Policies as they are learned: fixed orders of actions, or the parts of learned ones."""

    orders: NDArray[np.int64]
    places: NDArray[np.int64]
    parts: list[list[Any]]

    @classmethod
    def empty(cls, n_levels: int, graph: StateGraph) -> _PolicyTable:
        orders = np.full((n_levels, len(graph), graph.n_actions), LEARNED, dtype=np.int64)
        return cls(orders, np.full((n_levels, len(graph)), NO_PLACE, dtype=np.int64), [])

    def add(self, level: int, state: int, parts: list[Any]) -> None:
        self.places[level, state] = len(self.parts)
        self.parts.append(parts)

    def bank(self, learner: PolicyLearner, n_features: int) -> Bank | None:
        if not self.parts:
            return None
        return learner.bank(self.parts, max(map(len, self.parts)), n_features)


@dataclass(eq=False)
class BackwardPass:
    """Learns classifiers and policies, state by state.

    The classifier of a state does not depend on the trade-off, so the policies of all levels share it. The
    costs of a row at a state are the loss of stopping, and for each purchase the trade-off times its price
    plus the cost to go under the policies that were learned before.

    Parameters
    ----------
    rows : TrainingSet
    graph : StateGraph
    folds : sequence of Fold
        Every row is held out once.
    state_learner : StateLearner
    policy_learner : PolicyLearner
    rule : Rule
        How costs become binary problems or regressions.
    loss : {"error", "probability", "log_loss"}
        What stopping costs.
    reads_scores : bool
        Whether policies also read the probabilities of their state's classifier.
    evaluation_cost : float
        What a row pays for the evaluation of a state's classifier and policy.
    """

    rows: TrainingSet
    graph: StateGraph
    folds: Sequence[Fold]
    state_learner: StateLearner
    policy_learner: PolicyLearner
    rule: Rule
    loss: str
    reads_scores: bool
    evaluation_cost: float = 0.0
    _parts: list[Any] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _probabilities: dict[int, Floats] = field(default_factory=dict)

    def gain(self) -> float:
        """Return how much less rows lose on average in the last state than in the root."""
        ends = (0, len(self.graph) - 1)
        first, last = (float(np.average(self._losses(end), weights=self.rows.weights)) for end in ends)
        return first - last

    def run(self, levels: Levels) -> LearnedGraph:
        """Learn the policies of all levels."""
        graph = self.graph
        table = _PolicyTable.empty(len(levels.tradeoffs), graph)
        to_go: dict[int, CostToGo] = {}
        # Purchases lead to states of higher numbers, so these are done first.
        for state in reversed(range(len(graph))):
            check_deadline()
            ahead = [to_go[end] for end in graph.next_states(state)]
            to_go[state] = self._learn_state(state, ahead, levels, table)
            self._forget(state, to_go)
        places = [self._places.get(state, NO_PLACE) for state in range(len(graph))]
        n_features = len(self.rows.schema) + (self.rows.n_classes + 1) * self.reads_scores
        root, weights = to_go[0], self.rows.weights
        return LearnedGraph(
            classifiers=self.state_learner.bank(self._parts) if self._parts else None,
            classifier_places=np.array(places, dtype=np.int64),
            policies=table.bank(self.policy_learner, n_features),
            policy_places=table.places,
            orders=table.orders,
            spend=np.average(root.spend, axis=1, weights=weights),
            risk=np.average(root.loss, axis=1, weights=weights),
        )

    def _learn_state(
        self, state: int, ahead: list[CostToGo], levels: Levels, table: _PolicyTable
    ) -> CostToGo:
        """Learn the policies of a state; return what rows lose and spend from there on."""
        losses, prices = self._losses(state), self.graph.prices(state, self.rows.costs)
        evaluation = self.evaluation_cost if state in self._places else 0.0
        edges, evidence = StateEdges(losses, prices, ahead, evaluation), self._evidence(state)
        found = CostToGo(*np.empty((2, len(levels.offsets), len(self.rows))))
        for level, tradeoff in enumerate(levels.tradeoffs.tolist()):
            points = np.flatnonzero(levels.point_levels == level).tolist()
            # At the last level nothing is bought; infinity times a price of zero would be no number.
            costs, known = edges.costs(tradeoff if tradeoff < np.inf else 0.0, points[0]), evidence
            if level == levels.gates:
                costs, known = self._gate_costs(state, edges, points[-1]), evidence and evidence.last_column()
            order, scores = self._fixed_order(state, costs, tradeoff), None
            if order is None:
                parts, scores = self._learn_policy(known, costs)
                table.add(level, state, parts)
            else:
                table.orders[level, state, : len(order)] = order
            for point in points:
                actions = self._actions(order, scores, float(levels.offsets[point]))
                rest = edges.follow(actions, point, evaluated=order is None)
                found.loss[point], found.spend[point] = rest
        if state == 0 and evaluation:
            # Nothing is bought at the last level, not even an evaluation.
            found.loss[-1] = stopping_losses(self._prior(), self.rows.target, self.loss)
            found.spend[-1] = 0.0
        return found

    # Classifiers.

    def _losses(self, state: int) -> Floats:
        """Return what stopping at a state costs each row, by classifiers that have not seen it."""
        if state not in self._probabilities:
            self._probabilities[state] = self._learn_classifier(state)
        return stopping_losses(self._probabilities[state], self.rows.target, self.loss)

    def _prior(self) -> Floats:
        return np.tile(self.rows.prior(), (len(self.rows), 1))

    def _learn_classifier(self, state: int) -> Floats:
        columns = np.flatnonzero(self.graph.states[state]).astype(np.int64)
        if not len(columns):
            return self._prior()
        part, probabilities = self.state_learner.learn(columns)
        self._places[state] = len(self._parts)
        self._parts.append(part)
        return probabilities

    def _evidence(self, state: int) -> Evidence | None:
        """Return what the policy of a state may read; None if that is nothing."""
        owned = np.flatnonzero(self.graph.states[state]).astype(np.int64)
        if not len(owned) or not self.graph.next_states(state):
            return None
        found = self._probabilities[state]
        scores = policy_scores(found) if self.reads_scores else np.empty((len(found), 0))
        return Evidence.of(self.rows, owned, scores, self.folds)

    # Policies.

    def _gate_costs(self, state: int, edges: StateEdges, point: int) -> Floats:
        """Return costs of actions by which rows go on whose error is likelier than the offset.

        Stopping costs the probability of an error. The purchase that lowers the mean loss most per unit of
        price, at a point where few rows go on behind it, costs nothing; others are taken only where it cannot
        be paid for. Where nothing is owned all rows go on.
        """
        weights, n_rows = self.rows.weights, len(self.rows)
        now = np.average(edges.losses, weights=weights)
        falls = [now - np.average(there.loss[point], weights=weights) for there in edges.ahead]
        spends = [np.average(there.spend[point], weights=weights) for there in edges.ahead]
        rates = per_price(np.array(falls), np.maximum(edges.prices + np.array(spends), _LEAST_PRICE))
        ranks = np.argsort(np.argsort(-rates, kind="stable"), kind="stable")
        errors = np.full(n_rows, 2.0 * len(ranks))
        if self.graph.states[state].any():
            # An error is never likelier than 1, so that stopping is before the second purchase.
            errors = 1 - self._probabilities[state].max(axis=1)
        return np.column_stack([errors, np.tile(2.0 * ranks, (n_rows, 1))])

    def _fixed_order(self, state: int, costs: Floats, tradeoff: float) -> list[int] | None:
        """Return the actions in their order of preference, where that is the same for every row."""
        actions = list(range(costs.shape[1]))
        if len(actions) == 1 or tradeoff == np.inf:
            return [0]
        if tradeoff == 0 or self.graph.forced[state]:
            # Free is free: without a trade-off the last state answers, as a model that ignores prices does.
            return [*actions[1:], 0]
        if not self.graph.states[state].any():
            means = np.average(costs, axis=0, weights=self.rows.weights)
            return [int(action) for action in np.argsort(means, kind="stable")]
        return None

    def _actions(self, order: list[int] | None, scores: Floats | None, offset: float) -> Integers:
        """Return the action of each row, all of which can pay for every purchase."""
        if order is not None:
            return np.full(len(self.rows), order[0], dtype=np.int64)
        assert scores is not None
        n_actions = scores.shape[1] + (not self.rule.regresses)
        return self.rule.decide(scores, np.ones((len(scores), n_actions), dtype=np.bool_), offset)

    def _learn_policy(self, evidence: Evidence | None, costs: Floats) -> tuple[list[Any], Floats]:
        assert evidence is not None
        parts: list[Any] = []

        def learn(target: Floats, weights: Floats) -> Floats:
            counted = weights > 0
            if not counted.any() or (target[counted] == target[counted][0]).all():
                score = self._agreed(target[counted])
                parts.append(self.policy_learner.constant(evidence, score))
                return np.full(len(target), score)
            part, scores = self.policy_learner.learn(evidence, target, weights, regress=self.rule.regresses)
            parts.append(part)
            return scores

        return parts, self.rule.learn(costs, self.rows.weights, learn)

    def _agreed(self, target: Floats) -> float:
        """Return the score of a problem in which all rows have the same target; none has any weight."""
        if self.rule.regresses:
            return float(target[0])
        return CERTAIN if len(target) and target[0] else -CERTAIN

    def _forget(self, state: int, to_go: dict[int, CostToGo]) -> None:
        """Drop what no state before this one needs, which for many states is most of the memory."""
        if state:
            del self._probabilities[state]
        needed = {end for before in range(state) for end in self.graph.next_states(before)}
        for done in [number for number in to_go if number not in needed and number]:
            del to_go[done]
