"""A forest grown by BudgetRF and pruned by BudgetPrune for every mean budget, in one fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import (
    AnyBudgetMixin,
    BudgetKind,
    Guarantee,
    PricedErrorsMixin,
    TrainingSet,
    documented,
    normalise,
    register,
)
from farthing.base.inputs import check_cap
from farthing.base.model_fields import OPTIONAL
from farthing.base.parameters import ANY_OR_NONE, CLASS_WEIGHT, NON_NEGATIVE, at_least, between, one_of
from farthing.base.priced_errors import ERROR_COSTS
from farthing.costs import CostSheet, CostsLike, per_price, spending_limit
from farthing.errors import RepriceError
from farthing.forests.budget_prune.paths import exact_path
from farthing.forests.budget_prune.problem import PruningProblem
from farthing.forests.budget_prune.purchase_drops import purchase_drops
from farthing.forests.budget_rf.forest import BudgetForestClassifier
from farthing.forests.budget_rf.growth import MAX_FEATURES
from farthing.forests.budget_rf.tree import ClassCountModel
from farthing.learning.bootstrap import SamplingUnits
from farthing.learning.folds import folds_of
from farthing.learning.guarantees import GuaranteedMixin
from farthing.learning.guarantees.guaranteed import GUARANTEE, GUARANTEE_TEXT
from farthing.learning.unordered import UnorderedMixin
from farthing.trees import CostRule, Forest, pruned
from farthing.walks.plans import Link, LinkStep

# Number of folds, of which one is held out to prune by.
_N_FOLDS: Final = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class PrunedForestModel(ClassCountModel):
    """A forest with its whole pruning path; the raw output is the sum of the class shares of the trees.

    Parameters
    ----------
    grown : Forest
        The trees before pruning; ``forest`` has those of the budget.
    drop : ndarray of int64, shape (n_nodes,)
        For each node of ``grown``, the first pruning in which it is no longer split.
    path_costs, path_errors : ndarray of float64, shape (n_prunings,)
        Mean spend, descending, and error of the held-out rows; mean price of errors, if these have one.
    held_drops : ndarray of int64, shape (n_rows, n_features), or None
        For each held-out row and feature, the first pruning in which it is no longer bought.
    """

    grown: Forest
    drop: NDArray[np.int64]
    path_costs: NDArray[np.float64]
    path_errors: NDArray[np.float64]
    held_drops: NDArray[np.int64] | None = field(default=None, metadata=OPTIONAL)

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over the trees, shape (n_rows, n_classes)."""
        return normalise(outputs)

    def link_steps(self) -> Link:
        """Return the step to shares."""
        return (LinkStep("normalise"),)

    def within(self, budget: float | None) -> Self:
        """Return the pruning with the least error within a mean budget; ties go to the lower spend.

        With error costs and no budget, it is the one of the least total cost.
        """
        fits = self.path_costs <= spending_limit(budget)
        # Errors and spend are in the same unit, so they can be added up.
        in_one_currency = self.error_costs is not None and budget is None
        totals = self.path_errors + self.path_costs if in_one_currency else self.path_errors
        errors = np.where(fits, totals, np.inf)
        # Searched from the end, so that of equal errors the cheapest wins. The last pruning, the cheapest of
        # all, is taken if none is within the budget.
        number = len(errors) - 1 - int(np.argmin(errors[::-1])) if fits.any() else len(errors) - 1
        return replace(self, forest=pruned(self.grown, self.drop > number))

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if self.grown.n_features != self.forest.n_features or self.grown.width != self.forest.width:
            raise ValueError("the trees before and after pruning must have the same features and classes")
        if self.drop.dtype != np.int64 or self.drop.shape != (self.grown.n_nodes,):
            raise ValueError("drop must have one integer per node")
        costs, errors = self.path_costs, self.path_errors
        for array in (costs, errors):
            if array.dtype != np.float64 or array.ndim != 1 or not len(array) or np.isnan(array).any():
                raise ValueError("path_costs and path_errors must be lists of floats")
        if len(costs) != len(errors):
            raise ValueError("path_costs and path_errors must have the same length")
        drops = self.held_drops
        if drops is not None and (
            drops.dtype != np.int64 or drops.shape != (len(drops), len(self.schema)) or not len(drops)
        ):
            raise ValueError("held_drops must have one integer per held-out row and feature")


