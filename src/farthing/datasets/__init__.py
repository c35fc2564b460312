"""Tables to try things on: five small ones with their real price lists, and a loader for larger ones."""

from farthing.datasets.bundled import (
    load_bupa_liver,
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_thyroid,
)
from farthing.datasets.dataset import Dataset
from farthing.datasets.large import load_table

__all__ = [
    "Dataset",
    "load_bupa_liver",
    "load_heart_disease",
    "load_hepatitis",
    "load_pima_diabetes",
    "load_table",
    "load_thyroid",
]
