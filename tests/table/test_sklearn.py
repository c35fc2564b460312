"""An estimator that reads its table by a schema satisfies scikit-learn's own checks of the input."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

from farthing.table import Schema


class NearestRowRegressor(RegressorMixin, BaseEstimator):
    """The target of the nearest row of the fit: the least that looks at every value."""

    def fit(self, X, y):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        schema = Schema.learn(X, type(self).__name__)
        y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64), warn=True)
        encoded = schema.encode(X, type(self).__name__)
        check_consistent_length(encoded.values, y)
        encoded.check()
        self.n_features_in_ = len(schema)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        self.schema_, self.rows_, self.targets_ = schema, np.nan_to_num(encoded.values), y
        return self

    def predict(self, X):
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        encoded.check()
        rows = np.nan_to_num(encoded.values)
        return self.targets_[[np.argmin(((self.rows_ - row) ** 2).sum(axis=1)) for row in rows]]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.regressor_tags.poor_score = True
        return tags


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=check.func.__name__)
        for estimator, check in estimator_checks_generator(NearestRowRegressor())
    ],
)
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
