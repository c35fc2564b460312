"""DAG: graphs of states over sensors, with policies learned backward; and its case of two states."""

from farthing.cascades.dag.classifier import DAGClassifier
from farthing.cascades.dag.weighted_gate import WeightedGateClassifier

__all__ = ["DAGClassifier", "WeightedGateClassifier"]
