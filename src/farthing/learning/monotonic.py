"""Monotonic constraints: predictions that only rise, or only fall, with a feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.table import Schema

#: For `farthing.base.documented`; indented as the docstrings of estimators.
MONOTONIC_TEXT: Final = """monotonic_cst : array-like of int, dict or None
        As in scikit-learn, per column, or by name for some of them: 1 where predictions must not fall as the
        feature rises, -1 where they must not rise, 0 for no constraint."""

#: What ``monotonic_cst`` may be, for the checks of parameters.
MONOTONIC: Final[list[Any]] = ["array-like", dict, None]


class MonotonicClassesMixin:
    """A classifier that takes ``monotonic_cst``, and with it two classes only."""

    monotonic_cst: Any

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, which say so."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if self.monotonic_cst is not None:
            tags.classifier_tags.multi_class = False
        return tags


def directions_of(monotonic_cst: Any, schema: Schema, n_classes: int = 2) -> NDArray[np.int8] | None:
    """Return the constraint of each column, from what an estimator was given.

    Parameters
    ----------
    monotonic_cst : array-like of int, shape (n_features,), mapping from names, or None
        1, 0 or -1 per column; columns that a mapping leaves out have none.
    schema : Schema
        The columns.
    n_classes : int
        Number of classes; constraints need at most two.

    Returns
    -------
    ndarray of int8, shape (n_features,), or None
        None if there is no constraint.

    Examples
    --------
    >>> schema = Schema.learn(np.zeros((2, 3)))
    >>> directions_of({"x1": -1}, schema)
    array([ 0, -1,  0], dtype=int8)
    >>> directions_of([0, 0, 0], schema) is None
    True
    >>> directions_of([1, 0, 2], schema)
    Traceback (most recent call last):
    ...
    ValueError: monotonic_cst must be -1, 0 or 1 for each column; got 2 for column 'x2'
    """
    if monotonic_cst is None:
        return None
    names = schema.names
    if isinstance(monotonic_cst, Mapping):
        if unknown := sorted(set(map(str, monotonic_cst)) - set(names)):
            raise ValueError(
                f"monotonic_cst names {', '.join(map(repr, unknown))}, which the table does not have; its "
                f"columns are {', '.join(names)}"
            )
        given = [monotonic_cst.get(name, 0) for name in names]
    else:
        given = np.asarray(monotonic_cst, dtype=object).reshape(-1).tolist()
        if np.ndim(monotonic_cst) != 1 or len(given) != len(names):
            raise ValueError(
                f"monotonic_cst must have one entry per column, shape ({len(names)},); got shape "
                f"{np.shape(monotonic_cst)}; name some columns in a dict instead"
            )
    for name, direction in zip(names, given, strict=True):
        if isinstance(direction, bool | np.bool_) or direction not in (-1, 0, 1):
            raise ValueError(
                f"monotonic_cst must be -1, 0 or 1 for each column; got {direction!r} for column {name!r}"
            )
    directions = np.array(given, dtype=np.int8)
    if not directions.any():
        return None
    for place in np.flatnonzero(directions):
        if schema.columns[place].is_categorical:
            raise ValueError(
                f"monotonic_cst: column {names[place]!r} is categorical, and categories have no order; give "
                "it 0, or encode it as numbers"
            )
    if n_classes > 2:
        raise ValueError(
            f"monotonic_cst needs a number or two classes to predict; got {n_classes} classes; leave it out, "
            "or fit one class against the others"
        )
    return directions
