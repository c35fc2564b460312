"""The contract, 6 and 7: files give the same model, and so does a second fit."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

from sklearn.base import clone

from farthing.base import load
from farthing.checks.entry import check, model_check
from farthing.checks.trial import (
    Problem,
    answers_of,
    assert_raises,
    assert_same,
    budgets,
    fit,
)

# 6. Round trip.


@model_check("round trip: a model from a file is the model saved")
def _check_file(model: Any, problem: Problem) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first.farthing"), Path(folder, "second.farthing")
        model.save(first)
        loaded = load(str(first))
        loaded.save(second)
        assert first.read_bytes() == second.read_bytes(), "saving what was loaded gives another file"
    assert type(loaded) is type(model), f"a {type(model).__name__} came back as {type(loaded).__name__}"
    for budget in budgets(len(problem.fresh)):
        expected = answers_of(model, problem.fresh, budget=budget)
        assert_same(answers_of(loaded, problem.fresh, budget=budget), expected, "after save and load")


@model_check("round trip: a pickle is the model, a clone is unfitted")
def _check_pickle(model: Any, problem: Problem) -> None:
    copy = pickle.loads(pickle.dumps(model))
    assert_same(answers_of(copy, problem.fresh), answers_of(model, problem.fresh), "after a pickle")
    assert_raises(ValueError, clone(model).walk, "a walk of a model that is not fitted")


# 7. Repeatable.


@model_check("repeatable: the same fit twice gives the same bits")
def _check_repeats(model: Any, problem: Problem) -> None:
    expected = answers_of(model, problem.fresh)
    assert_same(answers_of(model, problem.fresh), expected, "when predicted twice")
    assert_same(answers_of(fit(model, problem), problem.fresh), expected, "when fitted by a clone")
    assert_same(answers_of(model.fit(problem.X, problem.y), problem.fresh), expected, "when fitted again")


@check("repeatable: any number of threads gives the same bits", "n_jobs")
def _check_threads(estimator: Any, problem: Problem) -> None:
    expected = answers_of(fit(estimator, problem, n_jobs=1), problem.fresh)
    for n_jobs in (2, 3):
        got = answers_of(fit(estimator, problem, n_jobs=n_jobs), problem.fresh)
        assert_same(got, expected, f"between n_jobs=1 and n_jobs={n_jobs}")


@check("repeatable: a variant is what a fit with its parameters gives")
def _check_variants(estimator: Any, problem: Problem) -> None:
    model = fit(estimator, problem)
    found = list(model.variants()) if hasattr(model, "variants") else []
    for params, variant in found[:: max(1, len(found) // 3)]:
        again = fit(model, problem, **params)
        assert_same(answers_of(variant, problem.fresh), answers_of(again, problem.fresh), f"for {params}")
