"""The fitted edge model: a gate and a local model for each device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.edge.device_program import device_program
from farthing.adaptive.edge.device_walk import DevicePolicy, DeviceWalk, sum_messages
from farthing.adaptive.edge.devices import Devices
from farthing.adaptive.edge.messages import DeviceSchema, Messages
from farthing.base import ClassifierModel, FittedModel, RegressorModel
from farthing.learning.affordable import affordable
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import n_class_scores
from farthing.learning.losses import probability_steps, scores_to_probabilities
from farthing.table import Schema
from farthing.typing import Floats
from farthing.walks import Policy, Walk
from farthing.walks.plans import DevicePlan, Link, MessagePlan, Plan


@dataclass(frozen=True, eq=False, kw_only=True)
class EdgeModel(FittedModel):
    """Devices with a gate and a local linear model each, and a cloud that adds up their messages.

    The raw output is the prior's scores plus those of the messages. Measurements stay on the device, where
    the gate is evaluated for free. A prediction reads, and pays for, the messages alone. So the account is
    over devices: ``acquired`` is (n_rows, n_devices).

    Parameters
    ----------
    devices : Devices
        Names and columns.
    pairs : list of LinearScores
        Gate and local model of each device, the gate's score first.
    threshold : float
        A device sends its message if its gate's score is above it.
    history : ndarray of float64
        The objective during training.
    """

    devices: Devices
    pairs: list[LinearScores]
    threshold: float
    history: NDArray[np.float64]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        """The names in the account: the devices."""
        return self.devices.names

    @property
    def questions(self) -> DeviceSchema:
        """The questions of a walk: messages of devices."""
        return DeviceSchema.of(self.devices.names, len(self.prior))

    @property
    def device_models(self) -> dict[str, dict[str, Any]]:
        """The program of each device, as JSON-compatible values; see `run_device`."""
        return {
            name: device_program(pair, self.threshold, self.schema)
            for name, pair in zip(self.devices.names, self.pairs, strict=True)
        }

    def messages(self, values: NDArray[np.floating]) -> Messages:
        """Return the message of each device for each row of an encoded table."""
        scores = np.stack([pair.outputs(values)[0] for pair in self.pairs], axis=1)
        return Messages(
            self.devices.names, np.ascontiguousarray(scores[:, :, 1:]), scores[:, :, 0] > self.threshold
        )

    def received(self, messages: Messages, budget: Floats | None) -> NDArray[np.bool_]:
        """Return whose messages are paid for, (n_rows, n_devices): in order, as far as a row can pay."""
        if budget is None:
            return messages.sent.copy()
        acquired = np.zeros_like(messages.sent)
        # One truth: devices are asked in the order of the walk, so an earlier message may use up the budget
        # that a later one needs.
        for device in range(len(self.devices)):
            acquired[:, device] = messages.sent[:, device]
            acquired[:, device] &= affordable(self.costs, acquired, budget)
        return acquired

    def cloud_outputs(self, messages: Messages, acquired: NDArray[np.bool_]) -> Floats:
        """Return the scores of the cloud, (n_rows, n_scores), from the messages that it received."""
        return sum_messages(self.prior, messages.scores, acquired)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,  # devices are not stochastic
        n_threads: int = 1,  # sums are short
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows; acquired is (n_rows, n_devices)."""
        messages = self.messages(values)
        acquired = self.received(messages, budget)
        return self.cloud_outputs(messages, acquired), acquired

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the devices measure, shape (n_features,)."""
        return self.devices.measured(len(self.schema))

    def plan(self) -> Plan:
        """Return the sum of messages, and the program of each device."""
        devices = [
            _device_plan(name, pair, self.threshold, self.schema)
            for name, pair in zip(self.devices.names, self.pairs, strict=True)
        ]
        return MessagePlan(tuple(devices), self.prior)

    def policy(self, seed: int | None = None) -> Policy:  # devices are not stochastic
        """Return a walk over all devices, in order."""
        return DevicePolicy(self.prior, len(self.devices))

    def walk(
        self,
        seed: int | None,
        budget: float | None,
        known: Mapping[str, object] | None = None,
        caps: Mapping[str, float] | None = None,
        fall_factor: float = 1.0,
    ) -> Walk:
        """Start the lazy prediction of one row, which asks devices."""
        return DeviceWalk(
            self.policy(seed),
            self.questions,
            self.costs,
            self.conclude_row,
            budget=budget,
            known=known,
            caps=caps,
            fall_factor=fall_factor,
        )

    def outputs_capped(self, *args: Any, **options: Any) -> Any:
        """Raise ValueError: array calls over devices know no caps of further resources."""
        raise ValueError("devices take no caps of further resources in array calls; give a number as budget")

    def check(self) -> None:
        """Raise ValueError if devices, gates and table do not fit together."""
        super().check()
        n_features = len(self.schema)
        if len(self.pairs) != len(self.devices):
            raise ValueError(f"{len(self.pairs)} gates do not fit {len(self.devices)} devices")
        for name, columns, pair in zip(self.devices.names, self.devices.columns, self.pairs, strict=True):
            if max(columns, default=0) >= n_features:
                raise ValueError(f"device {name!r} has columns that the table does not have")
            if not isinstance(pair, LinearScores) or pair.n_features != n_features:
                raise ValueError(f"device {name!r} has no gate for this table")
            if pair.n_outputs != 1 + len(self.prior) or not np.isin(pair.columns, columns).all():
                raise ValueError(f"the gate of device {name!r} has the wrong columns or scores")
            for column, code in zip(pair.columns.tolist(), pair.category.tolist(), strict=True):
                known = self.schema.columns[column]
                if not (code in range(len(known.categories)) if known.is_categorical else np.isnan(code)):
                    raise ValueError(
                        f"device {name!r} looks for a category that {known.name!r} does not have"
                    )
        if np.isnan(self.threshold):
            raise ValueError("threshold_ must be a number")
        if self.history.dtype != np.float64 or self.history.ndim != 1:
            raise ValueError("history_ must be a list of floats")


@dataclass(frozen=True, eq=False, kw_only=True)
class EdgeClassifierModel(EdgeModel, ClassifierModel):
    """Devices whose messages are scores of classes."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities, (n_rows, n_classes)."""
        return scores_to_probabilities(outputs, len(self.classes))

    def link_steps(self) -> Link:
        """Return the step to probabilities."""
        return probability_steps(len(self.classes))

    def check(self) -> None:
        """Raise ValueError if the scores do not fit the classes."""
        super().check()
        if len(self.prior) != n_class_scores(len(self.classes)):
            raise ValueError(f"{len(self.prior)} scores do not fit {len(self.classes)} classes")


@dataclass(frozen=True, eq=False, kw_only=True)
class EdgeRegressorModel(EdgeModel, RegressorModel):
    """Devices whose messages are numbers, to be added to the mean of the target."""


def _device_plan(name: str, pair: LinearScores, threshold: float, schema: Schema) -> DevicePlan:
    """Return the program of a device as tables."""
    scores = pair.sum_plan(pair.coef, pair.intercept)
    read, places = np.unique(scores.columns, return_inverse=True)
    columns = [schema.columns[column] for column in read.tolist()]
    return DevicePlan(
        name=name,
        readings=tuple(column.name for column in columns),
        categories=tuple(tuple(column.categories) for column in columns),
        scores=replace(scores, columns=np.asarray(places, dtype=np.int64)),
        threshold=threshold,
    )