@register(
    grid={"growth_tradeoff": [0.1, 1.0, 3.0, 10.0], "max_features": ["sqrt", None]},
    auto=False,
    rank=3,
    time_rank=5,
    trials=[
        {"n_estimators": 5, "growth_tradeoff": 0.1, "max_features": None},
        {"n_estimators": 3, "growth_tradeoff": 0.1, "error_costs": 500.0},
    ],
)
@documented({"error_costs": ERROR_COSTS, "guarantee": GUARANTEE_TEXT})
class PrunedForestClassifier(UnorderedMixin, GuaranteedMixin, AnyBudgetMixin, PricedErrorsMixin):
    """A forest that is grown with regard to prices and pruned to a mean budget.

    The trees are grown on three quarters of the rows. BudgetPrune finds the best prunings by the cost of the
    other rows, for every trade-off (`farthing.forests.prune_path`); the model is the one with the least error
    on them within the budget. `at` returns the model for another budget without refitting.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, optional
        Limit on the mean spend, measured on the held-out rows; None for no limit.
    cost_rule : {"penalty", "ratio"}
        How the trees weigh gain against price; see `BudgetForestClassifier`.
    growth_tradeoff : float
        For ``cost_rule="penalty"``: the penalty for buying all features, as a share of the impurity at the
        root. It is relative to the cost of all features, so one value suits sheets in any unit:
        `BudgetForestClassifier` would get ``growth_tradeoff / costs.total(costs.features)``. It shapes the
        trees only; the trade-off of the pruning follows from the budget.
    n_estimators, max_features, max_depth, min_samples_leaf, max_bins
        As in `BudgetForestClassifier`.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    {error_costs} Growth counts rows by them, as in `BudgetTreeClassifier`; pruning trades
        their sum against spend; without a budget the pruning of the least total cost is chosen.
    {guarantee}
    random_state : int, RandomState or None
        Seed of the trees and of the held-out rows.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.

    Attributes
    ----------
    grown_ : Forest
        The trees before pruning.
    forest_ : Forest
        The trees of the budget.
    drop_ : ndarray of int64, shape (n_nodes,)
        For each node of ``grown_``, the first pruning in which it is no longer split.
    path_costs_, path_errors_ : ndarray of float64, shape (n_prunings,)
        Mean spend, descending, and error of the held-out rows.

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Chapters 3 and 4.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = PrunedForestClassifier(heart.costs, budget=30, n_estimators=10, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.at(10).spend(heart.X).mean() < model.at(100).spend(heart.X).mean())
    True
    """

    model_type = PrunedForestModel
    price_parameters = ("error_costs",)
    fits_every_row = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        "error_costs": ANY_OR_NONE,
        "guarantee": GUARANTEE,
        "cost_rule": [one_of("ratio", "penalty")],
        "growth_tradeoff": [NON_NEGATIVE],
        "n_estimators": [at_least(1)],
        "max_features": MAX_FEATURES,
        "max_depth": [at_least(0), None],
        "min_samples_leaf": [at_least(1)],
        "max_bins": [between(2, 255)],
        "random_state": ["random_state"],
    }
    fitted_: PrunedForestModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        cost_rule: CostRule = "penalty",
        growth_tradeoff: float = 1.0,
        n_estimators: int = 40,
        max_features: int | float | str | None = "sqrt",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_bins: int = 255,
        class_weight: Any = None,
        error_costs: Any = None,
        guarantee: Guarantee | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.cost_rule = cost_rule
        self.growth_tradeoff = growth_tradeoff
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.error_costs = error_costs
        self.guarantee = guarantee
        self.random_state = random_state
        self.n_jobs = n_jobs

    def model_at(self, cap: float | None, budget_kind: BudgetKind) -> PrunedForestModel:
        """Return the model for another mean budget; None for no limit."""
        return self.fitted_.within(cap)

    def repriced(self, costs: CostSheet) -> PrunedForestModel:
        """Return the fitted model at other prices: another pruning, by what the held-out rows pay then."""
        model = self.fitted_
        if model.held_drops is None:
            raise RepriceError("its file is of a version that kept no held-out purchases; fit it again")
        drops, numbers = model.held_drops, range(len(model.path_costs))
        spends = [float(costs.total_rows(drops > number).mean()) for number in numbers]
        return replace(model, costs=costs, path_costs=np.array(spends)).within(check_cap(self.budget))

    def _learn(self, rows: TrainingSet) -> PrunedForestModel:
        random_state = check_random_state(self.random_state)
        fold = folds_of(rows.values, rows.target, _N_FOLDS, random_state)[0]
        forest = self._forest(rows.costs, random_state).fit_rows(rows.take(fold.learn))
        held_out = rows.take(fold.held_out)
        # BudgetPrune counts rows, so those of an integer weight are repeated.
        units = SamplingUnits.of(held_out.table.contents(), held_out.target, held_out.weights).rows
        problem = PruningProblem(
            forest,
            forest.fitted_,
            rows.costs,
            held_out.values[units],
            held_out.target[units],
            self.n_threads(),
        )
        # The gains are measured in the bags. Costs, and the errors that choose the pruning, are measured on
        # the held-out rows, which the trees have not seen.
        path = exact_path(problem, problem.gains("error", None, None))
        grown = forest.fitted_.forest
        model = PrunedForestModel(
            **rows.header(budget=self.hard_cap()),
            forest=grown,
            grown=grown,
            drop=path.drop,
            path_costs=path.costs,
            path_errors=path.forest_errors,
            held_drops=purchase_drops(grown, path.drop, held_out.values[units], self.n_threads()),
        )
        return model.within(check_cap(self.budget))

    def _forest(self, costs: CostSheet, random_state: np.random.RandomState) -> BudgetForestClassifier:
        """Return the forest to grow; its trade-off is per unit of price."""
        tradeoff = None
        if self.cost_rule == "penalty":
            full_cost = costs.total(costs.features)
            # If all features are free, any divisor will do: every price is zero.
            tradeoff = float(per_price(self.growth_tradeoff, full_cost if full_cost > 0 else 1.0))
        return BudgetForestClassifier(
            cost_rule=self.cost_rule,
            tradeoff=tradeoff,
            n_estimators=self.n_estimators,
            max_features=self.max_features,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_bins=self.max_bins,
            random_state=int(random_state.randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
        )
