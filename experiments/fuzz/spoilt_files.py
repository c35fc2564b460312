"""Try to break `farthing.load` with spoilt model files.

Each case spoils a saved model (see `experiments.fuzz.mutations`), loads it, and if that works puts the model
to work: predictions, acquired features, spend, with and without a budget, and a walk that must agree with
them. Whatever is not that or a `FileError` is a violation: another exception, a crash, more memory than a
small model can need, or more time. Cases run in a process of their own, so that a crash or a hang is reported
too. `experiments.fuzz.fuzz` counts them.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from experiments.fuzz import costly_files  # noqa: F401 - adds its mutations
from experiments.fuzz.mutations import MUTATIONS
from farthing.base import load
from farthing.errors import FileError
from farthing.walks import consult

MODULES = ("farthing.forests", "farthing.boosting")
"""What registers the kinds of models that the files hold."""

MEMORY = 2**28
"""Bytes that a case may take beyond what the process has at the start."""

SECONDS = 10.0
"""Time limit of one case."""


@dataclass
class Tally:
    """What came of the cases."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


def spoil(files: Sequence[bytes], seed: int, case: int) -> tuple[str, bytes]:
    """Return the kind of mutation and the spoilt file of a case; a pure function of its arguments."""
    rng = np.random.default_rng([seed, case])
    kind = list(MUTATIONS)[case % len(MUTATIONS)]
    return kind, MUTATIONS[kind](rng, files)


def run_case(files: Sequence[bytes], seed: int, case: int, path: Path) -> tuple[str, str]:
    """Run one case; return the kind of mutation and "refused", "works", or what went wrong."""
    kind, data = spoil(files, seed, case)
    path.write_bytes(data)
    try:
        try:
            model = load(path)
        except FileError:
            return kind, "refused"
        exercise(model, np.random.default_rng([seed, case, 1]))
    except Exception:  # whatever it is, it is what this script looks for
        return kind, f"violation: {traceback.format_exc()}"
    return kind, "works"


def exercise(model: Any, rng: np.random.Generator) -> None:
    """Put a model to all its uses, on rows that fit its columns; fail if two of them disagree."""
    X = random_rows(model.schema_, rng, 4)
    for budget in (None, float(rng.choice([0.0, 1.0, 10.0]))):
        predicted = model.predict(X, budget=budget)
        acquired = model.acquired(X, budget=budget)
        spend = model.spend(X, budget=budget)
        if hasattr(model, "predict_proba"):
            model.predict_proba(X, budget=budget)
        row = dict(zip(model.schema_.names, X[0], strict=True))
        decision = consult(model, row, budget=budget)
        bought = [name for name, taken in zip(model.schema_.names, acquired[0], strict=True) if taken]
        if list(decision.acquired) != bought or decision.spent != spend[0]:
            raise AssertionError(f"the walk bought {decision.acquired}, the array calls {bought}")
        same = decision.prediction == predicted[0] or decision.prediction != decision.prediction
        if not same:
            raise AssertionError(
                f"the walk predicts {decision.prediction!r}, the array calls {predicted[0]!r}"
            )


def random_rows(schema: Any, rng: np.random.Generator, n_rows: int) -> np.ndarray[Any, Any]:
    """Return an array of objects with values, missing ones and unseen categories."""
    X = np.empty((n_rows, len(schema.columns)), dtype=object)
    for j, column in enumerate(schema.columns):
        for i in range(n_rows):
            draw = rng.random()
            if draw < 0.15:
                X[i, j] = None
            elif column.kind == "categorical":
                labels = column.categories
                X[i, j] = labels[int(rng.integers(len(labels)))] if labels and draw < 0.9 else "unseen"
            else:
                X[i, j] = float(rng.normal()) if draw < 0.9 else float(rng.choice([-np.inf, np.inf, 1e300]))
    return X


def _work(
    files: Sequence[bytes], seed: int, cases: range, modules: Sequence[str], results: Connection
) -> None:
    """Run cases in this process under a memory limit, sending each outcome."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for module in modules:
        importlib.import_module(module)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spoilt.farthing"
        for data in files:  # the intact models, so that threads and caches exist before the limit does
            path.write_bytes(data)
            exercise(load(path), np.random.default_rng(0))
        _limit_memory()
        results.send(None)
        for case in cases:
            results.send((case, *run_case(files, seed, case, path)))


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    if pages:
        limit = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def fuzz(
    files: Sequence[bytes], cases: int, seed: int, modules: Sequence[str] = MODULES, first: int = 0
) -> Tally:
    """Run cases on any saved models, in a process that is started again when it dies.

    Parameters
    ----------
    files : list of bytes
        Intact model files.
    cases : int
        How many.
    seed : int
        A case is a pure function of this, its number and the files.
    modules : list of str
        Modules that register the models' kinds.
    first : int
        The number of the first case.

    Returns
    -------
    Tally
    """
    tally = Tally()
    context = multiprocessing.get_context("spawn")
    done, last = first, first + cases
    while done < last:
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(files, seed, range(done, last), modules, theirs))
        worker.start()
        theirs.close()
        end = _collect(ours, tally, seed, done, last)
        if end < last:
            worker.kill()
        worker.join()
        done = end
    return tally


def _collect(results: Connection, tally: Tally, seed: int, done: int, last: int) -> int:
    """Take outcomes until all are in or the worker dies or hangs; return the next case to run."""
    started, limit = False, 600.0  # to import everything, on a busy machine
    while done < last:
        problem = ""
        try:
            outcome = results.recv() if results.poll(limit) else "hang"
        except EOFError:
            outcome = "crash"
        if isinstance(outcome, str):
            if not started:
                raise RuntimeError(f"the worker did not get through the intact models: {outcome}")
            kind, problem = list(MUTATIONS)[done % len(MUTATIONS)], outcome
        elif outcome is None:
            started, limit = True, SECONDS
            continue
        else:
            _, kind, result = outcome
            if result.startswith("violation"):
                problem = result
        tally.outcomes[kind, "VIOLATION" if problem else result] += 1
        done += 1
        if problem:
            tally.violations.append(f"file {done - 1} of seed {seed} ({kind}): {problem}")
        if isinstance(outcome, str):
            return done
    return done
