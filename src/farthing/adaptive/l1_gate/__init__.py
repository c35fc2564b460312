"""The L1 baseline of section 5.4: lasso, then cheap model, then gate."""

from farthing.adaptive.l1_gate.classifier import L1GateClassifier

__all__ = ["L1GateClassifier"]
