"""Training of a predictor and a selector: batches, stages, and what both methods do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
import torch

from farthing.base import TrainingSet
from farthing.deadline import check_deadline
from farthing.deep.networks.column_inputs import ColumnInputs
from farthing.deep.networks.network import Network
from farthing.deep.networks.rollout import Rollout, TrainingTable
from farthing.deep.networks.settings import TrainingSettings
from farthing.deep.networks.torch_network import TorchNetwork
from farthing.deep.networks.units import units_of

Tensor: TypeAlias = Any

# Below this many rows to validate on, training rows do.
_LEAST_VALIDATION: Final = 10
# Scores of what cannot be bought.
CLOSED: Final = -1e9
# An improvement of the validation loss is at least this share of it.
_LEAST_GAIN: Final = 1e-4


class Training(ABC):
    """The training of one fit; everything random is drawn by generators of its own.

    Parameters
    ----------
    rows : TrainingSet
        The rows, no two the same.
    settings : TrainingSettings
        Settings.
    """

    #: Parameters of the stages of joint training, such as temperatures, one after the other.
    stages: Sequence[Any]
    #: The networks that a stage trains.
    n_networks: ClassVar[int] = 2

    def __init__(self, rows: TrainingSet, settings: TrainingSettings) -> None:
        self.settings = settings
        self.column_inputs, self.units = ColumnInputs.of(rows), units_of(rows.costs)
        self.random = np.random.RandomState(settings.seed)
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.table, self._used = TrainingTable.of(rows, self.column_inputs, self.units, settings)
        order = self.random.permutation(len(rows))
        n_held = round(settings.validation_fraction * len(rows))
        few = n_held < _LEAST_VALIDATION or n_held >= len(rows)
        self._held = torch.from_numpy(np.sort(order if few else order[:n_held]))
        self._learned = np.sort(order if few else order[n_held:])
        n_inputs = len(self.column_inputs.n_terms) + int(self._used.sum())
        n_classes, hidden = max(2, rows.n_classes), settings.hidden_units
        self.predictor = TorchNetwork([n_inputs, *hidden, n_classes], self.random)
        self.selector = TorchNetwork([n_inputs, *hidden, self.table.n_units], self.random)
        self._n_classes = rows.n_classes
        self._prior_losses = torch.from_numpy(-np.log(rows.prior()[rows.target])).float()
        self.optimizer: Any = None

    # What a method defines.

    @abstractmethod
    def train_batch(self, rows: Tensor, stage: Any) -> None:
        """Go through the questions of a batch, with steps of the optimizer."""

    @abstractmethod
    def choose(self, rollout: Rollout, may: Tensor, prices: Tensor) -> Tensor:
        """Return the unit that each row buys next, as the fitted model does, shape (n_rows,)."""

    # What both do.

    def train(self) -> tuple[Network, Network]:
        """Return the trained predictor and selector."""
        before = torch.get_num_threads()
        torch.set_num_threads(1)  # sums in one order, whatever the machine
        try:
            self._stage([self.predictor], self._pretrain_batch, self._pretrained_loss, self.settings.n_epochs)
            share = max(1, self.settings.n_epochs // max(1, len(self.stages)))
            for stage in self.stages:
                self._stage(
                    [self.predictor, self.selector],
                    lambda rows, stage=stage: self.train_batch(rows, stage),  # type: ignore[misc]
                    self.walked_loss,
                    share,
                )
        finally:
            torch.set_num_threads(before)
        predictor = self.predictor.as_value(self.column_inputs, self._used)
        if self._n_classes <= 2:
            predictor = _last_layer(predictor, self._n_classes)
        return predictor, self.selector.as_value(self.column_inputs, self._used)

    def predicted(self, inputs: Tensor) -> Tensor:
        """Return scores of the predictor, with dropout, shape (n_rows, n_classes)."""
        return self.predictor(inputs, self.settings.dropout, self.generator)

    def selected(self, inputs: Tensor) -> Tensor:
        """Return numbers of the selector, with dropout, shape (n_rows, n_units)."""
        return self.selector(inputs, self.settings.dropout, self.generator)

    def step(self, loss: Tensor) -> None:
        """Take a step along the gradient of a loss."""
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def uniform(self, *shape: int) -> Tensor:
        """Return random numbers between 0 and 1."""
        return torch.rand(shape, generator=self.generator)

    def questions(self, rollout: Rollout) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield what the rows may buy, and its prices, for each question."""
        for _ in range(self.settings.max_questions):
            may, prices = rollout.open()
            if not len(rollout):
                return
            yield may, prices

    def walked_loss(self) -> float:
        """Return the mean log loss of held-out rows over all budgets up to the one of the fit.

        The rows walk as the fitted model would: of two orders that end alike, that is better which knows
        earlier, or for less.
        """
        total = 0.0
        with torch.no_grad():
            for rows in self._held.split(1024):
                total += float((self.table.weights[rows] * self._areas(rows)).sum())
        return total / float(self.table.weights[self._held].sum())

    def _areas(self, rows: Tensor) -> Tensor:
        """Return the area under the loss of each row over its spend, by trapezoids, shape (n_rows,)."""
        rollout, whole = Rollout(self.table, rows), self.table.whole
        losses = self._prior_losses[rows].clone()
        areas, left = torch.zeros(len(rows)), torch.full((len(rows),), whole)
        for may, prices in self.questions(rollout):
            here = rollout.places
            units = self.choose(rollout, may, prices)
            rollout.buy(units, prices)
            paid = torch.ones(len(here)) if self.table.is_blind else prices.gather(1, units[:, None])[:, 0]
            after = rollout.losses(self.predictor(rollout.inputs))
            areas[here] += (losses[here] + after) / 2 * paid
            losses[here] = after
            left[here] -= paid
        return areas + losses * left.clamp(min=0.0)

    def _batches(self) -> Iterator[Tensor]:
        order = torch.from_numpy(self.random.permutation(self._learned))
        yield from order.split(self.settings.batch_size)

    def _stage(
        self,
        networks: list[TorchNetwork],
        train_batch: Callable[[Tensor], None],
        loss: Callable[[], float],
        n_epochs: int,
    ) -> None:
        """Train networks until held-out rows gain nothing, and go back to where these lost least."""
        parameters = [part for network in networks for part in network.parameters]
        self.optimizer = _adam(parameters, self.settings.learning_rate)
        best, patience = np.inf, 0
        kept = [network.copied() for network in networks]
        for _ in range(n_epochs):
            for rows in self._batches():
                check_deadline()
                train_batch(rows)
            now = loss()
            if now < best - _LEAST_GAIN * abs(best) or not np.isfinite(best):
                patience = 0
            else:
                patience += 1
            if now < best:
                best, kept = now, [network.copied() for network in networks]
            if patience >= self.settings.n_iter_no_change:
                break
        for network, parts in zip(networks, kept, strict=True):
            network.restore(parts)

    def _masked(self, rows: Tensor, shares: Tensor) -> Rollout:
        """Return rows that have bought random units, each row a share of them, shape (n_rows, 1)."""
        rollout = Rollout(self.table, rows)
        rollout.bought = (self.uniform(len(rows), self.table.n_units) < shares).float()
        return rollout

    def _pretrain_batch(self, rows: Tensor) -> None:
        rollout = self._masked(rows, self.uniform(len(rows), 1))
        self.step(rollout.mean(rollout.losses(self.predicted(rollout.inputs))))

    def _pretrained_loss(self) -> float:
        total = 0.0
        state = self.generator.get_state()
        self.generator.manual_seed(self.settings.seed)  # the same masks in each epoch
        with torch.no_grad():
            for rows in self._held.split(1024):
                rollout = self._masked(rows, self.uniform(len(rows), 1))
                total += float((rollout.weights * rollout.losses(self.predictor(rollout.inputs))).sum())
        self.generator.set_state(state)
        return total / float(self.table.weights[self._held].sum())


def _adam(parameters: list[Tensor], learning_rate: float) -> Any:
    """Return the optimizer, in one pass over the parameters where PyTorch has that for processors."""
    try:
        return torch.optim.Adam(parameters, lr=learning_rate, fused=True)
    except RuntimeError:  # before version 2.4
        return torch.optim.Adam(parameters, lr=learning_rate)


def _last_layer(predictor: Network, n_classes: int) -> Network:
    """Return a predictor of two scores with one: the log-odds of the second, or the only class."""
    widths, weights = predictor.widths.copy(), predictor.weights
    n_last = int((widths[-2] + 1) * 2)
    scores = weights[-n_last:].reshape(-1, 2)
    one = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores[:, 0]
    widths[-1] = 1
    return Network(widths, np.concatenate([weights[:-n_last], one]).astype(np.float32))
