"""Small tables that the tests of adaptive approximation share."""

import numpy as np
import pytest

from farthing.costs import CostSheet, Group


@pytest.fixture(scope="session")
def halves():
    """Two halves of 300 rows: one column tells the class of most rows, two others that of the rest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = np.where(X[:, 0] < 0.5, X[:, 0] < -0.2, X[:, 1] * X[:, 2] > 0).astype(int)
    return (X[:300], y[:300]), (X[300:], y[300:])


@pytest.fixture(scope="session")
def sheet():
    """Prices of the five columns, two of them in a group."""
    return CostSheet([1.0, 2.0, 2.0, 1.0, 0.5], groups={"lab": Group(1.5, ["x1", "x2"])})
