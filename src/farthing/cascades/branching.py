"""A cascade that branches: other rows buy other features, within a hard budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import ContractClassifier, TreesMixin, n_threads, register, sigmoid, softmax
from farthing.boosting import GreedyMiserClassifier
from farthing.boosting.booster import Floats
from farthing.boosting.losses import Loss
from farthing.cascades.branch_walk import BranchPolicy
from farthing.cascades.chain import free_columns
from farthing.cascades.ground import Ground
from farthing.cascades.nursery import Columns, Settings
from farthing.cascades.shopping import coarse_codes, columns_of, shop
from farthing.costs import CostSheet, RowLedger
from farthing.table import Bins, Encoded
from farthing.trees import Forest, Grower, Predictor, Progress
from farthing.trees.forest import MISSING_LEFT, MISSING_RIGHT, MISSING_STAY
from farthing.walks import Policy, walk_rows


@register(
    trials=[
        {
            "n_branches": 3,
            "branch_share": 0.5,
            "min_rows_branch": 1,
            "n_trees": 3,
            "max_depth": 2,
            "min_rows_leaf": 1,
        },
        {
            "n_branches": 4,
            "branch_share": 0.6,
            "min_rows_branch": 1,
            "n_trees": 2,
            "min_rows_leaf": 1,
            "budget": 6.0,
        },
    ],
    check_defaults=False,  # sixty rounds, for each of a hundred small fits
)
class BranchingCascadeClassifier(TreesMixin, ContractClassifier):
    """Routes that buy the first features row by row, and at each end a booster with purchases of its own.

    A tree that knows the prices, the routes, spends a part of the budget: every row buys what lies on its own
    way. Each leaf is a branch. It buys what is left of the budget for its rows, one feature after another,
    by what the residuals of rows held out gain per price, and has a booster over all that it owns. The
    booster grows not on the few rows of its branch alone: the training rows have all features, so those of
    other branches serve as well, the nearer in what the routes believe of them the sooner, with less weight.

    So no row pays for features that only tell apart classes which its first answers have ruled out, and yet
    boosters learn from many rows. The budget is hard.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    budget : float, optional
        What each row may spend; None is the price of everything.
    n_branches : int
        Most leaves of the routes. Time and the size of the model grow with it. 1 is no routes: the same
        features for all rows.
    branch_share : float
        Part of the budget that the routes may spend, 0 to 1.
    min_rows_branch : int
        Fewest training rows of a branch.
    choose_rows : int
        Rows that a branch chooses its features by, its own first.
    grow_rows : int, optional
        Rows that a branch grows its booster on, its own first; None is all.
    outside : float
        Weight of the rows of other branches, 0 to 1.
    n_trees : int
        Rounds of each branch's booster.
    learning_rate, max_depth, max_leaves, min_rows_leaf, l2, max_bins, class_weight
        As in `GreedyMiserClassifier`.
    random_state : int, RandomState or None
        Of the rows held out in choosing, and of which rows serve where there are more than enough.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    routes_ : Forest
        One tree. The value of a node has the number of the branch, -1 above the leaves, and the scores of a
        row that goes no further.
    bought_ : ndarray of int64, shape (n_branches, n_bought)
        The columns of each branch: those of the routes, then those it buys, in this order; -1 behind the end.
    forest_ : Forest
        The boosters of all branches, one after another.
    ends_ : ndarray of int64, shape (n_branches,)
        The end of the trees of each.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = BranchingCascadeClassifier(heart.costs, budget=20, n_branches=3, n_trees=20, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).max() <= 20)
    True
    """

    _hard_budget: ClassVar[bool] = True
    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "routes_": Forest,
        "bought_": np.ndarray,
        "ends_": np.ndarray,
    }
    _one_sum: ClassVar[bool] = False

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        n_branches: int = 16,
        branch_share: float = 0.25,
        min_rows_branch: int = 100,
        choose_rows: int = 4000,
        grow_rows: int | None = 20_000,
        outside: float = 0.3,
        n_trees: int = 60,
        learning_rate: float = 0.2,
        max_depth: int | None = 5,
        max_leaves: int | None = None,
        min_rows_leaf: int = 5,
        l2: float = 1.0,
        max_bins: int = 64,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.n_branches = n_branches
        self.branch_share = branch_share
        self.min_rows_branch = min_rows_branch
        self.choose_rows = choose_rows
        self.grow_rows = grow_rows
        self.outside = outside
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_rows_leaf = min_rows_leaf
        self.l2 = l2
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Floats:
        """Give the scores behind the probabilities; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one score a class.
        """
        outputs, _ = self._raw(X, budget, seeds)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    # Learning.

    def _fit(
        self, values: NDArray[np.floating], target: NDArray[Any], weights: Floats, sheet: CostSheet
    ) -> None:
        miser = self._checked()
        factors = miser._factors(target, weights)
        weights = weights if factors is None else weights * factors[target]
        loss = miser._loss(target, None)
        self.prior_ = loss.start(target, weights)
        threads = n_threads(self.n_jobs)
        bins = Bins(values, self.schema_, max_bins=self.max_bins, n_threads=threads)
        cap = sheet.total(sheet.features) if self.budget_ is None else self.budget_
        routes = self._grow_routes(bins, target, weights, sheet, self.branch_share * cap)
        self.routes_ = self._told(routes, loss, target, weights)
        branch_of = self._branches_of(values)
        chance = check_random_state(self.random_state)
        seed = int(chance.randint(2**31 - 1))
        lots = chance.permutation(len(values))
        ground = Ground(
            values,
            self.schema_,
            self.max_bins,
            bins,
            coarse_codes(bins, weights),
            loss,
            target,
            weights,
            sheet,
            self._settings(),
            seed,
        )
        made = []
        for branch, leaf in enumerate(np.flatnonzero(routes.feature < 0).tolist()):
            ledger = RowLedger(sheet, cap)
            for column in [*_path(routes, leaf), *free_columns(sheet).tolist()]:
                ledger.buy(column)
            order = self._nearest(routes, branch_of, branch, lots)
            made.append(self._make_branch(ground, branch_of == branch, order, ledger))
        self.bought_ = np.full((len(made), max(1, *(len(columns) for columns, _ in made))), -1, np.int64)
        for branch, (columns, _) in enumerate(made):
            self.bought_[branch, : len(columns)] = columns
        self.forest_ = Forest.concat([forest for _, forest in made])
        self.ends_ = np.cumsum([forest.n_trees for _, forest in made], dtype=np.int64)

    def _make_branch(
        self, ground: Ground, own: NDArray[np.bool_], order: NDArray[np.int64], ledger: RowLedger
    ) -> tuple[list[int], Forest]:
        """Buy for a branch and grow its booster; return its columns, in the order of its questions, and it.

        Parameters
        ----------
        ground : Ground
            The table.
        own : ndarray of bool, shape (n_rows,)
            The rows of the branch.
        order : ndarray of int64, shape (n_rows,)
            All rows, the nearest to the branch first.
        ledger : RowLedger
            What its rows own, and their budget; changed by what is bought.
        """
        counts = np.where(own, 1.0, self.outside)
        order = order[counts[order] > 0]
        columns = columns_of(ledger).tolist()
        rows = np.sort(order[: self.choose_rows])
        columns += shop(ground.nursery(rows, counts, n_folds=2), ground.coarse[:, rows], ledger)
        rows = np.sort(order[: self.grow_rows])
        return columns, ground.nursery(rows, counts).grown(columns_of(ledger), self.n_trees)

    def _grow_routes(
        self, bins: Bins, target: NDArray[Any], weights: Floats, sheet: CostSheet, cap: float
    ) -> Forest:
        """Grow the tree of the routes, whose paths cost no more than the cap; no row stays half way."""
        grower = Grower(
            bins,
            sheet,
            max_leaves=self.n_branches,
            min_rows_leaf=self.min_rows_branch,
            cost_rule="ratio",
            budget=cap,
            n_threads=n_threads(self.n_jobs),
        )
        tree = grower.classes(target, weights, len(self.classes_)).tree
        inner = tree.feature >= 0
        # A value that is missing goes with most rows, unless training rows without it went elsewhere.
        more = np.where(tree.cover[tree.left] >= tree.cover[tree.right], MISSING_LEFT, MISSING_RIGHT)
        stays = inner & (tree.missing == MISSING_STAY)
        return replace(tree, missing=np.where(stays, more, tree.missing).astype(np.uint8))

    def _told(self, routes: Forest, loss: Loss, target: NDArray[Any], weights: Floats) -> Forest:
        """Return the routes with the branch and the scores of each node for values."""
        labels = np.arange(len(self.classes_))
        prior = np.bincount(target, weights=weights, minlength=len(labels)) / weights.sum()
        branches = np.full(routes.n_nodes, -1.0)
        leaves = routes.feature < 0
        branches[leaves] = np.arange(leaves.sum())
        # A row's worth of the prior, so that no class is ruled out by a few rows.
        scores = [loss.start(labels, counts + prior) for counts in routes.value]
        return replace(routes, value=np.column_stack([branches, scores]), n_outputs=1 + len(self.prior_))

    def _nearest(
        self, routes: Forest, branch_of: NDArray[np.int64], branch: int, lots: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return all rows: those of a branch, then those of others, by the divergence of their classes.

        Lots decide among the rows of one branch.
        """
        counts = routes.value[routes.feature < 0]
        shares = counts + counts.sum(axis=0) / counts.sum() + np.finfo(np.float64).tiny
        logs = np.log(shares / shares.sum(axis=1, keepdims=True))
        divergence = (np.exp(logs[branch]) * (logs[branch] - logs)).sum(axis=1)
        divergence[branch] = -1.0
        return np.lexsort((lots, divergence[branch_of]))

    def _settings(self) -> Settings:
        return Settings(
            self.n_trees,
            None,
            self.learning_rate,
            self.max_depth,
            self.max_leaves,
            self.min_rows_leaf,
            self.l2,
            n_threads(self.n_jobs),
        )

    def _checked(self) -> GreedyMiserClassifier:
        """Check the parameters; return a Greedy Miser of the same settings and classes."""
        for name in ("n_branches", "min_rows_branch", "choose_rows", "grow_rows", "n_trees"):
            value = getattr(self, name)
            if value is None and name == "grow_rows":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1; got {value!r}")
        for name in ("branch_share", "outside"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie between 0 and 1; got {getattr(self, name)!r}")
        names = ("n_trees", "learning_rate", "max_depth", "max_leaves", "min_rows_leaf", "l2", "class_weight")
        miser = GreedyMiserClassifier(**{name: getattr(self, name) for name in names})
        miser.classes_ = self.classes_
        miser._check_parameters()
        return miser

    # Predicting.

    def _policy(self, seed: int | None) -> Policy:  # noqa: ARG002 - trees draw no lots
        return BranchPolicy(self)

    def _answers(
        self,
        encoded: Encoded,
        budget: Floats | None,
        seeds: NDArray[np.int64] | None,  # noqa: ARG002
    ) -> tuple[Floats, NDArray[np.bool_]]:
        values = encoded.values
        branch_of = self._branches_of(values)
        progress = Progress(values, self.forest_.n_outputs, self.costs_, n_threads=n_threads(self.n_jobs))
        acquired = np.zeros(values.shape, dtype=np.bool_)
        for branch in np.unique(branch_of).tolist():
            rows = np.flatnonzero(branch_of == branch)
            acquired[np.ix_(rows, self._columns(branch))] = True
            self._look(progress, branch, rows)
        outputs = progress.outputs
        if budget is not None:
            # Who cannot pay all of it may take another way.
            poor = np.flatnonzero(self.costs_.total_rows(acquired) > budget * (1 + 1e-12))
            if len(poor):
                outputs[poor], acquired[poor] = walk_rows(
                    self._policy, self.costs_, values[poor], len(self.prior_), budget=budget[poor]
                )
        return outputs, acquired

    def _branches_of(self, values: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the branch of each row of an encoded table, whatever it costs."""
        outputs, _ = Predictor(self.routes_).predict(values, n_threads=n_threads(self.n_jobs))
        return outputs[:, 0].astype(np.int64)

    def _columns(self, branch: int) -> Columns:
        """Return what a branch looks at, in the order of its questions."""
        columns: Columns = self.bought_[branch]
        return columns[columns >= 0]

    def _look(self, progress: Progress, branch: int, rows: NDArray[np.int64]) -> None:
        """Send rows down the trees of a branch."""
        begin = int(self.ends_[branch - 1]) if branch else 0
        self._ready().advance(progress, begin, int(self.ends_[branch]), rows)

    def _conclude(self, outputs: Floats) -> Floats:
        return sigmoid(outputs) if len(self.classes_) == 2 else softmax(outputs)

    # Files.

    def _check_stored(self) -> None:
        super()._check_stored()
        n_features, n_branches, routes = len(self.schema_.names), len(self.ends_), self.routes_
        n_scores = 1 if len(self.classes_) == 2 else len(self.classes_)
        if len(self.prior_) != n_scores:
            raise ValueError(f"{len(self.classes_)} classes need {n_scores} scores; got {len(self.prior_)}")
        if (routes.n_trees, routes.n_features, routes.width) != (1, n_features, 1 + n_scores):
            raise ValueError("routes_ must be one tree of a branch and the scores over the table's features")
        leaves = routes.feature < 0
        if not np.isin(routes.value[leaves, 0], np.arange(n_branches)).all():
            raise ValueError("routes_ must end at branches")
        if (routes.missing[~leaves] == MISSING_STAY).any():
            raise ValueError("routes_ must send every row to a leaf")
        bought = self.bought_
        if bought.dtype != np.int64 or bought.shape != (n_branches, bought.shape[-1]):
            raise ValueError("bought_ must have columns for each branch")
        if not n_branches or bought.min() < -1 or bought.max() >= n_features:
            raise ValueError("bought_ must be of columns")
        ends = np.append(0, self.ends_)
        if ends.dtype != np.int64 or (np.diff(ends) <= 0).any() or ends[-1] != self.forest_.n_trees:
            raise ValueError("ends_ must ascend to the number of trees")
        self._check_looks()

    def _check_looks(self) -> None:
        """Check that a branch asks for all that its routes and its trees test: no looking without paying."""
        for leaf in np.flatnonzero(self.routes_.feature < 0).tolist():
            branch = int(self.routes_.value[leaf, 0])
            begin = int(self.ends_[branch - 1]) if branch else 0
            nodes = slice(*self.forest_.offsets[[begin, int(self.ends_[branch])]].tolist())
            tested = np.unique(self.forest_.feature[nodes])
            known = [-1, *self._columns(branch).tolist()]
            if not np.isin([*tested.tolist(), *_path(self.routes_, leaf)], known).all():
                raise ValueError("a branch tests a feature that it does not buy")


def _path(routes: Forest, leaf: int) -> list[int]:
    """Return the columns that are tested on the way to a leaf, from the root on.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> _path(stump, 2)
    [1]
    """
    tested: list[int] = []
    while leaf > 0:
        leaf = int(np.flatnonzero((routes.left == leaf) | (routes.right == leaf))[0])
        tested.insert(0, int(routes.feature[leaf]))
    return list(dict.fromkeys(tested))
