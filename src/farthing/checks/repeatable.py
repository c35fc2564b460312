"""Invariant 7, repeatable: the same seed gives the same model, on any run and any number of threads."""

from __future__ import annotations

import copy

from farthing.checks.fitting import CheckedEstimator, fit
from farthing.checks.outputs import assert_same, expected_of, outputs_of
from farthing.checks.problems import Problem
from farthing.checks.suite import estimator_check


@estimator_check("repeatable: the same fit twice gives the same bits")
def _check_repeats(checked: CheckedEstimator, problem: Problem) -> None:
    model = checked.fit(problem)
    expected = expected_of(model, problem)
    assert_same(outputs_of(model, problem.fresh), expected, "when predicted twice")
    for way in checked.dealt(problem, ("again", "by a clone")):
        # A copy, since other checks share the model. The first fit must leave no trace in the second.
        twin = copy.deepcopy(model).fit(problem.X, problem.y) if way == "again" else fit(model, problem)
        assert_same(outputs_of(twin, problem.fresh), expected, f"when fitted {way}")


@estimator_check("repeatable: any number of threads gives the same bits", "n_jobs")
def _check_threads(checked: CheckedEstimator, problem: Problem) -> None:
    own = checked.estimator.get_params()["n_jobs"]
    # None means one thread, and finds the fit that other checks made.
    expected = expected_of(checked.fit(problem, n_jobs=None if own is None else 1), problem)
    # Three, since rows and columns do not divide evenly among them.
    got = outputs_of(checked.fit(problem, n_jobs=3), problem.fresh)
    assert_same(got, expected, "between n_jobs=1 and n_jobs=3")


@estimator_check("repeatable: a variant is what a fit with its parameters gives")
def _check_variants(checked: CheckedEstimator, problem: Problem) -> None:
    model = checked.fit(problem)
    found = list(model.variants()) if hasattr(model, "variants") else []
    for params, variant in checked.dealt(problem, found[:: max(1, len(found) // 3)]):
        # A variant shares what was learned and must not be an approximation of the model that it names.
        again = fit(model, problem, **params)
        assert_same(outputs_of(variant, problem.fresh), outputs_of(again, problem.fresh), f"for {params}")
