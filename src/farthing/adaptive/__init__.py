"""Gates and cheap models that spare an expensive model most rows: ADAPT, EXP3.G, edge gating."""

from farthing.adaptive.adapt import adapt_path
from farthing.adaptive.adapt_gbrt import AdaptGbrtClassifier
from farthing.adaptive.adapt_lin import AdaptLinClassifier
from farthing.adaptive.adapt_lstsq import AdaptLstsqClassifier
from farthing.adaptive.edge import EdgeClassifier, EdgeRegressor, Messages, run_device
from farthing.adaptive.l1_gate import L1GateClassifier
from farthing.adaptive.online_gate import AdaptExperts, GateDecision, OnlineGate, Panel

__all__ = [
    "AdaptExperts",
    "AdaptGbrtClassifier",
    "AdaptLinClassifier",
    "AdaptLstsqClassifier",
    "EdgeClassifier",
    "EdgeRegressor",
    "GateDecision",
    "L1GateClassifier",
    "Messages",
    "OnlineGate",
    "Panel",
    "adapt_path",
    "run_device",
]
