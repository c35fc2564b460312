"""Example tables: five small ones with real price lists, and a loader for larger ones."""

from farthing.datasets.bundled import (
    load_bupa_liver,
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_thyroid,
)
from farthing.datasets.dataset import Dataset
from farthing.datasets.external import load_table

__all__ = [
    "Dataset",
    "load_bupa_liver",
    "load_heart_disease",
    "load_hepatitis",
    "load_pima_diabetes",
    "load_table",
    "load_thyroid",
]
