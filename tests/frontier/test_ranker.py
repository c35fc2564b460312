"""The best ranker within a budget."""

import numpy as np
import pytest

import farthing
from farthing import BudgetedRanker
from farthing.boosting import GreedyMiserRanker
from farthing.metrics import ndcg

QUICK = [GreedyMiserRanker(n_estimators=6, learning_rate=0.5, max_depth=2)]


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4))
    grades = np.digitize(X[:, 0] + 0.7 * X[:, 1] + 0.2 * rng.normal(size=240), [-0.5, 0.7])
    return X, grades, rng.permutation(np.repeat(np.arange(30), 8))


def test_it_ranks_better_than_what_buys_nothing(documents, tmp_path):
    X, grades, qid = documents
    model = BudgetedRanker([1, 2, 3, 4], budget=3, methods=QUICK, cv=3).fit(X, grades, qid)
    assert model.frontier_.score_name == "ndcg@5"
    nothing = ndcg(grades, np.zeros(240), qid=qid)
    assert model.score(X, grades, qid) > nothing + 0.1
    assert model.chosen_.score > nothing + 0.1
    assert model.spend(X).mean() <= 3
    model.save(tmp_path / "m")
    assert farthing.load(tmp_path / "m").score(X, grades, qid) == model.score(X, grades, qid)


def test_folds_keep_queries_whole_and_the_last_fit_knows_them(documents, monkeypatch):
    X, grades, qid = documents
    seen = []
    fit = GreedyMiserRanker.fit

    def spy(self, X, y, qid=None, sample_weight=None, **options):
        seen.append(np.unique(qid, return_counts=True))
        return fit(self, X, y, qid, sample_weight, **options)

    monkeypatch.setattr(GreedyMiserRanker, "fit", spy)
    BudgetedRanker(methods=QUICK, cv=3).fit(X, grades, qid)
    assert all((counts == 8).all() for _, counts in seen)
    assert {len(queries) for queries, _ in seen[:-1]} == {20}
    assert len(seen[-1][0]) == 30


def test_what_counts_is_a_parameter(documents):
    X, grades, qid = documents
    model = BudgetedRanker(methods=QUICK, cv=2, k=3).fit(X, grades, qid)
    assert model.frontier_.score_name == "ndcg@3"
    assert model.score(X, grades, qid) == ndcg(grades, model.predict(X), qid=qid, k=3)


def test_auto_tries_rankers(documents):
    from farthing.base import SweepContext  # noqa: PLC0415
    from farthing.frontier.candidates import candidates  # noqa: PLC0415

    sheet = farthing.CostSheet.uniform(["a", "b", "c", "d"])
    tried = candidates("auto", SweepContext(240, 4, None, sheet, ranks=True))
    assert {one.method for one in tried} == {"GreedyMiserRanker"}
    assert len(tried) > 3


def test_grades_below_zero_are_refused(documents):
    X, grades, qid = documents
    with pytest.raises(ValueError, match="grades must be finite and zero or more"):
        BudgetedRanker(methods=QUICK, cv=2).fit(X, grades - 1, qid)
