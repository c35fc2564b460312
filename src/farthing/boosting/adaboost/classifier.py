"""AdaBoost with weak learners of the largest edge, which knows no prices; the reference for those that do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import ladder, n_threads, register
from farthing.base.parameters import check_whole
from farthing.costs import CostSheet
from farthing.learning.voting.stump_rounds import Rounds
from farthing.learning.voting.vote_classifier import VoteClassifier
from farthing.table import Bins


@register(
    grid={"n_estimators": [300], "curtail": [False, True]},
    auto={"n_estimators": [300], "curtail": [True]},
    rank=5,
    trials=[
        {"n_estimators": 12, "max_depth": 3, "intercept": False},
        {"n_estimators": 30, "curtail": True},
        {"n_estimators": 15, "max_depth": 2, "curtail": True},
    ],
)
class AdaBoostClassifier(VoteClassifier):
    """AdaBoost of stumps or small trees, for two classes, cost-blind.

    Each round takes the weak learner with the largest edge under the current weights, found exactly (see
    `farthing.learning.voting.stump_rounds.Rounds`), gives it the voting weight alpha = 1/2 ln((1 + edge)/(1 - edge))
    and multiplies the weight of each row by exp(-alpha y h(x)). The share of training weight that is
    misclassified is at most the product over the rounds of sqrt(1 - edge^2).

    A vote that is the same for every row is among the learners unless ``intercept`` is False: a stump beyond
    the last threshold, which asks for nothing.

    Training ends early, and cleanly, after a learner without error, which gets the vote ln(2 / w) where w
    is the least share of the weight that any row began with, enough to set every training row right; and
    before a learner without edge. If not even the first has one, the model is a single vote for the more
    frequent class, which asks for nothing.

    Parameters
    ----------
    n_estimators : int
        Most rounds.
    max_depth : int
        1 for stumps; up to 3 for trees. A tree begins with the best stump and goes on, in each part, with
        the part's best stump if that raises the edge of the tree.
    curtail : bool
        Whether a prediction ends as soon as the votes still out cannot change the label: the same labels for
        less. Features are asked for in the order ``order_``; the probabilities are those of the votes seen.
    intercept : bool
        Whether the vote that asks for nothing is among the learners.
    max_bins : int
        Thresholds are sought among at most this many bins of a column, 2 to 255; a column of no more values
        than that is searched exactly.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each. They do not change what is learned, only what is reported.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same votes.

    Attributes
    ----------
    forest_ : Forest
        A tree for each round, with leaves of -1 and +1; other nodes are 0.
    estimator_weights_ : ndarray of float64, shape (n_trees,)
        The voting weight of each tree, a multiple of 2**-32.
    edges_ : ndarray of float64, shape (n_rounds_done,)
        The edge of each learner when it was chosen, between 0 and 1.
    order_ : ndarray of int64 or None
        With ``curtail``, the columns in the order in which they are asked for.

    Examples
    --------
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, [0, 0, 1, 1, 1, 0, 0, 0])
    >>> model.predict(X)
    array([0, 0, 1, 1, 1, 0, 0, 0])
    >>> model.edges_
    array([0.5       , 0.5       , 0.66666667])
    """

    edges_: NDArray[np.float64]

    def __init__(
        self,
        *,
        n_estimators: int = 500,
        max_depth: int = 1,
        curtail: bool = False,
        intercept: bool = True,
        max_bins: int = 255,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.curtail = curtail
        self.intercept = intercept
        self.max_bins = max_bins
        self.costs = costs
        self.n_jobs = n_jobs

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the votes of fewer rounds, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        for n_rounds in ladder(len(self.edges_))[:-1]:
            params = {"n_estimators": n_rounds}
            yield params, self._first_rounds(n_rounds, params, edges_=self.edges_[:n_rounds])
        yield {}, self

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: NDArray[np.float64],
        sheet: CostSheet,  # noqa: ARG002 - blind to costs
    ) -> None:
        check_whole("n_estimators", self.n_estimators, 1)
        check_whole("max_depth", self.max_depth, 1, 3)
        threads = n_threads(self.n_jobs)
        bins = Bins(values, self.schema_, max_bins=self.max_bins, n_threads=threads)
        rounds = Rounds(bins, np.where(target == 1, 1, -1).astype(np.int8), weights, threads)
        rounds.run(
            lambda edges: int(np.argmax(edges)),
            n_rounds=self.n_estimators,
            intercept=self.intercept,
            max_depth=self.max_depth,
        )
        self.edges_ = np.array(rounds.edges)
        self._take(rounds.forest(), np.array(rounds.alphas), curtail=self.curtail)
