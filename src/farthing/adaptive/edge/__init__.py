"""Edge devices: each with a gate and a local model of its own; a cloud adds up what they say."""

from farthing.adaptive.edge.estimators import EdgeClassifier, EdgeRegressor
from farthing.adaptive.edge.messages import Messages, speak

__all__ = ["EdgeClassifier", "EdgeRegressor", "Messages", "speak"]
