"""What the page says is what the model does; and it looks right in a browser."""

import re
import shutil

import numpy as np
import pytest

from farthing import BudgetedClassifier, BudgetedRanker, BudgetedRegressor
from farthing.boosting import GreedyMiserRanker, GreedyMiserRegressor
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.report import render, summarize
from farthing.report.plots import DARK, _svg, bought_chart, calibration_chart, draw_chart, frontier_chart

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


@pytest.fixture(scope="module")
def model(heart):
    return BudgetedClassifier(heart.costs, 100, methods=["BudgetTreeClassifier"]).fit(heart.X, heart.y)


@pytest.fixture(scope="module")
def summary(heart, model):
    return summarize(model, heart.X, heart.y, title="Hearts <b>&</b> budgets", target="disease")


@pytest.fixture(scope="module")
def page(summary):
    return render(summary)


def test_the_account_balances(heart, model, summary):
    paid = sum(p.mean_cost for p in summary.purchases) + sum(cost for _, _, cost in summary.group_costs)
    assert paid == pytest.approx(model.spend(heart.X).mean())


def test_confusion_counts_every_row_once(heart, summary):
    assert summary.confusion.sum() == len(heart.y)
    assert summary.confusion.sum(axis=1).tolist() == np.bincount(heart.y).tolist()
    assert sum(summary.calibration.counts) == len(heart.y)


def test_the_walks_are_those_of_the_model(heart, model, summary):
    spend = model.spend(heart.X)
    assert [trace.spent for trace in summary.traces] == [
        spend.min(),
        np.sort(spend)[len(spend) // 2],
        spend.max(),
    ]
    for trace in summary.traces:
        assert sum(step.price for step in trace.steps) == pytest.approx(trace.spent)


@pytest.mark.parametrize("chart", [frontier_chart, bought_chart, calibration_chart])
def test_the_dark_chart_is_the_light_one_in_other_colours(summary, chart, monkeypatch):
    drawn = {}

    def draw_twice(paint, alt, *, height=3.4):
        drawn["dark"] = _svg(paint, DARK, height)
        return draw_chart(paint, alt, height=height)

    monkeypatch.setattr("farthing.report.plots.draw_chart", draw_twice)
    # The names of elements are hashes of what they hold, colours included.
    got, expected = (
        re.sub(r"\b[a-z]+[0-9a-f]{10}\b", "name", svg) for svg in (chart(summary).dark, drawn["dark"])
    )
    assert DARK.ink in got
    assert got == expected


def test_spends_over_the_budget_are_marked():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    model = BudgetedClassifier(budget=2, methods=[BudgetTreeClassifier(max_depth=1)], cv=2).fit(X, y)
    summary = summarize(model, X, y)
    page = render(summary)
    # The tree pays 1 for every row; the lines are of budgets from 0.06 to 3.
    assert [line.is_over for line in summary.lines] == [line.budget < 1 for line in summary.lines]
    assert page.count(" (over)") == 4
    assert "fit again with that budget" in page


def test_larger_budgets_score_no_less(summary):
    scores = [line.point.score for line in summary.lines if line.point]
    assert scores == sorted(scores)


def test_a_mean_budget_is_explained(page):
    assert "per row on average: some rows spend more, others less" in page


def test_text_is_escaped(page):
    assert "Hearts &lt;b&gt;&amp;&lt;/b&gt; budgets" in page
    assert "<b>" not in page


def test_nothing_is_loaded_from_elsewhere(page):
    links = re.findall(r'(?:src|href|srcset)="([^"]*)', page)
    assert links
    assert all(link.startswith("data:") for link in links)
    assert "http" not in re.sub(r"data:[^\"]*", "", page)


def test_every_chart_has_words_and_a_table(page):
    assert len(re.findall(r'<img alt="[^"]{20,}"', page)) == page.count("<img") == 4
    assert page.count("<table") >= 8


def test_numbers(heart):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = BudgetedRegressor(methods=[GreedyMiserRegressor(n_estimators=8)], cv=2).fit(X, X[:, 0])
    page = render(summarize(model, X, X[:, 0]))
    assert "Predicted against true" in page
    assert "neg_" not in page
    assert "<dt>mean squared error</dt><dd>0." in page
    assert "Confusion" not in page


def test_a_loaded_model_gives_the_same_report(heart, model, tmp_path):
    import farthing  # noqa: PLC0415

    model.save(tmp_path / "m.farthing")
    again = summarize(farthing.load(tmp_path / "m.farthing"), heart.X, heart.y)
    fresh = summarize(model, heart.X, heart.y)
    assert again.lines == fresh.lines
    assert again.purchases == fresh.purchases
    assert again.traces == fresh.traces


def test_one_computation_for_lines_heat_map_and_walks(heart, model):
    found = summarize(model, heart.X, heart.y)
    assert found.chosen.max_spend == max(trace.spent for trace in found.traces)
    for line in found.lines:
        other = model.at(line.budget)
        assert line.point == other.chosen_
        assert line.shares == tuple(other.acquired(heart.X).mean(axis=0))
        own = other.spend(heart.X).mean()
        assert own <= line.point.spend * (1 + 1e-9) < 1.5 * own or own == line.point.spend == 0


def test_lines_of_a_hard_budget_end_at_it(heart):
    model = BudgetedClassifier(heart.costs, 20.0, budget_kind="hard", methods=["BudgetTreeClassifier"], cv=2)
    found = summarize(model.fit(heart.X, heart.y), heart.X, heart.y)
    assert [line.budget for line in found.lines][-1] == 20.0
    assert all(line.point.max_spend <= line.budget for line in found.lines)
    assert "not measured" in render(found)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; Debian, Ubuntu: apt install chromium")
class TestInABrowser:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [390, 1200])
    def test_it_fits_and_is_quiet(self, browser, page, tmp_path, scheme, width):
        file = tmp_path / "report.html"
        file.write_text(page, encoding="utf-8")
        view = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        heard, asked = [], []
        view.on("console", lambda message: heard.append(message.text))
        view.on("pageerror", lambda error: heard.append(str(error)))
        view.on("request", lambda request: asked.append(request.url))
        view.goto(file.as_uri())
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert heard == []
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        shown = view.evaluate("[...document.images].map(image => [image.naturalWidth, image.currentSrc])")
        assert all(wide > 0 for wide, _ in shown)
        sources = {source for _, source in shown}
        assert len(sources) == 4
        paper = view.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(21, 23, 26)")
        view.close()


