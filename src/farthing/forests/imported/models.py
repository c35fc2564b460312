"""Imported tree models as fitted models: the sum of the trees, and the link to the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, RegressorModel, TreeModel, sigmoid, softmax
from farthing.forests.imported import xgboost_links
from farthing.trees import Forest, Imported, dense_values
from farthing.trees.imports import LINKS
from farthing.walks.plans import Link, LinkStep, StepName

# Means of zero are raised to this before a logarithm.
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportedModel(TreeModel):
    """What imported classifiers and regressors share.

    Parameters
    ----------
    link : str
        The link from the sum of the trees to the prediction: "identity", "sigmoid", "softmax" or
        "exponential".
    divisor : float
        Divisor of the sum, before the link: the number of trees if they are averaged.
    scale : float
        Factor of the sum in the sigmoid.
    single : bool
        Whether sum and link are computed in float32, as in XGBoost.
    """

    takes_sparse_values = True

    link: str
    divisor: float
    scale: float
    single: bool

    @property
    def single_sums(self) -> bool:
        """Whether the sum over the trees is rounded to float32 after each tree."""
        return self.single

    def means(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums over the trees, divided."""
        return sums if self.divisor == 1.0 else sums / self.divisor  # one row is a matter of microseconds

    def steps(self) -> Link:
        """Return the division of the sum, and the link."""
        steps = [LinkStep("divide", self.divisor)]
        if self.link == "sigmoid":
            steps.append(LinkStep("times", self.scale))
        if self.link == "identity":
            return tuple(steps)
        name = f"single_{self.link}" if self.single else self.link
        return (*steps, LinkStep(cast(StepName, name)))

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.link not in LINKS:
            raise ValueError(f"link must be one of {', '.join(LINKS)}; got {self.link!r}")
        if not (0 < self.divisor < np.inf and np.isfinite(self.scale)):
            raise ValueError(f"divisor and scale must be finite; got {self.divisor!r}, {self.scale!r}")


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportedClassifierModel(ImportedModel, ClassifierModel):
    """Imported trees whose sum becomes one probability per class."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the link, shape (n_rows, n_classes)."""
        means = self.means(outputs)
        if self.link == "sigmoid":
            odds = means * self.scale
            return xgboost_links.sigmoid(odds) if self.single else sigmoid(odds)
        if self.link == "softmax":
            return xgboost_links.softmax(means) if self.single else softmax(means)
        return means

    def link_steps(self) -> Link:
        """Return the steps to probabilities."""
        return self.steps()

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.link == "exponential":
            raise ValueError("link must be 'identity', 'sigmoid' or 'softmax' for a classifier")
        expected = 1 if self.link == "sigmoid" else len(self.classes)
        if self.forest.n_outputs != expected:
            raise ValueError(f"{self.link} takes {expected} outputs; got {self.forest.n_outputs}")


@dataclass(frozen=True, eq=False, kw_only=True)
class ImportedRegressorModel(ImportedModel, RegressorModel):
    """Imported trees whose sum becomes one value per row."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the link, shape (n_rows,)."""
        means = self.means(outputs[:, :1])
        if self.link == "identity":
            return means.ravel()
        if self.link == "sigmoid":
            shares = xgboost_links.sigmoid if self.single else sigmoid
            return shares(means * self.scale)[:, 1]
        # Contiguous, since the exponential of a strided view may round differently.
        values = np.ascontiguousarray(means[:, 0])
        return xgboost_links.exponential(values) if self.single else np.exp(values)

    def link_steps(self) -> Link:
        """Return the steps to the value."""
        return (*self.steps(), LinkStep("second" if self.link == "sigmoid" else "first"))

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.link == "softmax" or self.forest.n_outputs != 1:
            raise ValueError(f"a regressor has one output and no softmax; got {self.link}")


def inverse_link(link: str, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums that a regressor's link turns into given means.

    Examples
    --------
    >>> inverse_link("exponential", np.array([1.0]))
    array([0.])
    """
    if link == "sigmoid":
        inside = means.clip(_TINY, 1 - np.finfo(np.float64).eps)
        return np.asarray(np.log(inside / (1 - inside)))
    return np.log(means.clip(_TINY)) if link == "exponential" else means


def fields_of(imported: Imported) -> dict[str, Any]:
    """Return the fields of an `ImportedModel` that come from the imported model."""
    return {
        "forest": imported.forest,
        "link": imported.link,
        "divisor": imported.divisor,
        "scale": imported.scale,
        "single": imported.single,
    }


def root_outputs(forest: Forest) -> NDArray[np.float64]:
    """Return the sum of the roots' values, the mean output over the training rows, shape (n_outputs,)."""
    roots = np.zeros(forest.n_outputs)
    for first, column in zip(forest.offsets[:-1], forest.target, strict=True):
        # A tree of a random forest has one value per class; one of a boosted model has one value, for
        # `column`.
        roots[column : column + forest.width] += dense_values(forest.node_values[first : first + 1])[0]
    return roots
