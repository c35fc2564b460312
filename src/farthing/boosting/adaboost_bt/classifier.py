"""AdaBoostBT: boosting that stops when the budget is spent; Huang, Powers and Reyzin (2015)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetKind, Guarantee, SweepContext, TrainingSet, documented, register
from farthing.base.inputs import check_cap
from farthing.base.parameters import BOOLEAN, CLASS_WEIGHT, FRACTION, SHARE, at_least, between, one_of
from farthing.boosting.adaboost_bt.purchases import (
    PATH_COLUMNS,
    PRICES,
    HybridPurchases,
    Price,
    Purchases,
)
from farthing.boosting.adaboost_bt.selection_rules import RULES, Rule, greedy, smoothed
from farthing.boosting.adaboost_bt.tree_candidates import TreeCandidates, columns_of
from farthing.costs import CostSheet, CostsLike, RowLedger
from farthing.learning.guarantees.guaranteed import GUARANTEE, VOTE_GUARANTEE_TEXT
from farthing.learning.voting import vote_prior, vote_targets
from farthing.learning.voting.margin_bounds import loss_factors
from farthing.learning.voting.stochastic_curtailment import split_rows
from farthing.learning.voting.stump_rounds import Choice, Learner, StumpRounds
from farthing.learning.voting.tree_vote_model import TreeVoteClassifier, TreeVoteModel, vote_fields


@dataclass(frozen=True, eq=False, kw_only=True)
class AdaBoostBTModel(TreeVoteModel):
    """A vote whose features were bought within a budget.

    Parameters
    ----------
    path : dict of str to ndarray, each of shape (n_rounds_done,)
        What each round did; see ``path_`` of `AdaBoostBTClassifier`.
    n_nested : int or None
        Rounds before a learner was chosen that the budget did not cover. They begin with the rounds of every
        smaller budget, if training stops at what it cannot afford. None for a callable rule.
    """

    path: dict[str, NDArray[Any]]
    n_nested: int | None

    @property
    def round_edges(self) -> NDArray[np.float64]:
        """The edges of the path."""
        return self.path["edge"]

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if set(self.path) != set(PATH_COLUMNS):
            raise ValueError(f"path must have {PATH_COLUMNS}; got {tuple(self.path)}")
        lengths = {np.shape(column) for column in self.path.values()}
        if lengths not in ({(self.forest.n_trees,)}, {(0,)}):
            raise ValueError(
                f"path must have an entry for each of {self.forest.n_trees} rounds; got {lengths}"
            )
        if self.n_nested is not None and not 0 <= self.n_nested <= len(self.path["round"]):
            raise ValueError(f"n_nested must be a number of rounds; got {self.n_nested}")
        for name in PATH_COLUMNS:
            if name != "feature" and self.path[name].dtype.kind not in "if":
                raise ValueError(f"path must have numbers in {name!r}; got {self.path[name].dtype}")


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return each rule without a budget, which has the models of all budgets, and with that of the sweep.

    The former stop at a learner that is too expensive for a budget, the latter go on without it.
    """
    # A hard budget is given to every candidate in any case.
    budgets = [None] if context.budget_kind == "hard" else list(dict.fromkeys([None, context.budget]))
    return {"rule": ["basic", "greedy", "smoothed"], "budget": budgets}


def _auto(context: SweepContext) -> dict[str, list[Any]] | None:
    """Return two rules on two classes; with more, the method is not among the default ones."""
    several = context.n_classes is not None and context.n_classes > 2
    if several:
        return None
    return {"rule": ["greedy", "smoothed"], "budget": [context.budget], "n_estimators": [200]}


