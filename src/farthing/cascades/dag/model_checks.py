"""Checks of a loaded graph of states: a file may be hostile, and nothing may be read that is not paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.dag.backward import LEARNED, NO_PLACE
from farthing.cascades.dag.banks import Bank, SklearnBank
from farthing.cascades.dag.graph import NO_EDGE
from farthing.cascades.dag.tournament import RULES
from farthing.learning.logistic import n_class_scores

if TYPE_CHECKING:
    from farthing.cascades.dag.model import StateGraphModel


def check_graph(model: StateGraphModel) -> None:
    """Raise ValueError unless purchases lead to larger states, from a root that costs nothing."""
    n_calls = len(model.costs.calls)
    if n_calls not in (0, int((model.classifier_places != NO_PLACE).sum())):
        raise ValueError("there must be a call for the classifier of each state, or none")
    if model.costs.without_calls().total(model.states[0]) != 0:
        raise ValueError("the root must cost nothing")
    for state, ends in enumerate(model.edges):
        purchases = model.graph.next_states(state)
        if (ends[: len(purchases)] == NO_EDGE).any():
            raise ValueError("the edges of a state must come first")
        for end in purchases:
            if not state < end < len(model.states) or (model.states[state] & ~model.states[end]).any():
                raise ValueError("a purchase must lead to a later state that owns as much")


def check_classifiers(model: StateGraphModel) -> None:
    """Raise ValueError unless every classifier reads only what its state owns."""
    _check_places(model.classifier_places, model.classifiers, "classifier_places")
    if model.classifiers is None:
        return
    bank, n_classes = model.classifiers, len(model.classes)
    n_scores = 1 if isinstance(bank, SklearnBank) else n_class_scores(n_classes)
    for state in np.flatnonzero(model.classifier_places != NO_PLACE).tolist():
        place = int(model.classifier_places[state])
        if not np.isin(bank.used(place), np.flatnonzero(model.states[state])).all():
            raise ValueError("a classifier reads a column that its state does not own")
        if bank.n_scores(place) != n_scores:
            raise ValueError(f"{n_classes} classes do not fit the scores of the classifiers")
    if bank.n_features != len(model.schema):
        raise ValueError("the classifiers are of another table")
    if isinstance(bank, SklearnBank) and not all(
        np.isin(known, model.classes).all() for known in bank.known_classes()
    ):
        raise ValueError("a classifier knows classes that the model does not")


def check_policies(model: StateGraphModel) -> None:
    """Raise ValueError unless every policy reads only what its state owns, and has an action."""
    _check_places(model.policy_places, model.policies, "policy_places")
    n_features = len(model.schema)
    n_known = n_features + (len(model.classes) + 1) * model.reads_scores
    for (level, state), place in np.ndenumerate(model.policy_places):
        n_actions = 1 + len(model.graph.next_states(state))
        order = model.orders[level, state]
        if place == NO_PLACE:
            given = order[order != LEARNED]
            # Stopping is always allowed, so with it some action is.
            whole = 0 in given and 0 <= given.min() <= given.max() < n_actions
            if not whole or len(np.unique(given)) != len(given):
                raise ValueError("an order must hold actions of its state, each once, and 0")
            continue
        assert model.policies is not None
        if n_actions < 2 or model.policies.n_scores(int(place)) < RULES[model.rule].n_scores(n_actions):
            raise ValueError("a policy has too few scores for the actions of its state")
        used = model.policies.used(int(place))
        owned = np.append(np.flatnonzero(model.states[state]), np.arange(n_features, n_known))
        if not np.isin(used, owned).all() or model.policies.n_features != n_known:
            raise ValueError("a policy reads a column that its state does not own")


def _check_places(places: NDArray[np.int64], bank: Bank | None, name: str) -> None:
    n_items = 0 if bank is None else len(bank)
    if places.size and not (places.min() >= NO_PLACE and places.max() < n_items):
        raise ValueError(f"{name} must hold places of learned parts")
