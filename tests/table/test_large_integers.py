"""Integers that floats cannot tell apart are not merged in silence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from farthing.errors import PrecisionWarning
from farthing.forests import BudgetTreeClassifier

LARGE = np.array([2**53, 2**53 + 1, -(2**53) - 1, 5] * 5)


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (np.column_stack([np.arange(20) % 7, LARGE]), "x1"),
        (pd.DataFrame({"age": np.arange(20) % 7, "id": LARGE}), "'id'"),
        (pd.DataFrame({"age": np.arange(20) % 7, "id": LARGE.astype(np.uint64)}), "'id'"),
    ],
)
def test_they_are_warned_of(table: Any, name: str) -> None:
    with pytest.warns(PrecisionWarning, match=rf"column {name} holds .*2\*\*53"):
        BudgetTreeClassifier().fit(table, np.arange(20) % 2)


def test_smaller_ones_are_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BudgetTreeClassifier().fit(np.array([[2**53], [-(2**53)]]), [0, 1])
