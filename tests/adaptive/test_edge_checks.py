"""The checks of the contract catch broken models that ask devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from farthing.adaptive import EdgeClassifier, Messages
from farthing.adaptive.edge.device_walk import DeviceWalk
from farthing.checks import yield_checks


class ListensToSilence(EdgeClassifier):
    """The cloud adds a little of the local outputs of silent devices."""

    def raw_outputs(self, X: Any, **options: Any) -> Any:
        outputs, acquired = super().raw_outputs(X, **options)
        messages = X if isinstance(X, Messages) else self.messages(X)
        hidden = np.where(acquired[:, :, None], 0.0, np.nan_to_num(messages.scores))
        return outputs + 1e-3 * hidden.sum(axis=1), acquired


class AcceptsAnything(EdgeClassifier):
    """A message that is not a number is not refused."""

    def raw_outputs(self, X: Any, **options: Any) -> Any:
        if isinstance(X, Messages):
            X = Messages(X.devices, np.nan_to_num(X.scores), X.sent)
        return super().raw_outputs(X, **options)


class ChargesSilence(EdgeClassifier):
    class Charging(DeviceWalk):
        def tell(self, value: object) -> None:
            super().tell(np.zeros(3) if value is None else value)

    def walk(self, *given: Any, **named: Any) -> Any:
        walk = super().walk(*given, **named)
        walk.__class__ = self.Charging
        return walk


class CountsMoney(EdgeClassifier):
    """The share of the budget is taken for a sum of money."""

    def _learn(self, rows: Any, **options: Any) -> Any:
        share = self.budget_share
        self.budget_share = min(1.0, share / rows.costs.total(rows.costs.features))
        model = super()._learn(rows, **options)
        self.budget_share = share
        return model


BROKEN = [
    (ListensToSilence, "blindness: entries not acquired may be anything"),
    (AcceptsAnything, "blindness: only acquired entries are validated"),
    (ChargesSilence, "one truth: a walk fed from a row gives what the array calls give"),
    (ChargesSilence, "account: a walk balances at every step"),
    (CountsMoney, "free is free: costs times a power of two give the same bits"),
]


@pytest.mark.parametrize(("broken", "name"), BROKEN)
def test_a_broken_model_is_caught(broken: type[EdgeClassifier], name: str) -> None:
    checks = dict(yield_checks(broken(max_steps=4, tradeoff=0.2, budget_share=0.5)))
    with pytest.raises(AssertionError):
        checks[name]()


@pytest.mark.parametrize(
    "name",
    [
        "free is free: with zero costs, budgets and groups are idle",
        "free is free: costs times a power of two give the same bits",
    ],
)
def test_a_budget_share_is_free_of_units(name: str) -> None:
    """The checks set a budget in money; a share of what all devices cost needs a case of its own."""
    for share in (0.0, 0.5, 1.0):
        model = EdgeClassifier(max_steps=8, tradeoff=0.2, budget_share=share)
        dict(yield_checks(model))[name]()
