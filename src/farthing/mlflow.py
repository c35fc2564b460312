"""The MLflow flavour: models as pyfuncs whose predictions say what they spent; needs ``farthing[mlflow]``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from farthing.base import BudgetedEstimator, load_model

try:
    import pandas as pd
    from mlflow import pyfunc
    from mlflow.pyfunc.model import PythonModel
except ImportError as error:
    raise ImportError("farthing.mlflow needs MLflow and pandas: pip install 'farthing[mlflow]'") from error

if TYPE_CHECKING:
    from mlflow.models.model import ModelInfo

# The model's file among the artifacts of a pyfunc.
_FILE: Final = "model"


class SpendingModel(PythonModel):
    """A model file as a pyfunc: a frame in, a frame of predictions and spends out.

    The result has the columns ``prediction`` and ``spent``, and for classifiers ``probability_LABEL`` of each
    label.
    """

    model: BudgetedEstimator

    def load_context(self, context: Any) -> None:
        """Load the model from its file, which holds no code."""
        self.model = load_model(context.artifacts[_FILE])

    def predict(
        self,
        context: Any,  # MLflow gives it
        model_input: pd.DataFrame,
        params: Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """Predict rows.

        Parameters
        ----------
        context : mlflow.pyfunc.PythonModelContext
            Not used.
        model_input : DataFrame, shape (n_rows, n_features)
            The rows.
        params : mapping, optional
            ``budget``: a hard cap of each row.

        Returns
        -------
        DataFrame, shape (n_rows, n_columns)
        """
        found = self.model.decide(model_input, budget=(params or {}).get("budget"))
        columns: dict[str, Any] = {"prediction": found.prediction, "spent": found.spent}
        if found.probabilities is not None:
            labels = np.asarray(self.model.classes_).tolist()
            columns |= {f"probability_{label}": found.probabilities[:, k] for k, label in enumerate(labels)}
        return pd.DataFrame(columns)


def save_model(model: BudgetedEstimator, path: str | Path, **options: Any) -> None:
    """Save a fitted model as an MLflow model folder.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : str or Path
        The folder to make.
    **options
        As in `mlflow.pyfunc.save_model`, such as ``signature`` and ``input_example``.
    """
    with TemporaryDirectory() as folder:
        pyfunc.save_model(str(path), **_parts(model, folder), **options)


def log_model(model: BudgetedEstimator, name: str = "model", **options: Any) -> ModelInfo:
    """Log a fitted model to the active run of MLflow.

    Parameters
    ----------
    model : estimator
        Fitted.
    name : str
        Its name in the run.
    **options
        As in `mlflow.pyfunc.log_model`, such as ``registered_model_name``.

    Returns
    -------
    ModelInfo
    """
    with TemporaryDirectory() as folder:
        logged: ModelInfo = pyfunc.log_model(name=name, **_parts(model, folder), **options)
    return logged


def load(uri: str) -> BudgetedEstimator:
    """Return the estimator of a saved or logged model, with all that it can do beside predicting.

    Parameters
    ----------
    uri : str
        Of MLflow, or the path of the folder.
    """
    model: BudgetedEstimator = pyfunc.load_model(uri).unwrap_python_model().model
    return model


def _parts(model: BudgetedEstimator, folder: str) -> dict[str, Any]:
    file = Path(folder) / "model.farthing"
    model.save(file)
    return {
        "python_model": SpendingModel(),
        "artifacts": {_FILE: str(file)},
        "pip_requirements": ["farthing"],
    }
