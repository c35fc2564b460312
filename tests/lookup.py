"""Learners that memorise: a table of the rows they have seen, and the best threshold of one column."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class LookupClassifier(ClassifierMixin, BaseEstimator):
    """The weighted shares of the classes among training rows of the same values."""

    def fit(self, X, y, sample_weight=None):
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = np.shape(X)[1]
        self.table_: dict[tuple[float, ...], np.ndarray] = {}
        for row, code, weight in zip(np.asarray(X).tolist(), codes, weights, strict=True):
            counts = self.table_.setdefault(tuple(row), np.zeros(len(self.classes_)))
            counts[code] += weight
        return self

    def predict_proba(self, X):
        # Rows of weight zero are not learned from: their costs are equal, so any answer will do.
        unseen = np.ones(len(self.classes_))
        counts = np.array([self.table_.get(tuple(row), unseen) for row in np.asarray(X).tolist()])
        return counts / counts.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class LookupRegressor(RegressorMixin, BaseEstimator):
    """The weighted mean of the target among training rows of the same values."""

    def fit(self, X, y, sample_weight=None):
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.n_features_in_ = np.shape(X)[1]
        self.table_: dict[tuple[float, ...], np.ndarray] = {}
        for row, value, weight in zip(np.asarray(X).tolist(), y, weights, strict=True):
            self.table_.setdefault(tuple(row), np.zeros(2))[:] += [weight * value, weight]
        return self

    def predict(self, X):
        sums = np.array([self.table_[tuple(row)] for row in np.asarray(X).tolist()])
        return sums[:, 0] / sums[:, 1]


class ThresholdClassifier(ClassifierMixin, BaseEstimator):
    """The threshold of one column, and the side of class 1, that have the least weighted error."""

    def fit(self, X, y, sample_weight):
        self.classes_, self.n_features_in_ = np.array([0, 1]), 1
        column, best = np.asarray(X)[:, 0], np.inf
        for threshold in [-np.inf, *np.unique(column).tolist()]:
            for above in (0, 1):
                wrong = np.where(column > threshold, above, 1 - above) != y
                if sample_weight[wrong].sum() < best:
                    best = sample_weight[wrong].sum()
                    self.threshold_, self.above_ = threshold, above
        return self

    def predict_proba(self, X):
        hit = np.where(np.asarray(X)[:, 0] > self.threshold_, self.above_, 1 - self.above_)
        return np.column_stack([1 - hit, hit]).astype(float)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)
