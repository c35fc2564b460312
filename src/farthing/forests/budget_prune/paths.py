"""Pruning a forest for every trade-off of error and cost at once: BudgetPrune of Nan's thesis, its rivals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import closure_path, feature_paths
from farthing.forests.budget_prune.integer_grid import Gains, Risk
from farthing.forests.budget_prune.problem import Case
from farthing.forests.budget_prune.pruning_path import PruningPath
from farthing.table.bins import plain
from farthing.trees import Predictor

Progress: TypeAlias = bool | Callable[[float], object]


def prune_path(  # noqa: PLR0917 - the two tables and what goes with each
    forest: Any,
    X: Any,
    y: Any,
    costs: Any = None,
    X_error: Any = None,
    y_error: Any = None,
    path_length_cost: float = 0,
    *,
    progress: Progress = False,
    n_jobs: int | None = None,
) -> PruningPath:
    """Prune a forest by BudgetPrune, exactly and for every trade-off at once.

    At the trade-off ``lam`` the pruning has the least ``objective error + lam * mean cost`` of all prunings:
    the integer program (IP) of Nan's thesis, chapter 4, with the shared costs of groups. A split is worth the
    errors that it removes; each row pays once for a feature, in whichever tree it meets it. That is a closure
    problem, which one minimum cut solves for one trade-off and a parametric one for all, breakpoint by
    breakpoint.

    Errors and prices are put on grids of whole numbers, so that ties and breakpoints are exact. Errors are
    counts of rows. Prices with at most nine decimals are exact; other prices, and weighted errors, are
    rounded to the finest power of two at which all of them add up to less than 2**52.

    Parameters
    ----------
    forest : estimator
        A fitted classifier with trees (`BudgetForestClassifier`, `BudgetTreeClassifier`, an imported forest).
        It is left as it is.
    X : array or frame, shape (n_rows, n_features)
        The rows that pay, best not those that the trees were grown on.
    y : array, shape (n_rows,)
        Their labels, for ``forest_errors`` only.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is those of the model.
    X_error, y_error : array or frame, shape (n_error_rows, n_features), and array, shape (n_error_rows,)
        The rows that errors are counted on; None is the weights in the trees, of the rows they were grown on.
        An imported forest needs them.
    path_length_cost : float
        What one test in one tree costs, in the unit of the sheet, owned or not (the computational cost of the
        program).
    progress : bool or callable
        True prints the share that is decided to stderr; a callable is given it, from 0 to 1.
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
    >>> model = path.within(30)
    >>> float(model.spend(heart.X[1::2]).mean()) <= 30
    True
    """
    case = Case.of(forest, X, y, costs, n_jobs)
    return path_of(case, case.gains("error", X_error, y_error), path_length_cost, progress)


def path_of(
    case: Case, gains: Gains, path_length_cost: float = 0.0, progress: Progress = False
) -> PruningPath:
    """Return the exact path of what `prune_path` has checked."""
    prices = case.prices(path_length_cost)
    problem = case.problem(gains, prices)
    p, q, drop, _ = problem.path(_reporter(progress))
    rate = gains.unit / prices.unit * len(case.values)
    lambdas = [float(Fraction(int(a), int(b)) * rate) for a, b in zip(p, q, strict=True)]
    return case.path(gains, [0.0, *lambdas], drop)


def cost_complexity_path(  # noqa: PLR0917 - as prune_path
    forest: Any,
    X: Any,
    y: Any,
    costs: Any = None,
    X_error: Any = None,
    y_error: Any = None,
    *,
    risk: Risk = "error",
    progress: Progress = False,
    n_jobs: int | None = None,
) -> PruningPath:
    """Prune each tree by Breiman's minimal cost-complexity, all at one rate, blind to what features cost.

    At ``lam`` each tree has the least ``risk + lam * number of leaves``. For one tree and "gini" that is
    scikit-learn's ``ccp_alpha``.

    Parameters
    ----------
    forest, X, y, costs, X_error, y_error, progress, n_jobs
        As in `prune_path`; prices only measure what the prunings cost.
    risk : {"error", "gini", "entropy"}
        What leaves are charged for; others than "error" go by the weights in the trees.

    Returns
    -------
    PruningPath
        Its ``lambdas`` are rates per leaf, its ``objective_errors`` mean risks.
    """
    case = Case.of(forest, X, y, costs, n_jobs)
    gains = case.gains(risk, X_error, y_error)
    trees = case.predictor.forest
    inner = np.flatnonzero(trees.feature >= 0)
    place = np.full(trees.n_nodes, -1, dtype=np.int64)
    place[inner] = np.arange(len(inner))
    starts = trees.tree_starts()
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
    # The unit is a share of the mean over the trees; a rate is that of each tree.
    rate = gains.unit * trees.n_trees
    lambdas = [float(Fraction(int(a), int(b)) * rate) for a, b in zip(p, q, strict=True)]
    return case.path(gains, [0.0, *lambdas], drop)


def greedy_feature_path(  # noqa: PLR0917 - as prune_path
    forest: Any,
    X: Any,
    y: Any,
    costs: Any = None,
    X_error: Any = None,
    y_error: Any = None,
    *,
    progress: Progress = False,
    n_jobs: int | None = None,
) -> PruningPath:
    """Prune by GreedyPrune: feature after feature leaves the whole forest.

    Each time the feature goes whose removal, with all that hangs below its splits, raises the objective error
    the least per unit of mean cost that it saves; of equals the one that saves more, then the earlier column.
    It ends when no removal saves anything.

    Parameters
    ----------
    forest, X, y, costs, X_error, y_error, progress, n_jobs
        As in `prune_path`.

    Returns
    -------
    PruningPath
        An entry for each feature removed. Its ``lambdas`` are the largest rise per unit of cost so far.
    """
    case = Case.of(forest, X, y, costs, n_jobs)
    gains = case.gains("error", X_error, y_error)
    prices = case.prices(0.0)
    report = _reporter(progress)
    trees, sheet = case.predictor.forest, case.sheet
    paths = feature_paths(case.predictor.core, plain(case.values), sheet.group_of, len(sheet.shared))
    removed = np.zeros(trees.n_features, dtype=np.uint8)
    step = np.full(trees.n_features, -1, dtype=np.int64)
    lambdas = [Fraction(0)]
    rate = gains.unit / prices.unit * len(case.values)
    weights = [int(price) for price in (*prices.own, *prices.shared)]
    while True:
        if report is not None:
            report(len(lambdas) / (trees.n_features + 1))
        losses = [int(loss) for loss in paths.losses(gains.steps, removed)]
        saved = [
            sum(int(rows) * price for rows, price in zip(items, weights, strict=True) if rows)
            for items in paths.savings(removed, case.threads)
        ]
        offers = [
            (Fraction(losses[k], saved[k]), -saved[k], k) for k in range(trees.n_features) if saved[k] > 0
        ]
        if not offers:
            break
        ratio, _, best = min(offers)
        removed[best] = 1
        step[best] = len(lambdas)
        lambdas.append(max(lambdas[-1], ratio * rate))
    if report is not None:
        report(1.0)
    step[step < 0] = len(lambdas)
    drop = np.where(trees.feature >= 0, step[trees.feature], 0)
    return case.path(gains, [float(lam) for lam in lambdas], _under_parents(case.predictor, drop))


def _under_parents(predictor: Predictor, drop: NDArray[np.int64]) -> NDArray[np.int64]:
    """Let no node outlive its parent."""
    trees = predictor.forest
    starts, bounded = trees.tree_starts(), drop.copy()
    level = trees.offsets[:-1]
    while len(level := level[trees.feature[level] >= 0]):
        children = [starts[level] + trees.left[level], starts[level] + trees.right[level]]
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
