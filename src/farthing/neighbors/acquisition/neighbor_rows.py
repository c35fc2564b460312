"""The training rows to search for neighbours, and the distance of two rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing._core import KeptRows
from farthing.neighbors.acquisition.margins import Margins
from farthing.neighbors.acquisition.row_checks import check_floats, check_rows
from farthing.store import register_codec
from farthing.table import Schema
from farthing.table.moments import moments
from farthing.typing import Floats

# Squared distance of two different categories, which is that of their indicators.
_APART = 2.0
# Smaller variances count as those of a constant column.
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class NeighborRows:
    """Training rows with their labels, and the distance of a row to them.

    The squared distance is a sum over the measured features: ``scale[j]`` times the squared difference of
    numbers; 2 for different categories, the distance of their indicators; ``gap[j]``, the mean squared
    distance of two random rows, if the value of the training row is missing. A measured value that is missing
    changes no distance.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features)
        NaN where missing; codes of categories.
    signs : ndarray of float64, shape (n_rows,)
        Labels, -1 or 1.
    weights : ndarray of float64, shape (n_rows,)
        A row of weight 2 counts as two rows; above zero.
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
                raise ValueError(f"{name} must be zero or more, one per feature")

    @classmethod
    def learn(
        cls,
        values: NDArray[np.floating],
        signs: Floats,
        weights: Floats,
        schema: Schema,
        *,
        standardize: bool,
    ) -> NeighborRows:
        """Copy the rows and learn the distance; ``standardize`` divides by the standard deviation."""
        kept = np.array(values, dtype=np.float64, order="C")
        scale, gap = np.ones(kept.shape[1]), np.zeros(kept.shape[1])
        for feature, column in enumerate(schema.columns):
            if column.is_categorical:
                scale[feature] = _APART
                # The expected squared distance of two random rows, here and below: P(different) * 2 for
                # categories, and E (a - b)^2 = 2 * variance for numbers.
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
        radius: float,
        random_order: bool,
        tradeoff: float,
        confidence: float,
    ) -> KeptRows:
        """Lay out the rows for the compiled core.

        Parameters
        ----------
        margins : Margins
            The model, decomposed by features.
        schema : Schema
            The columns.
        n_neighbors : int or None
            Number of rows in a neighbourhood, which also has all rows within ``radius``; None means exact
            matches.
        radius, random_order, tradeoff, confidence
            As in `NeighborhoodModel`.
        """
        signs = self.signs[:, np.newaxis]
        categorical = [column.is_categorical for column in schema.columns]
        return KeptRows(
            # By column: a purchase adds one feature to the distances of all rows. Margins are by row: all
            # features are tried on a few neighbours.
            values=np.ascontiguousarray(self.values.T),
            # Label times margin, as in equations 2.2 and 2.3: positive where the vote is right.
            margins=np.ascontiguousarray(signs * margins.table(self.values)),
            intercepts=self.signs * margins.intercept,
            intercept=margins.intercept,
            scale=self.scale,
            gap=self.gap,
            categorical=np.array(categorical, dtype=np.uint8),
            votes=margins.used.astype(np.uint8),
            weights=self.weights,
            n_neighbors=None if n_neighbors is None else float(n_neighbors),
            radius=radius,
            random_order=random_order,
            alpha=tradeoff,
            confidence=confidence,
        )


def _impurity(codes: Floats, weights: Floats) -> float:
    """Return the probability that two random rows have different categories."""
    seen = np.isfinite(codes)
    if not seen.any():
        return 0.0
    sums = np.bincount(codes[seen].astype(np.int64), weights=weights[seen])
    return float(1.0 - ((sums / sums.sum()) ** 2).sum())


def _encode(rows: NeighborRows) -> dict[str, object]:
    return {name: getattr(rows, name) for name in ("values", "signs", "weights", "scale", "gap")}


def _decode(fields: dict[str, Any]) -> NeighborRows:
    return NeighborRows(**fields)


register_codec("NeighborRows", NeighborRows, _encode, _decode)
