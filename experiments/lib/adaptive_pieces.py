"""The pieces of `experiments.papers.nan2018_adaptive`, each kept when it is done, and what a set gave."""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import joblib
from joblib import Parallel, delayed

from experiments.lib.adaptive_sweeps import SHARES
from experiments.lib.forest_runs import Task
from experiments.lib.pages import ROOT, commit
from farthing.adaptive.adapt.sweep import AdaptSweep


@dataclass(frozen=True)
class Dot:
    """A system: mean spend and accuracy on validation and on test rows, and how it was made."""

    validation_spend: float
    validation_score: float
    spend: float
    score: float
    params: dict[str, Any] = field(default_factory=dict)
    threshold: float = 0.0


@dataclass(frozen=True)
class Found:
    """What one set gave: the expensive model; by method, curves, seconds, and pieces done of how many."""

    full: Dot
    curves: dict[str, list[Dot]]
    seconds: dict[str, float]
    done: dict[str, tuple[int, int]]
    code: dict[str, str]
    systems: dict[str, int]
    n_validation: int

    @property
    def validation_error(self) -> float:
        """The standard error of f0's accuracy on the validation rows."""
        share = self.full.validation_score
        return math.sqrt(share * (1 - share) / self.n_validation)


def frontier(points: list[Dot]) -> list[Dot]:
    """Return the points that no other beats on the validation rows."""
    best: list[Dot] = []
    for point in sorted(points, key=lambda p: (p.validation_spend, -p.validation_score)):
        if not best or point.validation_score > best[-1].validation_score:
            best.append(point)
    return best


def parts_of(task: Task) -> dict[str, Any]:
    """Return the rows as `miser_path` takes them."""
    return {"validation": (task.validation.X, task.validation.y), "test": (task.test.X, task.test.y)}


@dataclass(frozen=True)
class Run:
    """What a method found in a set so far."""

    points: list[Dot]
    seconds: float
    done: int
    of: int
    code: str


@dataclass
class RunOptions:
    """When a run starts nothing new, how many jobs it has, and where it keeps what is done."""

    end: float = math.inf
    jobs: int = 2
    folder: Path = ROOT / "build" / "nan2018_adaptive"


OPTIONS = RunOptions()


Works: TypeAlias = dict[str, Callable[[], list[Dot]]]


@dataclass(frozen=True)
class Pieces:
    """What a method has to do in a set, piece by piece; each is done once, and what it found is kept."""

    name: str

    def run(self, method: str, works: Works) -> Run:
        """Do what is left of a method, as far as the time goes; return all that it found."""

        def one(key: str, work: Callable[[], list[Dot]]) -> dict[str, Any] | None:
            if time.monotonic() > OPTIONS.end:
                return None
            begin = time.thread_time()
            points = [asdict(point) for point in work()]
            return {"key": key, "seconds": time.thread_time() - begin, "points": points, "code": commit()}

        left = {key: work for key, work in works.items() if not self._file(method, key).is_file()}
        jobs = (delayed(one)(key, work) for key, work in left.items())
        for found in Parallel(n_jobs=OPTIONS.jobs, prefer="threads", return_as="generator_unordered")(jobs):
            if found is not None:
                keep(self._file(method, found["key"]), json.dumps(found))
                print(f"{self.name}, {method}, {found['key']}: {found['seconds']:.0f} s", flush=True)
        files = [self._file(method, key) for key in works]
        kept = [json.loads(path.read_text()) for path in files if path.is_file()]
        points = [Dot(**point) for found in kept for point in found["points"]]
        code = ", ".join(sorted({found.get("code", "earlier") for found in kept}))
        return Run(points, sum(found["seconds"] for found in kept), len(kept), len(works), code)

    def _file(self, method: str, key: str) -> Path:
        return OPTIONS.folder / f"{self.name}.{method}.{key}.json".replace(" ", "_")

    def systems(self, make: Callable[[], Any], task: Task) -> AdaptSweep:
        """Return the tables and the fitted expensive model of an estimator, which are made once."""
        path = OPTIONS.folder / f"{self.name}.sweep"
        if not path.is_file():
            begin = time.process_time()
            validation, test = parts_of(task).values()
            made = AdaptSweep(
                make(),
                (task.train.X, task.train.y),
                validation=validation,
                test=test,
                shares=tuple(SHARES.tolist()),
            )
            with io.BytesIO() as file:
                joblib.dump(made, file)
                keep(path, file.getvalue())
            print(f"{self.name}, f0: {time.process_time() - begin:.0f} s", flush=True)
        systems: AdaptSweep = joblib.load(path)
        return systems


def keep(path: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_bytes(content.encode() if isinstance(content, str) else content)
    half.replace(path)


def save(name: str, found: Found) -> None:
    """Leave the points of a set for the page."""
    keep(OPTIONS.folder / f"{name}.json", json.dumps(asdict(found)))


def read(name: str) -> Found | None:
    """Return the points of a set, if it has been run."""
    path = OPTIONS.folder / f"{name}.json"
    if not path.is_file():
        return None
    plain = json.loads(path.read_text())
    curves = {method: [Dot(**dot) for dot in found] for method, found in plain["curves"].items()}
    done = {method: (count, of) for method, (count, of) in plain["done"].items()}
    more = plain["code"], plain["systems"], plain["n_validation"]
    return Found(Dot(**plain["full"]), curves, plain["seconds"], done, *more)


def holds(found: Found, dot: Dot) -> bool:
    """Tell whether a system is within 1 % of f0's accuracy on the test rows; 40 errors more in 4,000 are."""
    return dot.score >= found.full.score - 0.01 - 1e-9


def near(found: Found, method: str, errors: float, loss: float = 0.01) -> Dot | None:
    """Return the cheapest system within ``loss`` of f0's accuracy on the validation rows.

    By so many standard errors of that accuracy it has to be better, since the cheapest of hundreds of systems
    that seem to be within the loss is among the luckiest.
    """
    least = found.full.validation_score - loss + errors * found.validation_error
    kept = [dot for dot in found.curves[method] if dot.validation_score >= least]
    return min(kept, key=lambda dot: dot.validation_spend, default=None)


def at_saving(found: Found, method: str, saving: float) -> Dot | None:
    """Return the most accurate system on the validation rows of those that save a share of f0's cost there.

    A hundredth more than the share, since the mean cost of the test rows differs a little.
    """
    most = (1 - saving - 0.01) * found.full.validation_spend
    kept = [dot for dot in found.curves[method] if dot.validation_spend <= most]
    return max(kept, key=lambda dot: dot.validation_score, default=None)
