"""The linear design of some columns of a table, and models over it as models over the whole table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.polynomial_scores import QuadraticScores, expand
from farthing.table import Schema
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class ColumnDesign:
    """Standardised terms of some columns.

    Attributes
    ----------
    design : LinearDesign
        Of the columns alone; with squares and products, if it is quadratic.
    plain : LinearScores
        The terms of the columns, as those of the whole table.
    quadratic : bool
    """

    design: LinearDesign
    plain: LinearScores
    quadratic: bool

    @classmethod
    def of(
        cls, rows: TrainingSet, columns: NDArray[np.int64], n_outputs: int, *, quadratic: bool = False
    ) -> ColumnDesign:
        """Standardise some columns of a table by all of its rows."""
        shares = rows.weights / rows.weights.sum()
        values = rows.values[:, columns]
        schema = Schema(tuple(rows.schema.columns[column] for column in columns.tolist()), named=True)
        design = LinearDesign.of(values, schema, shares, n_outputs)
        plain = replace(design.zeros, columns=columns[design.zeros.columns], n_features=len(rows.schema))
        if quadratic:
            wide = expand(design.zeros, values)
            names = Schema.learn(np.zeros((1, wide.shape[1])))
            design = LinearDesign.of(wide, names, shares, n_outputs)
        return cls(design, plain, quadratic)

    def part(
        self, target: NDArray[np.generic], weights: Floats, learn: NDArray[np.int64] | None
    ) -> tuple[LinearDesign, NDArray[np.generic], Floats]:
        """Return the design, the target and the shares of some rows; None means all."""
        if learn is None:
            return self.design, target, weights / weights.sum()
        design = replace(self.design, terms=self.design.terms[learn])
        return design, target[learn], weights[learn] / weights[learn].sum()

    def over_table(self, model: LinearScores) -> LinearScores | QuadraticScores:
        """Return a model over the design as one that reads the whole table."""
        if self.quadratic:
            return QuadraticScores(self.plain, model)
        return replace(self.plain, coef=model.coef, intercept=model.intercept)
