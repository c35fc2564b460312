"""Votes on several classes: AdaBoost and AdaBoostBT against their definition, curtailed, stored."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.naive.boosting import Twin, best_class_edges

from farthing import load
from farthing.base import TrainingSet
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier
from farthing.boosting.adaboost_bt.selection_rules import RULES, best
from farthing.frontier import BudgetedClassifier
from farthing.learning.voting import vote_targets
from farthing.learning.voting.class_curtailment import CurtailedClassPolicy
from farthing.table import Bins, Schema
from farthing.walks import walk_rows

LABELS = np.array(["ash", "beech", "cedar", "dogwood"])


def problem(seed: int, n_rows: int = 120, k: int = 3) -> tuple[NDArray[np.object_], NDArray[np.str_]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 5)), 1).astype(object)
    X[:, 2] = rng.choice(["low", "mid", "high", None], size=n_rows)
    X[:, 3] = rng.integers(0, 2, n_rows)
    score = X[:, 0].astype(float) + (X[:, 2] == "low") - X[:, 1].astype(float) * X[:, 3].astype(float)
    X[rng.random(n_rows) < 0.1, 0] = np.nan
    cuts = np.quantile(score, np.arange(1, k) / k)
    return X, LABELS[np.digitize(score + 0.3 * rng.normal(size=n_rows), cuts)]


def numbers(seed: int, n_rows: int = 60) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 4)).astype(float)
    return X, np.digitize(X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=n_rows), [0.5, 2.5])


@pytest.mark.parametrize("rule", ["greedy", "smoothed"])
def test_each_round_takes_the_best_score(rule: str) -> None:
    """Replay the rounds with the edges of brute force: over all thresholds and all votes of both sides."""
    X, y = numbers(0)
    prices = np.array([1.0, 0.5, 2.0, 0.1])
    model = AdaBoostBTClassifier(rule=rule, costs=prices, n_estimators=5, intercept=False).fit(X, y)
    labels, weights = vote_targets(TrainingSet.of(X, y, classes=np.arange(3)))
    twin = Twin(labels.astype(np.int64).ravel(), weights.ravel())
    votes, _ = model.fitted_.votes_by_tree(X)
    assert votes.shape == (60, 5, 3)
    spent = 0.0
    for number in range(5):
        signed = (twin.weights * twin.labels).reshape(60, 3)
        edges = np.array(best_class_edges(Bins(X, Schema.learn(X)), [False] * 4, signed))
        place = best(RULES[rule](edges, prices, spent), edges, prices)
        assert model.path_["feature"][number] == f"x{place}"
        edge, alpha = twin.take(votes[:, number].astype(np.int64).ravel())
        assert model.path_["edge"][number] == pytest.approx(edge, abs=1e-9) == pytest.approx(edges[place])
        assert model.estimator_weights_[number] == pytest.approx(alpha, rel=1e-7)
        spent = float(model.path_["spent"][number])
    total = np.tensordot(votes, model.estimator_weights_, axes=(1, 0))
    assert np.array_equal(model.decision_function(X), total)
    assert np.array_equal(model.predict(X), np.argmax(total, axis=1))


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 25), st.integers(3, 4))
def test_a_curtailed_vote_has_the_same_labels_for_less(
    seed: int, max_depth: int, n_estimators: int, k: int
) -> None:
    X, y = problem(seed, 60, k)
    fresh, _ = problem(seed + 1, 60)
    options: dict[str, Any] = {"n_estimators": n_estimators, "max_depth": max_depth}
    plain = AdaBoostClassifier(**options).fit(X, y)
    short = AdaBoostClassifier(**options, curtail=True).fit(X, y)
    assert short.forest_ == plain.forest_
    for rows in (X, fresh):
        labels = short.predict(rows)
        assert np.array_equal(labels, plain.predict(rows))
        assert np.array_equal(short.classes_[np.argmax(short.predict_proba(rows), axis=1)], labels)
        assert (short.acquired(rows) <= plain.acquired(rows)).all()


def test_curtailed_walks_are_the_array_calls_and_save() -> None:
    X, y = numbers(1, 200)
    prices = [1.0, 3.0, 0.5, 2.0]
    for max_depth in (1, 2):
        plain, short = (
            AdaBoostClassifier(n_estimators=25, max_depth=max_depth, curtail=curtail, costs=prices).fit(X, y)
            for curtail in (False, True)
        )
        assert short.spend(X).mean() < 0.97 * plain.spend(X).mean()
        for budget in (None, np.full(40, 4.0)):
            fast = short.fitted_.outputs(X[:40], budget=budget)
            slow = walk_rows(short.fitted_.policy, short.fitted_.costs, X[:40], 3, budget=budget)
            assert np.array_equal(fast[0], slow[0])
            assert np.array_equal(fast[1], slow[1])


def test_no_feature_is_asked_for_in_vain() -> None:
    """Whenever a question is put, some answers to the features still out would change the winner."""
    X, y = numbers(2)
    model = AdaBoostClassifier(n_estimators=12, curtail=True).fit(X, y)
    full, values = model.fitted_.predictor, (0.0, 1.0, 2.0, 3.0, np.nan)
    asked = 0
    for row in X[:12]:
        policy, known = CurtailedClassPolicy(model.fitted_.class_curtailment), dict[int, float]()
        while (column := policy.wants(None)) is not None:  # type: ignore[arg-type]
            rest = [j for j in range(4) if j not in known]
            worlds = [
                [known[j] if j in known else world[rest.index(j)] for j in range(4)]
                for world in itertools.product(values, repeat=len(rest))
            ]
            winners = np.argmax(full.predict(np.array(worlds))[0], axis=1)
            assert len(np.unique(winners)) > 1
            known[column] = row[column]
            policy.hear(column, row[column])
            asked += 1
    assert asked > 12


def test_a_row_that_buys_nothing_has_the_shares_of_the_classes() -> None:
    X, y = problem(3)
    weights = np.random.default_rng(0).choice([1.0, 3.0], size=len(y))
    for model in (AdaBoostClassifier(n_estimators=5), AdaBoostBTClassifier(n_estimators=5)):
        model.fit(X, y, sample_weight=weights)
        shares = [weights[y == label].sum() / weights.sum() for label in model.classes_]
        assert model.predict_proba(X[:1], budget=0)[0] == pytest.approx(shares)


def test_stages_margins_and_files(tmp_path: Path) -> None:
    X, y = problem(4)
    model = AdaBoostClassifier(n_estimators=15, max_depth=2).fit(X, y)
    votes = list(model.staged_decision_function(X))
    assert np.array_equal(votes[-1], model.decision_function(X))
    assert votes[0].shape == (120, 3)
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    margins = model.margins(X, y)
    assert np.abs(margins).max() <= 1
    clear = np.abs(margins) > 1e-12  # a tie goes to the earlier class
    assert ((margins > 0) == (model.predict(X) == y))[clear].all()
    model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    parts = {params.get("n_estimators", 15): part for params, part in model.variants()}
    assert np.array_equal(parts[5].predict(X), list(model.staged_predict(X))[4])


def test_two_of_three_classes() -> None:
    """A class without rows is never predicted, and costs nothing but its vote."""
    X, y = numbers(5)
    rows = TrainingSet.of(X, np.minimum(y, 1), classes=np.arange(3))
    model = AdaBoostClassifier(n_estimators=20).fit_rows(rows)
    assert set(model.predict(X).tolist()) == {0, 1}
    assert model.predict_proba(X, budget=0)[0, 2] < 1e-9
    table = AdaBoostClassifier().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 2])
    assert table.predict_proba(np.ones((1, 2)))[0] == pytest.approx([1 / 2, 1 / 3, 1 / 6])
    assert table.forest_.value.tolist()[0] == [1.0, -1.0, -1.0]


def test_the_front_door_takes_them_by_name() -> None:
    X, y = problem(6, 90)
    door = BudgetedClassifier(
        [1.0] * 5, 2.0, budget_kind="hard", methods=[AdaBoostBTClassifier(n_estimators=10)], cv=2
    ).fit(X, y)
    assert door.chosen_.method == "AdaBoostBTClassifier"
    assert door.spend(X).max() <= 2.0
    assert door.score(X, y) > 0.5
