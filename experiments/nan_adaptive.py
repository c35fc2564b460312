"""Chapter 5 of Nan's thesis: ADAPT-LIN, ADAPT-GBRT and their rivals beside the published numbers.

Run `python -m experiments.nan_adaptive [--sets NAME ...] [--full]`; FARTHING_DATA names the folder of the
larger tables. Each setting leaves its points in build/nan_adaptive, and so does the expensive model of each
set; what is there is not done again, so that a run may be ended at any moment and taken up where it stopped.
Then the page docs/results/nan_adaptive.md and its figures are made of the sets that are whole.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import joblib
import matplotlib as mpl
import numpy as np
from experiments.nan_runs import Part, Task, by_split, covtype
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from farthing.adaptive import (
    AdaptGbrtClassifier,
    AdaptLinClassifier,
    AdaptPoint,
    L1GateClassifier,
    plot_regions,
)
from farthing.adaptive.path import Ground
from farthing.boosting import GreedyMiserClassifier, miser_path
from farthing.datasets import load_table
from farthing.forests import BudgetForestClassifier, prune_path

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parent.parent
RESULTS, CACHE = ROOT / "docs" / "results", ROOT / "build" / "nan_adaptive"
LETTER_SIZES = (12_000, 4_000, 4_000)
# Thresholds of each gate, besides 0: those that send these shares of the validation rows on.
SHARES = np.round(np.arange(0.05, 1.0, 0.05), 2)
# Cost reduction within 1 % of the top accuracy, section 5.4.
PUBLISHED = {"letters": 0.31, "covtype": 0.32, "miniboone": 0.63}
# The method that is compared with the others, if it is not ADAPT-GBRT.
OURS = {"letters_nest": "two stages"}
# Shares of f0's cost at which methods are compared.
FRACTIONS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


@dataclass(frozen=True)
class Sweep:
    """What is swept; gammas of the trees are shares of the loss before the first tree."""

    n_trees: int = 100
    n_alternations: int = 5
    gammas: tuple[float, ...] = tuple(np.geomspace(3e-4, 3e-2, 6))
    lin_gammas: tuple[float, ...] = tuple(np.geomspace(1e-4, 1e-1, 6))
    p_fulls: tuple[float, ...] = (0.3, 0.1, 0.5, 0.7)
    rates: tuple[float, ...] = (0.3,)
    depths: tuple[int, ...] = (4,)


DEFAULT = Sweep()
# The appendix: 500 trees, 30 turns, 10 gammas, 9 shares, 9 learning rates; 20 gammas for ADAPT-LIN.
FULL = Sweep(
    500,
    30,
    tuple(np.geomspace(1e-5, 1e-1, 10)),
    tuple(np.geomspace(1e-4, 1.0, 20)),
    tuple(np.linspace(0.1, 0.9, 9)),
    tuple(np.linspace(0.1, 1.0, 9)),
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


# ---- tables ------------------------------------------------------------------------------------------------


def letters() -> Task:
    """Return the letters, those before N against the rest, in the sizes of the thesis."""
    table = load_table("letter")
    X, y = np.asarray(table.X, dtype=np.float64), (np.asarray(table.y).astype(str) >= "N").astype(int)
    rows = np.random.default_rng(0).permutation(len(y))
    parts = [Part(X[part], y[part]) for part in np.split(rows, np.cumsum(LETTER_SIZES)[:-1])]
    return Task("letters", *parts)


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


def dot(point: AdaptPoint) -> Dot:
    """Return a system of a path without its model."""
    said = (point.validation_spend, point.validation_score, point.spend, point.score)
    return Dot(*said, dict(point.params), point.threshold)


@dataclass(frozen=True)
class Run:
    """What a method found in a set so far."""

    points: list[Dot]
    seconds: float
    done: int
    of: int


@dataclass
class Way:
    """How a run goes: when it begins nothing new, how many jobs it has, and where it keeps what is done."""

    end: float = math.inf
    jobs: int = 2
    folder: Path = CACHE


WAY = Way()
Works: TypeAlias = dict[str, Callable[[], list[Dot]]]


@dataclass(frozen=True)
class Pieces:
    """What a method has to do in a set, piece by piece; each is done once, and what it found is kept."""

    name: str

    def run(self, method: str, works: Works) -> Run:
        """Do what is left of a method, as far as the time goes; return all that it found."""

        def one(key: str, work: Callable[[], list[Dot]]) -> dict[str, Any] | None:
            if time.monotonic() > WAY.end:
                return None
            begin = time.thread_time()
            points = [asdict(point) for point in work()]
            return {"key": key, "seconds": time.thread_time() - begin, "points": points}

        left = {key: work for key, work in works.items() if not self._file(method, key).is_file()}
        jobs = (delayed(one)(key, work) for key, work in left.items())
        for found in Parallel(n_jobs=WAY.jobs, prefer="threads", return_as="generator_unordered")(jobs):
            if found is not None:
                keep(self._file(method, found["key"]), json.dumps(found))
                print(f"{self.name}, {method}, {found['key']}: {found['seconds']:.0f} s", flush=True)
        files = [self._file(method, key) for key in works]
        kept = [json.loads(path.read_text()) for path in files if path.is_file()]
        points = [Dot(**point) for found in kept for point in found["points"]]
        return Run(points, sum(found["seconds"] for found in kept), len(kept), len(works))

    def _file(self, method: str, key: str) -> Path:
        return WAY.folder / f"{self.name}.{method}.{key}.json".replace(" ", "_")

    def ground(self, make: Callable[[], Any], task: Task) -> Ground:
        """Return the tables and the expensive model of an estimator with its words, which are made once."""
        path = WAY.folder / f"{self.name}.ground"
        if not path.is_file():
            begin = time.process_time()
            validation, test = parts_of(task).values()
            made = Ground(make(), task.train.X, task.train.y, None, validation, test, list(SHARES))
            with io.BytesIO() as file:
                joblib.dump(made, file)
                keep(path, file.getvalue())
            print(f"{self.name}, f0: {time.process_time() - begin:.0f} s", flush=True)
        return joblib.load(path)


def keep(path: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_bytes(content.encode() if isinstance(content, str) else content)
    half.replace(path)


def fits(ground: Ground, estimator: Any, settings: list[dict[str, Any]]) -> Works:
    """Return the work of each setting, by a name for it."""

    def work(params: dict[str, Any]) -> list[Dot]:
        return [dot(point) for point in ground.fit(params, estimator)]

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
        n_trees=sweep.n_trees,
        n_alternations=sweep.n_alternations,
        relative=True,
        n_folds=n_folds,
        random_state=0,
    )


def tree_settings(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the settings of ADAPT-GBRT."""
    return product(
        max_depth=sweep.depths, p_full=sweep.p_fulls, gamma=sweep.gammas, learning_rate=sweep.rates
    )


