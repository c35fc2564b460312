"""The types of stored fields, where NDArray is a late alias, as in NumPy 2.5 on Python 3.12 and later."""

from types import SimpleNamespace

import numpy as np

from farthing.base.files import _runtime_types


def test_a_late_alias_stands_for_its_value():
    assert _runtime_types(SimpleNamespace(__value__=np.ndarray[tuple[int], np.dtype[np.float64]])) == (
        np.ndarray,
    )
