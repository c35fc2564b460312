"""Pruning a forest for every trade-off of error and cost at once: BudgetPrune of Nan's thesis, its rivals."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from farthing._core import Pruning, closure_path, feature_paths, path_curve
from farthing.base import ContractClassifier, TreesMixin, n_threads
from farthing.costs import CostSheet
from farthing.forests.pruning_grid import Gains, GridPrices, Risk, bag_gains, grid_prices, row_gains
from farthing.forests.pruning_path import PruningPath
from farthing.table.bins import plain
from farthing.trees import Predictor, pruned

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
    >>> forest = BudgetForestClassifier(max_trees=5, costs=heart.costs, random_state=0)
    >>> forest = forest.fit(heart.X[::2], heart.y[::2])
    >>> path = prune_path(forest, heart.X[1::2], heart.y[1::2])
    >>> model = path.within(30)
    >>> float(model.spend(heart.X[1::2]).mean()) <= 30
    True
    """
    case = _Case.of(forest, X, y, costs, n_jobs)
    gains = case.gains("error", X_error, y_error)
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
    case = _Case.of(forest, X, y, costs, n_jobs)
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
    case = _Case.of(forest, X, y, costs, n_jobs)
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


@dataclass(frozen=True)
class _Case:
    """A model, its prices, and rows that pay."""

    model: Any
    sheet: CostSheet
    predictor: Predictor
    values: NDArray[np.floating]
    codes: NDArray[np.int64]
    threads: int

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, costs: Any, n_jobs: int | None) -> _Case:
        """Check what a user gave."""
        if not (isinstance(model, TreesMixin) and isinstance(model, ContractClassifier)):
            raise TypeError(
                "only a classifier made of trees can be pruned, such as BudgetForestClassifier; got "
                f"{type(model).__name__}"
            )
        check_is_fitted(model)
        if model.forest_.width != len(model.classes_):
            raise ValueError(
                "only trees that each tell all classes apart can be pruned: a forest, not a boosted model; "
                f"these give {model.forest_.width} score(s) for {len(model.classes_)} classes"
            )
        sheet = model.costs_ if costs is None else CostSheet.of(costs, model.schema_.names)
        predictor = model._ready()
        values, codes = _rows(model, X, y)
        return cls(model, sheet, predictor, values, codes, n_threads(n_jobs))

    def gains(self, risk: Risk, X_error: Any, y_error: Any) -> Gains:
        """Return what each split saves."""
        if (X_error is None) != (y_error is None):
            raise ValueError("X_error and y_error go together: give both or neither")
        if X_error is None:
            return bag_gains(self.predictor.forest, risk)
        if risk != "error":
            raise ValueError(f"rows tell errors only: leave out X_error and y_error, or risk={risk!r}")
        return row_gains(self.predictor, *_rows(self.model, X_error, y_error))

    def prices(self, path_length_cost: float) -> GridPrices:
        """Return the prices on their grid."""
        test = float(path_length_cost)
        if not 0 <= test < np.inf:
            raise ValueError(f"path_length_cost must be zero or more, and finite; got {path_length_cost!r}")
        trees = self.predictor.forest
        n_rows = len(self.values)
        return grid_prices(self.sheet, test, n_rows, n_rows * trees.n_trees * trees.depth())

    def problem(self, gains: Gains, prices: GridPrices) -> Pruning:
        """Return the closure problem."""
        return Pruning.make(
            self.predictor.core,
            plain(self.values),
            gain=gains.steps,
            own=prices.own,
            shared=prices.shared,
            group_of=self.sheet.group_of,
            test=prices.test,
        )

    def path(self, gains: Gains, lambdas: list[float], drop: NDArray[np.int64]) -> PruningPath:
        """Measure the prunings of a nested path."""
        trees, sheet, n_entries = self.predictor.forest, self.sheet, len(lambdas)
        prior = int(np.argmax(self.model._conclude(self.model.prior_[np.newaxis])[0]))
        bought, tests, wrong = path_curve(
            self.predictor.core,
            plain(self.values),
            drop=drop,
            n_entries=n_entries,
            y=self.codes,
            prior=prior,
            group_of=sheet.group_of,
            n_groups=len(sheet.shared),
            n_threads=self.threads,
        )
        n_rows = len(self.values)
        spent = np.zeros(n_entries)
        for price, rows in zip((*sheet.own, *sheet.shared), bought, strict=True):
            spent += price * _later(rows)
        inner = trees.feature >= 0
        kept = _later(np.bincount(drop[inner], minlength=n_entries + 1))
        lost = np.zeros(n_entries + 1, dtype=np.int64)
        np.add.at(lost, drop[inner], gains.steps[inner])
        objective = [float(gains.unsplit - int(saved) * gains.unit) for saved in _later(lost)]
        return PruningPath(
            lambdas=np.array(lambdas),
            costs=spent / n_rows,
            objective_errors=np.array(objective),
            forest_errors=wrong / n_rows,
            n_leaves=trees.n_trees + kept,
            path_lengths=_later(tests) / n_rows,
            drop=drop,
            build=self.build,
            unit=sheet.unit,
        )

    def build(self, kept: NDArray[np.bool_]) -> Any:
        """Return the model with fewer splits and, if they are not its own, the prices of the pruning."""
        model = copy.copy(self.model)
        model.forest_ = pruned(self.predictor.forest, kept)
        if self.sheet is not self.model.costs_:
            model.costs_ = self.sheet
            if "costs" in model.get_params(deep=False):
                model.set_params(costs=self.sheet)
        return model


def _rows(model: Any, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Return an encoded table, and labels as places in ``classes_``, -1 for those of no class."""
    encoded = model.schema_.encode(X, type(model).__name__)
    labels = column_or_1d(y)
    check_consistent_length(encoded.values, labels)
    if not len(labels):
        raise ValueError("there are no rows to prune by")
    _, acquired = model._ready().predict(encoded.values)
    encoded.check(acquired)
    codes = np.full(len(labels), -1, dtype=np.int64)
    for code, label in enumerate(model.classes_):
        codes[labels == label] = code
    return encoded.values, codes


def _later(at_drop: NDArray[Any]) -> NDArray[np.int64]:
    """Sum what drops after each entry: (n_entries + 1,) to (n_entries,)."""
    return np.asarray(np.cumsum(at_drop[::-1], dtype=np.int64)[::-1][1:])


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
