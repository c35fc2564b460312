"""Where a gate is cut: by a budget, by a share of the rows, or at even odds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.model import SEND_SHARES, AdaptModel
from farthing.adaptive.adapt.projection import weighted_mean
from farthing.base import TrainingSet
from farthing.costs import spending_limit
from farthing.errors import BudgetError
from farthing.learning.thresholds import lowest_threshold, share_threshold
from farthing.typing import Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class GateCut:
    """Sets the threshold of a gate on rows that it has not seen.

    Parameters
    ----------
    rows : TrainingSet
        The rows; their target is not used.
    share : float or None
        Share of the rows to send on at most; None means all that the budget allows, or without a budget those
        with more than even odds.
    budget : float or None
        Limit on the mean spend.
    acquired : ndarray of bool, shape (n_rows, n_columns + n_inner_calls), or None
        What the expensive model acquires; needed with a budget only.
    n_threads : int
        Threads of prediction.
    """

    rows: TrainingSet
    share: float | None
    budget: float | None
    acquired: NDArray[np.bool_] | None
    n_threads: int

    def apply(self, model: AdaptModel) -> AdaptModel:
        """Return the model with its threshold, and with those of the shares of its variants."""
        gate, cheap = model.gate(self.rows.values, self.n_threads)
        # No threshold, of any variant, may go below the lowest one that keeps the budget.
        least = self._budget_threshold(model, gate, cheap)

        def threshold_of(share: float) -> float:
            lowest = share_threshold(gate, self.rows.weights, share)
            return lowest if least is None else max(least, lowest)

        even_odds = 0.0 if least is None else least
        return replace(
            model,
            threshold=even_odds if self.share is None else threshold_of(self.share),
            send_thresholds=np.array([threshold_of(share) for share in SEND_SHARES]),
        )

    def _budget_threshold(self, model: AdaptModel, gate: Floats, cheap: NDArray[np.bool_]) -> float | None:
        """Return the lowest threshold at which the mean spend of the rows is within the budget, if any."""
        if self.budget is None or self.acquired is None:
            return None
        # Every row pays for the gate and f1; the threshold decides which rows pay the difference as well.
        paid = model.costs.total_rows(model.calls.account(cheap))
        whole = model.costs.total_rows(model.calls.account(cheap, self.acquired))
        shares = self.rows.weights / self.rows.weights.sum()
        least = weighted_mean(paid, shares)
        limit = spending_limit(self.budget)
        if least > limit:
            raise BudgetError(
                f"gate and cheap model alone cost {least:g} on average, more than the budget of "
                f"{self.budget:g}; raise the budget, or tradeoff, so that they buy less"
            )
        return lowest_threshold(gate, (whole - paid) * shares, limit - least)
