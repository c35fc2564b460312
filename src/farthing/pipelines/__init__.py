"""Preprocessing in front of a model, column by column: walks and spends stay those of the table."""

from farthing.pipelines import transformer_files  # noqa: F401  (registers its codecs)
from farthing.pipelines.estimators import PipelineClassifier, PipelineRegressor
from farthing.pipelines.from_steps import pipeline

__all__ = ["PipelineClassifier", "PipelineRegressor", "pipeline"]
