"""ADAPT, chapter 5 of Nan (2018): what its variants share."""

from farthing.adaptive.adapt.path import AdaptPath, AdaptPoint, adapt_path

__all__ = ["AdaptPath", "AdaptPoint", "adapt_path"]
