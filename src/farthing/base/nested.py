"""Nested models: how a file holds an estimator that is a parameter or a part of another one."""

from __future__ import annotations

from typing import Any

from farthing.base.estimator import BudgetedEstimator
from farthing.base.files import build, kind_of, state_of, unfitted
from farthing.store import register_codec


def _encode(model: BudgetedEstimator) -> dict[str, object]:
    if model.__sklearn_is_fitted__():
        return {"kind": kind_of(model), **state_of(model)}
    # An unfitted template has no fitted costs, so its parameters are stored as they are.
    return {"kind": kind_of(model), "params": model.get_params(deep=False), "fitted": None}


def _decode(fields: dict[str, Any]) -> BudgetedEstimator:
    """Build a nested model with the same checks as for one in a file of its own."""
    if set(fields) != {"kind", "params", "fitted"}:
        raise ValueError(f"a model holds kind, params and fitted; got {sorted(fields)}")
    kind, params, fitted = fields["kind"], fields["params"], fields["fitted"]
    if not isinstance(kind, str) or not isinstance(params, dict):
        raise TypeError("a model's kind must be a string, its params an object")
    if fitted is None:
        return unfitted(kind, params)
    return build(kind, {"params": params, "fitted": fitted})


# The abstract base stands for all methods: the codec of a subclass is found through its bases.
register_codec("Model", BudgetedEstimator, _encode, _decode)  # type: ignore[type-abstract]
