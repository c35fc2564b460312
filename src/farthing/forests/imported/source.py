"""A fitted model of another library as the import sees it: its parts, and its own predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.errors import ModelImportError
from farthing.learning.linear_scores import LinearScores
from farthing.table.values import Scalar
from farthing.trees import CodeSets, Imported

Categories: TypeAlias = Mapping[int, tuple[Scalar, ...]]
"""The categories of each categorical column; the one at position c has the code c."""

GivenCategories: TypeAlias = Mapping[str | int, Sequence[Scalar]]
"""Categories by the name or the position of their column, as a user gives them."""

Answer: TypeAlias = Callable[[Any], NDArray[Any]]

DOUBLE: Final = 1e-9
"""Tolerance, relative to the largest prediction, for sources that compute in float64."""
SINGLE: Final = 2e-5
"""Tolerance, relative to the largest prediction, for sources that compute in float32."""


@dataclass(frozen=True, slots=True)
class ImportedLinear:
    """A linear model of another library.

    Attributes
    ----------
    scores : LinearScores
        The linear scores.
    link : str
        Function from the scores to the prediction: "identity", "sigmoid", "softmax" or "exponential".
    n_classes : int
        0 for regression.
    """

    scores: LinearScores
    link: str
    n_classes: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A model that was read, and what is needed to compare it with the import.

    Attributes
    ----------
    parts : Imported or ImportedLinear
        The trees or the linear scores.
    predict : callable
        The source's predictions for a table: labels or values.
    predict_proba : callable, optional
        Its probabilities, shape (n_rows, n_classes).
    names : list of str, optional
        Names of the columns.
    categories : mapping of int to tuple
        Categories by column.
    labels : ndarray, optional
        Labels of a classifier.
    layout : {"array", "category", "object"}
        What the source takes: an array, a frame whose categories have the dtype category, or a frame of
        strings.
    missing : bool
        Whether numeric columns may have missing values.
    missing_categories : bool
        Whether categorical columns may.
    tolerance : float
        Largest difference that is rounding, relative to the largest prediction.
    """

    parts: Imported | ImportedLinear
    predict: Answer
    predict_proba: Answer | None = None
    names: list[str] | None = None
    categories: Categories = field(default_factory=dict)
    labels: NDArray[Any] | None = None
    layout: Literal["array", "category", "object"] = "array"
    missing: bool = True
    missing_categories: bool = True
    tolerance: float = DOUBLE


def by_column(given: GivenCategories, names: Sequence[str] | None, n_features: int) -> Categories:
    """Return categories by the position of their column.

    Raises
    ------
    ValueError
        If a key is neither a name nor a position of a column.
    """
    positions = {name: position for position, name in enumerate(names or ())}
    found: dict[int, tuple[Scalar, ...]] = {}
    for key, categories in given.items():
        column = positions.get(key) if isinstance(key, str) else int(key)
        if column is None or not 0 <= column < n_features:
            known = f"one of {', '.join(positions)}" if positions else f"0 to {n_features - 1}"
            raise ValueError(f"categories: there is no column {key!r}; expected {known}")
        found[column] = tuple(categories)
    return found


def code_sets(chosen: Sequence[int], n_categories: int) -> CodeSets:
    """Return the chosen codes, and all others."""
    others = np.setdiff1d(np.arange(n_categories), chosen)
    return [int(code) for code in chosen], others.tolist()


def private(model: Any, name: str) -> Any:
    """Return an attribute of a model of another library that has no public equivalent.

    Raises
    ------
    ModelImportError
        If this version of the library has no such attribute.
    """
    try:
        return getattr(model, name)
    except AttributeError as error:
        raise ModelImportError(
            f"a {type(model).__name__} of this version of {type(model).__module__.split('.')[0]} cannot be "
            f"imported: it has no {name}"
        ) from error


def labels_of(model: Any) -> NDArray[Any] | None:
    """Return the labels of a fitted classifier; None for other models."""
    labels = getattr(model, "classes_", None)
    return None if labels is None else np.asarray(labels)


def names_in(model: Any) -> list[str] | None:
    """Return the names that scikit-learn noted at fit, if any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
