"""`score` of the rankers: the mean NDCG over the queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from farthing.boosting import GreedyMiserRanker
from farthing.cascades import EarlyExitRanker
from farthing.metrics import ndcg

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
grades = np.digitize(X[:, 0] + 0.5 * rng.normal(size=200), [0, 1])
qid = np.repeat(np.arange(20), 10)


def test_the_score_is_the_mean_ndcg_at_k() -> None:
    model = GreedyMiserRanker(n_estimators=5, k=3).fit(X, grades, qid)
    assert model.score(X, grades, qid) == ndcg(grades, model.predict(X), qid=qid, k=3)
    assert model.score(X, grades, qid=qid, k=1) == ndcg(grades, model.predict(X), qid=qid, k=1)
    # Without queries, all rows are one query, as in fit.
    assert model.score(X, grades) == ndcg(grades, model.predict(X), k=3)


def test_queries_decide_where_documents_leave() -> None:
    model = EarlyExitRanker(GreedyMiserRanker(n_estimators=8), margin=0.1, k=2, rounds_per_exit=1)
    model.fit(X, grades, qid)
    scores = model.predict(X, qid=qid)
    assert model.score(X, grades, qid) == ndcg(grades, scores, qid=qid, k=2)
    assert model.score(X, grades, qid, k=9) == ndcg(grades, scores, qid=qid, k=9)


@pytest.mark.parametrize("model", [GreedyMiserRanker(n_estimators=3), EarlyExitRanker()])
def test_a_budget_may_be_given(model: Any) -> None:
    model.fit(X, grades, qid)
    tied = ndcg(grades, np.zeros(200), qid=qid, k=5)
    assert model.score(X, grades, qid, budget=0.0) == tied < model.score(X, grades, qid)


@pytest.mark.parametrize("model", [GreedyMiserRanker(n_estimators=3), EarlyExitRanker()])
def test_negative_grades_and_odd_queries_are_refused(model: Any) -> None:
    model.fit(X, grades, qid)
    with pytest.raises(ValueError, match="grades must be finite and zero or more"):
        model.score(X, grades - 1, qid)
    with pytest.raises(ValueError, match="qid must have one query per row"):
        model.score(X, grades, qid[:5])


def test_folds_of_queries_can_be_scored() -> None:
    model = GreedyMiserRanker(n_estimators=5)
    scores = [
        model.fit(X[train], grades[train], qid[train]).score(X[test], grades[test], qid[test])
        for train, test in GroupKFold(4).split(X, grades, qid)
    ]
    assert 0.7 < min(scores) <= max(scores) <= 1


# Validation.


def test_validation_queries_weigh_as_much_as_their_documents():
    """The first four validation queries ask for the opposite of what was learned."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(80, 2)), np.repeat(np.arange(8), 10)
    grades = np.digitize(X[:, 0], [-0.5, 0.5])
    turned = np.where(qid < 4, 2 - grades, grades)
    losses = {}
    for share in (0.0, 0.5, 1.0):
        weights = np.where(qid < 4, share, 1 - share)
        model = GreedyMiserRanker(n_estimators=6, max_depth=2)
        model.fit(X, grades, qid, validation=(X, turned, qid, weights))
        losses[share] = model.validation_losses_
        assert (model.n_rounds_ > 0) == (share < 1)
    # A query of the mean weight w counts w times, so half and half is the mean of the two.
    np.testing.assert_allclose(losses[0.5], (losses[0.0] + losses[1.0]) / 2)
    assert losses[0.0].max() < losses[1.0].min()


def test_equal_weights_are_no_weights_however_long_the_queries():
    rng = np.random.default_rng(1)
    X, qid = rng.normal(size=(60, 2)), np.repeat([0, 1, 2], [40, 15, 5])
    grades = rng.integers(0, 3, 60)
    model = GreedyMiserRanker(n_estimators=4, max_depth=2)
    plain = model.fit(X, grades, qid, validation=(X, grades, qid)).validation_losses_
    equal = model.fit(X, grades, qid, validation=(X, grades, qid, np.full(60, 3.0))).validation_losses_
    np.testing.assert_allclose(equal, plain)
