"""Walks of the library and of exported C, question by question, with the same answers."""

from __future__ import annotations

import ctypes
import math
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from experiments.lib.export_replays import STRICT, replay_c, write_c
from experiments.lib.export_walks import record
from sklearn.base import is_classifier

from farthing.base.registry import get, registered, trials
from farthing.checks.fitting import fit
from farthing.checks.problems import problems
from farthing.export import FLAGS, Program, export_model
from farthing.walks import REFUSED

MULTILIB = "Debian, Ubuntu: apt install gcc-multilib"
# Methods without a plan; the class of the fitted model says why.
NOT_EXPORTED = {
    "DAGClassifier", "EarlyExitRanker", "GreedySelectionClassifier", "InformationGainClassifier",
    "LookaheadClassifier", "MarginNeighborsClassifier", "OneVsRestClassifier", "PipelineClassifier",
    "PipelineRegressor", "RandomOrderClassifier", "ValueOfClassifier", "WeightedGateClassifier",
}  # fmt: skip
# These choose among other methods, and export what they chose; their fits take seconds.
CHOOSING = {"BudgetedClassifier", "BudgetedRanker", "BudgetedRegressor"}
# Other tests register methods of their own.
OURS = {name for name in registered() if get(name).__module__.startswith("farthing.")}
EXPORTED = sorted(OURS - NOT_EXPORTED - CHOOSING)
# One method of each kind of plan, at a setting that uses most of its runtime, by the number of its trial.
KINDS: dict[str, tuple[Any, ...]] = {
    "tree": ("EarlyExitClassifier", 1),
    "station": ("CronusClassifier", 1),
    "vote": ("AdaBoostClassifier", 2, 1, 2),
}
KINDS |= {"class_vote": ("AdaBoostClassifier", 3), "stages": ("MiserCascadeClassifier", 1)}
KINDS |= {"draws": ("AdaBoostRSClassifier", 1), "units": ("AdaBoostRSClassifier", 3)}
KINDS |= {"top": ("AdaBoostRSClassifier", 5), "message": ("EdgeClassifier", 1)}
KINDS |= {"gate": ("L1GateClassifier", 1), "tree_gate": ("AdaptGbrtClassifier", 1)}


