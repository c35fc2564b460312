"""Validation rows whose labels do not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from farthing.base import TrainingSet, ValidatedMixin


class UnlabelledValidationMixin(ValidatedMixin):
    """A method that needs validation rows only to set a threshold by their spend.

    Their labels are counted but not used, so classes without training rows are allowed.
    """

    def _validation_target(self, rows: TrainingSet, y: Any) -> NDArray[Any]:
        return np.zeros(len(column_or_1d(y)), dtype=np.int64)
