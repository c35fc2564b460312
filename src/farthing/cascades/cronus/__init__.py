"""Cronus: a cascade whose stages share boosted trees and are optimised together (Chen et al. 2012)."""

from farthing.cascades.cronus.classifier import CronusClassifier
from farthing.cascades.cronus.ranker import CronusRanker

__all__ = ["CronusClassifier", "CronusRanker"]
