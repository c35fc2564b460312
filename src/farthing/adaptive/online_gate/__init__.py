"""EXP3.G, chapter 6 of Nan (2018): a gate that learns online."""

from farthing.adaptive.online_gate.experts import AdaptExperts, Panel
from farthing.adaptive.online_gate.gate import OnlineGate
from farthing.adaptive.online_gate.rounds import GateDecision

__all__ = ["AdaptExperts", "GateDecision", "OnlineGate", "Panel"]
