"""Optimal trees: no tree of the same depth costs less on the training rows."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from farthing.base import (
    BudgetKind,
    BudgetPathMixin,
    PricedErrorsMixin,
    SweepContext,
    TrainingSet,
    documented,
    register,
)
from farthing.base.inputs import check_cap
from farthing.base.parameters import ANY_OR_NONE, NON_NEGATIVE, between, one_of
from farthing.base.priced_errors import ERROR_COSTS
from farthing.costs import CostsLike, spending_limit
from farthing.deadline import check_deadline, deadline_end
from farthing.forests.budget_rf.tree import ClassCountModel
from farthing.forests.optimal_tree.trade_offs import lower_hull
from farthing.forests.optimal_tree.tree_problem import MOST_LEVELS, OptimalTree, TreeProblem
from farthing.learning.price_of_money import price_of_money
from farthing.trees import Forest
from farthing.typing import Floats

NumericTests = Literal["thresholds", "intervals"]

# A sweep that names no method searches trees of depth 3 up to so many features, and of depth 4 while rows
# times cubed features, to which the time is roughly in proportion, are no more than this: half a second.
_FEW_FEATURES: Final = 20
_LITTLE_WORK: Final = 1_200_000
# The values of a column that it tells apart, as many as a diagnostic policy does.
_FEW_VALUES: Final = 6
# What all features together are worth by default, in errors.
_ERRORS_PER_ALL: Final = 0.01


@dataclass(frozen=True, eq=False, kw_only=True)
class OptimalTreeModel(ClassCountModel):
    """An optimal tree, with those of other mean budgets.

    Parameters
    ----------
    path : Forest
        The trees of the lower hull of spend and risk, the cheapest last; with a hard budget, the tree alone.
    path_costs, path_errors : ndarray of float64, shape (n_trees,)
        Mean spend, descending, and mean cost of errors of the training rows.
    path_objectives, path_bounds : ndarray of float64, shape (n_trees,)
        What each tree minimises, and what no tree can go below.
    objective : float
        Mean cost of errors plus trade-off times mean spend plus penalties.
    lower_bound : float
        No tree has a lower objective.
    optimality_gap : float
        The difference of the two; 0 if the search came to its end.
    """

    path: Forest
    path_costs: NDArray[np.float64]
    path_errors: NDArray[np.float64]
    path_objectives: NDArray[np.float64]
    path_bounds: NDArray[np.float64]
    objective: float
    lower_bound: float
    optimality_gap: float

    def within(self, budget: float | None) -> Self:
        """Return the first tree within a mean budget, the cheapest if there is none."""
        fits = np.flatnonzero(self.path_costs <= spending_limit(budget))
        number = int(fits[0]) if len(fits) else len(self.path_costs) - 1
        objective, bound = float(self.path_objectives[number]), float(self.path_bounds[number])
        return replace(
            self,
            forest=self.path.trees(number, number + 1),
            objective=objective,
            lower_bound=bound,
            optimality_gap=objective - bound,
        )

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.path.n_features != self.forest.n_features or self.path.width != self.forest.width:
            raise ValueError("the trees of all budgets must have the features and classes of the tree")
        for name in ("path_costs", "path_errors", "path_objectives", "path_bounds"):
            array = getattr(self, name)
            if array.dtype != np.float64 or array.shape != (self.path.n_trees,) or np.isnan(array).any():
                raise ValueError(f"{name} must have one float per tree")


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return trees of two depths; those of all mean budgets come with each."""
    return {"max_depth": [2, 3], "budget_kind": [context.budget_kind]}


def _auto(context: SweepContext) -> dict[str, list[Any]] | None:
    """Return trees where errors have prices, as deep as is fast; of all mean budgets only if there is one."""
    if context.error_costs is None:
        return None
    depths = [3] if context.n_features <= _FEW_FEATURES else [2]
    if context.n_rows * context.n_features**3 <= _LITTLE_WORK:
        depths = [3, 4]
    kind = "hard" if context.budget is None else context.budget_kind
    return {
        "max_depth": depths,
        "node_penalty": [1.0],
        "max_values": [_FEW_VALUES],
        "budget_kind": [kind],
    }


