"""A forest that knows the prices, pruned by BudgetPrune for every mean budget: both steps in one fit."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import AimedMixin, ContractClassifier, TreesMixin, n_threads, normalise, register
from farthing.base.inputs import check_cap
from farthing.costs import CostSheet
from farthing.forests.bootstrap import Units
from farthing.forests.folds import deal
from farthing.forests.forest import BudgetForestClassifier
from farthing.forests.pruning import path_of
from farthing.forests.pruning_case import Case
from farthing.trees import CostRule, Forest, pruned

# One part of so many is held out to prune by.
_PARTS: Final = 4


@register(
    grid={"penalty": [0.1, 1.0, 3.0, 10.0], "max_features": ["sqrt", None]},
    auto={"penalty": [0.1, 1.0, 3.0, 10.0], "max_features": [None]},
    rank=3,
    trials=[{"max_trees": 5, "penalty": 0.1, "max_features": None}],
)
class PrunedForestClassifier(AimedMixin, TreesMixin, ContractClassifier):
    """A forest grown at the prices of its features and pruned to a mean budget.

    A quarter of the rows is held out of the trees. They pay for what they look at, and BudgetPrune finds the
    best prunings for every trade-off (`farthing.forests.prune_path`); the one of the least error on them
    within the budget is the model. `at` gives that of another budget for nothing.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    budget : float, optional
        What rows may spend in the mean, as those held out see it; None is no limit.
    cost_rule : {"penalty", "ratio"}
        How the trees weigh gain against price; see `BudgetForestClassifier`.
    penalty : float
        With the rule of that name: what buying all features would take off the gain, in the unit of impurity.
    max_trees, max_features, max_depth, min_rows_leaf, max_bins
        As in `BudgetForestClassifier`.
    random_state : int, RandomState or None
        Of the trees and of the rows held out.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.

    Attributes
    ----------
    grown_ : Forest
        The trees before pruning.
    forest_ : Forest
        The trees of the budget.
    drop_ : ndarray of int64, shape (n_nodes,)
        The pruning from which on each node of ``grown_`` is no longer split.
    path_costs_, path_errors_ : ndarray of float64, shape (n_prunings,)
        Mean spend, descending, and share of wrong labels of the rows held out.

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Chapters 3 and 4.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = PrunedForestClassifier(heart.costs, budget=30, max_trees=10, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.at(10).spend(heart.X).mean() < model.at(100).spend(heart.X).mean())
    True
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "grown_": Forest,
        "drop_": np.ndarray,
        "path_costs_": np.ndarray,
        "path_errors_": np.ndarray,
    }

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        cost_rule: CostRule = "penalty",
        penalty: float = 1.0,
        max_trees: int = 40,
        max_features: int | float | str | None = "sqrt",
        max_depth: int | None = None,
        min_rows_leaf: int = 1,
        max_bins: int = 255,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.cost_rule = cost_rule
        self.penalty = penalty
        self.max_trees = max_trees
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_rows_leaf = min_rows_leaf
        self.max_bins = max_bins
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: NDArray[np.float64],
        sheet: CostSheet,
    ) -> None:
        if not 0 <= self.penalty < np.inf:
            raise ValueError(f"penalty must be zero or more, and finite; got {self.penalty!r}")
        chance = check_random_state(self.random_state)
        part = deal(values, target, _PARTS, chance)
        held = np.ones(len(target), dtype=np.bool_) if part is None else part == 0
        learn = held if part is None else ~held
        forest = self._grown(values[learn], target[learn], weights[learn], sheet, chance)
        # A weight is the same as repeating the row.
        units = Units.of(values[held], target[held], weights[held]).rows
        payers, codes = values[held][units], target[held][units]
        case = Case(forest, sheet, forest._ready(), payers, codes, n_threads(self.n_jobs))
        path = path_of(case, case.gains("error", None, None))
        self.grown_, self.drop_ = forest.forest_, path.drop
        self.path_costs_, self.path_errors_ = path.costs, path.forest_errors
        self._aim(check_cap(self.budget))

    def _grown(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: NDArray[np.float64],
        sheet: CostSheet,
        chance: np.random.RandomState,
    ) -> BudgetForestClassifier:
        whole = sheet.total(sheet.features)
        forest = BudgetForestClassifier(
            cost_rule=self.cost_rule,
            tradeoff=self.penalty / (whole if whole > 0 else 1.0) if self.cost_rule == "penalty" else None,
            max_trees=self.max_trees,
            max_features=self.max_features,
            max_depth=self.max_depth,
            min_rows_leaf=self.min_rows_leaf,
            max_bins=self.max_bins,
            random_state=int(chance.randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
        )
        forest.classes_ = self.classes_
        forest._given = (None, None)
        return forest._fit_encoded(self.schema_, sheet, values, target, weights)

    def _aim(self, cap: float | None) -> None:
        """Prune to the least error within a budget, and among equals to the least spend."""
        within = self.path_costs_ <= (np.inf if cap is None else cap * (1 + 1e-12))
        errors = np.where(within, self.path_errors_, np.inf)
        # The last pruning is the cheapest: it stands if nothing is within the budget.
        place = len(errors) - 1 - int(np.argmin(errors[::-1])) if within.any() else len(errors) - 1
        self.forest_ = pruned(self.grown_, self.drop_ > place)

    def _node_scores(self, forest: Forest) -> NDArray[np.float64]:
        return normalise(forest.value)

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return normalise(outputs)

    def _check_stored(self) -> None:
        super()._check_stored()
        if self.grown_.n_features != self.forest_.n_features or self.grown_.width != self.forest_.width:
            raise ValueError("the trees before and after pruning must be of the same features and classes")
        if self.drop_.dtype != np.int64 or self.drop_.shape != (self.grown_.n_nodes,):
            raise ValueError("drop_ must have one integer a node")
        costs, errors = self.path_costs_, self.path_errors_
        for array in (costs, errors):
            if array.dtype != np.float64 or array.ndim != 1 or not len(array) or np.isnan(array).any():
                raise ValueError("path_costs_ and path_errors_ must be lists of floats")
        if len(costs) != len(errors):
            raise ValueError("path_costs_ and path_errors_ must be of one length")
