"""Invariant 6, round trip: a file or a pickle gives the same model."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

from sklearn.base import clone

from farthing.base import load
from farthing.checks.outputs import assert_raises, assert_same, expected_of, outputs_of
from farthing.checks.problems import Problem
from farthing.checks.suite import model_check


@model_check("round trip: a model from a file is the model saved")
def _check_file(model: Any, problem: Problem) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first.farthing"), Path(folder, "second.farthing")
        model.save(first)
        loaded = load(str(first))
        loaded.save(second)
        # Equal files, not only equal predictions: nothing that a file holds may be lost or reordered.
        assert first.read_bytes() == second.read_bytes(), "saving what was loaded gives another file"
    assert type(loaded) is type(model), f"a {type(model).__name__} came back as {type(loaded).__name__}"
    for budget in (None, problem.mixed_budgets):
        expected = expected_of(model, problem, budget)
        assert_same(outputs_of(loaded, problem.fresh, budget=budget), expected, "after save and load")


@model_check("round trip: a pickle is the model, a clone is unfitted")
def _check_pickle(model: Any, problem: Problem) -> None:
    copy = pickle.loads(pickle.dumps(model))
    assert_same(outputs_of(copy, problem.fresh), expected_of(model, problem), "after a pickle")
    assert_raises(ValueError, clone(model).walk, "a walk of a model that is not fitted")
