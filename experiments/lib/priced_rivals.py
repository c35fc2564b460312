"""Rivals where tests and errors have prices: optimal trees of a depth, and LightGBM with weights."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import lightgbm
import numpy as np
from numpy.typing import NDArray
from pystreed import STreeDCostSensitiveClassifier
from pystreed.data import CostSpecifier, FeatureCostSpecifier

from experiments.lib.priced_splits import PricedSplit
from farthing.typing import Floats

# A limit on the search of a tree, in seconds; none comes near it.
_TIME_LIMIT = 600


class Answer(NamedTuple):
    """What a method says of the test rows.

    Attributes
    ----------
    labels : ndarray of int64, shape (n_rows,)
        Predicted classes.
    spend : ndarray of float64, shape (n_rows,)
        What the tests of each row cost.
    seconds : float
        Of the fit, by the clock of the process.
    """

    labels: NDArray[np.int64]
    spend: Floats
    seconds: float


def constant(split: PricedSplit) -> Answer:
    """Predict the class of the least mean price, and buy nothing."""
    counts = np.bincount(split.train[1], minlength=len(split.errors))
    label = int((counts @ split.errors).argmin())
    n_rows = len(split.test[1])
    return Answer(np.full(n_rows, label), np.zeros(n_rows), 0.0)


class BinaryTests:
    """The tests of single values of a split as binary columns, for STreeD.

    An attribute of two values has one test, others one per value, as in the tables that its authors publish.
    A second test of an attribute is free, and one of a group costs the attribute's own price.

    Parameters
    ----------
    split : PricedSplit
        The rows, prices and prices of errors.

    Attributes
    ----------
    tests : list of (int, float)
        The attribute and the value of each binary column.
    owner : ndarray of int64, shape (n_tests,)
        The attribute of each binary column.
    """

    def __init__(self, split: PricedSplit) -> None:
        self.split = split
        (X, _), (new, _) = split.train, split.test
        self.tests = [
            (place, value)
            for place, name in enumerate(X.columns)
            for value in self.tested(np.unique(np.concatenate([X[name], new[name]])))
        ]
        self.owner = np.array([place for place, _ in self.tests])
        self._train = self.indicators(X)
        self._costs = CostSpecifier(split.errors.tolist(), _prices(split, self.owner))

    def indicators(self, table: Any) -> NDArray[np.int64]:
        """Return whether each row has the value of each test, shape (n_rows, n_tests)."""
        columns = [self.passes(table.iloc[:, place].to_numpy(), value) for place, value in self.tests]
        return np.column_stack(columns).astype(np.int64)

    def tested(self, values: Floats) -> Floats:
        """Return the values of an attribute, ascending, that have a test."""
        return values[1:] if len(values) == 2 else values

    def passes(self, values: Floats, tested: float) -> NDArray[np.bool_]:
        """Return whether values of an attribute pass a test."""
        return np.asarray(values == tested)

    def fit(self, depth: int, **settings: Any) -> Any:
        """Return the tree of the least total cost on the training rows, of at most a depth."""
        model = STreeDCostSensitiveClassifier(max_depth=depth, time_limit=_TIME_LIMIT, **settings)
        return model.fit(self._train, self.split.train[1], self._costs)

    def answers(self, model: Any, table: Any) -> tuple[NDArray[np.int64], Floats]:
        """Return the labels of rows and what their tests cost."""
        labels = np.empty(len(table), dtype=np.int64)
        acquired = np.zeros(table.shape, dtype=np.bool_)
        shown = self.indicators(table)

        def descend(node: Any, rows: NDArray[np.int64]) -> None:
            if node.is_leaf_node():
                labels[rows] = node.label
                return
            acquired[rows, self.owner[node.feature]] = True
            on = shown[rows, node.feature] == 1
            descend(node.left_child, rows[~on])
            descend(node.right_child, rows[on])

        descend(model.get_tree(), np.arange(len(table)))
        return labels, self.split.costs.total_rows(acquired)

    def training_cost(self, model: Any) -> float:
        """Return the mean total cost of the training rows, tests and errors."""
        X, y = self.split.train
        labels, spend = self.answers(model, X)
        return float((self.split.errors[y, labels] + spend).mean())


class ThresholdTests(BinaryTests):
    """The thresholds between the values of a split as binary columns, for STreeD; all else as there."""

    def tested(self, values: Floats) -> Floats:
        """Return all values but the least."""
        return values[1:]

    def passes(self, values: Floats, tested: float) -> NDArray[np.bool_]:
        """Return whether values are no less than that of the test."""
        return np.asarray(values >= tested)


def optimal_tree(split: PricedSplit, depth: int) -> Answer:
    """Find the tree of the least total cost on the training rows, of at most a depth (STreeD)."""
    tests = BinaryTests(split)
    begin = time.process_time()
    model = tests.fit(depth)
    seconds = time.process_time() - begin
    return Answer(*tests.answers(model, split.test[0]), seconds)


def _prices(split: PricedSplit, owner: NDArray[np.int64]) -> list[Any]:
    """Return the price of each attribute alone and after another of its group, with its tests."""
    costs, found = split.costs, []
    for place in range(len(costs.features)):
        own, group = float(costs.own[place]), int(costs.group_of[place])
        alone = own + (float(costs.shared[group]) if group >= 0 else 0.0)
        # An attribute without a group is the only one of its own.
        label = f"group {group}" if group >= 0 else f"alone {place}"
        tests = np.flatnonzero(owner == place)
        found.append(FeatureCostSpecifier(alone, own, label, int(tests[0]), int(tests[-1])))
    return found


def weighted_lightgbm(split: PricedSplit) -> Answer:
    """Boost with class weights from the error prices, undo them, and take the label of the least cost.

    A row pays for every attribute that some tree tests.
    """
    (X, y), (new, _) = split.train, split.test
    n_classes = len(split.errors)
    weights = split.errors.sum(axis=1) / (n_classes - 1)
    begin = time.process_time()
    model = lightgbm.LGBMClassifier(
        n_estimators=100,
        max_depth=4,
        num_leaves=15,
        learning_rate=0.1,
        min_child_samples=5,
        class_weight=dict(enumerate(weights.tolist())),
        verbosity=-1,
        n_jobs=1,
    ).fit(X.to_numpy(), y)
    seconds = time.process_time() - begin
    present = model.classes_
    shares = np.zeros((len(new), n_classes))
    # Odds of a class that weighs w times as much are w times as high.
    shares[:, present] = model.predict_proba(new.to_numpy()) / weights[present]
    shares /= shares.sum(axis=1, keepdims=True)
    used = model.booster_.feature_importance() > 0
    spend = split.costs.total_rows(np.tile(used, (len(new), 1)))
    return Answer((shares @ split.errors).argmin(axis=1), spend, seconds)
