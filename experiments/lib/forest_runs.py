"""The runs of `experiments.papers.nan2018_forests`: tables in three parts, and curves of cost and error.

A curve is an array of shape (n_points, 4): mean cost and error on the validation rows, then on the test rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

from farthing.base.links import normalise
from farthing.boosting import GreedyMiserClassifier, miser_path
from farthing.costs import CostSheet
from farthing.datasets import load_table
from farthing.forests import (
    BudgetForestClassifier,
    PruningPath,
    cost_complexity_path,
    from_model,
    greedy_feature_path,
    prune_path,
)
from farthing.trees import Forest, Predictor, pruned

Curve: TypeAlias = NDArray[np.float64]

COVTYPE_SIZES: Final = (36_603, 15_688, 58_101)
ALPHAS: Final = (0, 2, 6, 10, 25, 45)  # some of section 3.5
# Of early stopping: shares of the entropy of all rows, and entropies of a node's rows in nats, added up.
ENTROPIES: Final = np.linspace(0, 0.96, 25)
IMPURITIES: Final = (1, 4, 16, 64, 256, 1024)
MOST_POINTS: Final = 400
PRUNINGS: Final[dict[str, Callable[..., PruningPath]]] = {
    "BudgetPrune": prune_path,
    "CCP": cost_complexity_path,
    "GreedyPrune": greedy_feature_path,
}


@dataclass(frozen=True)
class Size:
    """How large the models are."""

    n_estimators: int = 40
    miser_trees: int = 1000  # of all classes together, as in section 4.5.1
    n_settings: int | None = None  # of each rival of figure 3.3; None means all


@dataclass(frozen=True)
class Part:
    """Rows and their labels."""

    X: NDArray[np.float64]
    y: NDArray[Any]


@dataclass(frozen=True)
class Task:
    """A table in three parts, and prices."""

    name: str
    train: Part
    validation: Part
    test: Part
    costs: CostSheet | None = None


@dataclass(frozen=True)
class Cache:
    """Curves by name, kept in a folder so that a run can go on where another ended; None keeps nothing."""

    folder: Path | None

    def get(self, name: str, make: Callable[[], Curve]) -> Curve:
        """Return a curve from the folder, or make it."""
        if self.folder is None:
            return make()
        file = self.folder / f"{name}.npy"
        if not file.exists():
            found = make()
            self.folder.mkdir(parents=True, exist_ok=True)
            np.save(file, found)
            print(f"  {name}", flush=True)
        return np.asarray(np.load(file))


# ---- tables ------------------------------------------------------------------------------------------------


def covtype(seed: int, shrink: int) -> Task:
    """Return a seeded sample of all rows, in the sizes of the thesis or a fraction of them."""
    table = load_table("covtype")
    rows = np.random.default_rng(seed).permutation(len(table.y))
    ends = np.cumsum([size // shrink for size in COVTYPE_SIZES])
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
    train, validation, test = (Part(X[part], y[part]) for part in np.split(rows[: ends[-1]], ends[:-1]))
    return Task("covtype", train, validation, test)


def by_split(name: str, validation: float = 0.0) -> Task:
    """Return a table that comes with its parts; validation rows from the training rows if it has none."""
    table = load_table(name)
    X, y, split = np.asarray(table.X, dtype=np.float64), np.asarray(table.y), np.asarray(table.split)
    if validation:
        rows = np.flatnonzero(split == "train")
        held = np.random.default_rng(0).permutation(rows)[: int(validation * len(rows))]
        split = split.astype(object)
        split[held] = "validation"
    names = ("train", "validation", "test")
    train, held_out, test = (Part(X[split == name], y[split == name]) for name in names)
    return Task(name, train, held_out, test)


def shrunk(task: Task, shrink: int) -> Task:
    """Return the task with one row in so many of each part."""
    train, validation, test = (
        Part(part.X[::shrink], part.y[::shrink]) for part in (task.train, task.validation, task.test)
    )
    return replace(task, train=train, validation=validation, test=test)


def weights_as_costs(task: Task) -> Task:
    """Return the task with prices by the weights of a linear SVM, which add up to 50, as in section 4.5.2."""
    X = task.train.X / np.linalg.norm(task.train.X, axis=0).clip(1e-12)
    weights = np.abs(LinearSVC(C=100.0, max_iter=5000).fit(X * np.sqrt(len(X)), task.train.y).coef_[0])
    prices = np.clip(np.round(weights * 40 / weights.max()), 1, 40)
    return replace(task, costs=CostSheet(prices * len(prices) / prices.sum()))


# ---- forests -----------------------------------------------------------------------------------------------


def forest(task: Task, seed: int, n_estimators: int, settings: dict[str, Any]) -> BudgetForestClassifier:
    """Grow a forest on the training rows, blind to prices: only prunings see them."""
    model = BudgetForestClassifier(n_estimators=n_estimators, random_state=seed, n_jobs=-1, **settings)
    return model.fit(task.train.X, task.train.y)


def peer(task: Task, seed: int, n_estimators: int) -> Any:
    """Grow scikit-learn's forest, with the features of a split drawn as it does, and bring it over."""
    model = RandomForestClassifier(n_estimators, criterion="entropy", random_state=seed, n_jobs=-1)
    return from_model(model.fit(task.train.X, task.train.y))


