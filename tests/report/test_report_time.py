"""A report within a time limit: what it leaves out is said on the page, and the rest is whole."""

import time

import numpy as np
import pytest

from farthing import BudgetedClassifier, BudgetedRegressor
from farthing.boosting import GreedyMiserRegressor
from farthing.deadline import check_deadline
from farthing.forests import BudgetTreeClassifier
from farthing.report import summarize, write_report
from farthing.report.report_run import CHART, FOLD, ReportRun


class EndlessAfter(BudgetTreeClassifier):
    """Fits so many times, and then never again."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        while EndlessAfter.fits == 0:
            check_deadline()
            time.sleep(0.001)
        EndlessAfter.fits -= 1
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    return X, np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.fixture
def model(table):
    EndlessAfter.fits = 100
    return BudgetedClassifier(methods=[EndlessAfter(max_depth=2)], cv=2).fit(*table)


def test_no_time_leaves_a_page_without_charts_and_folds(table, model, tmp_path):
    EndlessAfter.fits = 0
    said = write_report(tmp_path / "r.html", model, *table, time_limit=0.0)
    assert any("no predictions of held-out rows" in line for line in said)
    page = (tmp_path / "r.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert said[0] in page
    assert "left no time for this chart" in page
    assert "<img" not in page
    assert "Where the money goes" in page


def test_folds_that_were_done_are_used(table, model):
    EndlessAfter.fits = 2
    with ReportRun(model, time_limit=3.0) as run:
        found = summarize(model, *table, run=run)
    assert found.confusion.sum() == 60
    assert "2 of 5 folds: 60 rows" in found.left_out[0]


def test_without_a_limit_nothing_is_left_out(table, model):
    found = summarize(model, *table)
    assert found.left_out == ()
    assert found.confusion.sum() == 150


def test_many_rows_are_sampled_under_a_limit_only(table):
    X, y = np.tile(table[0], (40, 1)), np.tile(table[1], 40)
    model = BudgetedClassifier(methods=[BudgetTreeClassifier(max_depth=1)]).fit(X, y)
    with ReportRun(model, time_limit=100.0) as run:
        short = summarize(model, X, y, run=run)
    whole = summarize(model, X, y)
    assert "5000 rows" in short.left_out[0]
    assert whole.left_out == ()
    assert short.n_rows == whole.n_rows == 6000
    assert short.confusion.sum() == whole.confusion.sum() == 6000
    assert short.purchases[0].share == pytest.approx(whole.purchases[0].share, abs=0.05)


def test_a_rare_class_that_a_fold_lacks(table):
    X, y = table[0], table[1].copy()
    y[:2] = 3
    model = BudgetedClassifier(methods=[BudgetTreeClassifier(max_depth=2)], cv=2).fit(X, y)
    assert summarize(model, X, y).confusion.sum() == 150


def test_values(table, tmp_path):
    X = table[0]
    model = BudgetedRegressor(methods=[GreedyMiserRegressor(n_estimators=4)], cv=2).fit(X, X[:, 0])
    assert len(summarize(model, X, X[:, 0]).scatter[0]) == 150
    assert write_report(tmp_path / "r.html", model, X, X[:, 0], time_limit=0.0)


def test_the_bar_counts_every_step(table, model, capsys):
    with ReportRun(model, shown=True) as run:
        summarize(model, *table, run=run)
        for _ in range(4):
            run.skip(CHART)
    assert "report" in capsys.readouterr().err
    with ReportRun(model, time_limit=1000.0) as run:
        assert not run.fold_is_late()
        with run.step(FOLD):
            pass
