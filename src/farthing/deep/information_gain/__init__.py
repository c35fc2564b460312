"""DIME: a value network estimates what each purchase tells of the label."""

from farthing.deep.information_gain.classifier import InformationGainClassifier

__all__ = ["InformationGainClassifier"]
