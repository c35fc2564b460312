"""An `OnlineGate` as a file holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from farthing.adaptive.adapt.projection import Floats
from farthing.adaptive.online_gate.experts import AdaptExperts
from farthing.adaptive.online_gate.rounds import History, Pending, RandomStream
from farthing.base.parameters import check_whole
from farthing.errors import FileError

if TYPE_CHECKING:
    from farthing.adaptive.online_gate.gate import OnlineGate

_STATE: Final = (
    "experts",
    "n_experts",
    "cost",
    "horizon",
    "own_loss",
    "keep_history",
    "key",
    "n_rounds",
    "logs",
    "estimates",
    "paid",
    "pending",
    "history",
)


def state_of(gate: OnlineGate) -> dict[str, Any]:
    """Return all that a gate needs to go on, without functions, which a file has no place for."""
    return {
        "experts": gate.experts if isinstance(gate.experts, AdaptExperts) else None,
        "n_experts": gate.n_experts,
        "cost": gate.cost,
        "horizon": gate.horizon,
        "own_loss": gate.loss is not None,
        "keep_history": gate.keep_history,
        "key": gate._key,
        "n_rounds": gate.n_rounds,
        "logs": gate._weights.logs,
        "estimates": gate.estimates_,
        "paid": gate._paid,
        "pending": None if gate._pending is None else gate._pending.to_dict(),
        "history": gate.history_,
    }


def first_arguments(state: dict[str, Any], experts: Any, loss: Any) -> dict[str, Any]:
    """Return what the constructor is to be called with; functions are given again."""
    if set(state) != set(_STATE):
        raise FileError(f"an OnlineGate holds {sorted(_STATE)}; got {sorted(state)}")
    given = state["experts"] if experts is None else experts
    if given is None or (state["own_loss"] and loss is None):
        raise FileError(
            "the file holds neither the functions that are this gate's experts nor a loss of its own; call "
            "OnlineGate.load(path, experts=..., loss=...) with the ones it had"
        )
    kept = {name: state[name] for name in ("cost", "horizon", "keep_history")}
    return {"experts": given, "loss": loss, **kept}


def resume(gate: OnlineGate, state: dict[str, Any]) -> OnlineGate:
    """Bring a new gate to where `state_of` left one, checking everything."""
    if gate.n_experts != state["n_experts"]:
        raise FileError(
            f"the gate had {state['n_experts']} experts, the one that always asks among them; got "
            f"{gate.n_experts}"
        )
    for name in ("key", "n_rounds"):
        check_whole(name, state[name], 0, 2**63 - 1)
    gate._lots, gate.n_rounds = RandomStream(state["key"]), state["n_rounds"]
    gate.estimates_ = _floats("estimates", state["estimates"], gate.n_experts)
    gate._paid = float(state["paid"])
    if not np.isfinite(gate._paid):
        raise FileError("paid must be a finite number")
    gate._weights.resume(_floats("logs", state["logs"], gate.n_experts), gate._rates(max(gate.n_rounds, 1)))
    waiting = state["pending"]
    gate._pending = None if waiting is None else Pending.from_dict(waiting, gate.n_experts)
    gate._history = History.from_arrays(state["history"], gate.n_rounds if gate.keep_history else 0)
    return gate


def _floats(name: str, given: Any, length: int) -> Floats:
    if not isinstance(given, np.ndarray) or given.dtype != np.float64 or given.shape != (length,):
        raise FileError(f"{name} must be floats of shape ({length},)")
    if not np.isfinite(given).all():
        raise FileError(f"{name} must be finite")
    return given
