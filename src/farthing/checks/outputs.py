"""The results of a model's array calls, compared bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from farthing.checks.problems import Problem

Outputs: TypeAlias = dict[str, NDArray[Any]]
"""From the name of an array call to what it returned."""


def outputs_of(model: Any, X: Any, **options: Any) -> Outputs:
    """Return the results of all array calls that the model has, for a table."""
    calls = ["predict", "acquired", "spend", "predict_proba"]
    if "refused" not in options:  # scores are not part of a decision
        calls.append("decision_function")
    return {call: getattr(model, call)(X, **options) for call in calls if hasattr(model, call)}


# Many checks compare something with the answers of the same model. A problem lives as long as its models.
_EXPECTED: WeakKeyDictionary[Any, dict[tuple[int, object], Outputs]] = WeakKeyDictionary()


def expected_of(model: Any, problem: Problem, budget: Any = None) -> Outputs:
    """Return the results for the fresh rows of a problem, from the first call of this model and budget.

    That a second call gives the same is a check of its own, in `farthing.checks.repeatable`.
    """
    kept = _EXPECTED.setdefault(model, {})
    key = id(problem), budget.tobytes() if isinstance(budget, np.ndarray) else budget
    if key not in kept:
        kept[key] = outputs_of(model, problem.fresh, budget=budget)
    return dict(kept[key])


def assert_same(got: Outputs, expected: Outputs, when: str) -> None:
    """Check that two outputs are equal in every bit."""
    for call, right in expected.items():
        left = got[call]
        assert left.shape == right.shape, f"{call} has shape {left.shape}, not {right.shape}, {when}"
        if _same_bits(left, right):
            continue
        wrong = [row for row in range(len(right)) if not _same_bits(left[row], right[row])]
        assert not wrong, f"{call} differs on row {wrong[0]}, {left[wrong[0]]} for {right[wrong[0]]}, {when}"


def _same_bits(left: Any, right: Any) -> bool:
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype.kind == right.dtype.kind == "f":
        # Bytes, since NaN differs from itself and 0.0 equals -0.0.
        left, right = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
        return bool(left.tobytes() == right.tobytes())
    return bool(np.array_equal(left, right))


def assert_raises(kind: type[Exception], call: Callable[[], object], what: str, naming: str = "") -> None:
    """Check that a call raises an error of a type, with a message that names something."""
    message = None
    try:
        call()
    except kind as error:
        message = str(error)
    assert message is not None, f"{what} raised no error"
    assert naming in message, f"the error for {what} does not name {naming}: {message}"
