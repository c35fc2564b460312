"""The value network of DIME: it regresses how much the log loss falls with each purchase."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import torch

from farthing.base import TrainingSet
from farthing.deep.networks.rollout import Rollout
from farthing.deep.networks.settings import TrainingSettings
from farthing.deep.networks.training import CLOSED, Training

Tensor: TypeAlias = Any

# The share of random questions is multiplied by this from stage to stage.
_DECAY: Final = 0.2
_N_STAGES: Final = 4


class ValueTraining(Training):
    """Training of the value network and the predictor, with random questions among the greedy ones.

    Parameters
    ----------
    rows, settings
        As in `Training`.
    exploration : float
        The share of random questions at first.
    """

    def __init__(self, rows: TrainingSet, settings: TrainingSettings, exploration: float) -> None:
        super().__init__(rows, settings)
        self.stages = [exploration * _DECAY**stage for stage in range(_N_STAGES)]

    def train_batch(self, rows: Tensor, stage: float) -> None:
        """Go through the questions of a batch, some of which are random."""
        rollout, known = Rollout(self.table, rows), False
        for may, prices in self.questions(rollout):
            inputs = rollout.inputs
            with torch.no_grad():
                before = self.predictor(inputs)
                entropy = _entropies(before)
                known_losses = rollout.losses(before)
            gains = torch.sigmoid(self.selected(inputs)) * entropy[:, None]
            units = self._best(gains.detach(), may, prices)
            explores = self.uniform(len(rollout)) < stage
            random = self.uniform(*may.shape).masked_fill(~may, -1.0).argmax(dim=1)
            units = torch.where(explores, random, units)
            rollout.buy(units, prices)
            after = rollout.losses(self.predicted(rollout.inputs))
            # The fall is that of the predictor that answers, without dropout.
            with torch.no_grad():
                fall = known_losses - rollout.losses(self.predictor(rollout.inputs))
            wrong = gains.gather(1, units[:, None])[:, 0] - fall
            loss = rollout.mean(after) + rollout.mean(wrong**2)
            if not known:  # falls from there are measured, too
                loss = loss + rollout.mean(rollout.losses(self.predicted(inputs)))
            known = True
            self.step(loss)

    def choose(self, rollout: Rollout, may: Tensor, prices: Tensor) -> Tensor:
        """Return the unit of the largest gain for its price for each row, shape (n_rows,)."""
        inputs = rollout.inputs
        entropy = _entropies(self.predictor(inputs))
        return self._best(torch.sigmoid(self.selector(inputs)) * entropy[:, None], may, prices)

    def _best(self, gains: Tensor, may: Tensor, prices: Tensor) -> Tensor:
        # What is free is alone in `may`, so that its price may be anything.
        scores = gains if self.table.is_blind else gains / torch.where(prices == 0, 1.0, prices)
        return scores.masked_fill(~may, CLOSED).argmax(dim=1)


def _entropies(scores: Tensor) -> Tensor:
    """Return the entropy of each row's probabilities, in nats, shape (n_rows,)."""
    logs = torch.log_softmax(scores, dim=1)
    return -(logs.exp() * logs).sum(dim=1)
