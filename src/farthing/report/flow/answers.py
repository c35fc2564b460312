"""The answers of rows to one question, as a short text."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.table.columns import Column

_MOST_CATEGORIES: Final = 4


def describe(column: Column, values: NDArray[np.floating], among: NDArray[np.floating]) -> str:
    """Return which answers some rows gave, among all rows that were asked.

    Parameters
    ----------
    column : Column
        What was asked for.
    values : ndarray of float64, shape (n_some,)
        The encoded answers of the rows to describe.
    among : ndarray of float64, shape (n_all,)
        Those of all rows that were asked.

    Returns
    -------
    str
        Empty if the answers of all rows are the same as these: they tell nothing.

    Examples
    --------
    >>> import numpy as np
    >>> column = Column("age", "numeric")
    >>> describe(column, np.array([30.0, 41.0]), np.array([30.0, 41.0, 70.0]))
    '30 to 41'
    >>> describe(column, np.array([70.0, np.nan]), np.array([30.0, 70.0, np.nan]))
    '70 or missing'
    >>> sex = Column("sex", "categorical", ("female", "male"))
    >>> describe(sex, np.array([1.0]), np.array([0.0, 1.0]))
    'male'
    """
    given, all_given = set(_known(values).tolist()), set(_known(among).tolist())
    lacks, all_lack = bool(np.isnan(values).any()), bool(np.isnan(among).any())
    if given == all_given and lacks == all_lack:
        return ""
    text = _categories(column, given) if column.is_categorical else _range(_known(values))
    return " or ".join(part for part in (text, "missing" if lacks else "") if part)


def _known(values: NDArray[np.floating]) -> NDArray[np.floating]:
    known: NDArray[np.floating] = values[~np.isnan(values)]
    return known


def _categories(column: Column, codes: set[float]) -> str:
    names = [str(column.categories[int(code)]) for code in sorted(codes)]
    if len(names) > _MOST_CATEGORIES:
        return f"{', '.join(names[: _MOST_CATEGORIES - 1])} and {len(names) - _MOST_CATEGORIES + 1} others"
    return ", ".join(names)


def _range(values: NDArray[np.floating]) -> str:
    if not len(values):
        return ""
    low, high = f"{values.min():.4g}", f"{values.max():.4g}"
    return low if low == high else f"{low} to {high}"