@cache
def fitted(method: str, trial: int, table: int = 1, n_classes: int = 3) -> tuple[Any, Any]:
    """Return a fitted model and unseen rows: numbers (0), or with categories (1)."""
    estimator = trials(method)[min(trial, len(trials(method)) - 1)]
    problem = problems(estimator, "narrow")[table]
    if n_classes == 2 and is_classifier(estimator):  # votes and exits of two classes have plans of their own
        problem = replace(problem, y=np.where(problem.y == "low", "low", "top"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(estimator, problem), problem.fresh


class CWalk:
    """A walk of exported C, compiled to a shared object."""

    def __init__(self, library: ctypes.CDLL, program: Program, state_bytes: int) -> None:
        self._library, self._program = library, program

        class Result(ctypes.Structure):
            _fields_ = [
                ("value", ctypes.c_double * program.n_results),
                ("spent", ctypes.c_double),
                ("label", ctypes.c_int32),
            ]

        library.farthing_next.restype = ctypes.c_int32
        library.farthing_price.restype = ctypes.c_double
        library.farthing_decision.restype = Result
        # More than the state, to see that no byte after it is written.
        self._state = (ctypes.c_uint8 * (state_bytes + 64))()
        self._end = state_bytes

    def start(self, budget: float | None, known: dict[int, float]) -> None:
        ctypes.memset(self._state, 0xA5, len(self._state))
        self._library.farthing_start(self._state, ctypes.c_double(math.inf if budget is None else budget))
        for item, value in known.items():
            assert self._library.farthing_known(self._state, item, ctypes.c_double(value)) == 0

    @property
    def ask(self) -> str | None:
        item = self._library.farthing_next(self._state)
        return None if item < 0 else self._program.prices.names[item]

    @property
    def price(self) -> float:
        return float(self._library.farthing_price(self._state))

    def tell(self, value: float) -> None:
        assert self._library.farthing_tell(self._state, ctypes.c_double(value)) == 0

    def tell_all(self, values: Sequence[float]) -> None:
        self._library.farthing_tell_all(self._state, (ctypes.c_double * max(1, len(values)))(*values))

    def decide(self, values: Sequence[float]) -> tuple[float, list[float], tuple[str, ...]] | None:
        """Return spend, results and what was paid for by the call without a state, if there is one."""
        if not hasattr(self._library, "farthing_decide"):
            return None
        call, names = self._library.farthing_decide, self._program.prices.names
        call.restype = self._library.farthing_decision.restype
        bought = (ctypes.c_uint32 * max(1, -(-len(names) // 32)))()
        result = call((ctypes.c_double * max(1, len(values)))(*values), bought)
        paid = tuple(name for item, name in enumerate(names) if bought[item // 32] >> item % 32 & 1)
        return result.spent, list(result.value), paid

    def refuse(self) -> None:
        assert self._library.farthing_refuse(self._state) == 0

    @property
    def decision(self) -> tuple[int, list[float], float]:
        result = self._library.farthing_decision(self._state)
        assert bytes(self._state)[self._end :] == b"\xa5" * 64
        return result.label, list(result.value), result.spent

    @property
    def acquired(self) -> tuple[str, ...]:
        names = self._program.prices.names
        return tuple(
            name for item, name in enumerate(names) if self._library.farthing_acquired(self._state, item)
        )


def compile_c(source: Path, compiler: str, options: Sequence[str], output: Path) -> None:
    """Compile exported C with all warnings as errors."""
    command = [compiler, *FLAGS.split(), *STRICT, *options, str(source), "-lm", "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def c_walk(
    model: Any, folder: Path, compiler: str = "gcc", options: Sequence[str] = ("-O0",), name: str = "model"
) -> CWalk:
    """Export a model, compile it to a shared object and load it."""
    exported = export_model(model, folder, to="c", name=name)
    shared = folder / f"{name}-{compiler}{''.join(options)}.so"
    compile_c(folder / f"{name}.c", compiler, ["-shared", "-fPIC", *options], shared)
    return CWalk(ctypes.CDLL(str(shared)), Program.of(model), exported.state_bytes)


def assert_same_walks(
    model: Any,
    table: Any,
    folder: Path,
    n_walks: int,
    compiler: str = "gcc",
    options: Sequence[str] = ("-O0",),
    seed: int = 0,
) -> int:
    """Repeat random walks of the library in exported C; return the number of questions."""
    folder.mkdir(parents=True, exist_ok=True)
    write_c(model, record(model, table, n_walks, seed), folder)
    return replay_c(folder, compiler, options).questions


def assert_all_at_once(model: Any, other: Any, table: Any, n_rows: int = 20) -> None:
    """Answer rows as a whole: new walks, under budgets, and after some answers."""
    schema, names = model.fitted_.schema, other._program.prices.names
    columns = [schema.index(name) for name in names[: other._program.prices.n_columns]]
    total = model.fitted_.costs.total(model.fitted_.costs.features)
    for number, row in enumerate(table[:n_rows]):
        budget = [None, total / 2, None, None][number % 4]
        walk = model.walk(budget=budget)
        other.start(model.fitted_.budget if budget is None else budget, {})
        values = [float(schema.encode_value(column, row[column])) for column in columns]
        if number % 4 == 3 and walk.ask is not None:
            walk.tell(REFUSED)
            other.refuse()
        while (ask := walk.ask) is not None:
            walk.tell(row[schema.index(ask.feature)])
        other.tell_all(values)
        assert other.ask is None
        _same_decision(model.fitted_, walk, other)
        if number % 4 == 2 and (made := other.decide(values)) is not None:
            other.start(None, {})
            other.tell_all(values)
            _, value, spent = other.decision
            assert made == (spent, value, other.acquired)


def _same_decision(fitted: Any, walk: Any, other: Any) -> None:
    decision = walk.decision
    label, value, spent = other.decision
    assert spent == decision.spent
    assert other.acquired == decision.acquired
    if decision.probabilities is None:
        expected = [decision.prediction]
    else:
        expected = list(decision.probabilities.values())
        assert fitted.classes.tolist()[label] == decision.prediction
    # Exponentials of two libraries may differ in the last bit, and what is made of them in the next ones.
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=0)
