"""What new rows are expected to spend, from what rows spend that a model learned from.

A model is surer of the rows that it learned from, so that these leave early exits sooner. Two estimates make
up for that, of which the larger counts: the spend of these rows, times how much more the folds' models spent
on new rows; and, of a method that holds out rows within its fit, what those spent. The folds' models may stop
in other places than the last one does, so the second knows what the first cannot. What it adds is shrunk as
James and Stein do: of few rows it is mostly noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from farthing.base import AnyBudgetMixin
from farthing.typing import Floats


@dataclass(frozen=True)
class ExpectedSpend:
    """From the spends of the rows of a fit to the mean spend of new rows.

    Parameters
    ----------
    growth : float
        How much more the folds' models spent on new rows than on those they learned from, as a factor.
    has_factors : bool
        Whether rows counted by their classes in the fit: its held-out spends are then no plain means.

    Examples
    --------
    >>> from farthing.cascades import MiserCascadeClassifier
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = MiserCascadeClassifier(heart.costs, n_estimators=20, random_state=0).fit(heart.X, heart.y)
    >>> cheap = model.at(60)
    >>> own = cheap.spend(heart.X)
    >>> expected = ExpectedSpend(1.0).of(cheap, own)
    >>> bool(own.mean() <= expected <= max(own.mean(), cheap.held_out_spend()))
    True
    """

    growth: float
    has_factors: bool = False

    def of(self, model: Any, spent: Floats, weights: Floats | None = None) -> float:
        """Return what new rows are expected to spend on average.

        Parameters
        ----------
        model : estimator
            A fitted model.
        spent : ndarray of float64, shape (n_rows,)
            What the rows spend that it learned from.
        weights : ndarray of float64, shape (n_rows,), optional
            Weight of each row.
        """
        own = float(np.average(spent, weights=weights))
        found = own * self.growth
        if self.has_factors or not isinstance(model, AnyBudgetMixin):
            return found
        held_out = model.held_out_spend()
        if held_out is None or held_out <= found:
            return found
        # Both means are of the same rows, by other models; their errors are taken as independent.
        shares = np.full(len(spent), 1 / len(spent)) if weights is None else weights / weights.sum()
        variance = 2 * float(shares**2 @ (spent - own) ** 2)
        more = held_out - found
        return found + max(0.0, 1 - variance / more**2) * more
