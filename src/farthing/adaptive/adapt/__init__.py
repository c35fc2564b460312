"""ADAPT, chapter 5 of Nan (2018): what its variants share."""

from farthing.adaptive.adapt.path import AdaptPath, AdaptPoint, adapt_path
from farthing.adaptive.adapt.plots import plot_regions

__all__ = ["AdaptPath", "AdaptPoint", "adapt_path", "plot_regions"]
