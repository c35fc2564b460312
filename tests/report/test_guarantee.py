"""What is said of the spend on new rows: what is guaranteed, or an interval."""

import numpy as np
import pytest

from farthing import BudgetedClassifier, Guarantee
from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_thyroid
from farthing.report import render, summarize
from farthing.service.model_description import describe


@pytest.fixture(scope="module")
def rows():
    data = load_thyroid()
    return data.X[:800], data.y[:800], data.costs


def door(costs, **limit):
    methods = [MiserCascadeClassifier(n_estimators=4, n_stages=3)]
    return BudgetedClassifier(costs, methods=methods, cv=2, random_state=0, **limit)


# Of small tables: a fold and all rows may lead to models of different spend.
@pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
def test_the_report_and_the_service_show_the_certificate(rows):
    X, y, costs = rows
    model = door(costs, guarantee=Guarantee(budget=20.0)).fit(X, y)
    summary = summarize(model, X, y)
    assert summary.spend_interval is None
    assert f"Guaranteed on new rows: {model.certificate_}." in render(summary)
    told = describe(model)["guarantee"]
    assert told["text"] == str(model.certificate_)
    assert (told["budget"], told["confidence"], told["n_rows"]) == (20.0, 0.9, 200)


@pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
def test_without_a_guarantee_the_report_shows_an_interval(rows):
    X, y, costs = rows
    model = door(costs, budget=20.0).fit(X, y)
    summary = summarize(model, X, y)
    spend = model.spend(X)
    low, high = summary.spend_interval
    assert (low + high) / 2 == pytest.approx(model.chosen_.spend)
    assert high - low == pytest.approx(2 * 1.96 * spend.std(ddof=1) / np.sqrt(len(spend)), rel=0.01)
    page = render(summary)
    assert "95 % interval of it on new rows" in page
    assert "may be over the budget" in page
    assert describe(model)["guarantee"] is None
