"""Checks of arguments that come with a table: weights, labels, budgets, seeds, threads."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from farthing._core import distinct_integers
from farthing.errors import OneClassWarning, warn


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one non-negative weight per row, shape (n_rows,); None gives ones, read-only.

    Examples
    --------
    >>> check_weights(None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return _ones(n_rows)
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one weight per row, shape ({n_rows},); got {weights.shape}"
        )
    _refuse_rows("sample_weight", weights, ~np.isfinite(weights), "finite")
    _refuse_rows("sample_weight", weights, weights < 0, "zero or more")
    if not weights.any():
        raise ValueError("sample_weight is zero on every row, which leaves nothing to fit on")
    return weights


@lru_cache(maxsize=64)
def _ones(n_rows: int) -> NDArray[np.float64]:
    """Return a read-only one per row: one number with stride 0, whatever the length."""
    return np.broadcast_to(np.float64(1), n_rows)


def target_column(y: Any) -> NDArray[Any]:
    """Return a target as an array, shape (n_rows,); integers and booleans stay what they are.

    Examples
    --------
    >>> import pandas as pd
    >>> target_column(pd.Series([1, 0], dtype="Int64")), target_column(pd.Series([1, None], dtype="Int64"))
    (array([1, 0]), array([ 1., nan]))
    """
    # NumPy's type of a nullable dtype of pandas, from which scikit-learn makes floats in any case.
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if isinstance(plain, np.dtype) and plain.kind in "iub" and not y.isna().any():
        y = y.to_numpy(dtype=plain)
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubfU":
        return y
    return np.asarray(column_or_1d(y, warn=True))


def warn_one_class(classes: NDArray[Any] | None) -> None:
    """Warn if a target has a single class; None means a regression."""
    if classes is not None and len(classes) == 1:
        warn(
            f"y has a single class, {classes.tolist()[0]!r}: the model predicts it for every row, and buys "
            "nothing",
            OneClassWarning,
        )


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct values, ascending, and the place of each value among them, as `np.unique` does.

    Whole numbers of a small range are counted, which is faster than to sort them.

    Examples
    --------
    >>> distinct(np.array([5, 3, 5]))
    (array([3, 5]), array([1, 0, 1]))
    """
    if np.can_cast(values.dtype, np.int64) and values.dtype.kind in "iu":
        counted = distinct_integers(np.ascontiguousarray(values, dtype=np.int64))
        if counted is not None:
            # The core's integers of 64 bits may have another name than NumPy's, which it would print.
            found, codes = (numbers.view(np.int64) for numbers in counted)
            return found.astype(values.dtype, copy=False), codes
    found, codes = np.unique(values, return_inverse=True)
    return found, np.asarray(codes, dtype=np.int64)


def check_cap(budget: Any, name: str = "budget") -> float | None:
    """Return a budget for one row, or None for no limit.

    Examples
    --------
    >>> check_cap(3)
    3.0
    """
    if budget is None:
        return None
    try:
        cap = float(budget)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, or None for no limit; got {budget!r}") from None
    if not cap >= 0:  # written so that NaN fails, too
        raise ValueError(f"{name} must be zero or more; got {cap!r}")
    return cap


def check_caps(budget: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return one budget per row, shape (n_rows,), from a number or one number per row; None means no limit.

    Examples
    --------
    >>> check_caps(2, 3)
    array([2., 2., 2.])
    """
    if budget is None:
        return None
    try:
        caps = np.array(budget, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"budget must be a number or one number per row; got {budget!r}") from None
    if caps.ndim == 0:
        return np.full(n_rows, check_cap(caps))
    if caps.shape != (n_rows,):
        raise ValueError(f"budget must be a number or have shape ({n_rows},), one per row; got {caps.shape}")
    _refuse_rows("budget", caps, ~(caps >= 0), "zero or more")
    return caps


def check_seed(seed: Any) -> int | None:
    """Return a seed for one row, or None for the model's own."""
    if seed is None:
        return None
    if isinstance(seed, bool | np.bool_) or not isinstance(seed, int | np.integer):
        raise ValueError(f"seed must be an integer or None; got {seed!r}")  # noqa: TRY004 - as for seeds
    return int(check_seeds(seed, 1)[0])


def check_seeds(seeds: Any, n_rows: int) -> NDArray[np.int64]:
    """Return one seed per row, shape (n_rows,), from an integer or one integer per row.

    Examples
    --------
    >>> check_seeds([7, 8], 2)
    array([7, 8])
    """
    given = np.array(seeds)
    if given.dtype.kind not in "iu" or given.ndim > 1:
        raise ValueError(f"seeds must be an integer or one integer per row; got {seeds!r}")
    if given.ndim == 0:
        given = np.full(n_rows, given)
    if given.shape != (n_rows,):
        raise ValueError(
            f"seeds must be an integer or have shape ({n_rows},), one per row; got {given.shape}"
        )
    if given.size and not 0 <= given.min() <= given.max() <= np.iinfo(np.int64).max:
        raise ValueError(f"seeds must lie between 0 and 2**63 - 1; got {given.min()} to {given.max()}")
    return given.astype(np.int64)


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` means, as in joblib but never more than there are cores.

    Examples
    --------
    >>> n_threads(None)
    1
    """
    if (asked := int(effective_n_jobs(n_jobs))) == 1:
        return 1
    # More threads than cores would only compete, and a loaded file may ask for millions.
    return int(min(asked, n_cores()))


@cache
def n_cores() -> int:
    """Return the number of cores; joblib takes a millisecond to count them."""
    return int(cpu_count())


def _refuse_rows(name: str, given: NDArray[np.float64], wrong: NDArray[np.bool_], expected: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name} must be {expected} on every row; row {row} has {float(given[row])!r}")


def label_codes(labels: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return labels as indices into the classes, -1 for labels that are not among them.

    Parameters
    ----------
    labels : array, shape (n_rows,)
        Labels of rows that a model was not fitted on.
    classes : ndarray, shape (n_classes,)
        The labels of the fit.

    Returns
    -------
    ndarray of int64, shape (n_rows,)

    Examples
    --------
    >>> label_codes(["oak", "fir", "ash"], np.array(["ash", "oak"]))
    array([ 1, -1,  0])
    """
    given = target_column(labels)
    codes = np.full(len(given), -1, dtype=np.int64)
    # Not searchsorted: unknown labels may be of a type that cannot be compared with the classes.
    for code, label in enumerate(classes):
        codes[given == label] = code
    return codes
