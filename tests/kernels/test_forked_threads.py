"""A forked process has none of the core's threads, and must not wait for them."""

import os
import warnings

import numpy as np
import pytest

from farthing.boosting import GreedyMiserRegressor


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_fits_with_threads_of_its_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8))
    model = GreedyMiserRegressor(n_estimators=3, n_jobs=2)
    expected = model.fit(X, X[:, 0] * X[:, 1]).predict(X[:5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking a process that has threads
        child = os.fork()
    if child == 0:
        same = np.array_equal(model.fit(X, X[:, 0] * X[:, 1]).predict(X[:5]), expected)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
