"""What models share whose `fit` may be given rows to choose by."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base.estimator import BudgetedEstimator
from farthing.base.inputs import check_weights


class ValidatedMixin(BudgetedEstimator):
    """``fit(X, y, validation=...)``, and the check of those rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are welcome.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is as if it were not there.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Rows to choose by, such as the number of rounds or the threshold of a budget, in place of those
            that would be held out.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight, validation=validation)

    @abstractmethod
    def _known_target(self, y: Any) -> NDArray[Any]:
        """Check the target of validation rows and return it as ``_fit`` gets that of training rows."""

    def _given_rows(self, validation: Any) -> tuple[NDArray[np.floating], NDArray[Any], NDArray[np.float64]]:
        """Return table, target and weights of validation rows, as ``_fit`` takes them."""
        if not isinstance(validation, tuple) or len(validation) not in (2, 3):
            raise ValueError(
                f"validation must be (X, y) or (X, y, sample_weight); got {type(validation).__name__}"
            )
        return self._validation_rows(*validation)

    def _validation_rows(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[NDArray[np.floating], NDArray[Any], NDArray[np.float64]]:
        encoded = self.schema_.encode(X, type(self).__name__)
        encoded.check()
        target = self._known_target(y)
        weights = check_weights(sample_weight, len(encoded.values))
        if len(target) != len(encoded.values):
            raise ValueError(f"validation has {len(encoded.values)} rows, but {len(target)} targets")
        return encoded.values, target, weights
