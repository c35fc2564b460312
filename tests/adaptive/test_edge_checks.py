"""The contract's checks see through models that ask devices and listen to silent ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from farthing.adaptive import EdgeClassifier
from farthing.adaptive.edge.messages import DeviceWalk
from farthing.checks import yield_checks


class ListensToSilence(EdgeClassifier):
    """The cloud lets the local outputs of silent devices tip the scales."""

    def _raw(self, X: Any, budget: Any, seeds: Any) -> Any:
        outputs, acquired = super()._raw(X, budget, seeds)
        sent = X if hasattr(X, "said") else self.messages(X)
        hidden = np.where(acquired[:, :, None], 0.0, np.nan_to_num(sent.said))
        return outputs + 1e-3 * hidden.sum(axis=1), acquired


class HearsAnything(EdgeClassifier):
    """A message that is no number is as good as any."""

    def _raw(self, X: Any, budget: Any, seeds: Any) -> Any:
        if hasattr(X, "said"):
            X = type(X)(X.devices, np.nan_to_num(X.said), X.spoke)
        return super()._raw(X, budget, seeds)


class ChargesSilence(EdgeClassifier):
    class Charging(DeviceWalk):
        def tell(self, value: object) -> None:
            super().tell(np.zeros(3) if value is None else value)

    def walk(self, *given: Any, **named: Any) -> Any:
        walk = super().walk(*given, **named)
        walk.__class__ = self.Charging
        return walk


class CountsMoney(EdgeClassifier):
    """The budget is a sum of money, whatever it says of itself."""

    def _fit(self, values: Any, target: Any, weights: Any, sheet: Any, **more: Any) -> None:
        budget = self.budget
        if budget is not None:
            self.budget = min(1.0, budget / sheet.total(sheet.features))
        super()._fit(values, target, weights, sheet, **more)
        self.budget = budget


BROKEN = [
    (ListensToSilence, "blindness: entries not acquired may be anything"),
    (HearsAnything, "blindness: only acquired entries are validated"),
    (ChargesSilence, "one truth: a walk fed from a row gives what the array calls give"),
    (ChargesSilence, "account: a walk balances at every step"),
    (CountsMoney, "free is free: costs times a power of two give the same bits"),
]


@pytest.mark.parametrize(("broken", "name"), BROKEN)
def test_a_broken_model_is_caught(broken: type[EdgeClassifier], name: str) -> None:
    checks = dict(yield_checks(broken(max_steps=4, tradeoff=0.2)))
    with pytest.raises(AssertionError):
        checks[name]()
