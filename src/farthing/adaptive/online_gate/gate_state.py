"""The state of an `OnlineGate`, as a value that a file can hold."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.online_gate.experts import AdaptExperts
from farthing.adaptive.online_gate.rounds import History, Pending
from farthing.base.parameters import check_whole
from farthing.errors import FileError
from farthing.typing import Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class GateState:
    """All that a gate needs to resume, except functions, which a file cannot store.

    Parameters
    ----------
    experts : AdaptExperts or None
        The experts; None if they are made of functions.
    n_experts : int
        K, the expert that always asks included.
    cost : float
        What asking costs.
    horizon : int or None
        The number of rounds, if it is known.
    own_loss : bool
        Whether the gate has a custom loss function.
    keep_history : bool
        Whether rounds are recorded.
    key : int
        The seed of the draws.
    n_rounds : int
        Rounds so far.
    logs : ndarray of float64, shape (n_experts,)
        Logarithms of the experts' weights.
    estimates : ndarray of float64, shape (n_experts,)
        Estimated loss of each expert so far.
    paid : float
        Estimated loss of the gate itself so far.
    pending : Pending or None
        The round that is waiting for its label.
    history : dict of str to ndarray, shape (n_rounds,) each
        What happened at each round; of length zero if it is not kept.
    """

    experts: AdaptExperts | None
    n_experts: int
    cost: float
    horizon: int | None
    own_loss: bool
    keep_history: bool
    key: int
    n_rounds: int
    logs: Floats
    estimates: Floats
    paid: float
    pending: Pending | None
    history: dict[str, NDArray[Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields to store in a file."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "pending": None if self.pending is None else self.pending.to_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> GateState:
        """Build a state from what `to_dict` returned; nothing in it is trusted."""
        names = {field.name for field in fields(cls)}
        if set(given) != names:
            raise FileError(f"an OnlineGate holds {sorted(names)}; got {sorted(given)}")
        check_whole("n_experts", given["n_experts"], 2)
        n_experts = given["n_experts"]
        for name in ("key", "n_rounds"):
            check_whole(name, given[name], 0, 2**63 - 1)
        paid = float(given["paid"])
        if not np.isfinite(paid):
            raise FileError("paid must be a finite number")
        pending = given["pending"]
        checked = {
            "logs": _floats("logs", given["logs"], n_experts),
            "estimates": _floats("estimates", given["estimates"], n_experts),
            "paid": paid,
            "pending": None if pending is None else Pending.from_dict(pending, n_experts),
            "history": History.from_arrays(
                given["history"], given["n_rounds"] if given["keep_history"] else 0
            ).arrays(),
        }
        return cls(**{**given, **checked})


def _floats(name: str, given: Any, length: int) -> Floats:
    if not isinstance(given, np.ndarray) or given.dtype != np.float64 or given.shape != (length,):
        raise FileError(f"{name} must be floats of shape ({length},)")
    if not np.isfinite(given).all():
        raise FileError(f"{name} must be finite")
    return given
