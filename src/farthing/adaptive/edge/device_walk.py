"""Walks over devices: the cloud asks one device after another for its message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.typing import Floats
from farthing.walks import REFUSED, Walk


class DeviceWalk(Walk):
    """A prediction that asks one device after another; ``tell(None)`` is a silent device, which is free."""

    def tell(self, value: object) -> None:
        """Take a device's message and pay for it; None means that the device is silent, which is free."""
        if value is not None:
            super().tell(value)
            return
        column = self._asked("tell")
        # Recorded as an answer, so that a replay gives the same walk, but settled as a refusal: a silent
        # device sends nothing and costs nothing.
        self._note({self._sheet.features[column]: None})
        self._row_walk.refuse()

    def tell_panel(self, answers: Mapping[str, object]) -> None:
        """Take several messages at once; None means that a device is silent, which is free."""
        super().tell_panel({name: REFUSED if sent is None else sent for name, sent in answers.items()})


class DevicePolicy:
    """Ask every device, in order; the answer of a silent one is NaN.

    Parameters
    ----------
    prior : ndarray of float64, shape (n_scores,)
        The scores if all devices are silent.
    n_devices : int
        Number of devices.
    """

    def __init__(self, prior: Floats, n_devices: int) -> None:
        self._prior = prior
        self._scores = np.zeros((1, n_devices, len(prior)))
        self._received = np.zeros((1, n_devices), dtype=np.bool_)
        self._next = 0

    def wants(self, ledger: RowLedger) -> int | None:  # all are asked, whatever they cost
        """Return the next device; None at the end."""
        return self._next if self._next < self._received.shape[1] else None

    def hear(self, column: int, value: Any) -> None:
        """Take a message, an array; anything else means that the device is silent."""
        self._next = column + 1
        if isinstance(value, np.ndarray):
            self._scores[0, column] = value
            self._received[0, column] = True

    def output(self) -> Floats:
        """Return the scores so far, shape (n_scores,)."""
        return np.asarray(sum_messages(self._prior, self._scores, self._received)[0])


def sum_messages(prior: Floats, scores: Floats, received: NDArray[np.bool_]) -> Floats:
    """Return the prior plus the messages that were received.

    Parameters
    ----------
    prior : ndarray of float64, shape (n_scores,)
    scores : ndarray of float64, shape (n_rows, n_devices, n_scores)
    received : ndarray of bool, shape (n_rows, n_devices)

    Returns
    -------
    ndarray of float64, shape (n_rows, n_scores)

    Examples
    --------
    >>> sum_messages(np.array([1.0]), np.array([[[2.0], [np.nan]]]), np.array([[True, False]]))
    array([[3.]])
    """
    outputs = np.tile(prior, (len(scores), 1))
    # Device by device, so that a row has the same bits alone and among others.
    for device in range(scores.shape[1]):
        outputs += np.where(received[:, device, np.newaxis], scores[:, device], 0.0)
    return outputs
