"""The fitted graph of states: classifiers, policies of several trade-offs, and the path of mean spends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel
from farthing.cascades.dag.backward import NO_PLACE
from farthing.cascades.dag.banks import ForestBank, LinearBank, Refused, SklearnBank
from farthing.cascades.dag.graph import StateGraph
from farthing.cascades.dag.model_checks import check_classifiers, check_graph, check_policies
from farthing.cascades.dag.policy import GraphPolicy
from farthing.cascades.dag.state_scores import policy_scores
from farthing.cascades.dag.tournament import RULES, Rule
from farthing.costs import spending_limit
from farthing.learning.affordable import affordable
from farthing.learning.feature_prices import by_price
from farthing.typing import Floats, Integers
from farthing.walks import Policy

NO_CALL: Final = -1
"""Where a state's evaluation is free."""
# Where a row is that cannot pay for the root.
_NOWHERE: Final = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class StateGraphModel(ClassifierModel):
    """States over sensors, with a classifier and a policy each; the raw output is a probability per class.

    Parameters
    ----------
    states : ndarray of bool, shape (n_states, n_features)
        What a row owns at each state; the first, the root, costs nothing.
    edges : ndarray of int64, shape (n_states, n_edges)
        The states that purchases lead to; -1 after the last.
    classifiers : ForestBank, LinearBank, SklearnBank or None
        The classifiers of the states.
    classifier_places : ndarray of int64, shape (n_states,)
        Their places; -1 for a state that predicts the prior.
    policies : ForestBank, LinearBank, SklearnBank or None
        The learned policies.
    policy_places : ndarray of int64, shape (n_levels, n_states)
        Their places; -1 where the actions have a fixed order.
    orders : ndarray of int64, shape (n_levels, n_states, n_actions)
        Fixed orders of actions, of which the first is taken that a row can pay for: 0 is to stop, a is the
        a-th purchase; -1 after the last.
    rule : {"filter_tree", "regression"}
        How the scores of a policy become an action.
    reads_scores : bool
        Whether policies also read the probabilities of their state's classifier.
    tradeoffs : ndarray of float64, shape (n_levels,)
        The trade-off of each level.
    path_levels : ndarray of int64, shape (n_points,)
        The level of each point of the path.
    path_offsets : ndarray of float64, shape (n_points,)
        What is added to the threshold between stopping and going on.
    path_spend, path_risk : ndarray of float64, shape (n_points,)
        Mean spend and mean loss of held-out rows.
    point : int
        The point that predicts.
    """

    states: NDArray[np.bool_]
    edges: NDArray[np.int64]
    classifiers: ForestBank | LinearBank | SklearnBank | None
    classifier_places: NDArray[np.int64]
    policies: ForestBank | LinearBank | SklearnBank | None
    policy_places: NDArray[np.int64]
    orders: NDArray[np.int64]
    rule: str
    reads_scores: bool
    tradeoffs: NDArray[np.float64]
    path_levels: NDArray[np.int64]
    path_offsets: NDArray[np.float64]
    path_spend: NDArray[np.float64]
    path_risk: NDArray[np.float64]
    point: int

    # Other budgets.

    def at(self, cap: float | None) -> Self:
        """Return the model of a mean budget; None means no limit, and is the trade-off asked for.

        Of the points whose held-out rows spend no more than the budget, that of the least risk is taken; the
        last one spends nothing.
        """
        if cap is None:
            return self.at_point(0)
        fits = np.flatnonzero(self.path_spend <= spending_limit(cap))
        # Among equals the cheapest.
        return self.at_point(int(fits[np.lexsort((self.path_spend[fits], self.path_risk[fits]))[0]]))

    def at_point(self, point: int) -> Self:
        """Return the model of another point of the path."""
        return self if point == self.point else replace(self, point=point)

    def with_path(self, spend: Floats, risk: Floats) -> Self:
        """Return the model with the path as other rows have it, shape (n_points,) each."""
        return replace(self, path_spend=spend, path_risk=risk)

    @property
    def level(self) -> int:
        """The level of the point that predicts."""
        return int(self.path_levels[self.point])

    @property
    def tradeoff(self) -> float:
        """The trade-off whose policies predict; infinite if nothing is bought."""
        return float(self.tradeoffs[self.level])

    @cached_property
    def graph(self) -> StateGraph:
        """States and purchases."""
        names = tuple(map(str, range(len(self.states))))
        return StateGraph(self.states, self.edges, np.zeros(len(self.states), dtype=np.bool_), names)

    @cached_property
    def calls(self) -> NDArray[np.int64]:
        """The entry of the cost sheet that each state's evaluation is; -1 if it is free."""
        calls = np.full(len(self.states), NO_CALL, dtype=np.int64)
        if self.costs.calls:
            numbers = np.arange(len(self.costs.calls))
            calls[self.classifier_places != NO_PLACE] = self.costs.n_columns + numbers
        return calls

    @cached_property
    def footprints(self) -> NDArray[np.bool_]:
        """What a row pays for at each state, if it comes from nowhere and is evaluated, (n_states, width)."""
        found = np.zeros((len(self.states), len(self.costs.features)), dtype=np.bool_)
        found[:, : self.costs.n_columns] = self.states
        paid = np.flatnonzero(self.calls != NO_CALL)
        found[paid, self.calls[paid]] = True
        return found

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked for, since even the evaluation of the root has a price."""
        return self.tradeoff == np.inf and self.calls[0] != NO_CALL

    def is_evaluated(self, state: int) -> bool:
        """Return whether every row at a state needs its classifier, which is what its policy reads."""
        return bool(self.policy_places[self.level, state] != NO_PLACE)

    def max_spend(self) -> float:
        """Return the most that a row can spend: on all columns, and on the calls of the longest way."""
        prices = [*self.costs.call_prices().values(), 0.0]
        calls = np.zeros(len(self.states))
        for state in reversed(range(len(self.states))):
            place = int(self.calls[state]) - self.costs.n_columns if self.calls[state] != NO_CALL else -1
            ahead = [calls[end] for end in self.graph.next_states(state)]
            calls[state] = prices[place] + max(ahead, default=0.0)
        return float(self.costs.without_calls().total(self.states[-1]) + calls[0])

    # Predicting.

    no_plan: ClassVar[str] = "its policies may be any scikit-learn model"

    def policy(self, seed: int | None = None) -> Policy:  # not stochastic
        """Return a walk from state to state."""
        return GraphPolicy(self)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows, state by state; see `FittedModel.outputs`."""
        n_rows = len(values)
        outputs = np.tile(self.prior, (n_rows, 1))
        acquired = np.zeros((n_rows, len(self.costs.features)), dtype=np.bool_)
        at = np.full(n_rows, _NOWHERE if self.is_idle else 0, dtype=np.int64)
        at[~self._affords(0, acquired, budget)] = _NOWHERE
        # Purchases lead to states of higher numbers, so one pass is enough.
        for state in range(len(self.states)):
            rows = np.flatnonzero(at == state)
            if not len(rows):
                continue
            # A state is entered only with the money for its evaluation, which not every state needs.
            call = self.calls[state : state + 1]
            call = call[call != NO_CALL]
            acquired[rows, : self.costs.n_columns] = self.states[state]
            if self.is_evaluated(state):
                acquired[np.ix_(rows, call)] = True
            ends = self.graph.next_states(state)
            caps = None if budget is None else budget[rows]
            paid = [self._affords(end, acquired[rows], caps) for end in ends]
            allowed = np.column_stack([np.ones(len(rows), dtype=np.bool_), *paid])
            actions, found = self.act(state, values[rows], allowed, n_threads=n_threads)
            stops = actions == 0
            if stops.any():
                here = rows[stops]
                acquired[np.ix_(here, call)] = True
                outputs[here] = (
                    self.probabilities(state, values[here], n_threads=n_threads)
                    if found is None
                    else found[stops]
                )
            at[rows[~stops]] = np.array([state, *ends])[actions[~stops]]
        return outputs, acquired

    def _affords(self, state: int, acquired: NDArray[np.bool_], budget: Floats | None) -> NDArray[np.bool_]:
        """Return which rows can pay for a state and its evaluation, given what they have acquired."""
        if budget is None:
            return np.ones(len(acquired), dtype=np.bool_)
        return affordable(self.costs, acquired | self.footprints[state], budget)

    def act(
        self,
        state: int,
        values: NDArray[np.floating],
        allowed: NDArray[np.bool_],
        refused: Refused = frozenset(),
        n_threads: int = 1,
    ) -> tuple[Integers, Floats | None]:
        """Choose the action of rows at a state.

        Parameters
        ----------
        state : int
        values : ndarray, shape (n_rows, n_features)
            An encoded table; only the columns of the state are read.
        allowed : ndarray of bool, shape (n_rows, n_actions)
            What each row can pay for; stopping always.
        refused : frozenset of int
            Columns that these rows refuse; their values are NaN.
        n_threads : int

        Returns
        -------
        actions : ndarray of int64, shape (n_rows,)
            0 to stop, or the number of a purchase.
        probabilities : ndarray of float64, shape (n_rows, n_classes), or None
            Of the state's classifier, if the policy had to evaluate it.
        """
        place = int(self.policy_places[self.level, state])
        if place == NO_PLACE:
            order = self.orders[self.level, state]
            order = order[order >= 0]
            return order[np.argmax(allowed[:, order], axis=1)], None
        assert self.policies is not None
        found = self.probabilities(state, values, refused, n_threads)
        known = np.column_stack([values, policy_scores(found)]) if self.reads_scores else values
        scores = self.policies.scores(place, known, refused, n_threads)
        offset = float(self.path_offsets[self.point])
        return self._rule.decide(scores, allowed, offset), found

    def probabilities(
        self,
        state: int,
        values: NDArray[np.floating],
        refused: Refused = frozenset(),
        n_threads: int = 1,
    ) -> Floats:
        """Return the probability of each class by a state's classifier, shape (n_rows, n_classes)."""
        place = int(self.classifier_places[state])
        if place == NO_PLACE:
            return np.tile(self.prior, (len(values), 1))
        assert self.classifiers is not None
        return self.classifiers.probabilities(place, values, self.classes, refused, n_threads)

    @property
    def _rule(self) -> Rule:
        return RULES[self.rule]

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities as they are."""
        return outputs

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns some state owns, shape (n_features,)."""
        return np.asarray(self.states.any(axis=0))

    def questions_of(self, state: int, owned: NDArray[np.bool_]) -> list[int]:
        """Return the columns of a state that are not owned, the cheapest first."""
        new = np.flatnonzero(self.states[state] & ~owned).astype(np.int64)
        columns: list[int] = by_price(self.costs, new).tolist()
        return columns

    def price_of(self, state: int, owned: NDArray[np.bool_]) -> list[int]:
        """Return what a row that owns some columns would have to pay for at a state, its call included."""
        call = int(self.calls[state])
        return [*self.questions_of(state, owned), *([] if call == NO_CALL else [call])]

    # Files.

    def check(self) -> None:
        """Raise ValueError if the states, classifiers, policies and points do not fit together."""
        super().check()
        # Fields may come from a hostile file, so everything that prediction relies on is checked here.
        n_states, n_levels, n_points = len(self.states), len(self.tradeoffs), len(self.path_spend)
        n_edges = self.edges.shape[-1]
        shapes: dict[str, tuple[type, tuple[int, ...]]] = {
            "states": (np.bool_, (n_states, len(self.schema))),
            "edges": (np.int64, (n_states, n_edges)),
            "classifier_places": (np.int64, (n_states,)),
            "policy_places": (np.int64, (n_levels, n_states)),
            "orders": (np.int64, (n_levels, n_states, n_edges + 1)),
            "tradeoffs": (np.float64, (n_levels,)),
            "path_levels": (np.int64, (n_points,)),
            "path_offsets": (np.float64, (n_points,)),
            "path_spend": (np.float64, (n_points,)),
            "path_risk": (np.float64, (n_points,)),
        }
        for name, (dtype, shape) in shapes.items():
            array: NDArray[Any] = getattr(self, name)
            if array.dtype != dtype or array.shape != shape or np.isnan(array).any():
                raise ValueError(f"{name} must be of {dtype.__name__}, shape {shape}")
        if not n_states or not n_points or not 0 <= self.point < n_points or self.path_spend.min() != 0:
            raise ValueError("there must be states and points, one of which spends nothing")
        if self.path_levels.min() < 0 or self.path_levels.max() >= n_levels:
            raise ValueError("path_levels must hold numbers of levels")
        if self.rule not in RULES or len(self.prior) != len(self.classes):
            raise ValueError("rule must be one of the rules, and prior a probability for each class")
        check_graph(self)
        check_classifiers(self)
        check_policies(self)
