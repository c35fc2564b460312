"""Estimators with a parameter ``guarantee``: a part of the rows is kept for its test."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np

from farthing.base import BudgetedEstimator, Guarantee, TrainingSet
from farthing.learning.guarantees.certify import certify
from farthing.learning.guarantees.ladders import ordering_rows
from farthing.learning.holdout import hold_out_at_random

#: The constraint of the parameter, and its text for docstrings.
GUARANTEE: Final[list[Any]] = [Guarantee, None]
GUARANTEE_TEXT: Final = """guarantee : Guarantee, optional
        What shall hold on new rows, such as a mean spend, with which confidence. A part of the training rows
        is kept for the test, by which the variant of the fit is chosen; ``certificate_`` says what holds.
        In place of ``budget``."""
VOTE_GUARANTEE_TEXT: Final = GUARANTEE_TEXT.replace(
    "In place of ``budget``.", "It needs a ``curtailment_error``: the variants are votes of smaller errors."
)


class GuaranteedMixin(BudgetedEstimator):
    """A method with a parameter ``guarantee``; it comes before the base classes that learn."""

    guarantee: Guarantee | None

    def fit_rows(self, rows: TrainingSet, **options: Any) -> Self:
        """Learn from rows that are validated already; with a guarantee, from a part of them.

        Parameters
        ----------
        rows, **options
            As in `BudgetedEstimator.fit_rows`; no option that is made of all rows.

        Returns
        -------
        self
        """
        if self.guarantee is None:
            return super().fit_rows(rows, **options)
        self._validate_params()
        budget = getattr(self, "budget", None)
        is_hard = getattr(self, "budget_kind", "mean") == "hard"  # of every row, beside the mean
        if budget is not None and self.guarantee.budget is not None and not is_hard:
            raise ValueError(
                f"budget={budget!r} and the guarantee's budget of {self.guarantee.budget:g} say the "
                "same twice; leave out budget"
            )
        if not np.all(rows.weights == rows.weights[0]):
            raise ValueError(
                "a guarantee counts rows, so their weights must be equal; leave out sample_weight and "
                "class_weight"
            )
        learned, tested = hold_out_at_random(rows, self.guarantee.holdout, getattr(self, "random_state", 0))
        super().fit_rows(learned, **options)
        ordering = learned.table.take(ordering_rows(len(learned)))
        return self.adopt(certify(self, tested.table, self.guarantee, learned=ordering).fitted_)
