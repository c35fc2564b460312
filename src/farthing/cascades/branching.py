"""A cascade that branches: other rows buy other features, within a hard budget."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import ContractClassifier, TreesMixin, n_threads, register, sigmoid, softmax
from farthing.boosting import GreedyMiserClassifier
from farthing.boosting.booster import Floats
from farthing.cascades.branch_checks import check_branches
from farthing.cascades.branch_walk import BranchPolicy
from farthing.cascades.chain import free_columns
from farthing.cascades.ground import Ground
from farthing.cascades.nursery import Columns, Settings
from farthing.cascades.reader import NetworkReader, Reader
from farthing.cascades.routes import nearest, no_one_stays, path, told
from farthing.cascades.school import Ward
from farthing.cascades.shopping import columns_of, shop
from farthing.costs import CostSheet, RowLedger
from farthing.table import Encoded
from farthing.trees import Forest, Grower, Predictor, Progress
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
            "n_tried": 3,
            "n_trees": 2,
            "min_rows_leaf": 1,
            "budget": 6.0,
        },
        {
            "n_branches": 3,
            "min_rows_branch": 1,
            "n_trees": 2,
            "reader": NetworkReader(n_units=8, n_steps=5, n_networks=2),
        },
        {
            "n_branches": 3,
            "min_rows_branch": 1,
            "n_trees": 2,
            "reader": NetworkReader(n_units=8, n_steps=5, by_branch=True, learn_rows=60, n_levels=3),
        },
    ],
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

    A reader may answer together with the boosters: small networks that learn from all rows, each through what
    its branch has bought, and so share between the branches what every booster learns alone; or networks of
    each branch, which weigh sums of many features where trees take one at a time.

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
    n_tried : int
        Features that are tried out before each purchase of a branch; 1 takes the one that seems to gain most
        alone. More of them take longer and may buy better: with 20 pixels of MNIST, 8 took off three of a
        hundred errors.
    grow_rows : int, optional
        Rows that a branch grows its booster on, its own first; None is all.
    outside : float
        Weight of the rows of other branches, 0 to 1.
    n_trees : int
        Rounds of each branch's booster.
    reader : NetworkReader, optional
        The reader that answers together with the boosters; None is none.
    learning_rate, max_depth, max_leaves, min_rows_leaf, l2, max_bins, class_weight
        As in `GreedyMiserClassifier`.
    random_state : int, RandomState or None
        Of the rows held out in choosing, of which rows serve where there are more than enough, and of the
        reader.
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
    reader_ : Reader or None
        The networks that answer with the boosters.

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
        "reader_": Reader | NoneType,
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
        n_tried: int = 1,
        grow_rows: int | None = 20_000,
        outside: float = 0.3,
        n_trees: int = 60,
        learning_rate: float = 0.2,
        max_depth: int | None = 5,
        max_leaves: int | None = None,
        min_rows_leaf: int = 5,
        l2: float = 1.0,
        max_bins: int = 64,
        reader: NetworkReader | None = None,
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
        self.n_tried = n_tried
        self.grow_rows = grow_rows
        self.outside = outside
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_rows_leaf = min_rows_leaf
        self.l2 = l2
        self.max_bins = max_bins
        self.reader = reader
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
        cap = sheet.total(sheet.features) if self.budget_ is None else self.budget_
        chance = check_random_state(self.random_state)
        seed = int(chance.randint(2**31 - 1))
        ground = Ground(
            values, self.schema_, self.max_bins, loss, target, weights, sheet, self._settings(), seed
        )
        routes = self._grow_routes(ground, self.branch_share * cap)
        self.routes_ = told(routes, loss, target, weights, len(self.classes_))
        branch_of = self._branches_of(values)
        lots = chance.permutation(len(values))
        made = []
        for branch, leaf in enumerate(np.flatnonzero(routes.feature < 0).tolist()):
            ledger = RowLedger(sheet, cap)
            for column in [*path(routes, leaf), *free_columns(sheet).tolist()]:
                ledger.buy(column)
            order = nearest(routes, branch_of, branch, lots)
            made.append(self._make_branch(ground, branch_of == branch, order, ledger))
        self.bought_ = np.full((len(made), max(1, *(len(columns) for columns, _ in made))), -1, np.int64)
        for branch, (columns, _) in enumerate(made):
            self.bought_[branch, : len(columns)] = columns
        self.forest_ = Forest.concat([forest for _, forest in made])
        self.ends_ = np.cumsum([forest.n_trees for _, forest in made], dtype=np.int64)
        self.reader_ = None
        bought = np.array([self._looks_at(branch) for branch in range(len(made))])
        if self.reader is not None and bought.any():
            ward = Ward(values, target, weights, branch_of, bought, len(self.classes_))
            self.reader_ = self.reader.learn(
                ward, self.schema_, lambda branch: nearest(routes, branch_of, branch, lots), seed
            )

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
        halves = ground.nursery(rows, counts, n_folds=2)
        columns += shop(halves, ground.coarse[:, rows], ledger, n_tried=self.n_tried)
        rows = np.sort(order[: self.grow_rows])
        return columns, ground.nursery(rows, counts).grown(columns_of(ledger), self.n_trees)

    def _grow_routes(self, ground: Ground, cap: float) -> Forest:
        """Grow the tree of the routes, whose paths cost no more than the cap; no row stays half way."""
        grower = Grower(
            ground.bins,
            ground.sheet,
            max_leaves=self.n_branches,
            min_rows_leaf=self.min_rows_branch,
            cost_rule="ratio",
            budget=cap,
            n_threads=n_threads(self.n_jobs),
        )
        return no_one_stays(grower.classes(ground.target, ground.weights, len(self.classes_)).tree)

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
        for name in ("n_branches", "min_rows_branch", "choose_rows", "n_tried", "grow_rows", "n_trees"):
            value = getattr(self, name)
            if value is None and name == "grow_rows":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1; got {value!r}")
        if self.reader is not None:
            self.reader.check()
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
        outputs = self._read(progress.outputs, values, acquired, branch_of)
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

    def _looks_at(self, branch: int) -> NDArray[np.bool_]:
        """Return the same as flags, shape (n_features,)."""
        flags = np.zeros(len(self.schema_.names), dtype=np.bool_)
        flags[self._columns(branch)] = True
        return flags

    def _look(self, progress: Progress, branch: int, rows: NDArray[np.int64]) -> None:
        """Send rows down the trees of a branch."""
        begin = int(self.ends_[branch - 1]) if branch else 0
        self._ready().advance(progress, begin, int(self.ends_[branch]), rows)

    def _read(
        self,
        outputs: Floats,
        values: NDArray[np.floating],
        known: NDArray[np.bool_],
        branch_of: NDArray[np.int64],
    ) -> Floats:
        """Return what boosters say, and the reader with them, shape (n_rows, n_outputs)."""
        return outputs if self.reader_ is None else self.reader_.mixed(outputs, values, known, branch_of)

    def _conclude(self, outputs: Floats) -> Floats:
        return sigmoid(outputs) if len(self.classes_) == 2 else softmax(outputs)

    # Files.

    def _check_stored(self) -> None:
        super()._check_stored()
        check_branches(self)
