"""Diagnostic policies: which test next, and when to stop, at the least expected cost of tests and errors."""

from farthing.forests.diagnostic_policy.classifier import DiagnosticPolicyClassifier

__all__ = ["DiagnosticPolicyClassifier"]
