"""BudgetRF: random forests on a budget; chapter 3 of Nan's thesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import PricedErrorsMixin, TrainingSet, ValidatedMixin, documented, register
from farthing.base.inputs import label_codes
from farthing.base.parameters import ANY_OR_NONE, CLASS_WEIGHT, one_of
from farthing.base.priced_errors import ERROR_COSTS
from farthing.costs import CostsLike
from farthing.forests.budget_rf.aggregation import AGGREGATIONS, Aggregation
from farthing.forests.budget_rf.base import BudgetForestBase
from farthing.forests.budget_rf.forest_model import BudgetForestModel
from farthing.forests.budget_rf.out_of_bag import weighted_error
from farthing.forests.budget_rf.parameters import CONSTRAINTS, SHARED, ImpurityLike
from farthing.learning.monotonic import MONOTONIC, MONOTONIC_TEXT, MonotonicClassesMixin, directions_of
from farthing.learning.unordered import UnorderedMixin
from farthing.trees import CostRule, MaxCuts


@register(
    grid={"budget": [None], "n_estimators": [10, 40], "impurity": ["entropy", "pairs"]},
    auto=False,
    trials=[
        {
            "impurity": "pairs",
            "n_estimators": 8,
            "budget": 4.5,
            "aggregation": "vote",
            "max_cuts": 2,
            "cuts_above": 9,
        },
        {
            "n_estimators": 6,
            "max_features": "sqrt",
            "max_cuts": [(20, 4), (5, 2)],
            "alpha": [0.0, 1.0],
            "impurity": "pairs",
            "aggregation": "count",
        },
        {
            "impurity": "gini",
            "cost_rule": "penalty",
            "tradeoff": 0.01,
            "n_estimators": 5,
            "error_costs": 5.0,
            "min_impurity": 1.5,
            "validation_fraction": 0.2,
        },
    ],
)
@documented(SHARED | {"error_costs": ERROR_COSTS, "monotonic_cst": MONOTONIC_TEXT})
class BudgetForestClassifier(
    MonotonicClassesMixin, UnorderedMixin, BudgetForestBase, PricedErrorsMixin, ValidatedMixin
):
    """A random forest whose trees weigh the gain of a split against its price, grown to fit a mean budget.

    BudgetRF of Nan (thesis, algorithm 2): each tree is grown by GreedyTree on a bootstrap sample, and trees
    are added until the mean cost of the validation rows exceeds the budget; the last tree is left out. A row
    pays for a feature once, however many trees test it.

    Parameters
    ----------
    {splits}
    aggregation : {"distribution", "vote", "count"}
        What a tree adds to the forest's output: the class shares of its leaf; one vote for its largest class;
        or the class weights of its training rows in the leaf, so that large leaves count for more. A walk
        that a budget cuts short adds those of an inner node, which are larger still.
    validation_fraction : float, optional
        Share of the training rows, drawn at random, to hold out for validation unless `fit` is given
        validation rows. With None, the cost is measured on the training rows, and the error of several alphas
        out of bag.
    oob_score : bool
        Whether to measure the out-of-bag accuracy.
    {limits}
    {monotonic_cst} Predictions are the probability of the
        second of two classes; more are refused. Not with ``aggregation="count"``, where leaves of more rows
        count for more.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    {error_costs} Rows count by the price of their errors in growth, as in
        `BudgetTreeClassifier`. Not with ``aggregation="vote"``.
    {costs}

    Attributes
    ----------
    forest_ : Forest
        The trees; values are the class weights of the rows drawn for the tree, so the in-bag weight that a
        node misclassifies is ``cover - value.max(axis=1)``. An empty forest is one leaf with the prior.
    aggregation_ : str
        What trees add up.
    {attributes}
    oob_score_ : float
        Out-of-bag accuracy, over the rows that are out of some bag, if ``oob_score``; not in a file.
    oob_decision_function_ : ndarray of float64, shape (n_rows, n_classes)
        Out-of-bag probabilities of the training rows, if ``oob_score``; NaN for rows that are in every bag.
        Not in a file.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    F. Nan, J. Wang and V. Saligrama. Feature-Budgeted Random Forest. ICML 2015.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> forest = BudgetForestClassifier(impurity="pairs", costs=heart.costs, budget=4, random_state=0)
    >>> forest.fit(heart.X, heart.y).n_trees_
    12
    >>> float(forest.spend(heart.X).mean()) <= 4
    True
    """

    model_type = BudgetForestModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "class_weight": CLASS_WEIGHT,
        "error_costs": ANY_OR_NONE,
        "aggregation": [one_of(*AGGREGATIONS)],
        "monotonic_cst": MONOTONIC,
        "oob_score": ["boolean"],
    }
    fitted_: BudgetForestModel

    def __init__(
        self,
        *,
        impurity: ImpurityLike = "entropy",
        alpha: float | Sequence[float] = 0.0,
        power: float = 2.0,
        min_impurity: float = 0.0,
        cost_rule: CostRule = "ratio",
        tradeoff: float | None = None,
        budget: float | None = None,
        n_estimators: int = 40,
        max_features: int | float | str | None = None,
        max_cuts: MaxCuts = None,
        cuts_above: float = 0.0,
        bootstrap: bool = True,
        aggregation: Aggregation = "distribution",
        validation_fraction: float | None = None,
        oob_score: bool = False,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        monotonic_cst: Any = None,
        max_bins: int = 255,
        random_state: Any = None,
        class_weight: Any = None,
        error_costs: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            impurity=impurity,
            alpha=alpha,
            power=power,
            min_impurity=min_impurity,
            cost_rule=cost_rule,
            tradeoff=tradeoff,
            budget=budget,
            n_estimators=n_estimators,
            max_features=max_features,
            max_cuts=max_cuts,
            cuts_above=cuts_above,
            bootstrap=bootstrap,
            validation_fraction=validation_fraction,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            max_bins=max_bins,
            random_state=random_state,
            costs=costs,
            n_jobs=n_jobs,
        )
        self.aggregation = aggregation
        self.oob_score = oob_score
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.error_costs = error_costs

    def check_collection(self) -> None:
        """Raise TableError if parameters ask for something of every row, which stays on its worker."""
        if self.oob_score:
            self.refuse_on_collections("oob_score")

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> BudgetForestModel:
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score needs bootstrap=True: without it no row is out of the bag")
        if rows.errors is not None and self.aggregation == "vote":
            raise ValueError(
                "aggregation='vote' counts the most likely class of each tree, which error_costs do not go "
                "by; use 'distribution' or 'count'"
            )
        grown = self._grow_forest(rows, validation, self.aggregation, weighted_error)
        chosen = grown.chosen
        if self.oob_score:
            out_of_bag = chosen.out_of_bag(grown.rows, grown.bags)
            self.oob_decision_function_ = out_of_bag.probabilities()
            self.oob_score_ = out_of_bag.accuracy(grown.rows)
        # A mean budget chooses the trees and caps no row, so the budget of the model is None.
        header = rows.header(budget=self.hard_cap())
        return BudgetForestModel(
            **header,
            forest=chosen.forest(header["prior"], len(rows.schema.names)),
            aggregation=chosen.aggregation,
            n_trees=len(chosen.trees),
            alpha=chosen.alpha,
            validation_cost=chosen.cost,
        )

    def _monotonic(self, rows: TrainingSet) -> NDArray[np.int8] | None:
        directions = directions_of(self.monotonic_cst, rows.schema, rows.n_classes)
        if directions is not None and self.aggregation == "count":
            raise ValueError(
                "monotonic_cst cannot be kept with aggregation='count', where the leaf of a tree counts by "
                "its rows; use 'distribution' or 'vote'"
            )
        return directions

    # Validation rows, whose labels may be missing or unseen.

    def _validation_rows(
        self, rows: TrainingSet, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None
    ) -> TrainingSet:
        if y is None:
            # Such rows still measure the cost of the trees, but not their error.
            if np.size(self.alpha) > 1:
                raise ValueError(
                    "validation rows without labels cannot choose among several alphas: "
                    "give validation=(X, y)"
                )
            y = [None] * len(X)
        return super()._validation_rows(rows, X, y, sample_weight, qid=qid)

    def _validation_target(self, rows: TrainingSet, y: Any) -> NDArray[Any]:
        # A label that no training row has is -1, which no tree predicts: it counts as an error.
        return label_codes(y, np.asarray(rows.classes))
