"""One decision tree on a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing._core import mean_shares
from farthing.base import (
    PricedErrorsMixin,
    PricedErrorsModel,
    TrainingSet,
    TreeModel,
    documented,
    register,
    row_sums,
)
from farthing.base.parameters import ANY_OR_NONE, CLASS_WEIGHT, NON_NEGATIVE, at_least, between, one_of
from farthing.base.priced_errors import ERROR_COSTS
from farthing.collective import group_totals
from farthing.costs import CostsLike
from farthing.forests.budget_rf.aggregation import class_shares
from farthing.learning.monotonic import MONOTONIC, MONOTONIC_TEXT, MonotonicClassesMixin, directions_of
from farthing.learning.unordered import UnorderedMixin
from farthing.trees import CostRule, Forest, Grower, Impurity, NodeValues, SparseRows
from farthing.walks import Stand
from farthing.walks.plans import Link


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassCountModel(TreeModel, PricedErrorsModel):
    """Trees whose nodes hold class weights; the raw output is the sum over the trees of the class shares."""

    takes_sparse_values = True

    def node_scores(self) -> NodeValues:
        """Return the share of each class in each node, shape (n_nodes, n_classes)."""
        return class_shares(self.forest)

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares unchanged: those of a single tree add up to one."""
        return outputs

    def label_shares(self, stands: Sequence[Stand]) -> NDArray[np.float64] | None:
        """Return the mean over the trees walked of the class shares at their nodes, (n_stands, n_classes)."""
        if not all(len(stand.nodes) for stand in stands):
            return None
        nodes = [stand.nodes for stand in stands]
        counts, flat = stands[0].forest.node_values, np.concatenate(nodes)
        if isinstance(counts, SparseRows):
            counts, flat = counts[flat].dense(), np.arange(len(flat))
        return mean_shares(counts, flat, [0, *accumulate(map(len, nodes))])

    def label_rule(self) -> tuple[str, NodeValues | None]:
        """Return that labels are means of counts."""
        return "counts", self.forest.node_values

    def link_steps(self) -> Link:
        """Return no step: shares are probabilities."""
        return ()


