"""The fitted branching cascade: routes, what each branch buys, and its booster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, TreeModel
from farthing.cascades.branching.policy import BranchPolicy
from farthing.cascades.branching.routing_tree import branch_numbers, path_columns
from farthing.costs import spending_limit
from farthing.learning.losses import probability_steps, scores_to_probabilities
from farthing.trees import Forest, Predictor, Progress
from farthing.trees.node_arrays import MISSING_STAY
from farthing.typing import Floats
from farthing.walks import Policy, walk_rows
from farthing.walks.plans import Link, Plan, Station, StationPlan, TreeSum


@dataclass(frozen=True, eq=False, kw_only=True)
class BranchingCascadeModel(TreeModel, ClassifierModel):
    """A routing tree and a booster at each of its leaves.

    Parameters
    ----------
    routes : Forest
        One tree. The value of a node has the number of the branch, -1 for inner nodes, and the scores of a
        row that goes no further.
    bought : ndarray of int64, shape (n_branches, n_bought)
        The columns of each branch: those of the routes, then those it buys, in this order; -1 after the end.
    ends : ndarray of int64, shape (n_branches,)
        The end of each branch's trees in ``forest``.
    """

    routes: Forest
    bought: NDArray[np.int64]
    ends: NDArray[np.int64]

    is_one_sum: ClassVar[bool] = False
    makes_calls: ClassVar[bool] = False

    # Predicting.

    def policy(self, seed: int | None = None) -> Policy:  # trees are not stochastic
        """Return a walk down the routes and through the purchases of a branch."""
        return BranchPolicy(self)

    def plan(self) -> Plan:
        """Return the branches as stations, and the routes to them."""
        stations = tuple(
            Station(tuple(self.columns(branch).tolist()), TreeSum(self.predictor, self._begin(branch), end))
            for branch, end in enumerate(self.ends.tolist())
        )
        return StationPlan(stations, self.prior, partial=True, routes=self._router)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: Floats | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Answer many rows, branch by branch; see `FittedModel.outputs`."""
        # Routing reads columns that a row with a budget might not afford; such rows are redone below.
        branch_of = self.branches_of(values, n_threads)
        progress = Progress(values, self.forest.n_outputs, self.costs, n_threads=n_threads)
        acquired = np.zeros(values.shape, dtype=np.bool_)
        for branch in np.unique(branch_of).tolist():
            rows = np.flatnonzero(branch_of == branch)
            acquired[np.ix_(rows, self.columns(branch))] = True
            self.look(progress, branch, rows)
        outputs = progress.outputs
        if budget is not None:
            # A row that cannot pay for its whole branch may also be refused features on the routes, and so
            # reach another branch. Such rows are walked.
            short = np.flatnonzero(self.costs.total_rows(acquired) > spending_limit(budget))
            if len(short):
                outputs[short], acquired[short] = walk_rows(
                    self.policy, self.costs, values[short], len(self.prior), budget=budget[short]
                )
        return outputs, acquired

    @cached_property
    def _router(self) -> Predictor:
        return Predictor(self.routes)

    def branches_of(self, values: NDArray[np.floating], n_threads: int = 1) -> NDArray[np.int64]:
        """Return the branch of each row of an encoded table, regardless of its cost, shape (n_rows,)."""
        return branch_numbers(self._router, values, n_threads)

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the branches buy, shape (n_features,)."""
        return np.isin(np.arange(len(self.schema)), self.bought)

    def columns(self, branch: int) -> NDArray[np.int64]:
        """Return the columns of a branch, in the order of its questions."""
        columns: NDArray[np.int64] = self.bought[branch]
        return columns[columns >= 0]

    def look(
        self,
        progress: Progress,
        branch: int,
        rows: NDArray[np.int64],
        refused: frozenset[int] = frozenset(),
    ) -> None:
        """Send rows, which refuse some columns, down the trees of a branch, which adds to their outputs."""
        self.predictor.advance(progress, self._begin(branch), int(self.ends[branch]), rows, refused)

    def _begin(self, branch: int) -> int:
        return int(self.ends[branch - 1]) if branch else 0

    def conclude(self, outputs: Floats) -> Floats:
        """Return the probability of each class, shape (n_rows, n_classes)."""
        return scores_to_probabilities(outputs, len(self.classes))

    def link_steps(self) -> Link:
        """Return the step to probabilities."""
        return probability_steps(len(self.classes))

    # Files.

    def check(self) -> None:
        """Raise ValueError if the branches do not fit together."""
        super().check()
        n_features, n_branches, n_classes = len(self.schema.names), len(self.ends), len(self.classes)
        n_scores = 1 if n_classes == 2 else n_classes
        if len(self.prior) != n_scores:
            raise ValueError(f"{n_classes} classes need {n_scores} scores; got {len(self.prior)}")
        self._check_routes(1 + n_scores)
        bought = self.bought
        if bought.dtype != np.int64 or bought.shape != (n_branches, bought.shape[-1]):
            raise ValueError("bought must have columns for each branch")
        if not n_branches or bought.min() < -1 or bought.max() >= n_features:
            raise ValueError("bought must hold columns of the table")
        ends = np.append(0, self.ends)
        if ends.dtype != np.int64 or (np.diff(ends) <= 0).any() or ends[-1] != self.forest.n_trees:
            raise ValueError("ends must ascend to the number of trees")
        self._check_tested()

    def _check_routes(self, width: int) -> None:
        routes = self.routes
        if (routes.n_trees, routes.n_features, routes.width) != (1, len(self.schema.names), width):
            raise ValueError("routes must be one tree of a branch and the scores over the table's features")
        leaves = routes.feature < 0
        if not np.isin(routes.value[leaves, 0], np.arange(len(self.ends))).all():
            raise ValueError("routes must end at branches")
        if (routes.missing[~leaves] == MISSING_STAY).any():
            raise ValueError("routes must send every row to a leaf")

    def _check_tested(self) -> None:
        """Check that a branch buys all that its routes and its trees test, so that nothing is read unpaid."""
        for leaf in np.flatnonzero(self.routes.feature < 0).tolist():
            branch = int(self.routes.value[leaf, 0])
            nodes = slice(*self.forest.offsets[[self._begin(branch), int(self.ends[branch])]].tolist())
            tested = np.unique(self.forest.feature[nodes])
            known = [-1, *self.columns(branch).tolist()]
            if not np.isin([*tested.tolist(), *path_columns(self.routes, leaf)], known).all():
                raise ValueError("a branch tests a feature that it does not buy")


def padded(columns: list[list[int]]) -> NDArray[np.int64]:
    """Return the columns of each branch as rows of one array, with -1 after the end."""
    padded = np.full((len(columns), max(1, *map(len, columns))), -1, dtype=np.int64)
    for branch, own in enumerate(columns):
        padded[branch, : len(own)] = own
    return padded
