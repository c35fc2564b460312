"""Early exit for documents, against exits taken by hand, query by query."""

import numpy as np
import pytest

from farthing import load
from farthing.boosting import GradientBoostingRegressor, GreedyMiserClassifier, GreedyMiserRanker
from farthing.cascades import EarlyExitRanker
from farthing.checks import yield_checks
from farthing.costs import CostSheet
from farthing.errors import WalkError
from farthing.trees import Predictor, Progress

SHEET = CostSheet([1.0, 2.0, 4.0, 8.0])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(300, 4)), 1)
    qid = rng.permutation(np.repeat(np.arange(20), 15))
    signal = X @ [1.0, 0.7, -0.7, 0.4] + 0.3 * rng.normal(size=300)
    return X, np.digitize(signal, [0.0, 1.0, 2.0]), qid


@pytest.fixture(scope="module")
def plain(table):
    X, y, _ = table
    return GradientBoostingRegressor(n_estimators=23, max_depth=2, max_leaf_nodes=None, costs=SHEET).fit(X, y)


def rank_by_hand(model, X, qid, *, margin, k, rounds_per_exit, budget):
    """Follow the equation of section 6 of the paper, one query after another."""
    n_exits = -(-(model.forest_.n_trees - 1) // rounds_per_exit)
    scores, acquired = np.empty(len(X)), np.empty(X.shape, dtype=bool)
    for query in np.unique(qid):
        left = np.flatnonzero(qid == query)
        for i in range(1, n_exits + 1):
            n_trees = min(1 + i * rounds_per_exit, model.forest_.n_trees)
            progress = Progress(X[left], 1, SHEET, budget=np.full(len(left), budget))
            Predictor(model.forest_).advance(progress, 0, n_trees)
            scores[left], acquired[left] = progress.outputs[:, 0], progress.acquired
            if i < n_exits and len(left) > k:
                best = np.sort(scores[left])[::-1][k - 1]
                gone = scores[left] <= best - margin * (n_exits - i) / (n_exits - 1)
                left = left[~gone | (scores[left] >= best)]
    return scores, acquired


@pytest.mark.parametrize(
    ("exits", "budget"),
    [
        ({"margin": 0.3, "k": 5, "rounds_per_exit": 5}, np.inf),
        ({"margin": 0.0, "k": 1, "rounds_per_exit": 1}, np.inf),
        ({"margin": 0.1, "k": 3, "rounds_per_exit": 2}, 6.0),
        ({"margin": 9.0, "k": 5, "rounds_per_exit": 10}, np.inf),
    ],
)
def test_documents_leave_by_the_equation(table, plain, exits, budget):
    X, _, qid = table
    early = EarlyExitRanker.around(plain, **exits)
    scores, acquired = rank_by_hand(plain, X, qid, **exits, budget=budget)
    looked = acquired.any(axis=1)
    assert early.predict(X, qid=qid, budget=budget)[looked].tobytes() == scores[looked].tobytes()
    assert np.array_equal(early.acquired(X, qid=qid, budget=budget), acquired)
    assert np.array_equal(early.spend(X, qid=qid, budget=budget), SHEET.total_rows(acquired))


def test_a_wider_margin_never_buys_less(table, plain):
    X, _, qid = table
    bought = [
        EarlyExitRanker.around(plain, margin=margin, rounds_per_exit=2).spend(X, qid=qid).sum()
        for margin in (0, 0.1, 0.5, 99)
    ]
    assert bought[0] < bought[-1] == plain.spend(X).sum()


def test_queries_do_not_see_each_other(table, plain):
    X, _, qid = table
    early = EarlyExitRanker.around(plain, margin=0.1, rounds_per_exit=2)
    whole = early.decide(X, qid=qid)
    for query in range(20):
        rows = qid == query
        alone = early.decide(X[rows])
        assert alone.prediction.tobytes() == whole.prediction[rows].tobytes()
        assert np.array_equal(alone.acquired, whole.acquired[rows])


@pytest.mark.parametrize("budget", [None, 3.0])
def test_the_walk_over_a_query_is_the_array_call(table, plain, budget):
    X, _, qid = table
    early = EarlyExitRanker.around(plain, margin=0.1, k=4, rounds_per_exit=3)
    for query in range(5):
        documents = X[qid == query]
        walk = early.walk_query(len(documents), budget=budget)
        while (ask := walk.ask) is not None:
            walk.tell(documents[ask.document, int(ask.feature[1:])])
        expected = early.decide(documents, budget=budget)
        decisions = walk.decisions
        assert [decision.prediction for decision in decisions] == expected.prediction.tolist()
        assert [decision.spent for decision in decisions] == expected.spent.tolist()
        assert walk.spent == pytest.approx(expected.spent.sum())
    with pytest.raises(WalkError, match="tell"):
        walk.tell(1.0)


def test_a_walk_with_known_and_refused_features(table, plain):
    X, _, qid = table
    early = EarlyExitRanker.around(plain, margin=0.1, k=2, rounds_per_exit=3)
    documents = X[qid == 0]
    walk = early.walk_query(len(documents), known=[{"x0": row[0]} for row in documents])
    asked = set()
    while (ask := walk.ask) is not None:
        assert (ask.document, ask.feature) not in asked
        asked.add((ask.document, ask.feature))
        walk.refuse()
    assert {feature for _, feature in asked} == {"x1", "x2", "x3"}
    assert walk.spent == 0
    assert len({decision.prediction for decision in walk.decisions}) > 1  # by what is known
    with pytest.raises(ValueError, match="each of 3"):
        early.walk_query(3, known=[{}])


@pytest.mark.parametrize("budget", [None, 6.0])
def test_entries_refused_in_an_array_call_are_those_refused_in_the_walk(table, plain, budget):
    X, _, qid = table
    early = EarlyExitRanker.around(plain, margin=0.1, k=2, rounds_per_exit=3)
    refused = np.random.default_rng(3).random(X.shape) < 0.3
    expected = early.decide(X, qid=qid, budget=budget, refused=refused)
    for query in range(4):
        rows = np.flatnonzero(qid == query)
        walk = early.walk_query(len(rows), budget=budget)
        while (ask := walk.ask) is not None:
            place = rows[ask.document], int(ask.feature[1:])
            if refused[place]:
                walk.refuse()
            else:
                walk.tell(X[place])
        assert [each.prediction for each in walk.decisions] == expected.prediction[rows].tolist()
        assert [each.spent for each in walk.decisions] == expected.spent[rows].tolist()
    assert not (expected.acquired & refused).any()
    by_name = early.decide(X, qid=qid, refused=["x1"])
    assert not by_name.acquired[:, 1].any()
    assert by_name.acquired.any()


def test_a_query_without_documents_is_ranked(plain):
    assert EarlyExitRanker.around(plain).walk_query(0).ask is None


def test_it_says_that_its_rows_are_not_alone():
    exempt = {name for name, _ in yield_checks(GreedyMiserRanker())} - {
        name for name, _ in yield_checks(EarlyExitRanker())
    }
    assert {name for name in exempt if "trade-off" not in name and "parameter" not in name} == {
        "one truth: a walk fed from a row gives what the array calls give",
        "one truth: panels are paid for, and rounds counts them",
        "one truth: a row is the same alone and among others",
        "one truth: entries refused in an array call are those refused in a walk",
    }


def test_a_ranker_within_learns_from_queries_and_is_stored(table, tmp_path):
    X, y, qid = table
    early = EarlyExitRanker(
        GreedyMiserRanker(n_estimators=7), margin=0.2, rounds_per_exit=2, costs=SHEET
    ).fit(X, y, qid)
    early.save(tmp_path / "early")
    loaded = load(tmp_path / "early")
    assert loaded.predict(X, qid=qid).tobytes() == early.predict(X, qid=qid).tobytes()
    assert loaded.spend(X, qid=qid).tobytes() == early.spend(X, qid=qid).tobytes()


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"margin": -1.0}, ValueError, "margin"),
        ({"k": 0}, ValueError, "'k' parameter .* must be"),
        ({"estimator": GreedyMiserClassifier()}, TypeError, "see EarlyExitClassifier"),
    ],
)
def test_what_makes_no_exit_is_refused(table, params, kind, message):
    X, y, _ = table
    with pytest.raises(kind, match=message):
        EarlyExitRanker(**{"estimator": GreedyMiserRanker(n_estimators=1), **params}).fit(X, y)
