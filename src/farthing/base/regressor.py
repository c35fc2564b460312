"""The base class of regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, column_or_1d

from farthing.base.estimator import BudgetedEstimator
from farthing.base.task_models import RegressorModel


class ContractRegressor(RegressorMixin, BudgetedEstimator):  # type: ignore[misc]
    """A regressor that keeps the contract; see `BudgetedEstimator` for what a method fills in.

    ``_learn`` gets the target as float64 and returns a `RegressorModel`.
    """

    fitted_: RegressorModel

    def _encode_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        y = column_or_1d(y, warn=True)
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")), None
