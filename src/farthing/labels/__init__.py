"""What features and classes mean to people: titles, questions, units, ranges, texts, colours."""

from farthing.labels.entries import ClassLabel, FeatureLabel
from farthing.labels.sheet import Labels, LabelsLike

__all__ = ["ClassLabel", "FeatureLabel", "Labels", "LabelsLike"]
