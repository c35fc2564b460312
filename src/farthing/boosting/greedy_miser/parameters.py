"""What the three estimators of the Greedy Miser let one choose: documented, kept and checked here."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

Charge = Literal["model", "row"]
Leaf = Literal["newton", "gradient"]

PARAMETERS = """tradeoff : float
        Lambda of equation 5: a tree is grown to minimise the sum over the training rows of half the squared
        error to the negative gradient, times the row's weight, plus tradeoff times the price of what the tree
        newly buys. So its unit is that of the summed loss per unit of price: twice the rows, or weights twice
        as large, bear twice the lambda. 0, the default, is the cost-blind booster: which trade-off is right
        depends on the table and on what may be spent, and `miser_path` tries several, or finds them.
    relative : bool
        Whether ``tradeoff`` is a share of the loss before the first tree, summed over the rows, rather than a
        sum itself: at 0.01, a feature of price 1 has to take away 1 % of that loss in the tree that buys it.
        Then one grid of trade-offs fits tables of any size.
    charge : {"model", "row"}
        Who pays. "model", as in the paper: the first use of a feature buys it for all rows and all trees to
        come. "row": each row buys what lies on its own ways through the trees, once; a split at a node is
        charged tradeoff * (1/N) * sum over the node's rows of price(feature | owned by the row), so that
        dear features are moved to where few rows need them.
    budget : float, optional
        Hard: no row, seen or unseen, ever spends more, trees included at ``tree_cost`` each. With "model", a
        feature that would take the model over it is not considered. With "row", a row that cannot afford a
        feature goes on without, in training as at prediction.
    tree_cost : float
        What it costs to evaluate one tree. It counts against the budget and is reported in
        ``evaluation_cost_``; `spend` is about features alone. With charge="model" a round is grown while the
        budget bears its trees beside what was bought. With "row" the trees come first: what all ``n_estimators``
        rounds cost, or as many as the budget bears, is set aside, and the rest is for each row's features,
        the same in training as at prediction, even if fewer rounds are kept. So choose ``n_estimators`` with the
        budget in mind.
    n_estimators : int
        Rounds of boosting: one tree each, or one tree a class if there are more than two.
    learning_rate : float
        What each tree's values are multiplied by.
    max_depth, max_leaf_nodes : int, optional
        Limits of each tree; None for none.
    min_samples_leaf : int
        Fewest training rows of a leaf, counted and not weighed.
    l2_regularization : float
        Ridge on the leaves.
    leaf : {"newton", "gradient"}
        "newton" fits the trees to Newton steps: the square in equation 5 is weighted by the second derivative
        of the loss, in log losses no less than a tenth of the gradient, so that no step is longer than 10.
        "gradient" is equation 5 to the letter. For squared loss they are the same.
    subsample : float
        Share of the rows that each tree is grown on, drawn without replacement.
    validation_fraction : float, optional
        Share of the rows that is set aside to choose the number of rounds; None for none.
    n_iter_no_change : int, optional
        Stop after this many rounds without a better score on the validation rows; None runs all rounds.
        Either way the model keeps the rounds up to the best.
    warm_start : bool
        Whether `fit` goes on from the trees of the last one, up to ``n_estimators`` rounds in all.
    max_bins : int
        Thresholds are sought among at most this many bins of a column, 2 to 255.
    random_state : int, RandomState or None
        For ``subsample`` and ``validation_fraction``.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same trees."""

ATTRIBUTES = """forest_ : Forest
        What is predicted before the first tree, as trees of one node, then the trees in the order of growth.
    evaluation_cost_ : float
        ``tree_cost`` times the number of trees.
    validation_losses_ : ndarray of float64, shape (n_rounds,)
        What the validation rows said after each round that was tried, less is better; empty without such
        rows."""

SHARED = {"parameters": PARAMETERS, "attributes": ATTRIBUTES}
"""What the docstrings of the three estimators share."""


class MiserParameters:
    """The parameters, and what they may be."""

    def __init__(
        self,
        *,
        tradeoff: float = 0.0,
        relative: bool = False,
        charge: Charge = "model",
        budget: float | None = None,
        tree_cost: float = 0.0,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.0,
        leaf: Leaf = "newton",
        subsample: float = 1.0,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        max_bins: int = 255,
        random_state: Any = None,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.tradeoff = tradeoff
        self.relative = relative
        self.charge = charge
        self.budget = budget
        self.tree_cost = tree_cost
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.leaf = leaf
        self.subsample = subsample
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.max_bins = max_bins
        self.random_state = random_state
        self.costs = costs
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        _check_whole("n_estimators", self.n_estimators, 0)
        for name in ("tradeoff", "tree_cost", "l2_regularization"):
            value = getattr(self, name)
            if not (0 <= value < np.inf):
                raise ValueError(f"{name} must be zero or more, and finite; got {value!r}")
        if not (0 < self.learning_rate < np.inf):
            raise ValueError(f"learning_rate must be above 0, and finite; got {self.learning_rate!r}")
        if not 0 < self.subsample <= 1:
            raise ValueError(f"subsample must lie above 0 and up to 1; got {self.subsample!r}")
        fraction = self.validation_fraction
        if fraction is not None and not 0 < fraction < 1:
            raise ValueError(f"validation_fraction must lie between 0 and 1, or be None; got {fraction!r}")
        if self.n_iter_no_change is not None:
            _check_whole("n_iter_no_change", self.n_iter_no_change, 1)
        for name, choices in (("charge", ("model", "row")), ("leaf", ("newton", "gradient"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}; got {getattr(self, name)!r}")


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}")
