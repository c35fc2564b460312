"""The walk through the binary models: one after another, with one account."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from farthing.base import ClassifierModel
from farthing.costs import RowLedger
from farthing.typing import Floats
from farthing.walks import RowWalk


class OneVsRestPolicy:
    """Walk the models in order; a model gets for free what an earlier one bought.

    A model may spend an equal share of what is left of the budget: of a budget of 12 and three models, the
    first may spend 4; if it spends 2, the second may spend 5.

    Parameters
    ----------
    models : sequence of ClassifierModel
        The fitted binary models.
    seed : int or None
        Of stochastic models; None means their own.
    """

    def __init__(self, models: Sequence[ClassifierModel], seed: int | None) -> None:
        self._models = models
        self._seed = seed
        self._outputs: list[Floats] = []
        self._walk: RowWalk | None = None
        self._ledger: RowLedger | None = None
        # Where the calls of each model begin in the ledger of the row.
        counts = [len(model.costs.calls) for model in models]
        self._first_calls = np.cumsum([0, *counts[:-1]]).tolist()
        self._n_passed = 0  # calls of the current model that the row has paid for

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column that the current model needs next; None after the last one."""
        self._ledger = ledger
        while len(self._outputs) < len(self._models):
            if self._walk is None:
                self._walk, self._n_passed = self._start(ledger), 0
            # A model pays for its calls itself, and the row after it.
            if self._n_passed < len(made := self._walk.calls_made()):
                first = ledger.sheet.n_columns + self._first_calls[len(self._outputs)]
                return int(first + made[self._n_passed])
            if self._walk.column is not None:
                return self._walk.column
            self._outputs.append(self._settled(self._walk))
            self._walk = None
        return None

    def hear(self, column: int, value: float) -> None:
        """Pass an answer on to the current model."""
        assert self._walk is not None
        assert self._ledger is not None
        if column >= self._ledger.sheet.n_columns:
            self._n_passed += 1
            return
        # A column that is not owned is over the budget of the row.
        if self._ledger.owned[column]:
            self._walk.buy(value)
        else:
            self._walk.miss()

    def refuse(self, column: int) -> None:  # the current model asked for it
        """Pass a refusal on to the current model."""
        assert self._walk is not None
        self._walk.refuse()

    def output(self) -> Floats:
        """Return the raw outputs of all models side by side; that of a model not started is its prior."""
        current = [] if self._walk is None else [self._settled(self._walk)]
        known = [*self._outputs, *current]
        return np.concatenate([*known, *(model.prior for model in self._models[len(known) :])])

    def _start(self, ledger: RowLedger) -> RowWalk:
        number = len(self._outputs)
        model, n_left = self._models[number], len(self._models) - number
        cap = None if ledger.budget is None else max(0.0, ledger.budget - ledger.spent) / n_left
        known = np.zeros(len(model.costs.features), dtype=np.bool_)
        known[: model.costs.n_columns] = ledger.owned[: model.costs.n_columns]
        return RowWalk(model.policy(self._seed), RowLedger(model.costs, cap, known))

    def _settled(self, walk: RowWalk) -> Floats:
        """Return the raw output of the current model; its prior if it looked at nothing."""
        model = self._models[len(self._outputs)]
        return np.asarray(model.settle(walk.output()[np.newaxis], walk.looked[np.newaxis])[0])
