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
import socket
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from experiments.fuzz import costly_files  # noqa: F401 - adds its mutations
from experiments.fuzz.mutations import MUTATIONS
from farthing.base import load, registered
from farthing.errors import FileError, TableError
from farthing.walks import consult

MODULES = ("farthing",)
"""What registers the kinds of models that the files hold; the library itself, all of its own."""

MEMORY = 2**28
"""Bytes that a case may take beyond what the process has at the start."""

SECONDS = 10.0
"""Processor time that one case may take."""

SILENCE = 120.0
"""Seconds after which a case hangs, whatever it does; long, since the machine may be busy."""

NOT_REGULAR = "not_regular"
"""The kind of case whose path does not lead to a regular file."""

ROUNDS = 8
HEAVY = ("json_text", "wide_strings", "long_names")
"""Mutations whose files take long to make and to refuse: one case for eight of each other kind."""


@dataclass
class Tally:
    """What came of the cases."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


def kinds() -> list[str]:
    """Return the kinds of cases."""
    return [*MUTATIONS, NOT_REGULAR]


def kind_of(case: int) -> str:
    """Return the kind of a case: each in turn, the heavy ones in one round of eight."""
    every = kinds()
    light = [kind for kind in every if kind not in HEAVY]
    place = case % (len(every) + (ROUNDS - 1) * len(light))
    return every[place] if place < len(every) else light[(place - len(every)) % len(light)]


def spoil(files: Sequence[bytes], seed: int, case: int, path: Path) -> str:
    """Write the spoilt file of a case and return its kind; a pure function of its arguments."""
    rng, kind = np.random.default_rng([seed, case]), kind_of(case)
    path.unlink(missing_ok=True) if not path.is_dir() or path.is_symlink() else path.rmdir()
    if kind == NOT_REGULAR:
        put_irregular(rng, path)
    else:
        path.write_bytes(MUTATIONS[kind](rng, files))
    return kind


def put_irregular(rng: np.random.Generator, path: Path) -> None:
    """Put a folder, a pipe, a socket, or a link to nothing, to itself, to a device or a pipe at a path."""
    links = ["/dev/zero", "/dev/random", "/dev/null", "/dev/full", "/dev/tty", "/proc/self/mem", "/nothing"]
    choice = int(rng.integers(4 + len(links)))
    if choice == 0:
        path.mkdir()
    elif choice == 1:
        os.mkfifo(path)
    elif choice == 2:
        path.symlink_to(path)
    elif choice == 3:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
    else:
        path.symlink_to(links[choice - 4])


def run_case(files: Sequence[bytes], seed: int, case: int, path: Path) -> tuple[str, str]:
    """Run one case; return the kind of mutation and what came of it.

    A preprocessing that the file holds may refuse a value of a row; the error names column and value.
    """
    kind = spoil(files, seed, case, path)
    try:
        try:
            model = load(path)
        except FileError:
            return kind, "refused"
        except OSError:
            if kind != NOT_REGULAR:  # a path that leads nowhere is an error of the system, as for open()
                raise
            return kind, "refused"
        exercise(model, np.random.default_rng([seed, case, 1]))
    except TableError:
        return kind, "refuses the row"
    except Exception:  # whatever it is, it is what this script looks for
        return kind, f"violation: {traceback.format_exc()}"
    return kind, "works"


def exercise(model: Any, rng: np.random.Generator) -> None:
    """Put a model to all its uses, on rows that fit its columns; fail if two of them disagree."""
    X = random_rows(model.schema_, rng, 4 if getattr(model, "rows_are_independent", True) else 1)
    for budget in (None, float(rng.choice([0.0, 1.0, 10.0]))):
        predicted = model.predict(X, budget=budget)
        acquired = model.acquired(X, budget=budget)
        spend = model.spend(X, budget=budget)
        if hasattr(model, "predict_proba"):
            model.predict_proba(X, budget=budget)
        row = dict(zip(model.schema_.names, X[0], strict=True))
        if getattr(model, "asks", "columns") == "devices":
            row = model.messages(X).row(0)
        decision = consult(model, row, budget=budget)
        bought = [name for name, taken in zip(model.costs_.features, acquired[0], strict=True) if taken]
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
    registered()
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
        end = _collect(ours, worker, tally, seed, range(done, last))
        if end < last:
            worker.kill()
        worker.join()
        done = end
    return tally


def _collect(results: Connection, worker: Any, tally: Tally, seed: int, cases: range) -> int:
    """Take outcomes until all are in or the worker dies or hangs; return the next case to run."""
    if _next(results, worker, wait=600.0) is not None:  # to import everything, on a busy machine
        raise RuntimeError("the worker did not get through the intact models")
    for case in cases:
        outcome = _next(results, worker, wait=SILENCE)
        kind, result = (kind_of(case), f"violation: {outcome}") if isinstance(outcome, str) else outcome[1:]
        is_wrong = result.startswith("violation")
        tally.outcomes[kind, "VIOLATION" if is_wrong else result] += 1
        if is_wrong:
            tally.violations.append(f"file {case} of seed {seed} ({kind}): {result}")
        if isinstance(outcome, str):
            return case + 1
    return cases.stop


def _next(results: Connection, worker: Any, wait: float) -> Any:
    """Return the next outcome of a worker, "crash" if it died, or "hang" if it took too long."""
    process, end = psutil.Process(worker.pid), time.monotonic() + wait
    before: float | None = None
    while time.monotonic() < end:
        try:
            if results.poll(0.5):
                return results.recv()
            times = process.cpu_times()
        except (EOFError, ConnectionError, psutil.Error):
            return "crash"
        spent = times.user + times.system
        before = spent if before is None else before
        if wait == SILENCE and spent - before > SECONDS:
            break
    return "hang"