@register(
    grid=_grid,
    auto=_auto,
    rank=1,
    time_rank=1,
    trials=[
        {"max_depth": 2, "max_values": 6, "error_costs": 20.0, "budget_kind": "mean"},
        {
            "max_depth": 2,
            "max_values": 4,
            "numeric_tests": "intervals",
            "budget": 3.0,
            "tradeoff": 0.0,
            "node_penalty": 0.5,
        },
    ],
)
@documented({"error_costs": ERROR_COSTS})
class OptimalTreeClassifier(BudgetPathMixin, PricedErrorsMixin):
    """The tree of the least total cost, tests and errors, over all trees of a depth.

    It minimises the mean cost of errors plus ``tradeoff`` times the mean price of tests on the training rows
    over all trees of at most ``max_depth`` tests on a path, exactly, by dynamic programming over sub-tables.
    A column is paid once on a path, and so is the shared part of its group. Numeric columns may be cut at
    every threshold between their values; missing values go to either side. One value in the middle of others
    takes two thresholds: see ``numeric_tests``, or give numbers that are codes of things as categories.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, optional
        Limit on the spend; None for no limit.
    budget_kind : {"hard", "mean"}
        "hard": no path costs more than the budget. "mean": the tree is the best on the lower hull of mean
        spend and cost of errors whose mean spend on the training rows is within the budget; one fit finds
        the trees of all budgets, see `at`.
    max_depth : int
        Most tests on a path, 0 to 6. Time grows with the number of tests to the power of ``max_depth - 1``.
    {error_costs}
    tradeoff : float, optional
        What a unit of price is worth, in units of error price; with a mean budget the least that is tried.
        None means 1 with error costs: errors and tests are then in one currency. Without them, a hundred
        times all features cost as much as an error.
    node_penalty : float
        What a test must save over all training rows that reach it beyond its price, in mean prices of an
        error. 0 is the plain optimum, which fits few rows too closely.
    max_values : int
        Most values of a numeric column that are told apart, 2 to 255; columns with more are cut into
        intervals of equal weight. The tree is optimal for these.
    reference : estimator, optional
        A model of trees, such as ``GreedyMiserClassifier(n_estimators=20, max_depth=2)``. It is fitted first,
        at the same prices, and numeric columns are cut at its thresholds alone, however many values they
        have: deeper trees and larger tables come within reach. The tree is then the best of those with these
        thresholds, and `lower_bound_` and `optimality_gap_` are proven for those; a tree with other
        thresholds may cost less. None means ``max_values``.
    guess_bounds : bool
        Whether rows that are tested are taken to cost no less than a test and what the labels of the
        ``reference`` cost them, in trees of depth 3 and more. The search may then be faster, and the tree
        need not be the best. What stays proven: it costs at most the training errors of the reference more
        than the best tree with these thresholds. `lower_bound_` and `optimality_gap_` are of that proof.
    numeric_tests : {"thresholds", "intervals"}
        What a test of a numeric column may be. "thresholds": whether it is at most a threshold. "intervals":
        also whether it lies between any two thresholds, hence whether it is one value; missing values are
        inside or outside. An interval is one test of ``max_depth``, with one price and one penalty. In the
        tree it is two nested thresholds, and what is asked outside of it stands below both: `forest_` may be
        twice as deep as ``max_depth``. A column of B values has B * (B - 1) / 2 tests instead of B - 1, twice
        as many with missing values, all of which are searched: only ``max_values`` or the ``reference`` bound
        B, and the time for a pair of columns grows with its fourth power. Few values are best.
    max_levels : int
        Categories of a column with at most this many, 2 to 12, are divided into any two sets; those of
        others one against the rest. Missing values count as one more category.
    time_limit : float, optional
        Seconds for the search, after which the best tree so far is taken. Read between sub-tables, each of
        which is searched to depth 2 in one go.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same tree, unless the time limit ends the search.

    Attributes
    ----------
    forest_ : Forest
        The tree; values are class weights.
    objective_ : float
        What was minimised, per training row.
    lower_bound_ : float
        No tree has a lower objective.
    optimality_gap_ : float
        ``objective_ - lower_bound_``; 0 unless the time limit ended the search.
    path_costs_, path_errors_ : ndarray of float64, shape (n_trees,)
        Mean spend, descending, and mean cost of errors on the training rows, of the trees of all mean
        budgets.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    Demirović, Lukina, Hebrard et al.: MurTree: Optimal Decision Trees via Dynamic Programming and Search.
    JMLR 23, 2022. Depth 2 by counts of pairs. Van der Linden, de Weerdt, Demirović: Necessary and Sufficient
    Conditions for Optimal Decision Trees using Dynamic Programming. NeurIPS 2023. Costs of tests and errors.
    McTavish, Zhong, Achermann et al.: Fast Sparse Decision Tree Optimization via Reference Ensembles. AAAI
    2022. Thresholds of a reference, and lower bounds that are guessed by it.

    Examples
    --------
    >>> from farthing import ErrorCosts
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> errors = ErrorCosts([[0, 75], [88, 0]])
    >>> model = OptimalTreeClassifier(heart.costs, error_costs=errors).fit(heart.X, heart.y)
    >>> model.optimality_gap_
    0.0
    >>> model.walk().ask.feature
    'cp'
    """

    model_type = OptimalTreeModel
    price_parameters = ("error_costs",)
    fits_every_row = True
    budget_kind: BudgetKind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "budget_kind": [one_of("hard", "mean")],
        "max_depth": [between(0, 6)],
        "error_costs": ANY_OR_NONE,
        "tradeoff": [NON_NEGATIVE, None],
        "node_penalty": [NON_NEGATIVE],
        "max_values": [between(2, 255)],
        "reference": ANY_OR_NONE,
        "guess_bounds": ["boolean"],
        "numeric_tests": [one_of("thresholds", "intervals")],
        "max_levels": [between(2, MOST_LEVELS)],
        "time_limit": [NON_NEGATIVE, None],
    }
    fitted_: OptimalTreeModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        budget_kind: BudgetKind = "hard",
        max_depth: int = 3,
        error_costs: Any = None,
        tradeoff: float | None = None,
        node_penalty: float = 2.0,
        max_values: int = 16,
        reference: Any = None,
        guess_bounds: bool = False,
        numeric_tests: NumericTests = "thresholds",
        max_levels: int = 4,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.budget_kind = budget_kind
        self.max_depth = max_depth
        self.error_costs = error_costs
        self.tradeoff = tradeoff
        self.node_penalty = node_penalty
        self.max_values = max_values
        self.reference = reference
        self.guess_bounds = guess_bounds
        self.numeric_tests = numeric_tests
        self.max_levels = max_levels
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    # Other budgets.

    def model_at(self, cap: float | None, budget_kind: BudgetKind) -> OptimalTreeModel:
        """Return the first tree of the hull within a mean budget."""
        if budget_kind != "mean":
            raise ValueError("the trees of other budgets are known for budget_kind='mean' only; fit again")
        return self.fitted_.within(cap)

    def other_budgets(self) -> list[float]:
        """Return the mean spends of the trees of the hull, ascending; none for a hard budget."""
        return self.fitted_.path_costs[::-1].tolist() if self.budget_kind == "mean" else []

    # Learning.

    def _learn(self, rows: TrainingSet) -> OptimalTreeModel:
        end = self._end()
        reference = None if self.reference is None else _fitted(self.reference, rows)
        problem = TreeProblem.of(
            rows,
            int(self.max_values),
            self.n_threads(),
            thresholds=None if reference is None else _thresholds(reference.forest),
            max_depth=int(self.max_depth),
            intervals=self.numeric_tests == "intervals",
            max_levels=int(self.max_levels),
            node_penalty=float(self.node_penalty) * _mean_error_price(rows) if self.node_penalty else 0.0,
        )
        if self.guess_bounds:
            if reference is None:
                raise ValueError("guess_bounds=True needs a reference that guesses them; got reference=None")
            scores = reference.outputs(rows.values, n_threads=self.n_threads())[0]
            problem = problem.guessed(reference.decide(reference.conclude(scores)))
        tradeoff = price_of_money(self.tradeoff, rows, _ERRORS_PER_ALL)
        if self.budget_kind == "mean":
            trees = lower_hull(problem, tradeoff, end)
        else:
            trees = [problem.solve(tradeoff, self.hard_cap(), end - time.monotonic())]
        check_deadline()
        model = OptimalTreeModel(
            **rows.header(budget=self.hard_cap()),
            forest=trees[0].forest,
            path=trees[0].forest if len(trees) == 1 else Forest.concat([tree.forest for tree in trees]),
            objective=trees[0].objective,
            lower_bound=trees[0].lower_bound,
            optimality_gap=trees[0].objective - trees[0].lower_bound,
            **_path(trees),
        )
        return model.within(check_cap(self.budget)) if self.budget_kind == "mean" else model

    def _end(self) -> float:
        """Return when the search must end, in seconds of ``time.monotonic``."""
        seconds = math.inf if self.time_limit is None else float(self.time_limit)
        return time.monotonic() + min(seconds, deadline_end() - time.time())


