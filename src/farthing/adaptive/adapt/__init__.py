"""ADAPT, chapter 5 of Nan (2018): what its variants share."""

from farthing.adaptive.adapt import sklearn_files  # noqa: F401  (registers its codec)
from farthing.adaptive.adapt.path import adapt_path

__all__ = ["adapt_path"]
