"""Tree models of scikit-learn, LightGBM and XGBoost under the contract."""

from farthing.forests.imported.estimators import ImportedClassifier, ImportedRegressor
from farthing.forests.imported.importing import from_model

__all__ = ["ImportedClassifier", "ImportedRegressor", "from_model"]
