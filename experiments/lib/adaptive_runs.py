"""The runs of `experiments.papers.nan2018_adaptive`: sweeps over settings, each kept when it is done."""

from __future__ import annotations

import io
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import joblib
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.lib.forest_runs import Part, Task, by_split, covtype, shrunk
from experiments.lib.pages import ROOT, commit
from farthing.adaptive import AdaptGbrtClassifier, AdaptLinClassifier, L1GateClassifier
from farthing.adaptive.adapt.sweep import AdaptSweep
from farthing.base import Point
from farthing.boosting import GreedyMiserClassifier, miser_path
from farthing.datasets import load_table
from farthing.forests import BudgetForestClassifier, prune_path

LETTER_SIZES = (12_000, 4_000, 4_000)
# Thresholds of each gate, besides 0: those that send these shares of the validation rows on.
SHARES = np.round(np.arange(0.05, 1.0, 0.05), 2)


@dataclass(frozen=True)
class Sweep:
    """What is swept; trade-offs of the trees are shares of the loss before the first tree."""

    n_estimators: int = 100
    n_alternations: int = 5
    tradeoffs: tuple[float, ...] = tuple(np.geomspace(3e-4, 3e-2, 6)[[1, 0, 2, 3, 4, 5]])
    p_fulls: tuple[float, ...] = (0.3, 0.1, 0.5, 0.7)
    rates: tuple[float, ...] = (0.3, 0.1, 1.0)
    depths: tuple[int, ...] = (4,)
    # ADAPT-LIN, and the L1 baseline with as many settings: all 16 supports at each strength of its penalty.
    lin_tradeoffs: tuple[float, ...] = tuple(np.geomspace(1e-4, 1.0, 12))
    lin_p_fulls: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7)
    strengths: tuple[float, ...] = tuple(np.geomspace(1e-3, 1e1, 3))
    miser_rates: tuple[float, ...] = tuple(np.geomspace(1e-5, 1.0, 20))  # those of the appendix
    miser_tradeoffs: tuple[float, ...] = (0.0, *np.geomspace(1e-4, 3e-2, 6))
    forest_trees: int = 500  # of the forest that is f0 on letters
    shrink: int = 1  # one row in so many is left of each table


DEFAULT = Sweep()
# The appendix: 500 trees, 30 turns, 10 trade-offs, 9 shares, 9 learning rates; 20 trade-offs for ADAPT-LIN,
# 20 strengths for the baseline, 20 learning rates and 20 trade-offs for the Greedy Miser.
FULL = Sweep(
    500,
    30,
    tuple(np.geomspace(1e-5, 1e-1, 10)),
    tuple(np.linspace(0.1, 0.9, 9)),
    tuple(np.linspace(0.1, 1.0, 9)),
    lin_tradeoffs=tuple(np.geomspace(1e-4, 1.0, 20)),
    lin_p_fulls=tuple(np.linspace(0.1, 0.9, 9)),
    strengths=tuple(np.geomspace(1e-3, 1e1, 20)),
    miser_tradeoffs=(0.0, *np.geomspace(1e-5, 1e-1, 19)),
)
TINY = Sweep(
    n_estimators=2,
    n_alternations=1,
    tradeoffs=(1e-3,),
    p_fulls=(0.3,),
    rates=(0.3,),
    lin_tradeoffs=(1e-2,),
    lin_p_fulls=(0.3,),
    strengths=(0.1,),
    miser_rates=(0.3,),
    miser_tradeoffs=(0.0, 1e-3),
    forest_trees=10,
    shrink=40,
)


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


# ---- tables ------------------------------------------------------------------------------------------------


def letters() -> Task:
    """Return the letters, those before N against the rest, in the sizes of the thesis."""
    table = load_table("letter")
    X, y = np.asarray(table.X, dtype=np.float64), (np.asarray(table.y).astype(str) >= "N").astype(int)
    rows = np.random.default_rng(0).permutation(len(y))
    cuts = np.cumsum(LETTER_SIZES)[:-1]
    train, validation, test = (Part(X[part], y[part]) for part in np.split(rows, cuts))
    return Task("letters", train, validation, test)


# ---- methods -----------------------------------------------------------------------------------------------


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


def dot(point: Point) -> Dot:
    """Return a system of a path without its model."""
    figures = (point.spend, point.score, point.test_spend, point.test_score)
    return Dot(*figures, dict(point.params), point.details["threshold"])


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


def fits(systems: AdaptSweep, estimator: Any, settings: list[dict[str, Any]]) -> Works:
    """Return the work of each setting, by a name for it."""

    def work(params: dict[str, Any]) -> list[Dot]:
        return [dot(point) for point in systems.fit(params, estimator)]

    return {named(params): partial(work, params) for params in settings}


