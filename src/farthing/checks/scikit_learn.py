"""The contract, 8: a scikit-learn estimator."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

from farthing.checks.entry import CHECKS, Models, check
from farthing.checks.trial import (
    Problem,
    answers_of,
    assert_raises,
    assert_same,
    fit,
)

# The check of scikit-learn that predicts rows without their neighbours.
_SKLEARN_ROWS_ALONE = ("check_methods_subset_invariance",)


@check("scikit-learn: labels may be of any type")
def _check_labels(estimator: Any, problem: Problem) -> None:
    if not is_classifier(estimator):
        return
    expected = answers_of(fit(estimator, problem), problem.fresh)
    names, codes = np.unique(problem.y, return_inverse=True)
    for labels in (np.arange(len(names)) - 1, names.astype(object), np.arange(len(names)) + 0.0):
        model = fit(estimator, Problem(problem.X, labels[codes], problem.fresh))
        got = answers_of(model, problem.fresh)
        got["predict"] = names[np.searchsorted(labels, got["predict"])]
        assert_same(got, expected, f"with the labels {labels}")


@check("scikit-learn: a row of weight zero is not there")
def _check_weights(estimator: Any, problem: Problem) -> None:
    n_rows = len(problem.y)
    kept = np.random.default_rng(2).random(n_rows) < 0.8
    weights = np.where(kept, np.arange(n_rows) % 3 + 1.0, 0.0)
    model = fit(estimator, problem, sample_weight=weights)
    less = Problem(problem.X[kept], problem.y[kept], problem.fresh)
    expected = answers_of(fit(estimator, less, sample_weight=weights[kept]), problem.fresh)
    for call, array in answers_of(model, problem.fresh).items():
        close = np.allclose if array.dtype.kind == "f" else np.array_equal
        assert close(array, expected[call]), f"{call} depends on rows of weight zero"
    for wrong in (-weights, np.full(n_rows, np.nan), np.ones(n_rows + 1), np.zeros(n_rows)):
        call_it = partial(fit, estimator, problem, sample_weight=wrong)
        assert_raises(ValueError, call_it, f"sample_weight={wrong[:3]}...")


def _check_scikit_learn(models: Models) -> None:
    estimator = models.estimator
    exempt = () if getattr(estimator, "_rows_alone", True) else _SKLEARN_ROWS_ALONE
    expected = dict.fromkeys(exempt, "a row is predicted within its query")
    check_estimator(clone(estimator), on_skip=None, expected_failed_checks=expected)


CHECKS.append(("scikit-learn: check_estimator passes", _check_scikit_learn, ()))
