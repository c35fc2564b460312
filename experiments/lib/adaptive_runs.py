"""The runs of `experiments.papers.nan2018_adaptive`: the methods and the sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.lib.adaptive_pieces import OPTIONS, Dot, Found, Pieces, Run, Works, frontier, near, parts_of
from experiments.lib.adaptive_sweeps import (
    COVTYPE,
    MINIBOONE,
    Sweep,
    adjusted,
    l1_settings,
    line_settings,
    product,
    tree_settings,
)
from experiments.lib.forest_runs import Part, Task, by_split, covtype, shrunk
from farthing.adaptive import AdaptGbrtClassifier, AdaptLinClassifier, L1GateClassifier
from farthing.adaptive.adapt.sweep import AdaptSweep
from farthing.base import Point
from farthing.boosting import GreedyMiserClassifier, miser_path
from farthing.datasets import load_table
from farthing.forests import BudgetForestClassifier, prune_path

LETTER_SIZES = (12_000, 4_000, 4_000)


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


def dot(point: Point) -> Dot:
    """Return a system of a path without its model."""
    figures = (point.spend, point.score, point.test_spend, point.test_score)
    return Dot(*figures, dict(point.params), point.details["threshold"])


def fits(systems: AdaptSweep, estimator: Any, settings: list[dict[str, Any]]) -> Works:
    """Return the work of each setting, by a name for it."""

    def work(params: dict[str, Any]) -> list[Dot]:
        return [dot(point) for point in systems.fit(params, estimator)]

    return {named(params): partial(work, params) for params in settings}


def named(params: dict[str, Any]) -> str:
    """Return a name for a setting."""
    return ",".join(f"{name}={value:.5g}" for name, value in params.items())


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


def misers(task: Task, sweep: Sweep) -> Works:
    """Return the Greedy Miser, stopped at each 10 rounds.

    Of two classes it has as many trees as gate and f1 together. Of more, where a round is one tree per class,
    the gate's trees are few beside those of f1, and it has as many rounds as f1.
    """

    def work(tradeoff: float, **params: Any) -> list[Dot]:
        model = GreedyMiserClassifier(relative=True, multi_strategy="one_output_per_tree", **params)
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


SETS: dict[str, Callable[[Sweep], Found]] = {
    "covtype": lambda sweep: with_forest("covtype", covtype(0, sweep.shrink), adjusted(sweep, COVTYPE)),
    "miniboone": lambda sweep: with_forest(
        "miniboone", shrunk(by_split("miniboone_tiny"), sweep.shrink), adjusted(sweep, MINIBOONE)
    ),
    "letters_svm": letters_svm,
    "letters_rf": letters_rf,
    "letters_nest": nest,
}
