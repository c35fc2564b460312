"""AdaBoostBT: boosting that ends when the budget does; Huang, Powers and Reyzin 2015."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import UnionType
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import n_threads, register
from farthing.base.inputs import check_cap
from farthing.base.parameters import check_whole
from farthing.boosting.adaboost_bt.purchases import HybridPurchases, Purchases
from farthing.boosting.adaboost_bt.selection_rules import RULES, Rule, greedy, smoothed
from farthing.costs import CostSheet, RowLedger
from farthing.learning.voting.stump_rounds import Rounds
from farthing.learning.voting.vote_classifier import VoteClassifier
from farthing.table import Bins

_COLUMNS: Final = ("round", "feature", "edge", "cost", "spent", "left")


@register(
    grid={"rule": ["basic", "greedy", "smoothed"], "budget": [None]},
    rank=4,
    trials=[
        {"budget": 3.0, "rule": "smoothed", "tau": 0.5, "n_estimators": 40},
        {"budget": 4.0, "rule": "hybrid", "n_estimators": 40, "exhaust": True},
        {"budget": 5.0, "rule": "speedboost", "n_estimators": 40, "curtail": True, "intercept": False},
    ],
)
class AdaBoostBTClassifier(VoteClassifier):
    """AdaBoost of stumps that pays for its features while it learns, and ends when the budget does.

    What one learner bought is owned by the whole model, so no row ever pays more than the budget. Learners
    are chosen by a rule that weighs the edge of a learner against the cost of its feature, always the cost
    from an empty ledger, since a price of zero for what is owned would win for ever; only the account uses
    the unpaid part. For the same reason a learner that costs nothing at all is taken before one that costs
    something only if its edge is at least as large.

    Parameters
    ----------
    budget : float, optional
        Hard: what all features of the model may cost together. None is no budget.
    rule : {"basic", "greedy", "smoothed", "speedboost", "hybrid"} or callable
        "basic": the largest edge. "greedy" (equation 1), "smoothed" (equation 2) and "speedboost" (equation
        4) weigh it against the cost, see `farthing.boosting.adaboost_bt.selection_rules`. "hybrid" is greedy until the quality of
        the best learner not bought yet, -ln(1 - edge^2) / cost, falls below ``threshold`` times the best of
        the first round, then smoothed. A callable gets (edge, cost, spent) as arrays over the candidates and
        a number, and returns scores of which the largest wins; a model with one cannot be saved.
    tau : float
        What "smoothed", and so "hybrid", multiplies the money spent by; between 0 and 1.
    threshold : float
        For "hybrid", see above; between 0 and 1.
    n_estimators : int
        Most rounds.
    exhaust : bool
        False ends at the first chosen learner that cannot be afforded, as Algorithm 1 of the paper does.
        True goes on with the best one that can.
    curtail : bool
        Whether a prediction ends as soon as the votes still out cannot change the label: the same labels for
        less. Features are asked for in the order ``order_``; the probabilities are those of the votes seen.
    intercept : bool
        Whether the vote that is the same for every row, and costs nothing, is among the learners.
    max_bins : int
        Thresholds are sought among at most this many bins of a column, 2 to 255.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same votes.

    Attributes
    ----------
    forest_ : Forest
        A stump for each round, with leaves of -1 and +1; other nodes are 0.
    estimator_weights_ : ndarray of float64, shape (n_trees,)
        The voting weight of each stump, a multiple of 2**-32.
    path_ : dict of str to ndarray, each of shape (n_rounds_done,)
        What each round did: ``round`` (from 1), ``feature`` (its name, "" for the vote that asks for
        nothing), ``edge``, ``cost`` (from an empty ledger), ``spent`` (by all rounds so far) and ``left``
        (of the budget).
    order_ : ndarray of int64 or None
        With ``curtail``, the columns in the order in which they are asked for.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = AdaBoostBTClassifier(costs=heart.costs, budget=50, rule="greedy").fit(heart.X, heart.y)
    >>> float(model.spend(heart.X).max()) <= 50
    True
    >>> np.unique(model.at(3).path_["feature"]).tolist()
    ['age', 'cp', 'sex']
    """

    _hard_budget = True
    _stored: ClassVar[Mapping[str, type | UnionType]] = {"path_": dict, "nested_": bool}
    path_: dict[str, NDArray[Any]]
    nested_: bool

    def __init__(
        self,
        *,
        budget: float | None = None,
        rule: Literal["basic", "greedy", "smoothed", "speedboost", "hybrid"] | Rule = "smoothed",
        tau: float = 1.0,
        threshold: float = 0.1,
        n_estimators: int = 500,
        exhaust: bool = False,
        curtail: bool = False,
        intercept: bool = True,
        max_bins: int = 255,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.budget = budget
        self.rule = rule
        self.tau = tau
        self.threshold = threshold
        self.n_estimators = n_estimators
        self.exhaust = exhaust
        self.curtail = curtail
        self.intercept = intercept
        self.max_bins = max_bins
        self.costs = costs
        self.n_jobs = n_jobs

    def at(self, budget: float) -> Self:
        """Return the model that a fit with a smaller budget would give, without fitting again.

        The rules depend on what was spent, never on the budget, so the rounds of a smaller budget are the
        first rounds of a larger one.

        Parameters
        ----------
        budget : float
            At most the budget of this model.

        Returns
        -------
        AdaBoostBTClassifier
            Equal to a fit with this budget on the same data.

        Raises
        ------
        ValueError
            If the budget is larger, or the rounds are not nested: with ``exhaust``, or a rule of your own.
        """
        check_is_fitted(self)
        cap = check_cap(budget)
        if not self.nested_:
            raise ValueError("at() needs a built-in rule and exhaust=False: fit again with the other budget")
        if self.budget_ is not None and (cap is None or cap > self.budget_):
            raise ValueError(f"this model was fitted with budget={self.budget_:g}; got the larger {budget}")
        limit = RowLedger(self.costs_, cap).limit
        n_rounds = int(np.searchsorted(self.path_["spent"], limit, side="right"))
        path = {name: self.path_[name][:n_rounds] for name in _COLUMNS}
        path["left"] = (np.inf if cap is None else cap) - path["spent"]
        return self._first_rounds(n_rounds, {"budget": budget}, budget_=cap, path_=path)

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models of smaller budgets, see `BudgetedEstimator.variants`; the model itself is last."""
        check_is_fitted(self)
        if self.nested_:
            whole = self.costs_.total(self.costs_.features)
            for budget in (whole * 2.0**-power for power in np.arange(10, 0, -0.5).tolist()):
                if budget < (whole if self.budget_ is None else self.budget_):
                    yield {"budget": budget}, self.at(budget)
        yield {}, self

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: NDArray[np.float64],
        sheet: CostSheet,
    ) -> None:
        check_whole("n_estimators", self.n_estimators, 1)
        threads = n_threads(self.n_jobs)
        bins = Bins(values, self.schema_, max_bins=self.max_bins, n_threads=threads)
        rounds = Rounds(bins, np.where(target == 1, 1, -1).astype(np.int8), weights, threads)
        purchases = self._purchases(sheet)
        rounds.run(purchases.choose, n_rounds=self.n_estimators, intercept=self.intercept)
        self.nested_ = isinstance(self.rule, str) and not self.exhaust
        self.path_ = purchases.path(rounds.edges)
        self._take(rounds.forest(), np.array(rounds.alphas), curtail=self.curtail)

    def _purchases(self, sheet: CostSheet) -> Purchases:
        for name in ("tau", "threshold"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie between 0 and 1; got {getattr(self, name)!r}")
        later = partial(smoothed, tau=self.tau)
        if self.rule == "hybrid":
            return HybridPurchases(
                sheet, self.budget_, greedy, later=later, threshold=self.threshold, exhaust=self.exhaust
            )
        if callable(self.rule):
            return Purchases(sheet, self.budget_, self.rule, exhaust=self.exhaust)
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {[*RULES, 'hybrid']} or a callable; got {self.rule!r}")
        rule = later if self.rule == "smoothed" else RULES[self.rule]
        return Purchases(sheet, self.budget_, rule, exhaust=self.exhaust)

    def _check_stored(self) -> None:
        super()._check_stored()
        if set(self.path_) != set(_COLUMNS):
            raise ValueError(f"path_ must have {_COLUMNS}; got {tuple(self.path_)}")
        lengths = {np.shape(column) for column in self.path_.values()}
        if lengths not in ({(self.forest_.n_trees,)}, {(0,)}):
            raise ValueError(
                f"path_ must have an entry for each of {self.forest_.n_trees} rounds; got {lengths}"
            )
        for name in _COLUMNS:
            if name != "feature" and self.path_[name].dtype.kind not in "if":
                raise ValueError(f"path_ must have numbers in {name!r}; got {self.path_[name].dtype}")
