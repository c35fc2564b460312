"""The description of a model for clients: features, prices, groups, and its point on the frontier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

from farthing.base import BudgetedEstimator
from farthing.frontier.budget_amount import budget_of
from farthing.labels import Labels


def describe(model: BudgetedEstimator) -> dict[str, Any]:
    """Return the description of a model as JSON values.

    Parameters
    ----------
    model : fitted model

    Returns
    -------
    dict
        The fields of ``ModelInfo``, without name, version and fault.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> model = BudgetTreeClassifier(costs=[2, 5]).fit(np.eye(2), ["no", "yes"])
    >>> about = describe(model)
    >>> about["method"], about["classes"], about["total"]
    ('BudgetTreeClassifier', ['no', 'yes'], 7.0)
    >>> about["features"][1]
    {'name': 'x1', 'kind': 'numeric', 'categories': [], 'cost': 5.0, 'group': None, 'label': None}
    """
    sheet = model.costs_
    features = [
        {
            **column.to_dict(),
            "cost": float(sheet.own[position]),
            "group": sheet.group_names[place] if (place := int(sheet.group_of[position])) >= 0 else None,
            "label": _feature_label(model.labels_, column.name),
        }
        for position, column in enumerate(model.fitted_.questions.columns)
    ]
    classes = getattr(model, "classes_", None)
    return {
        "method": type(model).__name__,
        "title": model.labels_.title,
        "n_features": len(features),
        "unit": sheet.unit,
        "budget": _finite(model.budget_),
        "mean_budget": _mean_budget(model),
        "total": sheet.total(sheet.features),
        "classes": None if classes is None else classes.tolist(),
        "class_labels": None
        if classes is None
        else [_class_label(model.labels_, one) for one in classes.tolist()],
        "features": features,
        "groups": [
            {"name": name, "cost": group.cost, "members": list(group.members)}
            for name, group in sheet.groups.items()
        ],
        "calls": [{"name": name, "cost": cost} for name, cost in sheet.call_prices().items()],
        "resources": [
            {"name": each["name"], "features": each["costs"], "groups": each["groups"]}
            for each in sheet.to_dict().get("resources", [])
        ],
        "frontier": frontier_point(model),
        "guarantee": _guarantee(model),
    }


def _guarantee(model: BudgetedEstimator) -> dict[str, Any] | None:
    """Return what is guaranteed on new rows, with the same as a sentence; None if nothing is."""
    certificate = model.fitted_.certificate
    return None if certificate is None else {**asdict(certificate), "text": str(certificate)}


def _feature_label(labels: Labels, name: str) -> dict[str, Any] | None:
    """Return the label of a feature with all its fields; None if it has none, as most of many columns."""
    if name not in labels.features:
        return None
    label = labels.feature(name)
    return {
        "title": label.title,
        "question": label.question,
        "unit": label.unit,
        "allowed": _bounds(label.allowed),
        "usual": _bounds(label.usual),
        "categories": dict(label.categories),
    }


def _bounds(bounds: tuple[float, float] | None) -> list[float | None] | None:
    return None if bounds is None else [_finite(bound) for bound in bounds]


def _class_label(labels: Labels, label: object) -> dict[str, str]:
    return {"name": labels.class_name(label), "colour": labels.class_label(label).colour}


def _mean_budget(model: BudgetedEstimator) -> float | None:
    """Return the budget that limits the mean spend of rows, None if there is none of that kind."""
    budget = getattr(model, "budget", None)
    if model.budget_kind != "mean" or not isinstance(budget, Real | str):
        return None
    try:
        return _finite(budget_of(budget, model.costs_))
    except ValueError:  # a parameter that a file made up; predictions do not read it
        return None


def frontier_point(model: object) -> dict[str, Any] | None:
    """Return the point of the frontier that a sweep chose, ``chosen_``, as JSON values, or None.

    It has the point's mean spend and score, and the budget it was chosen for, with its kind.

    Examples
    --------
    >>> class Chosen:
    ...     budget, budget_kind = "20%", "mean"
    ...     chosen_ = {"method": "BudgetTreeClassifier", "spend": np.float64(31.5)}
    >>> frontier_point(Chosen())
    {'budget': '20%', 'budget_kind': 'mean', 'method': 'BudgetTreeClassifier', 'spend': 31.5}
    """
    point = getattr(model, "chosen_", None)
    if point is None:
        return None
    chosen_for = {name: getattr(model, name, None) for name in ("budget", "budget_kind")}
    return {name: _to_json(value) for name, value in chosen_for.items()} | dict(_to_json(point))


def _to_json(value: Any) -> Any:
    """Return a value as JSON values; what has no equivalent becomes its text."""
    if is_dataclass(value) and not isinstance(value, type):
        # Fields without a repr hold models and functions, which have no place in a description.
        value = {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    if isinstance(value, Mapping):
        return {str(name): _to_json(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, float):
        return _finite(value)
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def _finite(number: float | None) -> float | None:
    """Return a finite number, or None for what JSON cannot write."""
    return number if number is not None and np.isfinite(number) else None
