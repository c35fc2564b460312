"""The policy of GDFS: trained with the predictor, through selections that are relaxed and annealed."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import torch

from farthing.base import TrainingSet
from farthing.deep.networks.rollout import Rollout
from farthing.deep.networks.settings import TrainingSettings
from farthing.deep.networks.training import CLOSED, Training

Tensor: TypeAlias = Any

# Temperatures fall from the first to the last by a constant factor, as in the paper.
_HOT: Final = 1.0
_COLD: Final = 0.1


class PolicyTraining(Training):
    """Joint training by relaxed selections (section 4.2 of the paper), then of the predictor alone.

    Parameters
    ----------
    rows, settings
        As in `Training`.
    n_temperatures : int
        Stages; the last one is followed by one in which the predictor learns from selections as they are.
    """

    def __init__(self, rows: TrainingSet, settings: TrainingSettings, n_temperatures: int) -> None:
        super().__init__(rows, settings)
        self.stages = [*np.geomspace(_HOT, _COLD, n_temperatures).tolist(), None]
        prices = self.table.own + self.table.shared
        equal = self.table.same_group is None and bool((prices == prices[0]).all())
        self._priced = not (self.table.is_blind or equal)

    def train_batch(self, rows: Tensor, stage: float | None) -> None:
        """Go through the questions of a batch at a temperature; at none, train the predictor alone."""
        rollout = Rollout(self.table, rows)
        for may, prices in self.questions(rollout):
            if stage is None:
                with torch.no_grad():
                    units = self.choose(rollout, may, prices)
                rollout.buy(units, prices)
                self.step(rollout.mean(rollout.losses(self.predicted(rollout.inputs))))
                continue
            scores = self.selected(rollout.inputs).masked_fill(~may, CLOSED)
            waits = -torch.log(self.uniform(*scores.shape).clamp(1e-10, 1 - 1e-7))
            # Minus the logarithm of a waiting time is a Gumbel variable.
            relaxed = torch.softmax((scores - torch.log(waits)) / stage, dim=1)
            self.step(rollout.mean(self._losses(rollout, relaxed, prices)))
            rollout.buy(relaxed.detach().argmax(dim=1), prices)

    def choose(self, rollout: Rollout, may: Tensor, prices: Tensor) -> Tensor:
        """Return the unit of the highest score for each row, shape (n_rows,)."""
        return self.selector(rollout.inputs).masked_fill(~may, CLOSED).argmax(dim=1)

    def _losses(self, rollout: Rollout, relaxed: Tensor, prices: Tensor) -> Tensor:
        """Return losses whose gradient is that of the log loss, or of its fall for the price, for the policy.

        The best greedy policy maximises E[(l(S) - l(S + i)) / c_i]: the information for the price. With
        ``d`` the fall and ``c`` the price of a selection, the gradient of -d / c is that of the loss after
        it, divided by ``c``, plus d / c**2 times that of ``c``.
        """
        if not self._priced:
            return rollout.losses(self._after(rollout, relaxed))
        price = (relaxed * prices).sum(dim=1).clamp(min=1e-3)
        fixed = price.detach()
        # The same numbers; gradients to the policy are divided by the price, those of the predictor are not.
        scaled = relaxed / fixed[:, None]
        shares = scaled + (relaxed - scaled).detach()
        losses = rollout.losses(self._after(rollout, shares))
        with torch.no_grad():
            before = rollout.losses(self.predictor(rollout.inputs))
        fall = before - losses.detach()
        return losses + fall / fixed**2 * (price - fixed)

    def _after(self, rollout: Rollout, shares: Tensor) -> Tensor:
        bought = torch.maximum(rollout.bought, shares)
        return self.predicted(self.table.inputs(rollout.terms, bought))