@pytest.fixture(scope="module")
def weights(heart):
    # The ill count three times.
    return np.where(heart.y == 1, 3.0, 1.0)


@pytest.fixture(scope="module")
def weighted(heart, weights):
    tree = BudgetTreeClassifier(max_depth=3)
    return BudgetedClassifier(heart.costs, 100, methods=[tree], cv=2).fit(heart.X, heart.y, weights)


@pytest.fixture(scope="module")
def found(heart, weights, weighted):
    return summarize(weighted, heart.X, heart.y, sample_weight=weights)


class TestWeights:
    def test_shares_and_costs_are_those_of_copied_rows(self, heart, weights, weighted, found):
        copies = heart.X.iloc[np.repeat(np.arange(len(weights)), weights.astype(int))]
        bought = weighted.acquired(copies).mean(axis=0)
        np.testing.assert_allclose([p.share for p in found.purchases], bought)
        paid = sum(p.mean_cost for p in found.purchases) + sum(cost for _, _, cost in found.group_costs)
        assert paid == pytest.approx(weighted.spend(copies).mean())
        other = weighted.at(found.lines[-1].budget)
        np.testing.assert_allclose(found.lines[-1].shares, other.acquired(copies).mean(axis=0))

    def test_rows_count_by_their_weight(self, weights, found):
        assert found.confusion.sum() == weights.sum()
        assert sum(found.calibration.counts) == pytest.approx(weights.sum())
        assert f"303 rows of total weight {weights.sum():g}," in render(found)

    def test_the_folds_are_fitted_with_weights(self, heart, weighted, found):
        plain = summarize(weighted, heart.X, heart.y)
        called_ill = found.confusion.sum(axis=0)[1] / found.confusion.sum()
        assert called_ill > plain.confusion.sum(axis=0)[1] / plain.confusion.sum() + 0.1


def test_rankings_are_held_out_by_query():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 2)), np.repeat(np.arange(10), 6)
    grades = np.digitize(X[:, 0], [0, 1])
    ranker = GreedyMiserRanker(n_estimators=3, loss="lambdamart")
    model = BudgetedRanker(methods=[ranker], cv=2).fit(X, grades, qid)
    found = summarize(model, X, grades, qid=qid)
    assert found.score_name == "ndcg@5"
    assert found.words.title == "NDCG@5"
    assert np.corrcoef(*found.scatter)[0, 1] > 0.5
