"""Tree models and linear models of other libraries under the contract."""

from farthing.forests.imported.estimators import ImportedClassifier, ImportedRegressor
from farthing.forests.imported.importing import from_model
from farthing.forests.imported.linear import ImportedLinearClassifier, ImportedLinearRegressor

__all__ = [
    "ImportedClassifier",
    "ImportedLinearClassifier",
    "ImportedLinearRegressor",
    "ImportedRegressor",
    "from_model",
]
