"""Fitted classifiers and regressors: what their predictions are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base.fitted import FittedModel
from farthing.walks.plans import Link, LinkStep


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierModel(FittedModel):
    """A fitted classifier: `conclude` gives one probability per class.

    Parameters
    ----------
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    """

    classes: NDArray[Any]

    def decide(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the index of the most likely class of each row, the lowest of equals."""
        return np.asarray(np.argmax(probabilities, axis=1), dtype=np.int64)

    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return labels (n_rows,) and probabilities (n_rows, n_classes)."""
        probabilities = self.conclude(outputs)
        return self.classes[self.decide(probabilities)], probabilities

    def conclude_rows(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> list[tuple[Any, dict[Any, float] | None]]:
        """Return the label and the probability of each class, for each row."""
        probabilities = self.conclude(self.settle(outputs, looked))
        labels, chosen = self.classes.tolist(), self.decide(probabilities).tolist()
        return [
            (labels[place], dict(zip(labels, likely, strict=True)))
            for place, likely in zip(chosen, probabilities.tolist(), strict=True)
        ]

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        if self.classes.ndim != 1 or not np.array_equal(np.unique(self.classes), self.classes):
            raise ValueError("classes must be labels, each once, in order")

    def check_probabilities(self) -> None:
        """Raise ValueError unless `conclude` gives one probability per class; after `check`."""
        shape = self.conclude(self.prior[np.newaxis]).shape
        if shape != (1, len(self.classes)):
            raise ValueError(f"{len(self.classes)} classes do not fit {shape[-1]} outputs")


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressorModel(FittedModel):
    """A fitted regressor: `conclude` gives one value per row, by default the first raw output."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the first raw output, shape (n_rows,)."""
        return outputs[:, 0]

    def link_steps(self) -> Link:
        """Return the step to the first raw output."""
        if type(self).conclude is not RegressorModel.conclude:
            return super().link_steps()
        return (LinkStep("first"),)

    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return values (n_rows,), and no probabilities."""
        return self.conclude(outputs), None

    def conclude_rows(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> list[tuple[Any, dict[Any, float] | None]]:
        """Return the value, and no probabilities, for each row."""
        return [(value, None) for value in self.conclude(self.settle(outputs, looked)).tolist()]
