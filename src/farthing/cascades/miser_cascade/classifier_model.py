"""The fitted miser cascade for classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from farthing.base import BudgetKind, PricedErrorsModel
from farthing.cascades.miser_cascade.model import MiserCascadeModel
from farthing.cascades.miser_cascade.readout import ClassReadout
from farthing.learning.losses import probability_steps
from farthing.typing import Floats
from farthing.walks.plans import Link, LinkStep


@dataclass(frozen=True, eq=False, kw_only=True)
class MiserCascadeClassifierModel(MiserCascadeModel, PricedErrorsModel):
    """A miser cascade whose raw outputs are calibrated scores, followed by that of a gate if there is one.

    Parameters
    ----------
    temperatures : ndarray of float64, shape (n_sets,)
        Divisor of each booster's scores.
    exit : {"confidence", "learned"}
        What thresholds are compared with.
    curtail : bool
        Whether rows stop asking once their label is certain.
    """

    temperatures: Floats
    exit: str
    curtail: bool

    @cached_property
    def readout(self) -> ClassReadout:
        """The interpretation of a stage's scores."""
        return ClassReadout(
            len(self.classes), self.temperatures, self.error_costs, gated=self.exit == "learned"
        )

    @property
    def curtails(self) -> bool:
        """Whether a row, at the stage where it must stop, asks only what its label needs."""
        # With error costs the label of the highest score is not the one predicted.
        return self.curtail and not self.readout.gated and self.error_costs is None

    def conclude(self, outputs: Floats) -> Floats:
        """Return the probability of each class, shape (n_rows, n_classes)."""
        return self.readout.probabilities(self.readout.scores(outputs))

    def link_steps(self) -> Link:
        """Return the steps to probabilities."""
        n_scores = len(self.prior) - self.readout.gated
        return (LinkStep("take", n_scores), *probability_steps(len(self.classes)))

    def at(self, cap: float | None, budget_kind: BudgetKind) -> Self:
        """Return the model of another budget; with error costs, None minimises errors plus spend."""
        if cap is None and budget_kind == "mean" and self.error_costs is not None:
            # Risk and spend are in the same unit, so the budget follows from their sum.
            cap = float(self.path_spend[np.argmin(self.path_risk + self.path_spend)])
        return super().at(cap, budget_kind)

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        n_classes = len(self.classes)
        n_scores = 1 if n_classes == 2 else n_classes
        if len(self.prior) != n_scores + self.readout.gated:
            raise ValueError(f"{n_classes} classes need {n_scores} scores; got {len(self.prior)}")
        self.check_arrays({"temperatures": (np.float64, (len(self.ends),))})
        if not ((self.temperatures > 0) & np.isfinite(self.temperatures)).all():
            raise ValueError("temperatures must be above zero")
