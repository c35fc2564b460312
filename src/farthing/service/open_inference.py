"""Whole-row predictions by the Open Inference Protocol (KServe v2), so that existing gateways can call them.

A request has one tensor for each feature, of shape (rows,) or (rows, 1), or a single one of shape (rows,
features) in the order of the model. The answer has the tensors ``predict``, ``predict_proba`` (classifiers),
``spend`` and ``acquired``.
"""

from __future__ import annotations

import math
from collections.abc import Set
from typing import Any, Final

from farthing.base import BudgetedEstimator
from farthing.service.bulk_predictions import predict_rows
from farthing.service.request_body import BadRequestError, Problem
from farthing.service.request_limits import Deadline, Limits
from farthing.service.request_shape import MAX_ANSWER_VALUES, max_rows
from farthing.service.schemas import InferRequest, JsonObject, PredictRequest, Tensor

_INTEGERS: Final = frozenset(f"{kind}{bits}" for kind in ("INT", "UINT") for bits in (8, 16, 32, 64))
DATATYPES: Final = _INTEGERS | {"FP16", "FP32", "FP64", "BOOL", "BYTES"}


def infer(
    model: BudgetedEstimator, request: InferRequest, limits: Limits, deadline: Deadline | None = None
) -> list[JsonObject]:
    """Predict the rows of a request; return the tensors of the answer.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> model = BudgetTreeClassifier(costs=[2, 5]).fit(np.eye(2), ["no", "yes"])
    >>> rows = Tensor(name="input", shape=[1, 2], datatype="FP64", data=[0.0, 1.0])
    >>> predict, proba, spend, acquired = infer(model, InferRequest(inputs=[rows]), Limits())
    >>> predict
    {'name': 'predict', 'shape': [1], 'datatype': 'BYTES', 'data': ['yes']}
    >>> spend["data"], acquired["data"]
    ([2.0], [True, False])
    """
    rows = _rows(request, model, limits)
    budget = (request.parameters or {}).get("budget")
    if budget is not None and not (type(budget) in (int, float) and budget >= 0):
        raise _wrong(("parameters", "budget"), "budget must be a number of at least 0")
    names, wanted = model.costs_.features, {output.name for output in request.outputs or ()}
    if (most := MAX_ANSWER_VALUES // len(names)) < len(rows) and _is_wanted("acquired", wanted):
        message = f"{len(rows)} rows; at most {most} go in one request whose outputs hold 'acquired'"
        raise _wrong(("inputs", 0, "shape"), message)
    made, _ = predict_rows(model, PredictRequest(rows=rows, budget=budget), limits, deadline)
    n_rows = len(made)
    labels = [decision["prediction"] for decision in made]
    outputs = [_tensor("predict", [n_rows], labels)]
    if made[0]["probabilities"] is not None:
        likely = [share for decision in made for share in decision["probabilities"]]
        outputs.append(_tensor("predict_proba", [n_rows, len(made[0]["probabilities"])], likely))
    outputs.append(_tensor("spend", [n_rows], [decision["spent"] for decision in made]))
    if _is_wanted("acquired", wanted):
        bought = [name in paid for paid in (set(one["acquired"]) for one in made) for name in names]
        outputs.append(_tensor("acquired", [n_rows, len(names)], bought))
    return [output for output in outputs if _is_wanted(output["name"], wanted)]


def _is_wanted(name: str, wanted: Set[str]) -> bool:
    """Return whether a tensor is one of those that a request names; naming none means all."""
    return not wanted or name in wanted


def metadata(model: BudgetedEstimator, name: str, version: str) -> JsonObject:
    """Return the description of a model: its tensors in and out."""
    classes = getattr(model, "classes_", None)
    kinds = {column["name"]: column["kind"] for column in map(_to_dict, model.fitted_.questions.columns)}
    of_labels = "FP64" if classes is None else _datatype(classes.tolist())
    outputs: list[JsonObject] = [{"name": "predict", "datatype": of_labels, "shape": [-1]}]
    if classes is not None:
        outputs.append({"name": "predict_proba", "datatype": "FP64", "shape": [-1, len(classes)]})
    outputs.append({"name": "spend", "datatype": "FP64", "shape": [-1]})
    outputs.append({"name": "acquired", "datatype": "BOOL", "shape": [-1, len(model.costs_.features)]})
    return {
        "name": name,
        "versions": [version],
        "platform": "farthing",
        "inputs": [
            {"name": feature, "datatype": "BYTES" if kind == "categorical" else "FP64", "shape": [-1]}
            for feature, kind in kinds.items()
        ],
        "outputs": outputs,
    }


def _to_dict(column: Any) -> JsonObject:
    return dict(column.to_dict())


def _rows(request: InferRequest, model: BudgetedEstimator, limits: Limits) -> list[dict[str, Any]]:
    """Return the rows of a request, as mappings."""
    tensors, names = request.inputs, model.fitted_.questions.names
    n_rows = tensors[0].shape[0] if tensors[0].shape else 0
    most = max_rows(model, limits)
    if not 1 <= n_rows <= most:
        raise _wrong(("inputs", 0, "shape"), f"{n_rows} rows; a request has 1 to {most}")
    if len(tensors) == 1 and len(tensors[0].shape) == 2 and tensors[0].name not in names:
        values = _values(tensors[0], 0, (n_rows, len(names)))
        width = len(names)
        return [dict(zip(names, values[i : i + width], strict=True)) for i in range(0, len(values), width)]
    columns: dict[str, list[Any]] = {}
    for place, tensor in enumerate(tensors):
        if tensor.name in columns:
            raise _wrong(("inputs", place, "name"), f"{tensor.name[:100]!r} is given twice")
        columns[tensor.name] = _values(tensor, place, (n_rows,), (n_rows, 1))
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _values(tensor: Tensor, place: int, *shapes: tuple[int, ...]) -> list[Any]:
    """Return the values of a tensor, flat; NaN cannot be sent, null is missing."""
    if tuple(tensor.shape) not in shapes:
        expected = " or ".join(map(str, shapes))
        raise _wrong(("inputs", place, "shape"), f"got the shape {tuple(tensor.shape)}, expected {expected}")
    if tensor.datatype not in DATATYPES:
        raise _wrong(("inputs", place, "datatype"), f"expected one of {', '.join(sorted(DATATYPES))}")
    flat: list[Any] = []
    for item in tensor.data:
        flat.extend(item if isinstance(item, list) else [item])
    if len(flat) != math.prod(tensor.shape):
        raise _wrong(("inputs", place, "data"), f"{len(flat)} values for the shape {tuple(tensor.shape)}")
    return flat


def _tensor(name: str, shape: list[int], data: list[Any]) -> JsonObject:
    return {"name": name, "shape": shape, "datatype": _datatype(data), "data": data}


def _datatype(data: list[Any]) -> str:
    if all(isinstance(value, bool) for value in data):
        return "BOOL"
    if all(type(value) is int for value in data):
        return "INT64"
    return "FP64" if all(isinstance(value, int | float) for value in data) else "BYTES"


def _wrong(place: tuple[str | int, ...], message: str) -> BadRequestError:
    return BadRequestError(422, [Problem(place, message, "tensor")])
