"""Weights of classes: the ``class_weight`` parameter of scikit-learn, resolved for encoded targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base.training_set import TrainingSet
from farthing.collective import group_totals, total


def plain(value: Any) -> Any:
    """Return a scalar of NumPy as one of Python, which a file can hold; other values as they are."""
    return value.item() if isinstance(value, np.generic) else value


def class_factors(
    class_weight: Any, rows: TrainingSet, held_out: TrainingSet | None = None
) -> NDArray[np.float64] | None:
    """Return the factor of the row weights of each class; see `TrainingSet.reweighed`.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        By label; "balanced" gives each class the same total weight.
    rows : TrainingSet
        The rows of a classification.
    held_out : TrainingSet, optional
        Further rows that count where classes are balanced.

    Returns
    -------
    ndarray of float64, shape (n_classes,), or None
        None if all factors are 1.

    Examples
    --------
    >>> rows = TrainingSet.of(np.zeros((3, 1)), np.array([0, 0, 1]), classes=np.array(["no", "yes"]))
    >>> class_factors("balanced", rows), class_factors({"yes": 5}, rows)
    (array([0.75, 1.5 ]), array([1., 5.]))
    """
    if class_weight is None or rows.classes is None:
        return None
    labels = rows.classes.tolist()
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be 'balanced', a dict or None; got {class_weight!r}")
        target, weights = rows.target, rows.weights
        if held_out is not None:
            target = np.concatenate([target, held_out.target])
            weights = np.concatenate([weights, held_out.weights])
        counts = group_totals(target, weights, len(labels))
        # A class without rows gets a factor of zero, which no row ever uses.
        return np.asarray(total(weights) / (len(labels) * np.where(counts > 0, counts, np.inf)))
    if strange := [label for label in class_weight if label not in labels]:
        raise ValueError(f"class_weight names {strange[0]!r}, which is not a class; there are {labels}")
    given = np.array([float(class_weight.get(label, 1.0)) for label in labels])
    if not ((given > 0) & np.isfinite(given)).all():
        raise ValueError(f"class_weight must be above 0, and finite; got {class_weight!r}")
    return given
