"""BudgetForestRanker: counts in leaves as scores, its metrics by query, and its budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farthing
from farthing.boosting import GreedyMiserRanker
from farthing.forests import BudgetForestClassifier, BudgetForestRanker
from farthing.metrics import ndcg, prefix_precision
from farthing.trees import Predictor


def documents(n_queries: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_queries * 10, 4)), 2)
    grades = np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=len(X)), [0.0, 1.0, 2.0])
    return X, grades, np.repeat(np.arange(n_queries), 10)


def summed_counts(ranker: BudgetForestRanker, X: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Count the training documents of each grade in the leaves of each row, tree by tree, from the bags."""
    sums = np.zeros((len(X), len(ranker.grades_)))
    for t in range(ranker.n_trees_):
        tree = ranker.forest_.trees(t, t + 1)
        place = Predictor(tree, np.arange(float(tree.n_nodes))[:, None])
        ends, bag = place.predict(X)[0][:, 0], ranker.in_bag(t)
        for row, end in enumerate(ends):
            here = ends == end
            sums[row] += [bag[here & (grades == grade)].sum() for grade in ranker.grades_]
    return sums


def test_of_two_grades_the_score_is_the_share_of_relevant_documents_in_the_leaves() -> None:
    X, grades, qid = documents()
    ranker = BudgetForestRanker(relevant_from=2, n_estimators=4, max_depth=3, random_state=0)
    ranker.fit(X, grades, qid)
    sums = summed_counts(ranker, X, (grades >= 2).astype(float))
    np.testing.assert_allclose(ranker.predict(X), sums[:, 1] / sums.sum(axis=1), rtol=1e-12)
    assert ranker.grades_.tolist() == [0, 1]


def test_of_several_grades_it_is_their_mean() -> None:
    X, grades, qid = documents()
    ranker = BudgetForestRanker(n_estimators=3, max_depth=2, random_state=1).fit(X, grades, qid)
    sums = summed_counts(ranker, X, grades)
    np.testing.assert_allclose(ranker.predict(X), sums @ ranker.grades_ / sums.sum(axis=1), rtol=1e-12)
    assert ranker.walk().decision.prediction == pytest.approx(grades.mean())


def test_the_trees_and_the_counts_are_those_of_the_classifier() -> None:
    X, grades, qid = documents()
    settings: dict[str, Any] = {"impurity": "pairs", "n_estimators": 5, "budget": 3.0, "random_state": 0}
    ranker = BudgetForestRanker(**settings).fit(X, grades, qid)
    forest = BudgetForestClassifier(aggregation="count", **settings).fit(X, grades)
    assert ranker.forest_ == forest.forest_
    assert ranker.spend(X).mean() == forest.spend(X).mean() <= 3.0
    np.testing.assert_allclose(ranker.predict(X), forest.predict_proba(X) @ [0, 1, 2, 3], rtol=1e-12)


@pytest.mark.parametrize("metric", ["ndcg", "prefix_precision"])
def test_its_score_is_the_metric_by_query(metric: Any) -> None:
    X, grades, qid = documents()
    fresh, true, queries = documents(seed=1)
    ranker = BudgetForestRanker(relevant_from=2, metric=metric, n_estimators=10, k=3, random_state=0)
    ranker.fit(X, grades, qid)
    measure = ndcg if metric == "ndcg" else prefix_precision
    for k, used in ((None, 3), (1, 1)):
        expected = measure((true >= 2).astype(int), ranker.predict(fresh), qid=queries, k=used)
        assert ranker.score(fresh, true, queries, k=k) == expected
    assert ranker.score(fresh, true, queries) > measure(true >= 2, np.zeros(len(true)), qid=queries, k=3)


@pytest.mark.parametrize("given", [True, False])
def test_alpha_is_chosen_by_the_metric(given: bool) -> None:
    X, grades, qid = documents()
    noisy = np.where(np.random.default_rng(3).random(len(grades)) < 0.3, 3 - grades, grades)
    fresh, true, queries = documents(seed=1)
    alphas = [0.0, 2.0, 8.0, 30.0]
    settings: dict[str, Any] = {"relevant_from": 2, "n_estimators": 6, "random_state": 0}
    rows = {"validation": (fresh, true, queries)} if given else {"validation": None}
    chosen = BudgetForestRanker(alpha=alphas, **settings).fit(X, noisy, qid, **rows)
    single = [BudgetForestRanker(alpha=alpha, **settings).fit(X, noisy, qid) for alpha in alphas]
    if given:
        scores = [model.score(fresh, true, queries) for model in single]
        assert chosen.alpha_ == alphas[int(np.argmax(scores))]
    assert chosen.forest_ == single[alphas.index(chosen.alpha_)].forest_


def test_many_grades_count_as_the_means_of_intervals() -> None:
    X, _, qid = documents()
    rng = np.random.default_rng(0)
    target, weights = rng.gamma(1.0, size=len(X)), rng.integers(1, 4, len(X)).astype(float)
    ranker = BudgetForestRanker(n_estimators=3, random_state=0).fit(X, target, qid, weights)
    assert len(ranker.grades_) <= 16
    assert (np.diff(ranker.grades_) > 0).all()
    assert ranker.walk().decision.prediction == pytest.approx(np.average(target, weights=weights))
    width = np.ptp(target) / 16
    low = np.average(target[target < target.min() + width], weights=weights[target < target.min() + width])
    assert ranker.grades_[0] == pytest.approx(low)
    assert np.corrcoef(ranker.predict(X), target)[0, 1] > 0.6


def test_it_ranks_about_as_well_as_the_miser() -> None:
    X, grades, qid = documents(60)
    fresh, true, queries = documents(60, seed=1)
    ranker = BudgetForestRanker(random_state=0).fit(X, grades, qid)
    miser = GreedyMiserRanker(n_estimators=60).fit(X, grades, qid)
    assert ranker.score(fresh, true, queries) > miser.score(fresh, true, queries) - 0.03


def test_a_file_keeps_the_grades(tmp_path: Any) -> None:
    X, grades, qid = documents()
    ranker = BudgetForestRanker(n_estimators=2, random_state=0).fit(X, grades, qid)
    ranker.save(tmp_path / "ranker")
    loaded = farthing.load(tmp_path / "ranker")
    assert (loaded.predict(X) == ranker.predict(X)).all()
    assert (loaded.max_cost_ == ranker.max_cost_).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"metric": "auc"}, "metric"), ({"k": 0}, "'k'"), ({"relevant_from": "two"}, "relevant_from")],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    X, grades, qid = documents(4)
    with pytest.raises(ValueError, match=message):
        BudgetForestRanker(**options).fit(X, grades, qid)
    with pytest.raises(ValueError, match=r"\(X, y, qid\)"):
        BudgetForestRanker().fit(X, grades, qid, validation=X)
