"""The steps of a link in NumPy: what the written code computes, with the functions of the library."""

from __future__ import annotations

import numpy as np

from farthing.base import normalise, row_sums, sigmoid, softmax
from farthing.learning.calibration import temper
from farthing.typing import Floats
from farthing.walks.plans import Link, LinkStep


def apply_link(link: Link, outputs: Floats) -> Floats:
    """Return what the steps of a link make of raw outputs.

    Parameters
    ----------
    link : tuple of LinkStep
    outputs : ndarray of float64, shape (n_rows, n_outputs)

    Returns
    -------
    ndarray of float64, shape (n_rows, n_results)

    Examples
    --------
    >>> apply_link((LinkStep("divide", 2.0), LinkStep("first")), np.array([[3.0, 1.0]]))
    array([[1.5]])
    """
    for step in link:
        outputs = _apply(step, outputs)
    return outputs


def _apply(step: LinkStep, outputs: Floats) -> Floats:  # noqa: PLR0911, PLR0912 - one line a step
    match step.name:
        case "first" | "take":
            return outputs[:, : int(step.number)]
        case "rest":
            return outputs[:, 1:]
        case "divide":
            return outputs / step.number
        case "times":
            return outputs * step.number
        case "sigmoid":
            return sigmoid(outputs)
        case "second":
            return outputs[:, 1:2]
        case "softmax":
            return softmax(outputs)
        case "normalise":
            return normalise(outputs)
        case "exponential":
            return np.exp(outputs)
        case "one":
            return np.ones((len(outputs), 1))
        case "temper":
            return temper(outputs, step.number)
        case "mean_grade":
            return row_sums(outputs * np.array(step.grades))[:, np.newaxis]
        case _:
            return _single(step, outputs)


def _single(step: LinkStep, outputs: Floats) -> Floats:
    """Return a step that is rounded to float32 as XGBoost does."""
    # The functions of the library are inside the importers of forests, which are private to them.
    with np.errstate(over="ignore"):
        if step.name == "single_exponential":
            return _exp32(outputs).astype(np.float64)
        if step.name == "single_sigmoid":
            raised = _exp32(np.minimum(-outputs[:, 0], np.float32(88.7)))
            second = np.float32(1) / (raised + np.float32(1))
            return np.column_stack([np.float32(1) - second, second]).astype(np.float64)
        shifted = (outputs - outputs.max(axis=1, keepdims=True)).astype(np.float32)
        raised = _exp32(shifted.astype(np.float64))
        total = row_sums(raised.astype(np.float64)).astype(np.float32)
        return (raised / total[:, np.newaxis]).astype(np.float64)


def _exp32(values: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.exp(values).astype(np.float32)
