"""Adaptive approximation: a cheap gate and a cheap model that spare an expensive one most of its rows."""

from farthing.adaptive.edge import EdgeClassifier, EdgeRegressor, Messages, speak
from farthing.adaptive.experts import AdaptExperts, Panel
from farthing.adaptive.gbrt import AdaptGbrtClassifier
from farthing.adaptive.l1_gate import L1GateClassifier
from farthing.adaptive.lin import AdaptLinClassifier
from farthing.adaptive.lstsq import AdaptLstsqClassifier
from farthing.adaptive.online import GateDecision, OnlineGate
from farthing.adaptive.path import AdaptPath, AdaptPoint, adapt_path

__all__ = [
    "AdaptExperts",
    "AdaptGbrtClassifier",
    "AdaptLinClassifier",
    "AdaptLstsqClassifier",
    "AdaptPath",
    "AdaptPoint",
    "EdgeClassifier",
    "EdgeRegressor",
    "GateDecision",
    "L1GateClassifier",
    "Messages",
    "OnlineGate",
    "Panel",
    "adapt_path",
    "speak",
]