@register(
    grid={"budget": [None], "max_depth": [2, 4, 8, None], "impurity": ["entropy", "pairs"]},
    # Its accuracy is not missed without it, but it is fitted in no time, which a time limit may need.
    auto={"budget": [None], "max_depth": [4]},
    rank=6,
    time_rank=1,
    trials=[
        {"impurity": "pairs", "budget": 3.0},
        {"impurity": "powers", "power": 3.0, "max_depth": 4, "min_impurity": 60.0},
        {"impurity": "gini", "cost_rule": "penalty", "tradeoff": 0.01, "error_costs": 5.0},
        {"cost_rule": "penalty", "tradeoff": 0.001, "budget": 5.0, "max_leaf_nodes": 12},
    ],
)
@documented({"error_costs": ERROR_COSTS, "monotonic_cst": MONOTONIC_TEXT})
class BudgetTreeClassifier(MonotonicClassesMixin, UnorderedMixin, PricedErrorsMixin):
    """A decision tree that weighs the gain of a split against the cost of its feature.

    Features on the path from the root are owned: a second test of the same feature costs nothing. Each row
    pays for its own path only, so easy rows stay cheap.

    Parameters
    ----------
    impurity : {"entropy", "gini", "pairs", "powers"}
        The impurity to reduce. "entropy" and "gini" use the decrease of the expected impurity. "pairs"
        (threshold-Pairs, equation 3.10 of Nan's thesis) and "powers" (equation 3.13) use the decrease for the
        worse child, which bounds the cost of the most expensive path (theorem 3.4.2).
    alpha : float
        Threshold of "pairs", and for it only: classes of at most this weight in a node count as noise, so
        that the tree stops earlier.
    power : float
        Exponent of "powers", and for it only; at least 2 for the guarantee.
    min_impurity : float
        A node whose impurity is at most this is not split (section 4.5.1 of the thesis). The impurity is that
        of the node's rows together: "pairs" and "powers" as in their equations, entropy in nats and Gini
        times the node's weight. 0 splits every node that is not pure.
    cost_rule : {"ratio", "penalty"}
        "ratio": the least price per gain, with the original price even for what is owned. "penalty": the
        largest gain - tradeoff * unpaid price, and no split where that is not positive.
    tradeoff : float, optional
        For "penalty" only, and required there. The gain is a share of the root's impurity, the price is in
        the unit of the sheet, each over all training rows: at 0.01, a feature of price 1 that every row must
        buy has to remove at least 1 % of the impurity at the root. 0 gives the cost-blind tree.
    budget : float, optional
        Hard: no path may cost more, so no row ever does.
    max_depth, max_leaf_nodes : int, optional
        Limits of the tree; None for no limit.
    min_samples_leaf : int
        Minimum number of training rows in a leaf, regardless of their weights.
    {monotonic_cst} Predictions are the probability of the
        second of two classes; more are refused.
    max_bins : int
        Maximum number of bins per column, 2 to 255; thresholds lie between bins.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    {error_costs} Rows count by the price of their errors in growth; class weights of nodes
        are without this factor, so that probabilities are of the rows as they come.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same tree.

    Attributes
    ----------
    forest_ : Forest
        The tree; values are class weights.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    F. Nan, J. Wang and V. Saligrama. Feature-Budgeted Random Forest. ICML 2015.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> tree = BudgetTreeClassifier(costs=heart.costs, budget=20, max_depth=3).fit(heart.X, heart.y)
    >>> float(tree.spend(heart.X).max()) <= 20
    True
    >>> walk = tree.walk()
    >>> walk.ask.feature
    'cp'
    """

    model_type = ClassCountModel
    fits_every_row = True
    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        "error_costs": ANY_OR_NONE,
        "impurity": [one_of("entropy", "gini", "pairs", "powers")],
        "alpha": [NON_NEGATIVE],
        "power": [NON_NEGATIVE],
        "min_impurity": [NON_NEGATIVE],
        "cost_rule": [one_of("ratio", "penalty")],
        "tradeoff": [NON_NEGATIVE, None],
        "max_depth": [at_least(0), None],
        "max_leaf_nodes": [at_least(1), None],
        "min_samples_leaf": [at_least(1)],
        "monotonic_cst": MONOTONIC,
        "max_bins": [between(2, 255)],
    }

    def __init__(
        self,
        *,
        impurity: Impurity = "entropy",
        alpha: float = 0.0,
        power: float = 2.0,
        min_impurity: float = 0.0,
        cost_rule: CostRule = "ratio",
        tradeoff: float | None = None,
        budget: float | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        monotonic_cst: Any = None,
        max_bins: int = 255,
        class_weight: Any = None,
        error_costs: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.impurity = impurity
        self.alpha = alpha
        self.power = power
        self.min_impurity = min_impurity
        self.cost_rule = cost_rule
        self.tradeoff = tradeoff
        self.budget = budget
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.error_costs = error_costs
        self.costs = costs
        self.n_jobs = n_jobs

    def check_collection(self) -> None:
        """Return: the tree asks for all its sums over rows as `farthing.collective` gives them."""

    def _learn(self, rows: TrainingSet) -> ClassCountModel:
        threads, n_classes, cap = self.n_threads(), rows.n_classes, self.hard_cap()
        weights = rows.growth_weights()
        counts = group_totals(rows.target, weights, n_classes)
        # The gain is a share of the root's impurity, so that one trade-off suits tables of any size.
        tradeoff = check_tradeoff(self.cost_rule, self.tradeoff)
        check_impurity(self.impurity, alpha=self.alpha, power=self.power)
        unit = impurity_of(counts, self.impurity, self.alpha, self.power)
        grower = Grower(
            rows.bins(self.max_bins, threads),
            rows.costs,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            cost_rule=self.cost_rule,
            tradeoff=tradeoff * unit,
            budget=cap,
            n_threads=threads,
            monotonic=directions_of(self.monotonic_cst, rows.schema, n_classes),
        )
        grown = grower.classes(
            rows.target,
            weights,
            n_classes,
            impurity=self.impurity,
            alpha=self.alpha,
            power=self.power,
            min_impurity=self.min_impurity,
        )
        return ClassCountModel(**rows.header(budget=cap), forest=without_price_factors(grown.tree, rows))


def without_price_factors(forest: Forest, rows: TrainingSet) -> Forest:
    """Return trees grown by prices of errors with the class weights that they have without these factors."""
    if rows.errors is None:
        return forest
    factors, values = rows.errors.class_factors(), forest.node_values
    if isinstance(values, SparseRows):
        values = values.with_entries(values.entries / factors[values.columns])
        return replace(forest, node_values=values, cover=values.sums())
    value = values / factors
    return replace(forest, node_values=value, cover=row_sums(value))


def check_tradeoff(cost_rule: CostRule, tradeoff: float | None) -> float:
    """Return the trade-off of a cost rule, 0 for the ratio, which has none.

    Examples
    --------
    >>> check_tradeoff("penalty", 0.5)
    0.5
    """
    if cost_rule == "ratio":
        if tradeoff is not None:
            raise ValueError(
                f"tradeoff={tradeoff!r} has no meaning with cost_rule='ratio'; "
                "leave it out or set cost_rule='penalty'"
            )
        return 0.0
    if tradeoff is None:
        raise ValueError("cost_rule='penalty' needs a tradeoff; 0 is the cost-blind tree")
    if not (0 <= tradeoff < np.inf):
        raise ValueError(f"tradeoff must be zero or more, and finite; got {tradeoff!r}")
    return float(tradeoff)


def check_impurity(impurity: object, *, alpha: object, power: float) -> None:
    """Raise ValueError if a parameter of one impurity is set with another, where it would have no effect.

    Examples
    --------
    >>> check_impurity("pairs", alpha=3.0, power=2.0)
    >>> check_impurity("gini", alpha=3.0, power=2.0)
    Traceback (most recent call last):
    ...
    ValueError: alpha=3.0 has no meaning with impurity='gini'; leave it out or set impurity='pairs'
    """
    for name, value, unset, wanted in (("alpha", alpha, 0.0, "pairs"), ("power", power, 2.0, "powers")):
        if impurity != wanted and not np.array_equal(np.atleast_1d(np.asarray(value)), [unset]):
            raise ValueError(
                f"{name}={value!r} has no meaning with impurity={impurity!r}; "
                f"leave it out or set impurity={wanted!r}"
            )


def impurity_of(
    counts: NDArray[np.float64],
    impurity: str | Callable[[NDArray[np.float64]], float],
    alpha: float = 0.0,
    power: float = 2.0,
) -> float:
    """Return the impurity of a node; entropy (in nats) and Gini are multiplied by the node's weight.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_classes,)
        The weight of each class.
    impurity, alpha, power
        As in `BudgetForestClassifier`.

    Examples
    --------
    >>> impurity_of(np.array([3.0, 1.0]), "pairs")
    6.0
    """
    if callable(impurity):
        return float(impurity(counts))
    # Impurities are totals, not means per row: the decreases of the splits of a tree add up.
    weight = counts.sum()
    present = counts[counts > 0]
    if impurity == "entropy":
        return float(-(present * np.log(present / weight)).sum())
    if impurity == "gini":
        return float((counts * (weight - counts)).sum() / weight)
    if impurity == "powers":
        # Equation 3.13.
        return float(weight**power - (counts**power).sum())
    if impurity == "pairs":
        # Equation 3.10, over ordered pairs of different classes: the trace removes the pairs i = j.
        above = np.maximum(counts - alpha, 0.0)
        pairs = np.maximum(np.outer(above, above) - alpha**2, 0.0)
        return float(pairs.sum() - np.trace(pairs))
    raise ValueError(f"impurity must be 'entropy', 'gini', 'pairs' or 'powers'; got {impurity!r}")
