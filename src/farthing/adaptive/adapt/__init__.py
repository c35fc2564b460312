"""ADAPT, chapter 5 of Nan (2018): what its variants share."""

from farthing.adaptive.adapt.path import adapt_path
from farthing.learning import sklearn_files  # noqa: F401  (registers its codec)

__all__ = ["adapt_path"]