@register(
    grid=_grid,
    auto=_auto,
    rank=4,
    time_rank=2,
    trials=[
        {"budget": 4.0, "rule": "greedy", "price": "marginal", "max_depth": 2, "n_estimators": 15},
        {"budget": 3.0, "rule": "smoothed", "tau": 0.5, "n_estimators": 40, "exhaust": False},
        {"budget": 4.0, "rule": "hybrid", "n_estimators": 40},
        {"budget": 5.0, "rule": "speedboost", "n_estimators": 40, "curtail": True, "intercept": False},
    ],
)
@documented({"guarantee": VOTE_GUARANTEE_TEXT})
class AdaBoostBTClassifier(TreeVoteClassifier):
    """AdaBoost of stumps or small trees that pays for features in training and stops at the budget.

    What one learner buys is owned by the whole model, so no row ever pays more than the budget. A rule weighs
    the edge of a learner against the cost of its features. With ``price="own"``, as in the paper, a feature
    that is owned keeps its own cost there, since a price of zero would win in every round; only the account
    uses the unpaid part. The shared cost of a group counts until it is paid. With ``price="marginal"`` only
    the unpaid part counts: learners on owned features are judged by their edge alone, the others by what they
    still cost. In either case a free learner is preferred to a paid one only if its edge is at least as
    large.

    With ``max_depth`` above 1, each round chooses among all stumps and a few trees, grown with penalties on
    what is unpaid; see `farthing.boosting.adaboost_bt.tree_candidates`. A tree costs all features that it
    tests.

    More than two classes are boosted as in `AdaBoostClassifier`, with one edge and one price per learner, so
    that the rules, which lower the product of sqrt(1 - edge^2), are the same.

    Parameters
    ----------
    budget : float, optional
        Hard limit on the total cost of the model's features; None for no limit.
    rule : {"basic", "greedy", "smoothed", "speedboost", "hybrid"} or callable
        "basic" takes the largest edge. "greedy" (equation 1), "smoothed" (equation 2) and "speedboost"
        (equation 4) weigh it against the cost; see `farthing.boosting.adaboost_bt.selection_rules`. "hybrid"
        is greedy until the quality of the best learner not bought yet, -ln(1 - edge^2) / cost, drops below
        ``threshold`` times the best of the first round, then smoothed. A callable takes edge and cost, arrays
        over the candidates, and spent, a number, and returns one score per candidate, of which the largest
        wins; a model with a callable cannot be saved.
    price : {"own", "marginal"}
        What a rule weighs: the cost of a learner's features, bought or not, or what is unpaid of it.
    max_depth : int
        1 for stumps, up to 3 for trees.
    tau : float
        Factor of the spend so far in "smoothed", and so in "hybrid"; between 0 and 1.
    threshold : float
        For "hybrid", see above; between 0 and 1.
    n_estimators : int
        Maximum number of rounds.
    exhaust : bool
        What happens when the chosen learner cannot be afforded. True continues with the best one that can.
        False stops, as algorithm 1 of the paper does: if the very first choice is too expensive, such as a
        learner without error that no rule but "speedboost" weighs against its price, nothing is learned.
    curtail : bool
        Whether a prediction stops as soon as the remaining votes cannot change the label: the same labels at
        a lower spend. Features are asked for in the order ``order_``; probabilities use the votes so far.
    curtailment_error : float
        With ``curtail``, for two classes: stop also when the rest is unlikely to change the label.
        The probability that it is not the label of the full vote is at most this, for a row exchangeable with
        those of the fit, over the draw of both; without a budget at prediction or refusals. Zero, the
        default, changes no label. See `farthing.learning.voting.stochastic_curtailment`.
    validation_fraction : float
        The share of rows held out to calibrate a ``curtailment_error`` above zero; the vote does not learn
        from them. With fewer than 1 / error - 1 of them no row stops that is not certain.
    {guarantee}
    intercept : bool
        Whether a constant vote, which is free, is among the learners.
    max_bins : int
        Maximum number of bins per column, 2 to 255; thresholds lie between bins.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same votes.

    Attributes
    ----------
    forest_ : Forest
        One tree per round, with leaves of -1 and +1, one entry per class if there are more than two; other
        nodes are 0.
    estimator_weights_ : ndarray of float64, shape (n_trees,)
        The voting weight of each tree, a multiple of 2**-32.
    path_ : dict of str to ndarray, each of shape (n_rounds_done,)
        One entry per round: ``round`` (from 1), ``feature`` (its name, "" for the constant vote, names joined
        by " + " for a tree), ``edge``, ``cost`` (the one that the rule weighed), ``spent`` (by all rounds so
        far) and ``left`` (of the budget).
    order_ : ndarray of int64 or None
        With ``curtail``, the columns in the order in which they are asked for.

    References
    ----------
    Y. Huang, B. Powers and L. Reyzin. Training-Time Optimization of a Budgeted Booster. IJCAI 2015.

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

    model_type = AdaBoostBTModel
    fits_every_row = True
    fitted_: AdaBoostBTModel
    budget_kind: BudgetKind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        "rule": [one_of(*RULES, "hybrid"), callable],
        "price": [one_of(*PRICES)],
        "max_depth": [between(1, 3)],
        "tau": [SHARE],
        "threshold": [SHARE],
        "n_estimators": [at_least(1)],
        "exhaust": [BOOLEAN],
        "curtail": [BOOLEAN],
        "curtailment_error": [SHARE],
        "validation_fraction": [FRACTION],
        "guarantee": GUARANTEE,
        "intercept": [BOOLEAN],
        "max_bins": [between(2, 255)],
    }

    def __init__(
        self,
        *,
        budget: float | None = None,
        rule: Literal["basic", "greedy", "smoothed", "speedboost", "hybrid"] | Rule = "smoothed",
        price: Price = "own",
        max_depth: int = 1,
        tau: float = 1.0,
        threshold: float = 0.1,
        n_estimators: int = 500,
        exhaust: bool = True,
        curtail: bool = False,
        curtailment_error: float = 0.0,
        validation_fraction: float = 0.2,
        guarantee: Guarantee | None = None,
        intercept: bool = True,
        max_bins: int = 255,
        class_weight: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.budget = budget
        self.rule = rule
        self.price = price
        self.max_depth = max_depth
        self.tau = tau
        self.threshold = threshold
        self.n_estimators = n_estimators
        self.exhaust = exhaust
        self.curtail = curtail
        self.curtailment_error = curtailment_error
        self.validation_fraction = validation_fraction
        self.guarantee = guarantee
        self.intercept = intercept
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.costs = costs
        self.n_jobs = n_jobs

    def at(self, budget: float) -> Self:
        """Return the model of a smaller budget that stops at what it cannot afford, without refitting.

        The rules depend on what was spent, never on the budget. So if training stops at the first chosen
        learner that cannot be afforded, the rounds of a smaller budget are the first rounds of a larger one.
        To continue with what the smaller budget does afford, fit again with it.

        Parameters
        ----------
        budget : float
            At most the budget of this model.

        Returns
        -------
        AdaBoostBTClassifier
            Equal to a fit with this budget and ``exhaust=False`` on the same data.

        Raises
        ------
        ValueError
            If the budget is larger, the rule is a callable, or there is a ``curtailment_error``.
        """
        check_is_fitted(self)
        model, cap = self.fitted_, check_cap(budget)
        if model.n_nested is None:
            raise ValueError("at() needs a built-in rule: fit again with the other budget")
        if model.budget is not None and (cap is None or cap > model.budget):
            raise ValueError(f"this model was fitted with budget={model.budget:g}; got the larger {budget}")
        # With the slack for rounding that the fit allows. `spent` never decreases, and a fit with this budget
        # ends before the first round that exceeds it.
        limit = RowLedger(model.costs, cap).limit
        spent = model.path["spent"][: model.n_nested]
        n_rounds = int(np.searchsorted(spent, limit, side="right"))
        path = {name: model.path[name][:n_rounds] for name in PATH_COLUMNS}
        path["left"] = (np.inf if cap is None else cap) - path["spent"]
        part = model.first_rounds(n_rounds, budget=cap, path=path, n_nested=n_rounds)
        return self.variant({"budget": budget, "exhaust": False}, part)

    def training_error_bound(self, *, budget: float | None = None) -> float:
        """Bound the share of the training weight that the full vote of a budget misclassifies.

        Parameters
        ----------
        budget : float, optional
            As in `at`, whose rounds count; None means all rounds of this model.

        Returns
        -------
        float
            The product over these rounds of sqrt(1 - edge^2), at most 1; see `margin_bound`.
        """
        return super().training_error_bound() if budget is None else self.at(budget).training_error_bound()

    def error_bound_forecast(self) -> NDArray[np.float64]:
        """Return the bound that each round expects at the end of the budget: what its rule minimises.

        Of what is left of the budget, a round expects to afford as many rounds as it costs itself ("greedy",
        equation 1) or as the rounds so far cost on average ("smoothed", equation 2), all with its own edge.
        It is a forecast, not a bound; the other rules have that of "greedy".

        Returns
        -------
        ndarray of float64, shape (n_rounds_done,)
        """
        check_is_fitted(self)
        model = self.fitted_
        if model.budget is None:
            raise ValueError("a forecast needs a budget: what is left of it says how many rounds follow")
        path = model.path
        done = np.cumsum(np.log(loss_factors(model.estimator_weights[: len(path["edge"])], path["edge"])))
        spent = np.append(0.0, path["spent"])[:-1]
        left = np.maximum(model.budget - spent, 0.0)
        cost = path["cost"]
        if self.rule == "smoothed":
            cost = (self.tau * spent + cost) / path["round"]
        with np.errstate(divide="ignore", invalid="ignore"):
            # Rounds that cost nothing go on for ever, unless they have no edge; one without error needs none.
            logs = np.where(left > 0, np.log1p(-(path["edge"] ** 2)) * left / (2 * cost), 0.0)
        return np.asarray(np.exp(np.append(0.0, done)[:-1] + logs))

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models of smaller budgets, see `at`; the model itself comes last."""
        check_is_fitted(self)
        model = self.fitted_
        if model.n_nested is not None and model.stops is None:
            # Geometric steps of sqrt(2), from 1/1024 of the cost of all features: budgets of interest span
            # orders of magnitude.
            whole = model.costs.total(model.costs.features)
            for budget in (whole * 2.0**-power for power in np.arange(10, 0, -0.5).tolist()):
                if budget < (whole if model.budget is None else model.budget):
                    yield {"budget": budget, "exhaust": False}, self.at(budget)
        yield {}, self

    def _learn(self, rows: TrainingSet) -> AdaBoostBTModel:
        threads, prior, cap = self.n_threads(), vote_prior(rows), self.hard_cap()
        rows, held_out = split_rows(rows, self.curtail, self.curtailment_error, self.validation_fraction)
        rounds = StumpRounds(rows.bins(self.max_bins, threads), *vote_targets(rows), threads)
        purchases = self._purchases(rows.costs, cap)
        # `choose` is steps 4 to 7 of algorithm 1, `StumpRounds` steps 8 and 9. Step 9 as printed, D exp(alpha
        # y h), has a sign error: it would raise the weights of the rows that are classified correctly.
        choose = purchases.choose if self.max_depth == 1 else self._choice(rows, rounds, purchases)
        rounds.run(choose, n_rounds=self.n_estimators, intercept=self.intercept)
        ensemble = vote_fields(
            rounds.forest(),
            np.array(rounds.alphas),
            schema=rows.schema,
            costs=rows.costs,
            prior=prior,
            curtail=self.curtail,
        )
        model = AdaBoostBTModel(
            **rows.header(prior=prior, budget=cap),
            **ensemble,
            path=purchases.path(rounds.edges),
            n_nested=self._n_nested(purchases, len(rounds.edges)),
        )
        return model.curtailed_with(self.curtailment_error, rows, held_out, threads)

    def _choice(self, rows: TrainingSet, rounds: StumpRounds, purchases: Purchases) -> Choice:
        """Return the choice of each round among stumps and trees."""
        threads = self.n_threads()
        candidates = TreeCandidates(
            rows.bins(self.max_bins, threads),
            rows.costs,
            rows.weights,
            max_depth=self.max_depth,
            n_outputs=rounds.n_outputs,
            n_threads=threads,
        )

        def choose(edges: NDArray[np.float64]) -> Learner | None:
            # Trees depend on the budget only after it has refused a learner: the rounds before that are those
            # of any larger budget; see `at`.
            refused = purchases.n_before_refusal is not None
            trees = candidates.grow(rounds, edges, purchases.ledger, affordable=refused)
            found = [rounds.edge(tree.votes) for tree in trees]
            place = purchases.choose(np.append(edges, found), [columns_of(tree.tree) for tree in trees])
            if place is None:
                return None
            return rounds.learner(place) if place < len(edges) else trees[place - len(edges)]

        return choose

    def _n_nested(self, purchases: Purchases, n_rounds: int) -> int | None:
        if callable(self.rule):  # it may have a state of its own
            return None
        return n_rounds if purchases.n_before_refusal is None else purchases.n_before_refusal

    def _purchases(self, costs: CostSheet, budget: float | None) -> Purchases:
        later = partial(smoothed, tau=self.tau)
        if self.rule == "hybrid":
            return HybridPurchases(
                costs,
                budget,
                greedy,
                later=later,
                threshold=self.threshold,
                exhaust=self.exhaust,
                price=self.price,
            )
        options: dict[str, Any] = {"exhaust": self.exhaust, "price": self.price}
        if callable(self.rule):
            return Purchases(costs, budget, self.rule, rescale=False, **options)
        rule = later if self.rule == "smoothed" else RULES[self.rule]
        return Purchases(costs, budget, rule, **options)
