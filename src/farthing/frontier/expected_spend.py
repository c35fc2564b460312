"""What new rows are expected to spend, from what rows spend that a model learned from.

A model is surer of the rows that it learned from, so that these leave early exits sooner. Two estimates make
up for that, of which the larger counts: the spend of these rows, times how much more the folds' models spent
on new rows; and, of a method that holds out rows within its fit, what those spent. The folds' models may stop
in other places than the last one does, so the second knows what the first cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from farthing.base import AnyBudgetMixin


@dataclass(frozen=True)
class ExpectedSpend:
    """From the mean spend of the rows of a fit to that of new rows.

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
    >>> own = float(cheap.spend(heart.X).mean())
    >>> ExpectedSpend(1.0).of(cheap, own) == max(own, cheap.held_out_spend())
    True
    """

    growth: float
    has_factors: bool = False

    def of(self, model: Any, own: float) -> float:
        """Return what new rows are expected to spend on average.

        Parameters
        ----------
        model : estimator
            A fitted model.
        own : float
            What the rows spend that it learned from.
        """
        found = own * self.growth
        if self.has_factors or not isinstance(model, AnyBudgetMixin):
            return found
        held_out = model.held_out_spend()
        return found if held_out is None else max(found, held_out)
