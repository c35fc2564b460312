"""Small tables that the tests of adaptive approximation share."""

import numpy as np
import pytest
from tests.adaptive.device_columns import DEVICES

from farthing.adaptive import EdgeClassifier
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


@pytest.fixture(scope="session")
def gated():
    """A class that one device can tell if its first column is high, and another one if it is low."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    of_device = np.where(X[:, 0] > 0, X[:, 1] > 0.2, X[:, 3] > 0).astype(int)
    y = np.array(["left", "right", "none"])[np.where(np.abs(X[:, 4]) > 1.8, 2, of_device)]
    return (X[:400], y[:400]), (X[400:], y[400:])


@pytest.fixture(scope="session")
def edge_model(gated):
    """Three devices, of which 60 % may send on average."""
    (X, y), _ = gated
    return EdgeClassifier(DEVICES, budget_share=0.6, max_steps=60, random_state=0).fit(X, y)
