"""Prune a forest for every trade-off at once: BudgetPrune of Nan's thesis, and two baselines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import closure_path, feature_paths
from farthing.costs import CostsLike
from farthing.forests.budget_prune.integer_grid import Gains, Risk
from farthing.forests.budget_prune.problem import PruningProblem
from farthing.forests.budget_prune.pruning_path import PruningPath
from farthing.table.bins import plain
from farthing.trees import Predictor

Progress: TypeAlias = bool | Callable[[float], object]


def prune_path(  # noqa: PLR0917 - the two tables and what goes with each
    forest: Any,
    X: Any,
    y: Any,
    costs: CostsLike = None,
    X_error: Any = None,
    y_error: Any = None,
    path_length_cost: float = 0,
    *,
    progress: Progress = False,
    n_jobs: int | None = None,
) -> PruningPath:
    """Prune a forest by BudgetPrune, exactly and for every trade-off at once.

    At each trade-off the pruning minimises ``objective error + tradeoff * mean cost`` over all prunings: the
    integer program (IP) of Nan's thesis, chapter 4, with the shared costs of groups. The gain of a split is
    the number of errors that it removes; each row pays for a feature once, however many trees test it. This
    is a maximum-weight closure problem: a minimum cut solves it for one trade-off, a parametric minimum cut
    for all, breakpoint by breakpoint.

    Errors and prices are converted to integers, so that ties and breakpoints are exact. Errors are counts of
    rows. Prices with at most nine decimals are exact; other prices, and weighted errors, are rounded to the
    finest power of two at which their sum is less than 2**52.

    Parameters
    ----------
    forest : estimator
        A fitted classifier with trees (`BudgetForestClassifier`, `BudgetTreeClassifier`, an imported forest).
        It is not changed.
    X : array or frame, shape (n_rows, n_features)
        The rows whose cost is measured, preferably not those that the trees were grown on.
    y : array, shape (n_rows,)
        Their labels, for ``forest_errors``, and for the objective where errors are counted on these rows.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means those of the model.
    X_error, y_error : array or frame, shape (n_error_rows, n_features), and array, shape (n_error_rows,)
        The rows that errors are counted on. None counts them on the rows that the trees were grown on, by the
        class weights that the trees hold; imported forests hold none, so theirs are counted on X and y.
    path_length_cost : float
        The cost of each test in each tree, in the unit of the sheet, whether or not its feature is owned (the
        computational cost of the integer program).
    progress : bool or callable
        True prints the share of the work done to stderr; a callable is called with it, from 0 to 1.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same path.

    Returns
    -------
    PruningPath

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> from farthing.forests import BudgetForestClassifier
    >>> heart = load_heart_disease()
    >>> forest = BudgetForestClassifier(n_estimators=5, costs=heart.costs, random_state=0)
    >>> forest = forest.fit(heart.X[::2], heart.y[::2])
    >>> path = prune_path(forest, heart.X[1::2], heart.y[1::2])
    >>> pruned = path.within(30).model
    >>> float(pruned.spend(heart.X[1::2]).mean()) <= 30
    True
    """
    problem = PruningProblem.of(forest, X, y, costs, n_jobs)
    return exact_path(problem, problem.gains("error", X_error, y_error), path_length_cost, progress)


def exact_path(
    problem: PruningProblem, gains: Gains, path_length_cost: float = 0.0, progress: Progress = False
) -> PruningPath:
    """Return the path of BudgetPrune; see `prune_path`."""
    prices = problem.prices(path_length_cost)
    # Optimal prunings are nested, since only the costs grow with the trade-off: one number per node, `drop`,
    # holds the whole path. Breakpoints p/q are exact fractions, in steps of gain per step of price summed
    # over the rows; the objective has means over the rows, hence the factor.
    p, q, drop, _ = problem.closure(gains, prices).path(_reporter(progress))
    rate = gains.unit / prices.unit * len(problem.values)
    return problem.path(gains, _tradeoffs(p, q, rate), drop)


def cost_complexity_path(  # noqa: PLR0917 - as prune_path
    forest: Any,
    X: Any,
    y: Any,
    costs: CostsLike = None,
    X_error: Any = None,
    y_error: Any = None,
    *,
    risk: Risk = "error",
    progress: Progress = False,
    n_jobs: int | None = None,
) -> PruningPath:
    """Prune each tree by Breiman's minimal cost-complexity, all at one rate, regardless of prices.

    Each tree minimises ``risk + tradeoff * number of leaves``. For one tree and "gini", the trade-off is
    scikit-learn's ``ccp_alpha``.

    Parameters
    ----------
    forest, X, y, costs, X_error, y_error, progress, n_jobs
        As in `prune_path`; prices do not affect the prunings, only their measured costs.
    risk : {"error", "gini", "entropy"}
        The impurity of the leaves; those other than "error" use the class weights that the trees hold.

    Returns
    -------
    PruningPath
        Its ``tradeoffs`` are rates per leaf, its ``objective_errors`` mean risks.
    """
    problem = PruningProblem.of(forest, X, y, costs, n_jobs)
    gains = problem.gains(risk, X_error, y_error)
    trees = problem.predictor.forest
    inner = np.flatnonzero(trees.feature >= 0)
    place = np.full(trees.n_nodes, -1, dtype=np.int64)
    place[inner] = np.arange(len(inner))
    starts = trees.tree_starts()
    # Also a closure problem: each split needs its parent's (arcs from child to parent) and adds one leaf, so
    # all have the price 1.
    heads = np.concatenate([inner, inner])
    tails = np.concatenate([starts[inner] + trees.left[inner], starts[inner] + trees.right[inner]])
    split = place[tails] >= 0
    p, q, steps, _ = closure_path(
        gains.steps[inner],
        np.ones(len(inner), dtype=np.int64),
        place[tails[split]],
        place[heads[split]],
        _reporter(progress),
    )
    drop = np.zeros(trees.n_nodes, dtype=np.int64)
    drop[inner] = steps
    # Gains are parts of the mean over the trees, while the trade-off is that of each tree.
    return problem.path(gains, _tradeoffs(p, q, gains.unit * trees.n_trees), drop)


def greedy_feature_path(  # noqa: PLR0917 - as prune_path
    forest: Any,
    X: Any,
    y: Any,
    costs: CostsLike = None,
    X_error: Any = None,
    y_error: Any = None,
    *,
    progress: Progress = False,
    n_jobs: int | None = None,
) -> PruningPath:
    """Prune by GreedyPrune: remove one feature after another from the whole forest.

    Each step removes the feature whose removal, with all splits below its own, increases the objective error
    the least per unit of mean cost saved. Ties go to the one that saves more, then to the earlier column. The
    path ends when no removal saves anything.

    Parameters
    ----------
    forest, X, y, costs, X_error, y_error, progress, n_jobs
        As in `prune_path`.

    Returns
    -------
    PruningPath
        One pruning per removed feature. Its ``tradeoffs`` are the largest increase per unit of cost so far.
    """
    problem = PruningProblem.of(forest, X, y, costs, n_jobs)
    gains = problem.gains("error", X_error, y_error)
    trees = problem.predictor.forest
    removals = _greedy_removals(problem, gains, _reporter(progress))
    # Features that are never removed drop after the last pruning.
    step = np.full(trees.n_features, len(removals) + 1, dtype=np.int64)
    tradeoffs = [Fraction(0)]
    for number, (feature, ratio) in enumerate(removals, start=1):
        step[feature] = number
        # A greedy step may have a lower ratio than the one before; the trade-offs of a path must ascend.
        tradeoffs.append(max(tradeoffs[-1], ratio))
    drop = np.where(trees.feature >= 0, step[trees.feature], 0)
    drop = _nested(problem.predictor, drop)
    return problem.path(gains, [_as_float(tradeoff) for tradeoff in tradeoffs], drop)


def _greedy_removals(
    problem: PruningProblem, gains: Gains, report: Callable[[float], None] | None
) -> list[tuple[int, Fraction]]:
    """Return the features in the order of removal, each with the increase of error per unit of cost."""
    trees, sheet, prices = problem.predictor.forest, problem.costs, problem.prices(0.0)
    paths = feature_paths(problem.predictor.core, plain(problem.values), sheet.group_of, len(sheet.shared))
    rate = gains.unit / prices.unit * len(problem.values)
    weights = [int(price) for price in (*prices.own, *prices.shared)]
    removed = np.zeros(trees.n_features, dtype=np.uint8)
    removals: list[tuple[int, Fraction]] = []
    while True:
        if report is not None:
            report((len(removals) + 1) / (trees.n_features + 1))
        losses = [int(loss) for loss in paths.losses(gains.steps, removed)]
        # Python integers, which do not overflow: rows times prices may pass 2**63.
        saved = [
            sum(int(rows) * price for rows, price in zip(items, weights, strict=True) if rows)
            for items in paths.savings(removed, problem.threads)
        ]
        offers = [
            (Fraction(losses[k], saved[k]), -saved[k], k) for k in range(trees.n_features) if saved[k] > 0
        ]
        if not offers:
            break
        # Fractions compare exactly, so ties are true ties.
        ratio, _, best = min(offers)
        removed[best] = 1
        removals.append((best, ratio * rate))
    if report is not None:
        report(1.0)
    return removals


def _tradeoffs(p: NDArray[np.int64], q: NDArray[np.int64], rate: Fraction) -> list[float]:
    """Return the breakpoints p/q in the unit of the trade-off, preceded by 0."""
    return [0.0, *(_as_float(Fraction(int(a), int(b)) * rate) for a, b in zip(p, q, strict=True))]


def _as_float(tradeoff: Fraction) -> float:
    """Return a trade-off as a float; the largest, if it is more than a float holds, as for tiny prices."""
    return float(min(tradeoff, Fraction(sys.float_info.max)))


def _nested(predictor: Predictor, drop: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bound the drop of each node by that of its parent, level by level."""
    trees = predictor.forest
    starts, bounded = trees.tree_starts(), drop.copy()
    level = trees.offsets[:-1]
    while len(level := level[trees.feature[level] >= 0]):
        children = [starts[level] + trees.left[level], starts[level] + trees.right[level]]
        # A node below one that is no longer split is gone, whatever its own feature.
        for child in children:
            bounded[child] = np.minimum(bounded[child], bounded[level])
        level = np.concatenate(children)
    return bounded


def _reporter(progress: Progress) -> Callable[[float], None] | None:
    if progress is False or progress is None:
        return None
    if progress is True:
        return _print_share
    if not callable(progress):
        raise TypeError(f"progress must be True, False or a callable; got {progress!r}")

    def report(share: float) -> None:
        progress(share)

    return report


def _print_share(share: float) -> None:
    end = "\n" if share >= 1 else ""
    print(f"\rpruning: {share:4.0%}", end=end, file=sys.stderr, flush=True)
