"""The demonstration runs, and what it prints is true."""

import re

import numpy as np
import pytest

from farthing import demo
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(demo, "N_REPEATS", 1)
    demo.main()
    return str(capsys.readouterr().out)


def test_no_budget_is_exceeded(printed: str) -> None:
    lines = re.findall(r"^ +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d)% ", printed, re.MULTILINE)
    assert [float(budget) for budget, _, _ in lines] == list(demo.BUDGETS)
    for budget, spend, accuracy in lines:
        assert float(spend) <= float(budget)
        assert 50 <= float(accuracy) <= 100
    for tradeoff in demo.TRADEOFFS:
        assert re.search(rf"^ +{tradeoff:g}  +\d+\.\d\d ", printed, re.MULTILINE)
    assert "picked from the lines" in printed


def test_the_walk_adds_up(printed: str) -> None:
    # A step ends in price, money spent so far and belief.
    steps = re.findall(r" (\d+\.\d\d) +(\d+\.\d\d) +\d+%$", printed, re.MULTILINE)
    assert steps
    spent = 0.0
    for price, so_far in steps:
        spent += float(price)
        assert float(so_far) == pytest.approx(spent, abs=0.011)
    assert spent <= demo.PATIENT_BUDGET
    assert re.search(
        rf"^Heart disease: (no|yes), for {spent:.2f} CAD\. In truth: (no|yes)\.$", printed, re.MULTILINE
    )


def test_arrays_do_as_well_as_frames(capsys: pytest.CaptureFixture[str]) -> None:
    demo.print_walk(load_heart_disease(frame=False))
    assert "cp: kind of chest pain" in capsys.readouterr().out


def test_outcome_counts_rows_not_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "N_REPEATS", 2)
    data = load_heart_disease()
    outcome = demo.cross_validate(BudgetTreeClassifier(costs=data.costs, budget=0), data)
    # With nothing to spend every prediction is the larger class, whatever the fold.
    np.testing.assert_array_equal(outcome.correct, data.y == 0)
    np.testing.assert_array_equal(outcome.spent, 0)
    share = 164 / 303
    assert outcome.accuracy == pytest.approx(share)
    assert outcome.standard_error == pytest.approx(np.sqrt(share * (1 - share) / 302))
