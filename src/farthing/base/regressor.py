"""The contract for regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, column_or_1d

from farthing.base.estimator import BudgetedEstimator


class ContractRegressor(RegressorMixin, BudgetedEstimator):  # type: ignore[misc]
    """A regressor that keeps the contract; see `BudgetedEstimator` for what a method fills in.

    ``_fit`` gets the target as float64. ``_conclude`` gives one value a row, by default the first raw output.
    The default ``prior_`` is the weighted mean.
    """

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return outputs[:, 0]

    def _learn_target(self, y: Any) -> NDArray[Any]:
        y = column_or_1d(y, warn=True)
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))

    def _default_prior(self, target: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([np.average(target, weights=weights)])

    def _results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        return self._conclude(outputs), None

    def _conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        return float(self._conclude(self._settle(outputs, looked))[0]), None
