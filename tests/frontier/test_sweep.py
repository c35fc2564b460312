"""Sweeps: what is tried, what fails, what is remembered."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import farthing
from farthing.base import SweepContext
from farthing.boosting import AdaBoostClassifier, GreedyMiserClassifier, GreedyMiserRanker
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.frontier.candidates import candidates
from farthing.frontier.result_cache import ResultCache

TREES = ("BudgetTreeClassifier", {"max_depth": [1, 2, 3], "tradeoff": [0.0, 0.001], "cost_rule": ["penalty"]})

MANY = ("BudgetTreeClassifier", {"min_samples_leaf": list(range(1, 41))})


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


def numbers_of(heart):
    """Return the table as numbers without gaps, for estimators that want such."""
    return np.nan_to_num(heart.X.to_numpy(dtype=float))


def same(one, other):
    return [(p.method, dict(p.params), p.spend, p.max_spend, p.score, p.error) for p in one] == [
        (p.method, dict(p.params), p.spend, p.max_spend, p.score, p.error) for p in other
    ]


@pytest.mark.filterwarnings("ignore::farthing.errors.UnseenCategoryWarning")
def test_a_point_is_what_a_fit_pays_and_scores(heart):
    n = 200
    frontier = farthing.sweep(
        [BudgetTreeClassifier(max_depth=2)], heart.X[:n], heart.y[:n], heart.costs,
        validation=(heart.X[n:], heart.y[n:]),
    )  # fmt: skip
    model = BudgetTreeClassifier(max_depth=2, costs=heart.costs).fit(heart.X[:n], heart.y[:n])
    (found,) = frontier
    spend = model.spend(heart.X[n:])
    assert (found.spend, found.max_spend) == (spend.mean(), spend.max())
    assert found.score == np.mean(model.predict(heart.X[n:]) == heart.y[n:])


def test_folds_are_means(heart):
    frontier = farthing.sweep([TREES], heart.X, heart.y, heart.costs, cv=3)
    assert len(frontier) == 6
    assert all(0.6 < p.score < 0.9 and 0.01 < p.error < 0.04 for p in frontier)


def test_repeats_do_not_make_an_error_smaller(heart):
    from sklearn.model_selection import RepeatedStratifiedKFold  # noqa: PLC0415

    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    once = farthing.sweep([TREES], heart.X, heart.y, heart.costs, cv=3)
    often = farthing.sweep([TREES], heart.X, heart.y, heart.costs, cv=folds)
    assert often.points[0].error == pytest.approx(once.points[0].error, rel=0.15)


def test_one_fit_gives_many_points(heart):
    frontier = farthing.sweep([AdaBoostClassifier(n_estimators=20)], heart.X, heart.y, heart.costs)
    rounds = [p.params.get("n_estimators", 20) for p in frontier]
    assert rounds == [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20]
    again = farthing.sweep([AdaBoostClassifier(n_estimators=6)], heart.X, heart.y, heart.costs)
    assert again.points[-1].score == frontier.points[5].score


def test_the_estimator_of_a_point_gives_its_model(heart):
    frontier = farthing.sweep([GreedyMiserClassifier(n_estimators=9)], heart.X, heart.y, heart.costs)
    assert [p.estimator.n_estimators for p in frontier] == [1, 2, 3, 4, 5, 6, 8, 9]
    assert not hasattr(frontier.points[0].estimator, "forest_")


def test_auto_begins_with_the_fastest_method_under_a_time_limit(heart):
    frontier = farthing.sweep(
        "auto", heart.X[:80], heart.y[:80], heart.costs, time_limit=0, cv=None
    )  # the first method alone
    assert frontier.methods == ("BudgetTreeClassifier",)
    assert frontier.n_skipped > 5


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_auto_is_lean_and_all_is_all(heart, n_classes):
    context = SweepContext(99, 13, n_classes, heart.costs, 20.0)
    lean, full = (candidates(word, context) for word in ("auto", "all"))
    assert 4 <= len(lean) <= (12 if n_classes else 20)
    assert {c.method for c in lean} < {c.method for c in full} or n_classes is None
    assert len(full) > len(lean)
    by_name = candidates([c.method for c in full[:1]], context)
    assert by_name[0].method == full[0].method


def test_auto_has_a_cascade_by_the_number_of_rows_and_boosters_on_subsets(heart):
    lean = candidates("auto", SweepContext(99, 13, 2, heart.costs, 20.0))
    more = candidates("auto", SweepContext(9999, 13, 2, heart.costs, 20.0))
    depths = [c.params["max_depth"] for c in (*lean, *more) if c.method == "MiserCascadeClassifier"]
    assert depths == [3, 4]
    cascade = next(c.estimator for c in lean if c.method == "MiserCascadeClassifier")
    model = cascade.set_params(n_estimators=5, n_folds=2).fit(heart.X, heart.y)
    subsets = [v for params, v in model.variants() if params.get("budget_kind") == "hard"]
    assert len(subsets) > 5
    assert all(len(np.unique(v.acquired(heart.X), axis=0)) == 1 for v in subsets)


def test_binary_methods_are_not_tried_on_three_classes(heart):
    two, three = (
        {c.method for c in candidates("auto", SweepContext(99, 13, n, heart.costs))} for n in (2, 3)
    )
    assert {"AdaBoostClassifier", "AdaBoostBTClassifier"} <= two - three
    assert "EarlyExitClassifier" in three
    numbers = {c.method for c in candidates("auto", SweepContext(99, 13, None, heart.costs))}
    assert "GreedyMiserRegressor" in numbers
    assert not numbers & two


def test_others_pay_for_everything(heart):
    frontier = farthing.sweep([DummyClassifier()], heart.X, heart.y, heart.costs)
    assert frontier.points[0].spend == pytest.approx(frontier.full_cost, rel=1e-12)


def test_a_failure_does_not_end_the_sweep(heart):
    frontier = farthing.sweep(
        [LogisticRegression(C=-1.0), BudgetTreeClassifier()], numbers_of(heart), heart.y
    )
    assert [f.method for f in frontier.failures] == ["LogisticRegression"]
    assert "C" in frontier.failures[0].reason
    assert frontier.methods == ("BudgetTreeClassifier",)


def test_a_hard_budget_caps_every_row(heart):
    frontier = farthing.sweep(
        ["BudgetTreeClassifier", GreedyMiserClassifier(n_estimators=5)], heart.X, heart.y, heart.costs,
        budget=8.0, budget_kind="hard",
    )  # fmt: skip
    assert len(frontier) > 5
    assert all(p.max_spend <= 8.0 for p in frontier)


def test_rankings_keep_queries_whole():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(120, 4)), np.repeat(np.arange(20), 6)
    grades = (X[:, 0] > 0.5).astype(float)
    frontier = farthing.sweep([GreedyMiserRanker(n_estimators=4)], X, grades, scoring="ndcg@3", qid=qid, cv=4)
    assert frontier.score_name == "ndcg@3"
    assert frontier.best.score > 0.9


def test_error_costs_find_the_best_stop(heart):
    labels = np.where(heart.y == 1, "sick", "fit")
    dear = farthing.ErrorCosts([[0, 1000], [5000, 0]], labels=["fit", "sick"])
    cheap = farthing.ErrorCosts([[0, 1], [1, 0]], labels=["fit", "sick"])
    spends = [
        farthing.sweep(
            [TREES, GreedyMiserClassifier(n_estimators=20)], heart.X, labels, heart.costs, scoring=scoring
        ).best.spend
        for scoring in (cheap, dear)
    ]
    assert spends[0] < 1.5
    assert spends[1] > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_kind": "median"}, "budget_kind must be"),
        ({"scoring": "wit"}, "wit"),
        ({"methods": []}, "at least one"),
        ({"methods": ["NoSuchClassifier"]}, "NoSuchClassifier"),
        ({"methods": [3]}, "methods must be"),
        ({"budget": -1}, "budget"),
    ],
)
def test_bad_arguments(heart, options, message):
    given = {"methods": [TREES], **options}
    with pytest.raises((ValueError, TypeError, LookupError), match=message):
        farthing.sweep(X=heart.X, y=heart.y, costs=heart.costs, **given)


class TestMemory:
    def test_a_second_sweep_fits_nothing(self, heart, tmp_path, monkeypatch):
        first = farthing.sweep([TREES], heart.X, heart.y, heart.costs, memory=tmp_path)
        monkeypatch.setattr(BudgetTreeClassifier, "fit", lambda *_, **__: pytest.fail("fitted again"))
        assert same(first, farthing.sweep([TREES], heart.X, heart.y, heart.costs, memory=tmp_path))

    def test_other_data_are_another_sweep(self, heart, tmp_path):
        one = farthing.sweep([TREES], heart.X, heart.y, heart.costs, memory=tmp_path)
        other = farthing.sweep([TREES], heart.X, heart.y, heart.costs.scaled(2.0), memory=tmp_path)
        assert [p.spend for p in other] != [p.spend for p in one]

    def test_a_spoilt_file_is_done_again(self, heart, tmp_path):
        first = farthing.sweep([TREES], heart.X, heart.y, heart.costs, memory=tmp_path)
        for file in list(tmp_path.iterdir())[:3]:
            file.write_text('{"rows": [')
        assert same(first, farthing.sweep([TREES], heart.X, heart.y, heart.costs, memory=tmp_path))

    def test_what_cannot_be_named(self, heart, tmp_path):
        with pytest.raises(TypeError, match="lambda"):
            farthing.sweep(
                [farthing.boosting.AdaBoostBTClassifier(rule=lambda edge, cost, spent: edge)],
                heart.X, heart.y, heart.costs, memory=tmp_path,
            )  # fmt: skip

    def test_a_killed_sweep_goes_on(self, heart, tmp_path):
        job = textwrap.dedent(
            f"""
            import farthing, sys
            from farthing.datasets import load_heart_disease
            heart = load_heart_disease()
            table = heart.X, heart.y, heart.costs
            methods = [("BudgetTreeClassifier", {{"min_samples_leaf": list(range(1, 41))}})]
            farthing.sweep(methods, *table, cv=3, memory={str(tmp_path)!r})
            """
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen([sys.executable, "-c", job], env=environment)
        try:
            end = time.monotonic() + 60
            while len(list(tmp_path.glob("*.json"))) < 4 and time.monotonic() < end:
                time.sleep(0.005)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        done = len(list(tmp_path.glob("*.json")))
        whole = farthing.sweep([MANY], heart.X, heart.y, heart.costs, cv=3)
        assert 4 <= done < 3 * 40
        resumed = farthing.sweep([MANY], heart.X, heart.y, heart.costs, cv=3, memory=tmp_path)
        assert same(whole, resumed)


def test_methods_that_draw_lots_can_be_repeated(heart):
    methods = [farthing.boosting.AdaBoostRSClassifier(budget=5.0, n_estimators=30)]
    first, again, other = (
        farthing.sweep(methods, heart.X, heart.y, heart.costs.scaled(0.01), random_state=seed)
        for seed in (0, 0, 1)
    )
    assert same(first, again)
    assert first.points[0].estimator.random_state == 0
    assert other.points[0].estimator.random_state == 1


def test_side_by_side_gives_the_same(heart):
    alone = farthing.sweep([TREES], heart.X, heart.y, heart.costs, cv=2)
    assert same(alone, farthing.sweep([TREES], heart.X, heart.y, heart.costs, cv=2, n_jobs=2))


def test_progress_is_shown(heart, capsys):
    farthing.sweep([TREES], heart.X, heart.y, heart.costs, progress=True)
    assert "fits" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::farthing.errors.UnseenCategoryWarning")
def test_validation_rows_may_have_their_columns_in_any_order(heart):
    methods = [("BudgetTreeClassifier", {"max_depth": [2]})]
    X, y = heart.X, heart.y
    shuffled = X[200:][X.columns[::-1]]
    turned = farthing.sweep(methods, X[:200], y[:200], heart.costs, validation=(shuffled, y[200:]))
    plain = farthing.sweep(methods, X[:200], y[:200], heart.costs, validation=(X[200:], y[200:]))
    assert (turned[0].spend, turned[0].score) == (plain[0].spend, plain[0].score)


def test_rows_are_held_out_in_one_way(heart):
    held = heart.X[200:], heart.y[200:]
    with pytest.raises(ValueError, match="cv and validation are two ways to hold out rows"):
        farthing.sweep("auto", heart.X[:200], heart.y[:200], heart.costs, cv=2, validation=held)


def test_a_file_of_the_memory_that_is_no_result_is_ignored(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    for text in ("[1]", "1", "null", '"a"', "[" * 100_000, "{"):
        (tmp_path / "a.json").write_text(text)
        assert cache.get("a") is None