def named(params: dict[str, Any]) -> str:
    """Return a name for a setting."""
    return ",".join(f"{name}={value:.5g}" for name, value in params.items())


def product(**lists: Iterable[Any]) -> list[dict[str, Any]]:
    """Return all combinations."""
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def trees_for(expensive: Any, sweep: Sweep, n_folds: int | None = 5) -> AdaptGbrtClassifier:
    """Return ADAPT-GBRT."""
    return AdaptGbrtClassifier(
        expensive,
        n_estimators=sweep.n_estimators,
        n_alternations=sweep.n_alternations,
        relative=True,
        n_folds=n_folds,
        random_state=0,
    )


def tree_settings(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the settings of ADAPT-GBRT."""
    return product(
        n_estimators=[sweep.n_estimators],
        max_depth=sweep.depths,
        p_full=sweep.p_fulls,
        tradeoff=sweep.tradeoffs,
        learning_rate=sweep.rates,
    )


def line_settings(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the settings of ADAPT-LIN."""
    return product(tradeoff=sweep.lin_tradeoffs, p_full=sweep.lin_p_fulls)


def l1_settings(n_features: int, sweep: Sweep) -> list[dict[str, Any]]:
    """Return the supports of the L1 baseline; its gate moves by its threshold."""
    return product(C=sweep.strengths, n_features=range(1, n_features + 1))


def misers(task: Task, sweep: Sweep) -> Works:
    """Return the Greedy Miser, stopped at each 10 rounds.

    Of two classes it has as many trees as gate and f1 together. Of more, where a round is one tree per class,
    the gate's trees are few beside those of f1, and it has as many rounds as f1.
    """

    def work(tradeoff: float, **params: Any) -> list[Dot]:
        model = GreedyMiserClassifier(relative=True, **params)
        path = miser_path(
            model, task.train.X, task.train.y, tradeoffs=(tradeoff,), every=10, **parts_of(task)
        )
        return [Dot(p.spend, p.score, p.test_spend, p.test_score) for p in path]

    rounds = sweep.n_estimators * (2 if len(np.unique(task.train.y)) == 2 else 1)
    settings = product(
        n_estimators=[rounds],
        learning_rate=sweep.miser_rates,
        tradeoff=sweep.miser_tradeoffs,
        max_depth=sweep.depths,
    )
    return {named(params): partial(work, **params) for params in settings}


def prunings(task: Task, forest: BudgetForestClassifier) -> Works:
    """Return BudgetPrune from a forest, at up to 40 of its trade-offs, evenly by cost."""

    def work() -> list[Dot]:
        path = prune_path(forest, task.validation.X, task.validation.y)
        goals = np.linspace(path.costs.max(), path.costs.min(), 40)
        found = []
        for entry in np.unique(np.abs(path.costs - goals[:, np.newaxis]).argmin(axis=1)):
            model = path[int(entry)].model
            held, test = (
                (float(model.spend(part.X).mean()), float(np.mean(model.predict(part.X) == part.y)))
                for part in (task.validation, task.test)
            )
            found.append(Dot(*held, *test))
        return found

    return {"f0": work}


def tuned_svm(task: Task) -> Any:
    """Return an RBF-SVM, its two parameters by cross-validation on some rows."""
    rows = slice(0, 4000)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [3.0, 10.0, 30.0], "svc__gamma": [0.05, 0.1, 0.2, 0.4]},
        cv=3,
        n_jobs=OPTIONS.jobs,
    )
    return search.fit(task.train.X[rows], task.train.y[rows]).best_estimator_


# ---- sets --------------------------------------------------------------------------------------------------


def found_of(systems: AdaptSweep, runs: dict[str, Run], n_validation: int) -> Found:
    """Return the frontiers of all methods, and the expensive model."""
    runs = dict(sorted(runs.items()))
    return Found(
        dot(systems.reference()),
        {method: frontier(run.points) for method, run in runs.items()},
        {method: run.seconds for method, run in runs.items()},
        {method: (run.done, run.of) for method, run in runs.items()},
        {method: run.code for method, run in runs.items()},
        {method: len(run.points) for method, run in runs.items()},
        n_validation,
    )


def letters_with(name: str, make: Callable[[Task], Any], sweep: Sweep) -> Found:
    """Figure 5.5: one expensive model, three ways to approximate it, and the Greedy Miser.

    ADAPT-LIN starts as in A.2.3, from a gate of zeros and a logistic regression.
    """
    task, pieces = shrunk(letters(), sweep.shrink), Pieces(name)
    systems = pieces.systems(lambda: trees_for(clone(make(task)), sweep), task)
    line = AdaptLinClassifier(systems.expensive, n_alternations=50, n_starts=1, n_folds=5, random_state=0)
    l1 = L1GateClassifier(systems.expensive, random_state=0)
    return found_of(
        systems,
        {
            "ADAPT-GBRT": pieces.run("ADAPT-GBRT", fits(systems, None, tree_settings(sweep))),
            "L1 baseline": pieces.run("L1", fits(systems, l1, l1_settings(task.train.X.shape[1], sweep))),
            "ADAPT-LIN": pieces.run("ADAPT-LIN", fits(systems, line, line_settings(sweep))),
            "Greedy Miser": Pieces("letters").run("miser", misers(task, sweep)),
        },
        len(task.validation.y),
    )