def growth(task: Task, model: Any) -> Curve:
    """Return the curve of a forest with 1, 2, ... trees."""
    return np.column_stack([np.array(list(_growth(model, part))) for part in (task.validation, task.test)])


def votes(model: Any, trees: Forest, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the summed votes of some trees of a forest, and the features that they look at.

    Parameters
    ----------
    model : BudgetForestClassifier or ImportedClassifier
        The fitted forest that the trees are from.
    trees : Forest
        Some of its trees, or the same trees cut short.
    X : ndarray of float64, shape (n_rows, n_features)

    Returns
    -------
    outputs : ndarray of float64, shape (n_rows, n_classes)
        Shares of the classes in each tree's leaf, or its vote, summed over the trees.
    acquired : ndarray of bool, shape (n_rows, n_features)
    """
    scores = normalise(trees.value)
    if getattr(model, "aggregation_", None) == "vote":
        scores = np.asarray(np.eye(trees.n_outputs)[trees.value.argmax(axis=1)])
    return Predictor(trees, scores).predict(X, n_threads=2)


def _growth(model: Any, part: Part) -> Iterator[tuple[float, float]]:
    acquired = np.zeros(part.X.shape, dtype=bool)
    outputs = np.zeros((len(part.y), len(model.classes_)))
    for t in range(model.forest_.n_trees):
        more, touched = votes(model, model.forest_.trees(t, t + 1), part.X)
        outputs += more
        acquired |= touched
        cost = model.costs_.total_rows(acquired).mean()
        yield cost, float(np.mean(model.classes_[outputs.argmax(axis=1)] != part.y))


def miser(task: Task, tradeoff: float, n_estimators: int, learning_rate: float) -> Curve:
    """Return the curve of the Greedy Miser at one trade-off and learning rate, every tenth round."""
    n_classes = len(np.unique(task.train.y))
    rounds = n_estimators // (n_classes if n_classes > 2 else 1)
    model = GreedyMiserClassifier(
        n_estimators=rounds,
        learning_rate=learning_rate,
        relative=True,
        multi_strategy="one_output_per_tree",
        n_jobs=-1,
    )
    path = miser_path(
        model,
        task.train.X,
        task.train.y,
        tradeoffs=[tradeoff],
        validation=(task.validation.X, task.validation.y),
        test=(task.test.X, task.test.y),
        every=10,
    )
    return np.array([(p.spend, 1 - p.score, p.test_spend, 1 - p.test_score) for p in path])


# ---- prunings ----------------------------------------------------------------------------------------------


def pruning(task: Task, model: Any, method: str) -> Curve:
    """Return the curve of all prunings of a forest; of very many, as many as evenly spread costs pick."""
    path = PRUNINGS[method](model, task.validation.X, task.validation.y, task.costs, n_jobs=-1)
    whole = np.column_stack([path.costs, path.forest_errors, *path.curve(task.test.X, task.test.y)])
    goals = np.linspace(path.costs[0], path.costs[-1], MOST_POINTS)
    return whole[sorted({int(np.argmin(np.abs(path.costs - goal))) for goal in goals})]


def stopped_by_entropy(task: Task, model: BudgetForestClassifier) -> Curve:
    """Return the curve of forests whose nodes are split no more once their entropy falls below a threshold.

    Section 4.5.1. How a node is split does not depend on what becomes of others, so the trees of a threshold
    are those of the whole forest, cut short.
    """
    roots = model.forest_.offsets[:-1]
    entropies = entropy(model.forest_.value)
    least = ENTROPIES * entropies[roots].mean()
    return np.array([_measured(task, model, pruned(model.forest_, entropies >= level)) for level in least])


def entropy(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of the classes in bits, from their weights in each node.

    Examples
    --------
    >>> entropy(np.array([[2.0, 2.0], [3.0, 0.0]]))
    array([1., 0.])
    """
    return np.asarray(entr(normalise(weights)).sum(axis=1) / np.log(2))


def _measured(task: Task, model: Any, trees: Forest) -> list[float]:
    """Return the point of a curve of some trees of a forest, or of its trees cut short."""
    found: list[float] = []
    for part in (task.validation, task.test):
        outputs, acquired = votes(model, trees, part.X)
        wrong = model.classes_[outputs.argmax(axis=1)] != part.y
        found += [float(model.costs_.total_rows(acquired).mean()), float(wrong.mean())]
    return found


def early_stopping(task: Task, seed: int, n_estimators: int, settings: dict[str, Any]) -> Curve:
    """Return the one point of a forest whose growth stops early."""
    model = forest(task, seed, n_estimators, settings)
    decided = [(model.decide(part.X), part.y) for part in (task.validation, task.test)]
    return np.array([[n for d, y in decided for n in (d.spent.mean(), np.mean(d.prediction != y))]])


def chosen(curves: list[Curve], budgets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the test error at each budget, shape (n_curves, n_budgets).

    At a budget the point of the least validation error is taken whose validation rows cost no more on
    average; of equals the cheapest. NaN where there is none.
    """
    errors = np.full((len(curves), len(budgets)), np.nan)
    for errors_of, curve in zip(errors, curves, strict=True):
        for place, budget in enumerate(budgets):
            within = curve[curve[:, 0] <= budget * (1 + 1e-12)]
            if len(within):
                errors_of[place] = within[np.lexsort((within[:, 0], within[:, 1]))[0], 3]
    return errors
