"""Edge devices: each with a gate and a local model of its own; a cloud adds up their messages."""

from farthing.adaptive.edge.device_program import run_device
from farthing.adaptive.edge.estimators import EdgeClassifier, EdgeRegressor
from farthing.adaptive.edge.messages import Messages

__all__ = ["EdgeClassifier", "EdgeRegressor", "Messages", "run_device"]