def letters_svm(sweep: Sweep) -> Found:
    """Return figure 5.5 with the RBF-SVM."""
    return letters_with("letters_svm", tuned_svm, sweep)


def letters_rf(sweep: Sweep) -> Found:
    """Return figure 5.5 with the forest of 500 trees."""
    return letters_with("letters_rf", lambda _: forest(sweep.forest_trees), sweep)


def forest(n_estimators: int) -> BudgetForestClassifier:
    """Return the forest of section 4.5: trees by entropy, each split among all features, blind to prices."""
    return BudgetForestClassifier(
        impurity="entropy",
        cost_rule="penalty",
        tradeoff=0.0,
        max_features=None,
        n_estimators=n_estimators,
        random_state=0,
        n_jobs=OPTIONS.jobs,
    )


def with_forest(name: str, task: Task, sweep: Sweep) -> Found:
    """Figure 5.4: a forest of 40 trees, approximated by ADAPT-GBRT and pruned by BudgetPrune."""
    pieces = Pieces(name)
    systems = pieces.systems(lambda: trees_for(forest(40).fit(task.train.X, task.train.y), sweep), task)
    return found_of(
        systems,
        {
            "ADAPT-GBRT": pieces.run("ADAPT-GBRT", fits(systems, None, tree_settings(sweep))),
            "BudgetPrune": pieces.run("prune", prunings(task, systems.expensive)),
            "Greedy Miser": pieces.run("miser", misers(task, sweep)),
        },
        len(task.validation.y),
    )


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


def nest(sweep: Sweep) -> Found:
    """Approximate the RBF-SVM, then the cheapest system within 1 % of it, again: remark 2."""
    one, task = letters_svm(sweep), shrunk(letters(), sweep.shrink)
    chosen = near(one, "ADAPT-GBRT", errors=0)
    assert chosen is not None
    first, pieces = Pieces("letters_svm").systems(lambda: None, task), Pieces("letters_nest")

    def again() -> AdaptGbrtClassifier:
        points = first.fit(chosen.params)
        model = next(point.model for point in points if point.details["threshold"] == chosen.threshold)
        return trees_for(model, sweep, n_folds=None)

    two = pieces.run("ADAPT-GBRT", fits(pieces.systems(again, task), None, tree_settings(sweep)))
    return Found(
        one.full,
        {"one stage": one.curves["ADAPT-GBRT"], "two stages": frontier(two.points)},
        {"one stage": one.seconds["ADAPT-GBRT"], "two stages": two.seconds},
        {"one stage": one.done["ADAPT-GBRT"], "two stages": (two.done, two.of)},
        {"one stage": one.code["ADAPT-GBRT"], "two stages": two.code},
        {"one stage": one.systems["ADAPT-GBRT"], "two stages": len(two.points)},
        one.n_validation,
    )


# Where trade-offs are swept on the two sets of figure 5.4, closer to each other than on letters: from the
# number of features that gate and f1 test at the saving of the thesis, by the validation rows.
MINIBOONE: dict[str, Any] = {"tradeoffs": (3e-3, 4e-3, 5e-3, 2e-3, 7e-3, 1e-2)}
COVTYPE: dict[str, Any] = {
    "tradeoffs": (1.3e-3, 1e-3, 1.7e-3, DEFAULT.tradeoffs[0]),
    # A fit takes 20 to 50 times as long as on the other sets.
    "rates": (0.3,),
    "miser_rates": DEFAULT.miser_rates[-6:],
    # More rows support deeper trees, as a sample of 8,000 training and 6,000 validation rows showed.
    "depths": (8,),
}

SETS: dict[str, Callable[[Sweep], Found]] = {
    "covtype": lambda sweep: with_forest("covtype", covtype(0, sweep.shrink), adjusted(sweep, COVTYPE)),
    "miniboone": lambda sweep: with_forest(
        "miniboone", shrunk(by_split("miniboone_tiny"), sweep.shrink), adjusted(sweep, MINIBOONE)
    ),
    "letters_svm": letters_svm,
    "letters_rf": letters_rf,
    "letters_nest": nest,
}


def adjusted(sweep: Sweep, changes: dict[str, Any]) -> Sweep:
    """Return the default sweep with what differs on a set; other sweeps as they are."""
    return replace(sweep, **changes) if sweep is DEFAULT else sweep
