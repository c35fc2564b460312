"""The program of a device: its gate and local model as plain values, and their evaluation without NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from farthing.learning.linear_scores import LinearScores
from farthing.table import Schema


def device_program(pair: LinearScores, threshold: float, schema: Schema) -> dict[str, Any]:
    """Return the gate and local model of a device as JSON-compatible values; `run_device` runs them.

    Parameters
    ----------
    pair : LinearScores
        Gate and local model, the gate's score first.
    threshold : float
        Threshold of the gate.
    schema : Schema
        Schema of the table that the model was fitted on.

    Returns
    -------
    dict
        ``terms``: the columns to read, with the category to look for or None, the mean to subtract and the
        scale to divide by. ``gate``: a coefficient for each term, the intercept and the threshold. ``local``:
        a coefficient for each term and score of the message, and the intercepts.
    """
    terms: list[dict[str, Any]] = []
    for column, code, mean, scale in zip(
        pair.columns.tolist(),
        pair.category.tolist(),
        pair.mean.tolist(),
        pair.scale.tolist(),
        strict=True,
    ):
        known = schema.columns[column]
        term = {"column": known.name, "category": None, "mean": mean, "scale": scale}
        if known.is_categorical:
            term |= {"category": known.categories[int(code)], "categories": list(known.categories)}
        terms.append(term)
    gate, *local = pair.coef.T.tolist()
    gate_intercept, *local_intercepts = pair.intercept.tolist()
    return {
        "terms": terms,
        "gate": {"coef": gate, "intercept": gate_intercept, "threshold": threshold},
        "local": {"coef": np.array(local).T.tolist(), "intercept": local_intercepts},
    }


def run_device(device: Mapping[str, Any], reading: Mapping[str, Any]) -> list[float] | None:
    """Run an entry of ``device_models_``, as a device would: without NumPy or Farthing.

    Parameters
    ----------
    device : mapping
        An entry of ``device_models_``; a JSON round trip does not change it.
    reading : mapping of str to object
        What the device measured, by column; missing values may be None, NaN or left out.

    Returns
    -------
    list of float or None
        The message, None if the gate is shut. It has the bits that the model itself computes.

    Examples
    --------
    >>> device = {
    ...     "terms": [{"column": "pulse", "category": None, "mean": 60.0, "scale": 10.0}],
    ...     "gate": {"coef": [1.0], "intercept": -1.0, "threshold": 0.0},
    ...     "local": {"coef": [[0.5]], "intercept": [0.0]}}
    >>> run_device(device, {"pulse": 90}), run_device(device, {"pulse": 65})
    ([1.5], None)
    """
    gate, local = device["gate"], device["local"]
    # Term by term in the order of the model: the same additions in the same order give the same bits.
    gate_score, scores = gate["intercept"], list(local["intercept"])
    for number, term in enumerate(device["terms"]):
        value = reading.get(term["column"])
        if value is None or value != value:  # noqa: PLR0124 - NaN
            continue
        if term["category"] is None:
            found = float(value)
            if math.isinf(found):
                continue
        else:
            found = 1.0 if value == term["category"] else 0.0
            if not found and value not in term["categories"]:
                continue  # a category that the fit did not see counts as missing
        x = (found - term["mean"]) / term["scale"]
        gate_score += x * gate["coef"][number]
        for output, coef in enumerate(local["coef"][number]):
            scores[output] += x * coef
    return scores if gate_score > gate["threshold"] else None
