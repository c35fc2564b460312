"""The front door beside LightGBM: what is compared is what it says."""

import numpy as np
import pandas as pd
import pytest
from experiments.boards.front_door import Result, gaps_of, once_for_all_budgets
from experiments.lib.front_door_page import restated, text_of
from experiments.lib.lightgbm_rivals import LAZY, SUBSET, settings
from experiments.lib.mean_budgets import Split
from experiments.lib.stored_pages import StoredPage

from farthing.cascades import MiserCascadeClassifier
from farthing.costs import CostSheet, Group


def table(n_rows=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0).astype(np.int64)


def result(right, row):
    right = np.array(right, dtype=bool)
    return Result(right, np.zeros(right.shape), np.array(row), {})


def test_subsets_are_paid_by_groups_and_fill_each_budget():
    X, y = table()
    costs = CostSheet([1.0, 2.0, 3.0, 4.0], groups={"g": Group(10.0, ["x0", "x1"])})
    split = Split("made", costs, (X, y), (X, y), (X, y))
    found = settings(SUBSET, split, 20)
    by_gain = [setting.columns for setting in found if setting.columns[0] == 0]
    assert {(0,), (0, 1)} <= {columns[:2] for columns in by_gain}
    # Half of the whole price, 20, buys the group's first member but no second feature beside it.
    assert (0,) in by_gain
    assert any(len(setting.columns) == 4 for setting in found)
    assert len(found) <= 20
    assert len(settings(LAZY, split, 20)) == 20


def test_gaps_are_over_rows_in_pairs():
    ours = [result([[1, 1, 0, 1]], [0, 1, 2, 3]), result([[1, 0, 0, 1]], [0, 1, 2, 3])]
    theirs = [result([[1, 0, 0, 1]], [0, 1, 2, 3]), result([[0, 0, 0, 1]], [0, 1, 2, 3])]
    mean, error = gaps_of("hepatitis", ours, theirs)  # the same rows twice: one half each, then four rows
    by_row = np.array([0.5, 0.5, 0.0, 0.0])
    assert mean == pytest.approx([by_row.mean()] * 2)
    assert error == pytest.approx([by_row.std() / 2] * 2)
    mean, error = gaps_of("dna", ours, theirs)  # two splits of their own
    each = [np.array([0, 1, 0, 0]).std() / 2, np.array([1, 0, 0, 0]).std() / 2]
    assert mean == pytest.approx([0.25] * 2)
    assert error == pytest.approx([np.hypot(*each) / 2] * 2)


def test_one_fit_for_all_budgets_gives_the_models_of_six(tmp_path):
    X, y = table()
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    settings_ = {"costs": CostSheet([1.0, 2.0, 3.0, 4.0]), "n_estimators": 5, "n_folds": 2, "random_state": 0}
    plain = [MiserCascadeClassifier(budget=b, **settings_).fit(frame, y) for b in (2.0, 6.0)]
    with once_for_all_budgets(tmp_path, MiserCascadeClassifier):
        once = [MiserCascadeClassifier(budget=b, **settings_).fit(frame, y) for b in (2.0, 6.0)]
    assert len(list(tmp_path.iterdir())) == 1
    for a, b in zip(plain, once, strict=True):
        assert b.get_params()["budget"] == a.get_params()["budget"]
        assert np.array_equal(a.predict_proba(frame), b.predict_proba(frame))
        assert np.array_equal(a.spend(frame), b.spend(frame))


def test_results_come_back_from_files(tmp_path):
    one = Result(np.array([[True, False]]), np.array([[0.1, 0.1]]), np.array([3, 8]), {"fits": 20})
    one.save(tmp_path / "one.npz")
    again = Result.load(tmp_path / "one.npz")
    assert np.array_equal(again.right, one.right)
    assert np.array_equal(again.row, one.row)
    assert again.notes == {"fits": 20}


BODY = """### dna: 10 rows

| method | 2% | 5% | mean | fits |
|---|---|---|---|---|
| BudgetedClassifier | 0.8 (1.9%) | 0.9 (5.5%) | 0.85 | 14 |
| LightGBM lazy | 0.7 (9.9%) | 0.9 (4.5%) | 0.80 | 14 |

Against LightGBM lazy, the best rival: +0.05 +- 0.01.
Chosen: EarlyExit 2.

### thyroid: 10 rows

| method | 2% | 5% | mean | fits |
|---|---|---|---|---|
| BudgetedClassifier | 0.8 (1.9%) | 0.9 (4.5%) | 0.85 | 14 |

Against LightGBM lazy: -0.05 +- 0.01. By budget it loses by more than a standard error at 2% (-0.1 +- 0.1).
Chosen: EarlyExit 2."""
ROWS = [
    "| dna | 0.85 | 0.80 (lazy) | +0.0500 +- 0.01 | ahead |",
    "| thyroid | 0.8 | 0.9 (lazy) | -0.05 +- 0.01 | behind |",
]


def test_the_page_says_where_it_loses_and_overspends():
    text = text_of(ROWS, BODY, 100, 5, ["letter"])
    assert "above the best rival's on 1 of 2 tables; below by more than a standard error: thyroid;" in text
    assert "at: thyroid 2% (-0.1 +- 0.1).\n" in text
    assert "on the test rows at: dna 5% (5.5% spent).\n- Not measured: letter.\n" in text
    again = restated(StoredPage(text, "", ""), 100, 5, ("dna", "thyroid", "letter"))
    assert again == text
