"""Walks for the checks: where answers come from, how a walk is run to its end, what it decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from farthing.checks.fitting import sheet_of
from farthing.checks.outputs import Outputs, assert_same
from farthing.checks.problems import Problem
from farthing.typing import Flags
from farthing.walks import REFUSED


def asks_devices(model: Any) -> bool:
    """Return whether a walk asks devices, which may stay silent, and not columns."""
    return bool(getattr(model, "asks", "columns") == "devices")


def source_of(model: Any, problem: Problem, row: int) -> dict[str, Any]:
    """Return the answers for a walk over a fresh row: its entries, or the messages of its devices."""
    return model.messages(problem.fresh).row(row) if asks_devices(model) else problem.row(row)


def is_paid(model: Any, answer: Any) -> bool:
    """Return whether an answer is charged; the silence of a device is not."""
    return answer is not None or not asks_devices(model)


def uninformative_answer(model: Any) -> Any:
    """Return an answer without information that is charged: a missing value, or a message of zeros."""
    return np.zeros(len(model.prior_)) if asks_devices(model) else np.nan


def overwritten(model: Any, problem: Problem, hidden: Flags, number: float, text: Any) -> Any:
    """Return the fresh rows, or their messages, with other values at the hidden entries."""
    if asks_devices(model):
        sent = model.messages(problem.fresh)
        return replace(sent, scores=np.where(hidden[:, :, np.newaxis], number, sent.scores))
    X = problem.fresh.copy()
    for column in range(len(problem.names)):
        X[hidden[:, column], column] = text if column == problem.categorical else number
    return X


def budget_of_row(budget: Any, row: int) -> Any:
    """Return the budget of one row."""
    return float(budget[row]) if isinstance(budget, np.ndarray) else budget


def run_to_end(walk: Any, source: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Answer every question, refusing what the source lacks; return questions and answers."""
    log: list[tuple[str, Any]] = []
    while (ask := walk.ask) is not None:
        assert ask.feature not in dict(log), f"the walk asked for {ask.feature!r} twice"
        log.append((ask.feature, source.get(ask.feature, REFUSED)))
        answer(walk, log[-1][1])
    return log


def answer(walk: Any, value: Any) -> None:
    """Tell or refuse."""
    if value is REFUSED:
        walk.refuse()
    else:
        walk.tell(value)


def assert_decides(walk: Any, model: Any, problem: Problem, outputs: Outputs, row: int, *, when: str) -> None:
    """Compare the decision of a walk with a row of the array calls."""
    decision = walk.decision
    got = {
        "predict": np.array([decision.prediction]),
        "spend": np.array([decision.spent]),
        "acquired": np.array([[name in decision.acquired for name in sheet_of(model, problem).features]]),
    }
    if "predict_proba" in outputs:
        assert list(decision.probabilities) == model.classes_.tolist(), f"a class is missing {when}"
        got["predict_proba"] = np.array([list(decision.probabilities.values())])
    expected = {call: outputs[call][row : row + 1] for call in got}
    assert_same(got, expected, f"between a walk fed from row {row} and the array calls, {when}")
