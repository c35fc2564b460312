"""The estimate of the time left, against the time that was really left, at 25, 50 and 75 % of each bar.

The whole of a job: sweep with two folds, fit on all rows, report. "Ours" is the estimate that the bar shows,
the rival the truth; a ratio of 1 is right, and the goal is between a half and twice. Of the bars that take
less than two seconds, which nobody waits for, there is no line.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from sklearn.datasets import load_diabetes

from benchmarks.measure import Line
from farthing import BudgetedClassifier, BudgetedRegressor
from farthing.datasets import load_bupa_liver, load_heart_disease, load_hepatitis, load_pima_diabetes
from farthing.frontier.progress_bar import Progress
from farthing.report import write_report

HOW: Final = "Each line is one moment of one run; the load of the machine changes it."
SHARES: Final = (0.25, 0.5, 0.75)
LEAST_SECONDS: Final = 2.0
# Where bars are made.
MODULES: Final = ("farthing.frontier.schedule", "farthing.frontier.delivery", "farthing.report.report_run")


class Watched(Progress):
    """A bar whose estimate is noted five times a second."""

    seen: Final[list[Watched]] = []

    def __init__(self, total: int, title: str, **options: Any) -> None:
        super().__init__(total, title, **options)
        self.title = title
        self.notes: list[tuple[float, float | None]] = []
        self.seconds = 0.0
        self._over = threading.Event()

    def __enter__(self) -> Watched:
        self._begun = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self.seconds = time.monotonic() - self._begun
        self._over.set()
        self._thread.join()
        self.seen.append(self)

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            self.notes.append((time.monotonic() - self._begun, self.seconds_left()))

    def lines(self, job: str) -> Iterator[Line]:
        """Yield a comparison for each share of the time."""
        if self.seconds < LEAST_SECONDS:
            return
        for share in SHARES:
            at, estimate = min(self.notes, key=lambda note: abs(note[0] - share * self.seconds))
            left = self.seconds - at
            said = float("nan") if estimate is None else estimate
            yield Line(
                f"{job}: {self.title}, {share:.0%}", "truth", said, left, said / left, 2.0, two_sided=True
            )


@contextmanager
def watched() -> Iterator[list[Watched]]:
    """Note the estimates of all bars of a ``with`` block."""
    Watched.seen.clear()
    patches = [patch(f"{module}.Progress", Watched) for module in MODULES]
    for one in patches:
        one.start()
    try:
        yield Watched.seen
    finally:
        for one in patches:
            one.stop()


def run(threads: int) -> list[Line]:
    """Measure every job."""
    heart, pima, hepatitis = load_heart_disease(), load_pima_diabetes(), load_hepatitis()
    bupa, diabetes = load_bupa_liver(), load_diabetes()
    hard: Any = {"budget_kind": "hard", "cv": 2}
    jobs: dict[str, tuple[Any, Any, Any]] = {
        "bupa, mean budget": (BudgetedClassifier(bupa.costs, "50%", cv=2), bupa.X, bupa.y),
        "hepatitis, no budget": (BudgetedClassifier(hepatitis.costs, cv=2), hepatitis.X, hepatitis.y),
        "heart, hard budget": (BudgetedClassifier(heart.costs, "20%", **hard), heart.X, heart.y),
        "diabetes, mean budget": (BudgetedRegressor(None, "50%", cv=2), diabetes.data, diabetes.target),
        "heart, mean budget": (BudgetedClassifier(heart.costs, "20%", cv=2), heart.X, heart.y),
        "pima, hard budget": (BudgetedClassifier(pima.costs, "30%", **hard), pima.X, pima.y),
    }
    lines: list[Line] = []
    for job, (model, X, y) in jobs.items():
        with watched() as bars, tempfile.TemporaryDirectory() as folder:
            model.set_params(n_jobs=threads).fit(X, y)
            write_report(Path(folder) / "report.html", model, X, y)
        new = [line for bar in bars for line in bar.lines(job)]
        for line in new:
            print(f"{line.what}: {line.ours:.1f} s said, {line.theirs:.1f} s left", flush=True)
        lines += new
    return lines
