"""Adaptive approximation: a cheap gate and a cheap model that spare an expensive one most of its rows."""

from farthing.adaptive.edge import EdgeClassifier, EdgeRegressor, Messages, speak
from farthing.adaptive.online_gate.experts import AdaptExperts, Panel
from farthing.adaptive.adapt_gbrt.classifier import AdaptGbrtClassifier
from farthing.adaptive.l1_gate.classifier import L1GateClassifier
from farthing.adaptive.adapt_lin.classifier import AdaptLinClassifier
from farthing.adaptive.adapt_lstsq.classifier import AdaptLstsqClassifier
from farthing.adaptive.online_gate.gate import GateDecision, OnlineGate
from farthing.adaptive.adapt.path import AdaptPath, AdaptPoint, adapt_path
from farthing.adaptive.adapt.plots import plot_regions

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
    "plot_regions",
    "speak",
]
