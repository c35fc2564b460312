"""Fields that no fit gives, but a crafted file may: each is refused by the model that would hold it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from farthing.boosting import AdaBoostRSClassifier
from farthing.cascades import CSTCClassifier, DAGClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = np.searchsorted([-0.5, 0.5], X[:, 0] + X[:, 1])


@pytest.fixture(scope="module")
def sampled() -> Any:
    model = AdaBoostRSClassifier(n_estimators=8, sampling="free_rider", n_samples=5, random_state=0)
    return model.fit(X, y).fitted_


@pytest.fixture(scope="module")
def graph() -> Any:
    model = DAGClassifier(max_depth=2, n_estimators=2, n_folds=2, n_subsets=2, n_tradeoffs=1, random_state=0)
    return model.fit(X, y).fitted_


@pytest.fixture(scope="module")
def tree() -> Any:
    model = CSTCClassifier(depth=2, max_cycles=1, tradeoff=0.02, validation_fraction=None, random_state=0)
    return model.fit(X, y).fitted_.tree


SAMPLED = [
    ("sampling", lambda _: "best", "sampling must be one of"),
    ("sampling", lambda _: "top", "belongs to sampling='free_rider'"),
    ("curtail", lambda _: True, "curtail needs sampling='top'"),
    ("stops", lambda model: np.zeros((2, len(model.votes.alphas))), "stops belong to a vote with curtail"),
    ("n_samples", lambda _: 0, "must lie between 1 and"),
    ("seed", lambda _: -1, "seed must lie between"),
    ("margins", lambda model: np.full_like(model.margins, np.nan), "margins must be a list of finite floats"),
    ("margin_weights", lambda model: -model.margin_weights, "positive weight each"),
    ("margin_weights", lambda model: model.margin_weights[1:], "positive weight each"),
    ("mean_votes", lambda _: None, "mean_votes belongs to"),
    ("mean_votes", lambda model: model.mean_votes[1:], "mean_votes must be finite floats of shape"),
    ("spreads", lambda model: np.zeros_like(model.spreads), "spreads must be above zero"),
    ("classes", lambda _: np.array([0, 1]), "has 1 outputs"),
]


@pytest.mark.parametrize(("name", "wrong", "told"), SAMPLED, ids=[told for _, _, told in SAMPLED])
def test_a_sampled_vote(sampled: Any, name: str, wrong: Any, told: str) -> None:
    sampled.check()
    model = replace(sampled, **{name: wrong(sampled)})
    if name == "classes":
        model = replace(model, prior=np.array([0.0]))
    with pytest.raises(ValueError, match=told):
        model.check()


def changed(array: Any, place: Any, value: Any) -> Any:
    array = array.copy()
    array[place] = value
    return array


GRAPH = [
    ("edges", lambda model: changed(model.edges, (0, 0), len(model.states)), "must lead to a later state"),
    ("edges", lambda model: changed(model.edges, (0, 0), 0), "must lead to a later state"),
    ("classifier_places", lambda model: model.classifier_places + 1000, "classifier_places must hold places"),
    ("policy_places", lambda model: model.policy_places + 1000, "policy_places must hold places"),
    ("states", lambda model: np.ones_like(model.states), "the root must cost nothing"),
    ("states", lambda model: np.zeros_like(model.states), "a column that its state does not own"),
]


@pytest.mark.parametrize(("name", "wrong", "told"), GRAPH)
def test_a_graph_of_states(graph: Any, name: str, wrong: Any, told: str) -> None:
    graph.check()
    with pytest.raises(ValueError, match=told):
        replace(graph, **{name: wrong(graph)}).check()


TREE = [
    ("coef", lambda tree: tree.coef.astype(np.float32), "coef must be finite floats of shape"),
    ("threshold", lambda tree: np.full_like(tree.threshold, np.inf), "threshold must be finite floats"),
    ("children", lambda tree: tree.children.astype(float), "two integers for each node"),
    ("children", lambda tree: changed(tree.children, (0, 0), 0), "the child of one node before it"),
    ("bought", lambda tree: tree.bought[1:], "bought must hold integers for each node"),
    ("bought", lambda tree: tree.bought + 1000, "bought must hold columns of the table"),
    ("bought", lambda tree: np.full_like(tree.bought, -1), "a node uses a column that it does not buy"),
]


@pytest.mark.parametrize(("name", "wrong", "told"), TREE)
def test_a_tree_of_scores(tree: Any, name: str, wrong: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        replace(tree, **{name: wrong(tree)})