def _fitted(reference: Any, rows: TrainingSet) -> Any:
    """Return a model of trees that is fitted to the rows."""
    fitted = clone(reference).fit_rows(rows).fitted_ if hasattr(reference, "fit_rows") else None
    if getattr(fitted, "forest", None) is None:
        raise ValueError(
            "reference must be a model of trees of Farthing's, such as "
            f"GreedyMiserClassifier(n_estimators=20, max_depth=2); got {reference!r}"
        )
    return fitted


def _thresholds(forest: Forest) -> list[Floats]:
    """Return the thresholds at which trees test each column."""
    numeric = forest.category < 0
    tested = [numeric & (forest.feature == column) for column in range(forest.n_features)]
    return [np.unique(forest.threshold[nodes]) for nodes in tested]


def _mean_error_price(rows: TrainingSet) -> float:
    """Return the mean price of a wrong label, over the training rows; 1 without error costs."""
    if rows.errors is None:
        return 1.0
    return float(rows.errors.class_prices()[rows.target] @ rows.weights / rows.weights.sum())


def _path(trees: list[OptimalTree]) -> dict[str, Any]:
    """Return the figures of the trees by field of the model."""
    return {
        "path_costs": np.array([tree.spend for tree in trees]),
        "path_errors": np.array([tree.risk for tree in trees]),
        "path_objectives": np.array([tree.objective for tree in trees]),
        "path_bounds": np.array([tree.lower_bound for tree in trees]),
    }