def line_settings(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the settings of ADAPT-LIN."""
    return product(gamma=sweep.lin_gammas, p_full=sweep.p_fulls)


def l1_settings(n_features: int) -> list[dict[str, Any]]:
    """Return the supports of the L1 baseline; its gate moves by its threshold."""
    return product(C=np.geomspace(1e-3, 1e1, 6).tolist(), n_features=range(1, n_features + 1))


def misers(task: Task, sweep: Sweep) -> Works:
    """Return the Greedy Miser with as many trees as gate and f1 have together, stopped at each 10 rounds."""

    def work(tradeoff: float, max_depth: int, learning_rate: float) -> list[Dot]:
        model = GreedyMiserClassifier(
            n_trees=2 * sweep.n_trees, learning_rate=learning_rate, max_depth=max_depth, relative=True
        )
        path = miser_path(
            model, task.train.X, task.train.y, tradeoffs=(tradeoff,), every=10, **parts_of(task)
        )
        return [Dot(p.validation_spend, p.validation_score, p.spend, p.score) for p in path]

    tradeoffs = (0.0, *np.geomspace(1e-5, 1e-1, 9).tolist())
    settings = product(tradeoff=tradeoffs, max_depth=sweep.depths, learning_rate=sweep.rates)
    return {named(params): partial(work, **params) for params in settings}


def prunings(task: Task, forests: dict[str, Callable[[], Any]]) -> Works:
    """Return BudgetPrune from each forest, at up to 40 of its trade-offs, evenly by cost."""

    def work(make: Callable[[], Any]) -> list[Dot]:
        path = prune_path(make(), task.validation.X, task.validation.y)
        goals = np.linspace(path.costs.max(), path.costs.min(), 40)
        found = []
        for entry in np.unique(np.abs(path.costs - goals[:, np.newaxis]).argmin(axis=1)):
            model = path[int(entry)]
            said = [
                (model.spend(part.X).mean(), np.mean(model.predict(part.X) == part.y))
                for part in (task.validation, task.test)
            ]
            found.append(Dot(*map(float, said[0]), *map(float, said[1])))
        return found

    return {key: partial(work, make) for key, make in forests.items()}


def tuned_svm(task: Task) -> Any:
    """Return an RBF-SVM, its two parameters by cross-validation on some rows."""
    rows = slice(0, 4000)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [3.0, 10.0, 30.0], "svc__gamma": [0.05, 0.1, 0.2, 0.4]},
        cv=3,
        n_jobs=WAY.jobs,
    )
    return search.fit(task.train.X[rows], task.train.y[rows]).best_estimator_


# ---- sets --------------------------------------------------------------------------------------------------


def found_of(ground: Ground, runs: dict[str, Run]) -> Found:
    """Return the frontiers of all methods, and the expensive model."""
    return Found(
        dot(ground.full()),
        {method: frontier(run.points) for method, run in runs.items()},
        {method: run.seconds for method, run in runs.items()},
        {method: (run.done, run.of) for method, run in runs.items()},
    )


def letters_with(name: str, make: Callable[[Task], Any], sweep: Sweep) -> Found:
    """Figure 5.5: one expensive model, three ways to approximate it, and the Greedy Miser."""
    task, pieces = letters(), Pieces(name)
    ground = pieces.ground(lambda: trees_for(clone(make(task)), sweep), task)
    line = AdaptLinClassifier(ground.expensive, n_alternations=50, n_folds=5, random_state=0)
    l1 = L1GateClassifier(ground.expensive, random_state=0)
    return found_of(
        ground,
        {
            "ADAPT-GBRT": pieces.run("ADAPT-GBRT", fits(ground, None, tree_settings(sweep))),
            "ADAPT-LIN": pieces.run("ADAPT-LIN", fits(ground, line, line_settings(sweep))),
            "L1 baseline": pieces.run("L1", fits(ground, l1, l1_settings(task.train.X.shape[1]))),
            "Greedy Miser": Pieces("letters").run("miser", misers(task, sweep)),
        },
    )


def letters_svm(sweep: Sweep) -> Found:
    """Return figure 5.5 with the RBF-SVM."""
    return letters_with("letters_svm", tuned_svm, sweep)


def letters_rf(sweep: Sweep) -> Found:
    """Return figure 5.5 with the forest of 500 trees."""
    return letters_with(
        "letters_rf", lambda _: RandomForestClassifier(500, random_state=0, n_jobs=WAY.jobs), sweep
    )


def grown(task: Task, max_features: str | None) -> BudgetForestClassifier:
    """Grow a forest of 40 trees that knows no prices."""
    return BudgetForestClassifier(
        impurity="entropy",
        cost_rule="penalty",
        tradeoff=0.0,
        max_features=max_features,
        max_trees=40,
        random_state=0,
        n_jobs=WAY.jobs,
    ).fit(task.train.X, task.train.y)


def with_forest(name: str, task: Task, sweep: Sweep) -> Found:
    """Figure 5.4: a forest of 40 trees, approximated and pruned.

    BudgetPrune starts from f0, and from a forest that splits among all features, as in figure 4.3: in 40
    trees whose features are drawn, a row looks at most of the features in the first few levels already, so
    that no pruning of f0 saves much but the one that leaves nothing.
    """
    pieces = Pieces(name)
    ground = pieces.ground(lambda: trees_for(grown(task, "sqrt"), sweep), task)
    forests = {"f0": lambda: ground.expensive, "all features": lambda: grown(task, None)}
    return found_of(
        ground,
        {
            "BudgetPrune": pieces.run("prune", prunings(task, forests)),
            "ADAPT-GBRT": pieces.run("ADAPT-GBRT", fits(ground, None, tree_settings(sweep))),
            "Greedy Miser": pieces.run("miser", misers(task, sweep)),
        },
    )


def nest(sweep: Sweep) -> Found:
    """Approximate the RBF-SVM, then the cheapest system within 1 % of it, again: remark 2."""
    one, task = letters_svm(sweep), letters()
    chosen = near(one, "ADAPT-GBRT")
    assert chosen is not None
    first, pieces = Pieces("letters_svm").ground(lambda: None, task), Pieces("letters_nest")

    def again() -> AdaptGbrtClassifier:
        points = first.fit(chosen.params)
        model = next(point.model for point in points if point.threshold == chosen.threshold)
        return trees_for(model, sweep, n_folds=None)

    two = pieces.run("ADAPT-GBRT", fits(pieces.ground(again, task), None, tree_settings(sweep)))
    return Found(
        one.full,
        {"one stage": one.curves["ADAPT-GBRT"], "two stages": frontier(two.points)},
        {"one stage": one.seconds["ADAPT-GBRT"], "two stages": two.seconds},
        {"one stage": one.done["ADAPT-GBRT"], "two stages": (two.done, two.of)},
    )


SETS: dict[str, Callable[[Sweep], Found]] = {
    "letters_svm": letters_svm,
    "letters_rf": letters_rf,
    "letters_nest": nest,
    "miniboone": lambda sweep: with_forest("miniboone", by_split("miniboone_tiny"), sweep),
    # Of more rows deeper trees can be learned; a sample of 8,000 training and 6,000 validation rows said so.
    "covtype": lambda sweep: with_forest("covtype", covtype(0, 1), replace(sweep, depths=(8,))),
}


# ---- the two examples --------------------------------------------------------------------------------------


def synthetic_1() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Synthetic-1, by the settings of A.2.1."""
    X, y = make_classification(
        n_samples=1000,
        flip_y=0.01,
        n_features=2,
        n_redundant=0,
        n_informative=2,
        random_state=17,
        n_clusters_per_class=2,
    )
    return X, y


def synthetic_2() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return Synthetic-2 of A.2.2: four clusters, of 20, 20, 15 and 15 points."""
    rng = np.random.default_rng(0)
    centres = np.repeat([(1, 1), (-1, 1), (-1, -1), (-1, -3)], [20, 20, 15, 15], axis=0)
    return centres + rng.normal(scale=0.01, size=centres.shape), np.repeat([1, 0, 1, 0], [20, 20, 15, 15])


def figure_5_2() -> str:
    """Draw the regions of both methods at their start and after 10 turns; return a table."""
    X, y = synthetic_1()
    trees = {"n_trees": 5, "max_depth": 2, "learning_rate": 0.5, "gamma": 0.0}
    makers: dict[str, Callable[[int], Any]] = {
        "ADAPT-LIN": lambda n: AdaptLinClassifier(
            SVC(),
            p_full=0.6,
            gamma=0.0,
            n_alternations=n,
            start=(np.array([0.0, -1.0]), np.ones(2)),  # of several starts, that of the least objective
            random_state=0,
        ),
        "ADAPT-GBRT": lambda n: AdaptGbrtClassifier(
            SVC(), p_full=0.6, n_alternations=n, random_state=0, **trees
        ),
    }
    figure, axes = plt.subplots(2, 3, figsize=(11, 7))
    svm = SVC().fit(X, y)
    for label in (0, 1):
        axes[0, 0].scatter(*X[y == label].T, s=8, color=f"C{label}", marker="o^"[label])
    axes[0, 0].set_title("(a) Synthetic-1")
    sides = [np.linspace(X[:, k].min(), X[:, k].max(), 200) for k in (0, 1)]
    across, up = np.meshgrid(*sides)
    said = svm.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axes[1, 0].contourf(across, up, said, levels=20, cmap="RdBu_r")
    axes[1, 0].contour(across, up, said, levels=[0], colors="k")
    axes[1, 0].set_title(f"(d) RBF-SVM, accuracy {svm.score(X, y):.3f}")
    lines = ["| method | turns | accuracy | sent on | accuracy of the SVM |", "|---|---|---|---|---|"]
    for row, (name, make) in enumerate(makers.items()):
        for column, turns in enumerate((1, 10), start=1):
            model = make(turns).fit(X, y)
            plot_regions(model, X, y, axes[row, column])
            letter = "bcef"[2 * row + column - 1]
            axes[row, column].set_title(f"({letter}) {name}, {turns} turn{'s' * (turns > 1)}")
            right, sent = np.mean(model.predict(X) == y), model.sent(X).mean()
            lines.append(f"| {name} | {turns} | {right:.3f} | {sent:.1%} | {svm.score(X, y):.3f} |")
    figure.tight_layout()
    figure.savefig(RESULTS / "nan_adaptive_figure52.png", dpi=80)
    plt.close(figure)
    return "\n".join(lines)


def lin_on_2(gamma: float, p_full: float, budget: float | None = None) -> AdaptLinClassifier:
    """Fit ADAPT-LIN on Synthetic-2 from the start of the appendix; the rows themselves set the threshold."""
    X, y = synthetic_2()
    ones = np.ones(2)
    model = AdaptLinClassifier(
        SVC(C=10.0),
        gamma=gamma,
        p_full=p_full,
        start=(ones, ones),
        n_alternations=50,
        budget=budget,
        random_state=0,
    )
    return model.fit(X, y, validation=None if budget is None else (X, y))


def l1_on_2(C: float, n_features: int, weight: float) -> L1GateClassifier:
    """Fit the baseline on Synthetic-2."""
    model = L1GateClassifier(SVC(C=10.0), C=C, n_features=n_features, send_weight=weight, random_state=0)
    return model.fit(*synthetic_2())


def figure_5_3() -> str:
    """Draw Synthetic-2 and the trade-offs of both methods; return a table.

    The gate of the baseline moves by its class weight, that of ADAPT-LIN by P_full, and by budgets that cut
    between two clusters: the noise within a cluster is no place to cut.
    """
    X, y = synthetic_2()
    sizes = np.cumsum([15, 15, 20]) / 70  # of the clusters from below, and of the last two together
    systems: dict[str, list[Any]] = {
        "ADAPT-LIN": [
            lin_on_2(gamma, p_full, budget)
            for gamma in (0.01, 0.02, 0.04)
            for p_full in (0.6, 0.7, 0.8)
            for budget in (None, 2 - float(sizes[0]), 2 - float(sizes[1]))
            if budget is None or lin_on_2(gamma, p_full).spend(X).min() <= budget
        ],
        "L1 baseline": [
            l1_on_2(C, n_features, weight)
            for C in np.geomspace(0.01, 10, 4)
            for n_features in (1, 2)
            for weight in np.linspace(0.1, 0.9, 9)
        ],
    }
    curves = {
        name: np.array([(model.spend(X).mean(), np.mean(model.predict(X) == y)) for model in models])
        for name, models in systems.items()
    }
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    best = systems["ADAPT-LIN"][int(np.lexsort((curves["ADAPT-LIN"][:, 0], -curves["ADAPT-LIN"][:, 1]))[0])]
    plot_regions(best, X, y, axes[0])
    axes[0].set_title(f"Synthetic-2; ADAPT-LIN uses feature {best.pair_.used.tolist()[0] + 1}")
    lines = ["| method | least mean cost at full accuracy | expected |", "|---|---|---|"]
    for (name, points), due in zip(curves.items(), ("110/70 = 1.571", "120/70 = 1.714"), strict=True):
        costs, scores = points.T
        lines.append(f"| {name} | {costs[scores == 1].min():.3f} | {due} |")
        order = np.lexsort((scores, costs))
        axes[1].step(costs[order], np.maximum.accumulate(scores[order]), where="post", label=name)
    axes[1].set_xlabel("mean cost")
    axes[1].set_ylabel("accuracy")
    axes[1].legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "nan_adaptive_figure53.png", dpi=80)
    plt.close(figure)
    return "\n".join(lines)


# ---- the page ----------------------------------------------------------------------------------------------


def save(name: str, found: Found) -> None:
    """Leave the points of a set for the page."""
    keep(WAY.folder / f"{name}.json", json.dumps(asdict(found)))


def read(name: str) -> Found | None:
    """Return the points of a set, if it has been run."""
    path = WAY.folder / f"{name}.json"
    if not path.is_file():
        return None
    plain = json.loads(path.read_text())
    curves = {method: [Dot(**dot) for dot in found] for method, found in plain["curves"].items()}
    done = {method: (count, of) for method, (count, of) in plain["done"].items()}
    return Found(Dot(**plain["full"]), curves, plain["seconds"], done)


def near(found: Found, method: str, loss: float = 0.01) -> Dot | None:
    """Return the cheapest system whose validation accuracy is within ``loss`` of the expensive model's."""
    least = found.full.validation_score - loss
    kept = [dot for dot in found.curves[method] if dot.validation_score >= least]
    return min(kept, key=lambda dot: dot.validation_spend, default=None)


def reductions() -> str:
    """Return the table of cost reductions within 1 %."""
    lines = [
        "| set | method | f0: accuracy, cost | accuracy | cost | reduction | within 1 % on test "
        "| by test curve | thesis |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in SETS:
        if (found := read(name)) is None:
            continue
        due = next((v for key, v in PUBLISHED.items() if name.startswith(key)), None)
        for method in found.curves:
            full, dot = found.full, near(found, method)
            head = f"| {name} | {method} | {full.score:.4f}, {full.spend:.2f} |"
            if dot is None:
                lines.append(f"{head} never within 1 % | | | | | |")
                continue
            cut = 1 - dot.spend / full.spend
            holds = "yes" if dot.score >= full.score - 0.01 else f"no, {full.score - dot.score:.2%} below"
            seen = [d.spend for d in found.curves[method] if d.score >= full.score - 0.01]
            read_off = f"{1 - min(seen) / full.spend:.1%}" if seen else "never"
            mark = f"{due:.0%}" if due and "ADAPT-GBRT" in method else ""
            cells = f"{dot.score:.4f} | {dot.spend:.2f} | {cut:.1%} | {holds} | {read_off} | {mark} |"
            lines.append(f"{head} {cells}")
    return "\n".join(lines)


def best_at(found: Found, method: str, fraction: float) -> float | None:
    """Return the test accuracy of the best system by validation that spends a share of f0's cost at most."""
    limit = fraction * found.full.validation_spend
    fits = [dot for dot in found.curves[method] if dot.validation_spend <= limit]
    return max(fits, key=lambda dot: dot.validation_score).score if fits else None


def misses(name: str, found: Found, ours: str) -> str:
    """Return where another method is more accurate than ours at the same cost."""
    lines = []
    for method in found.curves:
        pairs = [(f, best_at(found, ours, f), best_at(found, method, f)) for f in FRACTIONS]
        both = [(f, a, b) for f, a, b in pairs if a is not None and b is not None]
        behind = [f"{f:.0%} (by {b - a:.4f})" for f, a, b in both if b > a]
        if behind:
            lines.append(f"{name}: {ours} is behind {method} at {', '.join(behind)} of the cost of f0.")
    if not lines:
        lines.append(f"{name}: {ours} is behind none at any of these costs.")
    for method, points in found.curves.items():
        spends = sorted(point.validation_spend for point in points)
        low, high = max(pairwise(spends), key=lambda p: p[1] - p[0], default=(0.0, 0.0))
        if high - low > found.full.validation_spend / 2:
            lines.append(
                f"{method} has no system between the costs {low:.1f} and {high:.1f}, which is not explained; "
                "the columns between say nothing about it."
            )
    return " ".join(lines)


def at_costs(name: str, found: Found) -> str:
    """Return test accuracies at the same mean costs, each method's best system by validation."""
    fractions = FRACTIONS
    lines = [
        f"| {name}, share of the cost of f0 | " + " | ".join(f"{f:.0%}" for f in fractions) + " |",
        "|---|" + "---|" * len(fractions),
    ]
    for method in found.curves:
        cells = []
        for fraction in fractions:
            score = best_at(found, method, fraction)
            cells.append("" if score is None else f"{score:.4f}")
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(names: list[str], path: Path) -> None:
    """Draw test accuracy over mean cost, a panel for each set."""
    figure, axes = plt.subplots(1, len(names), figsize=(5 * len(names), 4), squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        found = read(name)
        assert found is not None
        for method, dots_of in found.curves.items():
            points = sorted((dot.spend, dot.score) for dot in dots_of)
            ax.plot(*np.array(points).T, marker=".", label=method)
        ax.axhline(found.full.score, color="0.6", linestyle=":", label="f0")
        ax.axhline(found.full.score - 0.01, color="0.8", linestyle=":")
        ax.set_title(name)
        ax.set_xlabel("mean cost")
        ax.set_ylabel("test accuracy")
        ax.set_ylim(bottom=max(0.5, found.full.score - 0.25))
        ax.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)


def page(sweep: Sweep, full: bool) -> str:
    """Return the page."""
    there = [name for name in SETS if read(name) is not None]
    text = [
        "# Adaptive approximation, chapter 5 of Nan's thesis",
        f"Made by `python -m experiments.nan_adaptive{' --full' * full}`; sets may be run one by one, by "
        "`--sets NAME`. All choices are made on validation rows; accuracies and costs are those of test "
        f"rows. ADAPT-GBRT: {len(sweep.gammas)} gammas x {len(sweep.p_fulls)} shares P_full x "
        f"{len(sweep.rates)} learning rates, {sweep.n_trees} trees each for gate and f1, "
        f"{sweep.n_alternations} turns; each gate at the threshold 0 and at {len(SHARES)} others. The Greedy "
        f"Miser has {2 * sweep.n_trees} trees, BudgetPrune starts from the forest that is f0. Costs are 1 "
        "for each feature. Letters: 12,000 / 4,000 / 4,000 rows, those before N against the rest; covtype: "
        "a seeded sample of 36,603 / 15,688 / 58,101; miniboone is the balanced sample of 5,000 rows, since "
        "the full table is not to be had.",
        "## Cost reduction within 1 % of the expensive model's accuracy",
        "The cheapest system of each method whose validation accuracy is within 1 % of that of f0. The goal "
        "is at least the thesis's reduction. By test curve: the largest reduction of a frontier system whose "
        "test accuracy is within 1 %, which is how one reads the thesis's figures.",
        reductions(),
        "## Accuracy at the same cost",
        "\n\n".join(
            at_costs(name, found) + "\n\n" + misses(name, found, OURS.get(name, "ADAPT-GBRT"))
            for name in there
            if (found := read(name)) is not None
        ),
        "## Synthetic-1 (figure 5.2)",
        figure_5_2(),
        "![Regions of gate and f1 on Synthetic-1](nan_adaptive_figure52.png)",
        "## Synthetic-2 (figure 5.3)",
        figure_5_3(),
        "![Synthetic-2 and its trade-offs](nan_adaptive_figure53.png)",
    ]
    for title, names, file in (
        ("Letters (figure 5.5)", ["letters_svm", "letters_rf", "letters_nest"], "nan_adaptive_figure55.png"),
        ("A forest as f0 (figure 5.4)", ["miniboone", "covtype"], "nan_adaptive_figure54.png"),
    ):
        if kept := [name for name in names if name in there]:
            draw(kept, RESULTS / file)
            text += [f"## {title}", f"![Accuracy over cost]({file})"]
    times = [
        f"{name}: " + ", ".join(f"{method} {seconds:.0f} s" for method, seconds in found.seconds.items())
        for name in there
        if (found := read(name)) is not None
    ]
    text += [
        "## Time",
        "Seconds that each method took, on two cores that other work shared; a method that was run in pieces "
        "has the processor time of its fits, without that of f0. Sets that are missing above were not run. "
        + "; ".join(times)
        + ".",
    ]
    return "\n\n".join(text) + "\n"


def main() -> None:
    """Run sets, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS), help="all if left out")
    parser.add_argument("--full", action="store_true", help="the sweep of the appendix, which takes days")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing new after so many")
    parser.add_argument("--jobs", type=int, default=2, help="settings fitted side by side (2)")
    given = parser.parse_args()
    WAY.end, WAY.jobs = time.monotonic() + 60 * given.minutes, given.jobs
    WAY.folder = CACHE / "full" if given.full else CACHE
    sweep = FULL if given.full else DEFAULT
    for name in given.sets:
        save(name, SETS[name](sweep))
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "nan_adaptive.md").write_text(page(sweep, given.full))


if __name__ == "__main__":
    main()
