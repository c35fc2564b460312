"""The training rows that neighbours are looked for among, and how far apart two rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing._core import KeptRows
from farthing.neighbors.acquisition.by_column import Floats
from farthing.neighbors.acquisition.margins import Margins
from farthing.neighbors.value_of_classifier.local_rows import check_floats, check_rows
from farthing.store import register_codec
from farthing.table import Schema
from farthing.table.moments import moments

# Two different categories are as far apart as their indicators.
_APART = 2.0
# A variance of this or less is that of a constant.
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Kept:
    """Training rows with their labels, and the distance of rows by single features.

    The squared distance of two rows is the sum over the measured features of ``scale[j]`` times the squared
    difference of numbers; of 2 for different categories, as for their indicators; of ``gap[j]`` if the kept
    row has no value there, which is what two rows drawn at random differ by on average. A measured value that
    is missing says nothing: distances stay.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features)
        NaN where missing; codes of categories.
    signs : ndarray of float64, shape (n_rows,)
        Labels, -1 or 1.
    weights : ndarray of float64, shape (n_rows,)
        A row of weight 2 counts as two rows.
    scale, gap : ndarray of float64, shape (n_features,)
        See above.
    """

    values: Floats
    signs: Floats
    weights: Floats
    scale: Floats
    gap: Floats

    def __post_init__(self) -> None:
        check_rows(self.values, self.signs, self.weights)
        for name in ("scale", "gap"):
            array = check_floats(name, getattr(self, name), 1)
            if len(array) != self.values.shape[1] or not (np.isfinite(array) & (array >= 0)).all():
                raise ValueError(f"{name} must be zero or more, one for each feature")

    @classmethod
    def learn(
        cls, values: NDArray[np.floating], signs: Floats, weights: Floats, schema: Schema, standardize: bool
    ) -> Kept:
        """Keep rows; ``standardize`` divides numbers by their standard deviation."""
        kept = np.array(values, dtype=np.float64, order="C")
        scale, gap = np.ones(kept.shape[1]), np.zeros(kept.shape[1])
        for feature, column in enumerate(schema.columns):
            if column.is_categorical:
                scale[feature] = _APART
                gap[feature] = _APART * _impurity(kept[:, feature], weights)
                continue
            variance = moments(kept[:, feature], weights)[1]
            if standardize and variance > _LEAST:
                scale[feature] = 1.0 / variance
            gap[feature] = 2.0 * variance * scale[feature]
        return cls(kept, signs, np.array(weights), scale, gap)

    def compile(
        self,
        margins: Margins,
        schema: Schema,
        *,
        n_neighbors: int | None,
        by_lot: bool,
        tradeoff: float,
        confidence: float,
    ) -> KeptRows:
        """Lay the rows out for the compiled core; ``n_neighbors`` None is rows that agree exactly."""
        signs = self.signs[:, np.newaxis]
        categorical = [column.is_categorical for column in schema.columns]
        return KeptRows(
            values=np.ascontiguousarray(self.values.T),
            margins=np.ascontiguousarray(signs * margins.table(self.values)),
            intercepts=self.signs * margins.intercept,
            intercept=margins.intercept,
            scale=self.scale,
            gap=self.gap,
            categorical=np.array(categorical, dtype=np.uint8),
            votes=margins.used.astype(np.uint8),
            weights=self.weights,
            n_neighbors=None if n_neighbors is None else float(n_neighbors),
            by_lot=by_lot,
            alpha=tradeoff,
            confidence=confidence,
        )


def _impurity(codes: Floats, weights: Floats) -> float:
    """Return the probability that two rows drawn at random have different categories."""
    seen = np.isfinite(codes)
    if not seen.any():
        return 0.0
    sums = np.bincount(codes[seen].astype(np.int64), weights=weights[seen])
    return float(1.0 - ((sums / sums.sum()) ** 2).sum())


def _encode(kept: Kept) -> dict[str, object]:
    return {name: getattr(kept, name) for name in ("values", "signs", "weights", "scale", "gap")}


def _decode(fields: dict[str, Any]) -> Kept:
    return Kept(**fields)


register_codec("Kept", Kept, _encode, _decode)
