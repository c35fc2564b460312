"""Standardise numbers; replace categories by the mean label of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.neighbors.acquisition.column_functions import ColumnFunctions
from farthing.store import register_codec
from farthing.table import Schema
from farthing.table.moments import moments
from farthing.typing import Floats

# Standard deviations from the mean.
_FARTHEST: Final = 1e30


@dataclass(frozen=True, eq=False)
class Standardizer(ColumnFunctions):
    """The map from the values of a table to numbers with mean 0 and standard deviation 1.

    Parameters
    ----------
    mean, scale : ndarray of float64, shape (n_features,)
        A number becomes (x - mean) * scale.
    begin : ndarray of int64, shape (n_features + 1,)
        Codes of feature ``j`` are first looked up in ``level[begin[j] : begin[j + 1]]``; empty for numbers.
    level : ndarray of float64, shape (n_categories,)
        The mean label of each category.

    Examples
    --------
    >>> X = np.array([[1.0], [3.0]])
    >>> Standardizer.learn(X, np.array([-1.0, 1.0]), np.ones(2), Schema.learn(X)).table(X).ravel()
    array([-1.,  1.])
    """

    mean: Floats
    scale: Floats
    begin: NDArray[np.int64]
    level: Floats

    def __post_init__(self) -> None:
        for name in ("mean", "scale", "begin", "level"):
            array, dtype = getattr(self, name), np.int64 if name == "begin" else np.float64
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"{name} must be a list of {np.dtype(dtype)}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        if len(self.scale) != len(self.mean) or len(self.begin) != len(self.mean) + 1:
            raise ValueError("mean, scale and begin must fit together")
        if self.begin[0] != 0 or self.begin[-1] != len(self.level) or (np.diff(self.begin) < 0).any():
            raise ValueError("begin must run from the first level to the last")

    @classmethod
    def learn(
        cls, values: NDArray[np.floating], signs: Floats, weights: Floats, schema: Schema
    ) -> Standardizer:
        """Learn from an encoded table and its labels."""
        n_features = values.shape[1]
        mean, scale = np.zeros(n_features), np.ones(n_features)
        levels: list[Floats] = []
        for feature, column in enumerate(schema.columns):
            own = np.asarray(values[:, feature], dtype=np.float64)
            levels.append(np.empty(0))
            if column.is_categorical:
                levels[feature] = _mean_labels(own, signs, weights, len(column.categories))
                own = _look_up(levels[feature], own)
            # Categories are standardised by the mean labels that replace them.
            mean[feature], variance = moments(own, weights)
            scale[feature] = 1.0 / np.sqrt(variance) if variance > 0 else 1.0
        begin = np.cumsum([0, *map(len, levels)])
        return cls(mean, scale, begin, np.concatenate(levels))

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return len(self.mean)

    def column(self, feature: int, values: NDArray[np.floating]) -> Floats:
        """Standardise values of one feature, shape (n_values,); NaN and infinity become NaN."""
        level = self.level[self.begin[feature] : self.begin[feature + 1]]
        own = np.asarray(values, dtype=np.float64)
        # An infinite value would make every distance infinite, so it counts as missing.
        own = np.where(np.isfinite(own), own, np.nan)
        own = _look_up(level, own) if len(level) else own
        # The largest floats would overflow in squares and sums; so far away, nothing depends on how far.
        with np.errstate(over="ignore"):
            standard = (own - self.mean[feature]) * self.scale[feature]
        return np.asarray(np.clip(standard, -_FARTHEST, _FARTHEST))


def _mean_labels(codes: Floats, signs: Floats, weights: Floats, n_categories: int) -> Floats:
    seen = ~np.isnan(codes)
    places = codes[seen].astype(np.int64)
    sums = np.bincount(places, weights=(signs * weights)[seen], minlength=n_categories)
    counts = np.bincount(places, weights=weights[seen], minlength=n_categories)
    # For categories without a row, which the schema may list.
    overall = float((signs * weights).sum() / weights.sum())
    return np.where(counts > 0, sums / np.where(counts > 0, counts, 1.0), overall)


def _look_up(level: Floats, codes: Floats) -> Floats:
    # NaN, the code of missing and of unseen categories, fails both comparisons.
    known = (codes >= 0) & (codes < len(level))
    return np.where(known, level[np.where(known, codes, 0).astype(np.int64)], np.nan)


def _encode(standardizer: Standardizer) -> dict[str, object]:
    return {name: getattr(standardizer, name) for name in ("mean", "scale", "begin", "level")}


def _decode(fields: dict[str, Any]) -> Standardizer:
    return Standardizer(**fields)


register_codec("Standardizer", Standardizer, _encode, _decode)
