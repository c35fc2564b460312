"""A cascade that branches: different rows buy different features, within a hard budget."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import ContractClassifier, TrainingSet, register
from farthing.base.parameters import (
    CLASS_WEIGHT,
    NON_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    SHARE,
    at_least,
    between,
)
from farthing.cascades.branching.branch_table import BranchTable
from farthing.cascades.branching.feature_selection import owned_columns, select_features
from farthing.cascades.branching.model import BranchingCascadeModel, padded
from farthing.cascades.branching.routing_tree import (
    branch_numbers,
    nearest_rows,
    path_columns,
    with_branches,
)
from farthing.costs import CostsLike, RowLedger
from farthing.learning.booster import TreeSettings
from farthing.learning.feature_prices import free_columns
from farthing.learning.losses import classification_loss
from farthing.trees import Forest, Grower, Predictor
from farthing.typing import Floats


@register(
    trials=[
        {
            "n_branches": 3,
            "branch_share": 0.5,
            "min_samples_branch": 1,
            "n_estimators": 3,
            "max_depth": 2,
            "min_samples_leaf": 1,
        },
        {
            "n_branches": 3,
            "branch_share": 0.6,
            "min_samples_branch": 1,
            "n_candidates": 2,
            "n_estimators": 2,
            "min_samples_leaf": 1,
            "budget": 6.0,
        },
    ],
)
class BranchingCascadeClassifier(ContractClassifier):
    """A routing tree that buys the first features row by row, and a booster with its own features per leaf.

    The routing tree knows the prices and spends a part of the budget: every row buys what lies on its own
    path. Each leaf is a branch. It spends the rest of the budget on more features for its rows, one after
    another, by their gain per price on held-out residuals, and has a booster over all that it owns. The
    booster learns from more than the few rows of its branch: training rows have all features, so rows of
    other branches are used as well, with less weight, those of similar class distributions first.

    So no row pays for features that only separate classes which its first answers have ruled out, while each
    booster still learns from many rows. The budget is hard.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, optional
        What each row may spend; None means the price of all features.
    n_branches : int
        Maximum number of leaves of the routing tree. Time and model size grow with it. With 1 there is no
        routing: all rows have the same features.
    branch_share : float
        Share of the budget that the routing tree may spend, 0 to 1.
    min_samples_branch : int
        Minimum number of training rows per branch.
    selection_rows : int
        Rows that choose the features of a branch, its own first.
    n_candidates : int
        Features that are tried out before each purchase of a branch; 1 buys the one with the largest gain
        without a trial. More candidates take longer and may choose better; with 20 pixels of MNIST the gain
        of 8 candidates was within a standard error (docs/results/cascade_mnist.md).
    growth_rows : int, optional
        Rows that the booster of a branch is grown on, its own first; None means all.
    outside_weight : float
        Weight of the rows of other branches, 0 to 1.
    n_estimators : int
        Number of boosting rounds per branch.
    learning_rate, max_depth, max_leaf_nodes, min_samples_leaf, l2_regularization, max_bins, class_weight
        As in `GreedyMiserClassifier`.
    random_state : int, RandomState or None
        Chooses the rows held out while features are chosen, and the rows of other branches to learn from.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    routes_ : Forest
        One tree. The value of a node has the number of the branch, -1 for inner nodes, and the scores of a
        row that goes no further.
    bought_ : ndarray of int64, shape (n_branches, n_bought)
        The columns of each branch: those of the routes, then those it buys, in this order; -1 after the end.
    forest_ : Forest
        The boosters of all branches, one after another.
    ends_ : ndarray of int64, shape (n_branches,)
        The end of each branch's trees.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = BranchingCascadeClassifier(heart.costs, 20, n_branches=3, n_estimators=20, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).max() <= 20)
    True
    """

    model_type = BranchingCascadeModel
    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_branches": [at_least(1)],
        "branch_share": [SHARE],
        "min_samples_branch": [at_least(1)],
        "selection_rows": [at_least(1)],
        "n_candidates": [at_least(1)],
        "growth_rows": [at_least(1), None],
        "outside_weight": [SHARE],
        "n_estimators": [at_least(1)],
        "learning_rate": [POSITIVE],
        "max_depth": [at_least(0), None],
        "max_leaf_nodes": [at_least(1), None],
        "min_samples_leaf": [at_least(1)],
        "l2_regularization": [NON_NEGATIVE],
        "max_bins": [between(2, 255)],
        "class_weight": CLASS_WEIGHT,
        "random_state": [RANDOM_STATE],
    }

    fitted_: BranchingCascadeModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        n_branches: int = 16,
        branch_share: float = 0.25,
        min_samples_branch: int = 100,
        selection_rows: int = 4000,
        n_candidates: int = 1,
        growth_rows: int | None = 20_000,
        outside_weight: float = 0.3,
        n_estimators: int = 60,
        learning_rate: float = 0.2,
        max_depth: int | None = 5,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 1.0,
        max_bins: int = 64,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.n_branches = n_branches
        self.branch_share = branch_share
        self.min_samples_branch = min_samples_branch
        self.selection_rows = selection_rows
        self.n_candidates = n_candidates
        self.growth_rows = growth_rows
        self.outside_weight = outside_weight
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Floats:
        """Return the scores that the probabilities come from; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one score per class.
        """
        outputs, _ = self.raw_outputs(X, budget=budget, seeds=seeds)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _learn(self, rows: TrainingSet) -> BranchingCascadeModel:
        costs, loss, threads = rows.costs, classification_loss(rows.n_classes), self.n_threads()
        cap = self.hard_cap()
        # Without a budget a branch may buy everything.
        limit = costs.total(costs.features) if cap is None else cap
        random = check_random_state(self.random_state)
        seed = int(random.randint(2**31 - 1))
        table = BranchTable(rows, loss, TreeSettings.of(self), self.max_bins, seed)
        tree = self._grow_routing_tree(table, self.branch_share * limit)
        # The classes stay in ``tree``, where they measure how near two branches are; the model stores branch
        # numbers and scores in their place.
        routes = with_branches(tree, loss, rows)
        branch_of = branch_numbers(Predictor(routes), rows.values, threads)
        # One shuffle for all branches: which rows are left out of a large one depends on nothing else.
        shuffled = random.permutation(len(rows))
        branches = []
        for branch, leaf in enumerate(np.flatnonzero(tree.feature < 0).tolist()):
            ledger = RowLedger(costs, limit)
            # Every row of the branch has paid for its path, so the branch owns these columns before it buys.
            for column in [*path_columns(tree, leaf), *free_columns(costs).tolist()]:
                ledger.buy(column)
            order = nearest_rows(tree, branch_of, branch, shuffled)
            branches.append(self._learn_branch(table, branch_of == branch, order, ledger))
        forests = [forest for _, forest in branches]
        return BranchingCascadeModel(
            **rows.header(prior=loss.start(rows.target, rows.weights), budget=cap),
            forest=Forest.concat(forests),
            routes=routes,
            bought=padded([columns for columns, _ in branches]),
            ends=np.cumsum([forest.n_trees for forest in forests], dtype=np.int64),
        )

    def _grow_routing_tree(self, table: BranchTable, cap: float) -> Forest:
        """Grow a tree of class weights whose paths cost no more than the cap; every row reaches a leaf."""
        rows = table.rows
        grower = Grower(
            table.bins,
            rows.costs,
            max_leaf_nodes=self.n_branches,
            min_samples_leaf=self.min_samples_branch,
            # Gain per price: with a penalty, the scale of the trade-off would have to be tuned to the budget.
            cost_rule="ratio",
            budget=cap,
            n_threads=self.n_threads(),
        )
        return grower.classes(rows.target, rows.weights, rows.n_classes).tree

    def _learn_branch(
        self, table: BranchTable, own: NDArray[np.bool_], order: NDArray[np.int64], ledger: RowLedger
    ) -> tuple[list[int], Forest]:
        """Buy the features of a branch and grow its booster.

        Parameters
        ----------
        table : BranchTable
            The training rows.
        own : ndarray of bool, shape (n_rows,)
            The rows of the branch.
        order : ndarray of int64, shape (n_rows,)
            All rows, the nearest to the branch first.
        ledger : RowLedger
            What its rows own, and their budget; changed by what is bought.

        Returns
        -------
        columns : list of int
            In the order of its questions.
        booster : Forest
        """
        factors: Floats = np.where(own, 1.0, self.outside_weight)
        order = order[factors[order] > 0]  # rows of weight zero would only take time
        columns: list[int] = owned_columns(ledger).tolist()
        numbers = np.sort(order[: self.selection_rows])
        # Features are chosen by held-out residuals, so each half of the rows is held out by the other.
        halves = table.trainer(numbers, factors, n_folds=2)
        columns += select_features(halves, table.coarse[:, numbers], ledger, n_candidates=self.n_candidates)
        numbers = np.sort(order[: self.growth_rows])
        booster = table.trainer(numbers, factors).final_forest(owned_columns(ledger), self.n_estimators)
        return columns, booster
