"""Invariant 8: scikit-learn's own checks pass, and labels and weights mean what they mean there."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

from farthing.checks.fitting import CheckedEstimator, fit
from farthing.checks.outputs import assert_raises, assert_same, expected_of, outputs_of
from farthing.checks.problems import Problem
from farthing.checks.suite import CHECKS, Check, estimator_check
from farthing.errors import BudgetWarning, OneClassWarning

# The check of scikit-learn that compares rows predicted alone with rows predicted together.
_ROW_INDEPENDENCE = ("check_methods_subset_invariance",)

# The check that a class of next to no weight is hardly predicted. Trees of scikit-learn pass it with a least
# weight of a leaf, which the check sets; boosters that reweigh rows have no class weights there.
_LIGHT_CLASSES = ("check_class_weight_classifiers",)


@estimator_check("scikit-learn: labels may be of any type")
def _check_labels(checked: CheckedEstimator, problem: Problem) -> None:
    if not is_classifier(checked.estimator):
        return
    expected = expected_of(checked.fit(problem), problem)
    names, codes = np.unique(problem.y, return_inverse=True)
    kinds = (np.arange(len(names)) - 1, names.astype(object), np.arange(len(names)) + 0.0)
    for labels in checked.dealt(problem, kinds):
        model = fit(checked.estimator, replace(problem, y=labels[codes]))
        got = outputs_of(model, problem.fresh)
        got["predict"] = names[np.searchsorted(labels, got["predict"])]
        assert_same(got, expected, f"with the labels {labels}")


@estimator_check("scikit-learn: a row of weight zero is not there")
def _check_weights(checked: CheckedEstimator, problem: Problem) -> None:
    n_rows = len(problem.y)
    kept = np.random.default_rng(2).random(n_rows) < 0.8
    weights = np.where(kept, np.arange(n_rows) % 3 + 1.0, 0.0)
    model = fit(checked.estimator, problem, sample_weight=weights)
    fewer = replace(problem, X=problem.X[kept], y=problem.y[kept])
    expected = outputs_of(fit(checked.estimator, fewer, sample_weight=weights[kept]), problem.fresh)
    for call, array in outputs_of(model, problem.fresh).items():
        # Not in every bit: sums over rows may round differently when rows of weight zero are in between.
        close = np.allclose if array.dtype.kind == "f" else np.array_equal
        assert close(array, expected[call]), f"{call} depends on rows of weight zero"
    for wrong in (-weights, np.full(n_rows, np.nan), np.ones(n_rows + 1), np.zeros(n_rows)):
        call_it = partial(fit, checked.estimator, problem, sample_weight=wrong)
        assert_raises(ValueError, call_it, f"sample_weight={wrong[:3]}...")


def _check_scikit_learn(checked: CheckedEstimator) -> None:
    estimator = checked.estimator
    expected: dict[str, str] = {}
    if not getattr(estimator, "rows_are_independent", True):
        expected |= dict.fromkeys(_ROW_INDEPENDENCE, "a row is predicted within its query")
    if getattr(estimator, "fits_every_row", False):
        expected |= dict.fromkeys(_LIGHT_CLASSES, "rows are fitted, however little they weigh")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)  # one of its checks fits a single class
        warnings.simplefilter("ignore", BudgetWarning)  # on its few rows folds differ much
        check_estimator(clone(estimator), on_skip=None, expected_failed_checks=expected)


CHECKS.append(Check("scikit-learn: check_estimator passes", _check_scikit_learn, refits=True))
