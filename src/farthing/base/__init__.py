"""The contract as a base class, and the registry of methods."""

from farthing.base import nested  # noqa: F401  (registers its codec)
from farthing.base.aimed import AimedMixin
from farthing.base.classifier import ContractClassifier
from farthing.base.documents import documented
from farthing.base.ensemble import TreesMixin, ladder
from farthing.base.estimator import BudgetedEstimator
from farthing.base.files import load, load_model
from farthing.base.inputs import n_threads
from farthing.base.links import normalise, row_sums, sigmoid, softmax
from farthing.base.registry import default_grid, get, register, registered, trials
from farthing.base.regressor import ContractRegressor
from farthing.base.validated import ValidatedMixin

__all__ = [
    "AimedMixin",
    "BudgetedEstimator",
    "ContractClassifier",
    "ContractRegressor",
    "TreesMixin",
    "ValidatedMixin",
    "default_grid",
    "documented",
    "get",
    "ladder",
    "load",
    "load_model",
    "n_threads",
    "normalise",
    "register",
    "registered",
    "row_sums",
    "sigmoid",
    "softmax",
    "trials",
]
