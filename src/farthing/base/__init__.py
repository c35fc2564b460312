"""Base classes of estimators and fitted models, and the registry of methods."""

from farthing.base import nested  # noqa: F401  (registers its codec)
from farthing.base.any_budget import AnyBudgetMixin, BudgetPathMixin
from farthing.base.classifier import ContractClassifier
from farthing.base.docstrings import documented
from farthing.base.error_costs import ErrorCosts, ErrorPrices
from farthing.base.estimator import BudgetedEstimator
from farthing.base.files import load, load_model
from farthing.base.fitted import FittedModel
from farthing.base.fitted_estimator import BudgetKind
from farthing.base.frontier import Failure, Frontier
from farthing.base.guarantee import Certificate, Guarantee
from farthing.base.inputs import n_threads
from farthing.base.links import normalise, row_sums, sigmoid, softmax
from farthing.base.one_pass import OnePassMixin
from farthing.base.pareto import pareto
from farthing.base.point import Point
from farthing.base.priced_errors import PricedErrorsMixin, PricedErrorsModel
from farthing.base.ranker import RankerMixin, ValidatedRankerMixin
from farthing.base.reference import Behaviour, Reference
from farthing.base.registry import default_grid, get, register, registered, trials
from farthing.base.regressor import ContractRegressor
from farthing.base.sweep_context import SweepContext
from farthing.base.task_models import ClassifierModel, RegressorModel
from farthing.base.training_set import TrainingSet
from farthing.base.tree_model import TreeModel, ladder
from farthing.base.validated import ValidatedMixin

__all__ = [
    "AnyBudgetMixin",
    "Behaviour",
    "BudgetKind",
    "BudgetPathMixin",
    "BudgetedEstimator",
    "Certificate",
    "ClassifierModel",
    "ContractClassifier",
    "ContractRegressor",
    "ErrorCosts",
    "ErrorPrices",
    "Failure",
    "FittedModel",
    "Frontier",
    "Guarantee",
    "OnePassMixin",
    "Point",
    "PricedErrorsMixin",
    "PricedErrorsModel",
    "RankerMixin",
    "Reference",
    "RegressorModel",
    "SweepContext",
    "TrainingSet",
    "TreeModel",
    "ValidatedMixin",
    "ValidatedRankerMixin",
    "default_grid",
    "documented",
    "get",
    "ladder",
    "load",
    "load_model",
    "n_threads",
    "normalise",
    "pareto",
    "register",
    "registered",
    "row_sums",
    "sigmoid",
    "softmax",
    "trials",
]
