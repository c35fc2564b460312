"""BudgetRF: growing a forest within a mean budget; algorithm 2 of Nan's thesis."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetedEstimator, TrainingSet
from farthing.base.inputs import check_cap
from farthing.collective import group_totals, saved
from farthing.costs import CostsLike
from farthing.errors import BudgetWarning
from farthing.forests.budget_rf.aggregation import Aggregation
from farthing.forests.budget_rf.candidate import Candidate, Judge
from farthing.forests.budget_rf.growth import ForestGrowth, n_drawn
from farthing.forests.budget_rf.out_of_bag import Bags
from farthing.forests.budget_rf.parameters import CONSTRAINTS, ImpurityLike
from farthing.forests.budget_rf.tree import (
    check_impurity,
    check_tradeoff,
    impurity_of,
    without_price_factors,
)
from farthing.learning.bootstrap import SamplingUnits
from farthing.trees import CostRule, Forest, Grower, MaxCuts, cut_rules


@dataclass(frozen=True, eq=False)
class GrownForest:
    """The forest that a fit chose, and the rows that its trees learned from.

    Parameters
    ----------
    chosen : Candidate
        The forest of the best alpha.
    rows : TrainingSet
        The training rows; those held out have a weight of zero.
    bags : Bags
        The rows that each tree learned from.
    """

    chosen: Candidate
    rows: TrainingSet
    bags: Bags


class BudgetForestBase(BudgetedEstimator):
    """What the classifier and the ranker share: the growth of the forest, and the choice of alpha."""

    fits_every_row = True
    draws_by_content = True
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS
    fitted_: Any
    # The bootstrap samples of the last fit; a model from a file has none.
    _bags: Bags

    def __init__(
        self,
        *,
        impurity: ImpurityLike,
        alpha: float | Sequence[float],
        power: float,
        min_impurity: float,
        cost_rule: CostRule,
        tradeoff: float | None,
        budget: float | None,
        n_estimators: int,
        max_features: int | float | str | None,
        max_cuts: MaxCuts,
        cuts_above: float,
        bootstrap: bool,
        validation_fraction: float | None,
        max_depth: int | None,
        max_leaf_nodes: int | None,
        min_samples_leaf: int,
        max_bins: int,
        random_state: Any,
        costs: CostsLike,
        n_jobs: int | None,
    ) -> None:
        self.impurity = impurity
        self.alpha = alpha
        self.power = power
        self.min_impurity = min_impurity
        self.cost_rule = cost_rule
        self.tradeoff = tradeoff
        self.budget = budget
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_cuts = max_cuts
        self.cuts_above = cuts_above
        self.bootstrap = bootstrap
        self.validation_fraction = validation_fraction
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.random_state = random_state
        self.costs = costs
        self.n_jobs = n_jobs

    def in_bag(self, tree: int) -> NDArray[np.float64]:
        """Return the weight with which each training row was drawn for a tree.

        The draws are made again from the seed; a model from a file has none.

        Parameters
        ----------
        tree : int
            Number of the tree.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            For the rows of `fit` that had a positive weight, in their order; 0 is out of the bag.
        """
        check_is_fitted(self)
        if not hasattr(self, "_bags"):
            raise ValueError(
                "a model from a file or a cluster does not know the rows it was fitted on; fit it again, in "
                "this process"
            )
        n_trees = self.fitted_.n_trees
        if not 0 <= tree < n_trees:
            raise ValueError(f"tree must lie between 0 and {n_trees - 1}; got {tree!r}")
        return self._bags.weights(tree)

    def file_params(self) -> dict[str, Any]:
        """Return the parameters to save: the name of an impurity that is a callable."""
        params = super().file_params()
        if callable(self.impurity):
            params["impurity"] = getattr(self.impurity, "__name__", type(self.impurity).__name__)
        return params

    # Learning.

    def check_collection(self) -> None:
        """Return: bags are drawn by the content of all rows, and sums are those of `farthing.collective`."""

    def _grow_forest(
        self, rows: TrainingSet, validation: TrainingSet | None, aggregation: Aggregation, judge: Judge
    ) -> GrownForest:
        """Grow the forest of each alpha; return the one of the least error.

        Parameters
        ----------
        rows : TrainingSet
            The training rows, with classes.
        validation : TrainingSet or None
            Rows that measure the cost and the error, in place of those of ``validation_fraction``.
        aggregation : {"distribution", "vote", "count"}
            What the leaves of the trees add up.
        judge : callable
            From summed outputs and their rows to the error.
        """
        alphas = self._alphas(given=validation is not None)
        cut_rules(self.max_cuts, self.cuts_above)  # raises here, before anything is grown
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        units = SamplingUnits.of(rows.table.contents(), rows.target, rows.weights)
        if validation is None and self.validation_fraction is not None and len(units.rows) >= 2:
            # Units rather than rows are split, so that a row of weight 2 is the same as two rows.
            units, held_out = units.split(self.validation_fraction, seed)
            validation = _of_weight(rows, held_out.row_weights())
        bags = Bags(units, seed, bool(self.bootstrap))
        # Held-out rows stay in the table, with a weight of zero, so that the table is binned only once.
        learn = replace(rows, weights=units.row_weights())
        # All alphas learn from the same bags, so that their errors differ by alpha alone.
        resumed = iter(saved())
        candidates = [
            self._grow(learn, validation, bags, alpha, aggregation=aggregation, resumed=resumed)
            for alpha in alphas
        ]
        chosen = candidates[0]
        if len(candidates) > 1:
            prior = rows.prior()  # of all rows: what an empty forest predicts
            errors = [c.error(learn, validation, bags, prior=prior, judge=judge) for c in candidates]
            costs = [candidate.cost or 0.0 for candidate in candidates]
            chosen = candidates[min(range(len(alphas)), key=lambda i: (errors[i], costs[i], i))]
        if not chosen.trees:
            self._warn_empty(rows)
        self._bags = bags
        return GrownForest(chosen, learn, bags)

    def _grow(
        self,
        rows: TrainingSet,
        validation: TrainingSet | None,
        bags: Bags,
        alpha: float,
        *,
        aggregation: Aggregation,
        resumed: Iterator[Forest],
    ) -> Candidate:
        """Grow the forest of one alpha; without validation rows, the cost is that of the training rows."""
        threads = self.n_threads()
        bins = rows.bins(self.max_bins, threads)
        factors = 1.0 if rows.errors is None else rows.errors.factors(rows.target)
        counts = group_totals(rows.target, rows.growth_weights(), rows.n_classes)
        # The gain is a share of the impurity of all rows, so that one trade-off suits tables of any size.
        unit = impurity_of(counts, self.impurity, alpha, self.power)
        tradeoff = check_tradeoff(self.cost_rule, self.tradeoff) * unit
        monotonic = self._monotonic(rows)
        growth = ForestGrowth(
            # A callable, since every worker needs a grower of its own.
            make_grower=lambda n_threads: Grower(
                bins,
                rows.costs,
                max_depth=self.max_depth,
                max_leaf_nodes=self.max_leaf_nodes,
                min_samples_leaf=self.min_samples_leaf,
                cost_rule=self.cost_rule,
                tradeoff=tradeoff,
                n_threads=n_threads,
                monotonic=monotonic,
            ),
            target=rows.target,
            n_classes=rows.n_classes,
            weights_of=bags.weights if rows.errors is None else lambda tree: bags.weights(tree) * factors,
            options={
                "impurity": self.impurity,
                "alpha": alpha,
                "power": self.power,
                "min_impurity": self.min_impurity,
                "max_features": n_drawn(self.max_features, bins.n_features),
                "max_cuts": self.max_cuts,
                "cuts_above": self.cuts_above,
                "seed": bags.seed,
            },
            n_estimators=self.n_estimators,
            n_threads=threads,
            resumed=resumed,
        )
        budget = check_cap(self.budget)
        if budget is None:
            trees, cost = list(growth.trees()), None
        else:
            trees, cost = growth.within(budget, rows if validation is None else validation)
        trees = [without_price_factors(tree, rows) for tree in trees]
        return Candidate(alpha, trees, cost, aggregation, threads)

    def _monotonic(self, rows: TrainingSet) -> NDArray[np.int8] | None:
        """Return the monotonic constraints of the columns; none, unless the estimator takes them."""
        return None

    def _warn_empty(self, rows: TrainingSet) -> None:
        warnings.warn(
            f"budget={self.budget!r} is less than the mean validation cost of the first tree: the forest "
            f"is empty and predicts the prior. All features together cost "
            f"{rows.costs.total(rows.costs.features):g}; raise the budget, or limit max_depth",
            BudgetWarning,
            stacklevel=6,  # the call of fit
        )

    # The choice among several alphas.

    def _alphas(self, *, given: bool) -> list[float]:
        """Check the alphas, and that there are rows to choose by; ``given``: `fit` got validation rows."""
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alpha must be a number of at least zero, or several; got {self.alpha!r}")
        check_impurity(self.impurity, alpha=self.alpha, power=self.power)
        if len(alphas) > 1 and not given and self.validation_fraction is None and not self.bootstrap:
            raise ValueError(
                "to choose among several alphas, give validation=(X, y) to fit, set validation_fraction, "
                "or set bootstrap=True: all rows are in every bag"
            )
        return [float(alpha) for alpha in alphas]


def _of_weight(rows: TrainingSet, weights: NDArray[np.float64]) -> TrainingSet:
    """Return the rows of positive weight under other weights."""
    return replace(rows, weights=weights).take(weights > 0)
