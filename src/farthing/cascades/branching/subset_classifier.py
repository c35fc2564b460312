"""A routing tree and sets of features that are chosen together, by held-out losses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Final

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
from farthing.cascades.branching.model import BranchingCascadeModel, padded
from farthing.cascades.branching.routing_tree import (
    branch_numbers,
    nearest_rows,
    path_columns,
    with_branches,
)
from farthing.cascades.branching.subset_search import SetBoosters, Subset, SubsetSearch
from farthing.cascades.branching.subset_tree import Node, SubsetTree
from farthing.costs import CostsLike
from farthing.learning.booster import TreeSettings
from farthing.learning.feature_prices import free_columns
from farthing.learning.folds import stratified_folds
from farthing.learning.losses import classification_loss
from farthing.learning.multi_strategy import grows_multi_output
from farthing.trees import Forest, Predictor
from farthing.typing import Flags, Floats

# The boosters of the search are fast learners: they only compare sets.
_ROUNDS: Final = 60
_RATE: Final = 0.2
_PATIENCE: Final = 5
_LEAST_FOLDS: Final = 3
# Folds by default, up to some rows and above: few rows say little of a set, and boosters are fast there.
_FEW_ROWS: Final = 1000
_FOLDS_OF_FEW: Final = 10
_FOLDS_OF_MANY: Final = 5


@register(
    auto=False,  # not yet ahead on tables that no setting was chosen on
    trials=[
        {
            "n_branches": 3,
            "min_samples_branch": 3,
            "caution": 0.0,
            "n_candidates": 2,
            "n_swaps": 1,
            "n_estimators": 3,
            "n_folds": 3,
            "max_depth": 2,
            "min_samples_leaf": 1,
            "budget": 3.0,
        },
        {
            "n_branches": 1,
            "n_candidates": 1,
            "n_swaps": 0,
            "n_estimators": 2,
            "n_folds": 2,
            "min_samples_leaf": 1,
            "budget": 6.0,
        },
    ],
)
class SubsetTreeClassifier(ContractClassifier):
    """A routing tree whose leaves buy different sets of features, all chosen together by held-out losses.

    A set is not bought feature by feature: sets are compared by the log loss of boosters on rows that these
    have not seen. The search starts from what is added one after another, and from what is left when the
    columns of a booster on all of them are dropped one after another; then it exchanges columns for others as
    long as the loss falls. So it finds columns that tell something only together.

    A test splits a branch where two sets, one on each side, are worth more than the best one for all of its
    rows: the first questions are chosen for what they make possible next. Both sides choose their sets on one
    half of the rows and are judged by the other, and a test must gain ``caution`` standard errors. To test a
    column that both sides need anyway costs nothing. Where no test is sure to gain, all rows buy the same
    features. The answer of a branch is the mean of boosters on folds, stopped early by what each fold holds
    out, so probabilities stay smooth where few features are bought. The budget is hard.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, optional
        What each row may spend; None means the price of all features.
    n_branches : int
        Maximum number of leaves of the routing tree; with 1 all rows have the same features.
    min_samples_branch : int
        Minimum weight of the training rows of a branch.
    caution : float
        Standard errors by which a test must lower the held-out loss.
    selection_rows : int
        Rows that choose the set of a branch, its own first.
    selection_columns : int, optional
        The search drops columns from a booster on all of them. Of a table with more columns than this, such
        as one of pixels, that booster has those that gain most alone, or with what is free; so columns that
        tell something only together may be missed there. None means all, however long it takes.
    n_candidates : int
        Columns that are tried out at each step; time grows with it.
    n_swaps : int
        The most exchanges of a column for others, for each branch.
    growth_rows : int, optional
        Rows that the booster of a branch is grown on, its own first; None means all.
    outside_weight : float
        Weight of the rows of other branches, 0 to 1. With 1 branches differ by what they buy alone, and each
        learns how to use it from all rows.
    n_estimators : int
        Maximum number of boosting rounds per branch.
    n_iter_no_change : int, optional
        Rounds without a lower held-out loss after which a booster stops; None runs all.
    n_folds : int, optional
        Folds, of which each has a booster in every branch; sets are compared by half as many. None means 10
        up to 1,000 rows and 5 above.
    learning_rate, max_depth, max_leaf_nodes, min_samples_leaf, l2_regularization, max_bins, class_weight
        As in `farthing.boosting.GreedyMiserClassifier`.
    random_state : int, RandomState or None
        Chooses the folds, and the rows of other branches to learn from.
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
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> y = np.where(X[:, 0] > 0, X[:, 1], X[:, 2]) > 0  # the first column says which of two others matters
    >>> model = SubsetTreeClassifier(budget=2, n_estimators=20, random_state=0).fit(X, y)
    >>> sorted(np.sort(model.bought_, axis=1).tolist())
    [[0, 1], [0, 2]]
    """

    model_type = BranchingCascadeModel
    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_branches": [at_least(1)],
        "min_samples_branch": [at_least(1)],
        "caution": [NON_NEGATIVE],
        "selection_rows": [at_least(1)],
        "selection_columns": [at_least(1), None],
        "n_candidates": [at_least(1)],
        "n_swaps": [at_least(0)],
        "growth_rows": [at_least(1), None],
        "outside_weight": [SHARE],
        "n_estimators": [at_least(1)],
        "n_iter_no_change": [at_least(1), None],
        "n_folds": [at_least(2), None],
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
        n_branches: int = 8,
        min_samples_branch: int = 100,
        caution: float = 1.0,
        selection_rows: int = 4000,
        selection_columns: int | None = 256,
        n_candidates: int = 4,
        n_swaps: int = 4,
        growth_rows: int | None = None,
        outside_weight: float = 1.0,
        n_estimators: int = 300,
        n_iter_no_change: int | None = 15,
        n_folds: int | None = None,
        learning_rate: float = 0.08,
        max_depth: int | None = 4,
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
        self.min_samples_branch = min_samples_branch
        self.caution = caution
        self.selection_rows = selection_rows
        self.selection_columns = selection_columns
        self.n_candidates = n_candidates
        self.n_swaps = n_swaps
        self.growth_rows = growth_rows
        self.outside_weight = outside_weight
        self.n_estimators = n_estimators
        self.n_iter_no_change = n_iter_no_change
        self.n_folds = n_folds
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
        loss, cap = classification_loss(rows.n_classes), self.hard_cap()
        prior = loss.start(rows.target, rows.weights)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=3)
        settings = replace(TreeSettings.of(self), multi_output=grows_multi_output("auto", len(prior)))
        table = BranchTable(rows, loss, settings, self.max_bins, int(seeds[0]))
        shuffled = np.random.RandomState(seeds[1]).permutation(len(rows))
        tree, leaves = self._grow_routes(table, shuffled, int(seeds[2]))
        routes = with_branches(tree, loss, rows)
        branch_of = branch_numbers(Predictor(routes), rows.values, self.n_threads())
        forests = []
        for branch, leaf in enumerate(leaves):
            order = nearest_rows(tree, branch_of, branch, shuffled)
            forests.append(self._booster(table, branch_of == branch, order, leaf.columns))
        return BranchingCascadeModel(
            **rows.header(prior=prior, budget=cap),
            forest=Forest.concat(forests),
            routes=routes,
            bought=padded(
                [
                    _asked(tree, node, leaf)
                    for node, leaf in zip(np.flatnonzero(tree.feature < 0).tolist(), leaves, strict=True)
                ]
            ),
            ends=np.cumsum([forest.n_trees for forest in forests], dtype=np.int64),
        )

    def _grow_routes(
        self, table: BranchTable, shuffled: NDArray[np.int64], seed: int
    ) -> tuple[Forest, list[Node]]:
        """Return the routing tree, whose values are class weights, and its leaves with their sets."""
        rows, costs, cap = table.rows, table.rows.costs, self.hard_cap()
        limit = costs.total(costs.features) if cap is None else cap
        quick = replace(table.settings, n_estimators=_ROUNDS, learning_rate=_RATE)
        searched = replace(table, settings=quick)
        halves = stratified_folds(rows.values, rows.target, 2, np.random.RandomState(seed))

        every = self._set_boosters(searched, np.ones(len(rows)), np.arange(len(rows)))

        def search_of(own: Flags, path: Subset) -> tuple[SubsetSearch, NDArray[np.int64]]:
            factors = np.where(own, 1.0, self.outside_weight)
            # The rows of the branch come first; others follow at random.
            order = np.lexsort((shuffled, ~own))
            numbers = np.sort(order[factors[order] > 0][: self.selection_rows])
            # If all branches learn from the same rows, a set has the same boosters in all of them.
            shared = len(numbers) == len(rows) and self.outside_weight == 1
            search = SubsetSearch(
                boosters=every if shared else self._set_boosters(searched, factors, numbers),
                own=own[numbers],
                codes=searched.coarse[:, numbers],
                fixed=path,
                limit=limit,
                n_candidates=self.n_candidates,
                n_swaps=self.n_swaps,
                most_columns=self.selection_columns,
            )
            return search, numbers

        grower = SubsetTree(
            rows,
            searched.bins,
            search_of,
            halves=np.zeros(len(rows), dtype=np.int64) if halves is None else halves,
            n_branches=1 if halves is None else self.n_branches,
            min_samples_branch=self.min_samples_branch,
            caution=self.caution,
        )
        root = grower.grow(tuple(free_columns(costs).tolist()))
        return grower.forest(root, rows.n_classes)

    def _set_boosters(self, table: BranchTable, factors: Floats, numbers: NDArray[np.int64]) -> SetBoosters:
        """Return quick boosters on some rows, without any set yet."""
        trainer = table.trainer(numbers, factors, max(_LEAST_FOLDS, self._n_folds(table) // 2))
        return SetBoosters(replace(trainer, n_iter_no_change=_PATIENCE, ensemble=True))

    def _n_folds(self, table: BranchTable) -> int:
        """Return the number of folds of the boosters of branches."""
        if self.n_folds is not None:
            return self.n_folds
        return _FOLDS_OF_FEW if len(table.rows) <= _FEW_ROWS else _FOLDS_OF_MANY

    def _booster(self, table: BranchTable, own: Flags, order: NDArray[np.int64], columns: Subset) -> Forest:
        """Return the booster of a branch, the mean of those of all folds."""
        factors: Floats = np.where(own, 1.0, self.outside_weight)
        order = order[factors[order] > 0]
        trainer = table.trainer(np.sort(order[: self.growth_rows]), factors, self._n_folds(table))
        trainer = replace(trainer, n_iter_no_change=self.n_iter_no_change, ensemble=True)
        return trainer.booster(np.array(columns, dtype=np.int64)).forest


def _asked(tree: Forest, node: int, leaf: Node) -> list[int]:
    """Return the columns of a leaf in the order of its questions: first those on its path."""
    return list(dict.fromkeys([*path_columns(tree, node), *leaf.columns]))
