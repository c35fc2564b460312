"""The regions of a system of two features, as figure 5.2 draws them."""

import numpy as np
import pytest
from sklearn.svm import SVC

from farthing.adaptive import AdaptLinClassifier

pytest.importorskip("matplotlib")
import matplotlib as mpl
from experiments.lib.regions import plot_regions

mpl.use("Agg")
from matplotlib import pyplot as plt


def table(n_features: int):
    X = np.random.default_rng(0).normal(size=(80, n_features))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_the_regions_are_those_of_the_model():
    X, y = table(2)
    model = AdaptLinClassifier(SVC(), p_full=0.5, tradeoff=0.0, random_state=0).fit(X, y)
    figure, ax = plt.subplots()
    assert plot_regions(model, X, y, ax) is ax
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    drawn = [len(points.get_offsets()) for points in ax.collections if len(points.get_offsets()) > 1]
    assert sorted(drawn) == sorted(np.bincount(y).tolist())
    plt.close(figure)


def test_other_numbers_of_features_are_refused():
    X, y = table(3)
    model = AdaptLinClassifier(SVC(), p_full=0.5, random_state=0).fit(X, y)
    figure, ax = plt.subplots()
    with pytest.raises(ValueError, match="two features; this one has 3"):
        plot_regions(model, X, y, ax)
    plt.close(figure)
