"""The parameters that the three estimators of the Greedy Miser share: documented and constrained here."""

from __future__ import annotations

from numbers import Real
from typing import Any, Final, Literal

from farthing.base.parameters import (
    BOOLEAN,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    Interval,
    at_least,
    between,
    one_of,
)
from farthing.costs import CostsLike
from farthing.learning.monotonic import MONOTONIC, MONOTONIC_TEXT

Charge = Literal["model", "row"]
Leaf = Literal["newton", "gradient"]

CONSTRAINTS: Final[dict[str, Any]] = {
    "tradeoff": [NON_NEGATIVE],
    "relative": [BOOLEAN],
    "charge": [one_of("model", "row")],
    "tree_cost": [NON_NEGATIVE],
    "n_estimators": [at_least(0)],
    "learning_rate": [POSITIVE],
    "max_depth": [at_least(0), None],
    "max_leaf_nodes": [at_least(1), None],
    "min_samples_leaf": [at_least(1)],
    "l2_regularization": [NON_NEGATIVE],
    "leaf": [one_of("newton", "gradient")],
    "subsample": [Interval(Real, 0, 1, closed="right")],
    "monotonic_cst": MONOTONIC,
    "validation_fraction": [FRACTION, None],
    "n_iter_no_change": [at_least(1), None],
    "warm_start": [BOOLEAN],
    "max_bins": [between(2, 255)],
    "random_state": [RANDOM_STATE],
}
"""What the shared parameters may be."""

# Indented as the class docstrings that `documented` inserts these texts into.
_BEFORE_CONSTRAINTS = """tradeoff : float
        Lambda of equation 5: a tree minimises the sum over the training rows of half the squared error to the
        negative gradient, times the row's weight, plus tradeoff times the price of the features that the tree
        is the first to use. So its unit is that of the summed loss per unit of price: twice the rows, or
        weights twice as large, call for twice the lambda. 0, the default, is the cost-blind booster: the
        right trade-off depends on the table and on the budget, and `miser_path` tries several, or finds them.
    relative : bool
        Whether ``tradeoff`` is relative to the loss before the first tree, summed over the rows, rather than
        absolute: at 0.01, a feature of price 1 has to reduce that loss by 1 % in the tree that buys it. Then
        one grid of trade-offs suits tables of any size.
    charge : {"model", "row"}
        Who pays. "model", as in the paper: the first use of a feature buys it for all rows and all later
        trees. "row": each row buys the features on its own paths through the trees, once; a split at a node
        is charged tradeoff * (1/N) * sum over the node's rows of price(feature | owned by the row), so that
        expensive features move to where few rows need them.
    budget : float, optional
        Hard: no row, seen or unseen, ever spends more, trees included at ``tree_cost`` each. With "model", a
        feature that would take the model over it is not considered. With "row", a row that cannot afford a
        feature continues without it, in training as in prediction.
    tree_cost : float
        What it costs to evaluate one tree; a tree without a split is a constant and costs nothing. All trees
        together are a call of the fitted cost sheet, ``costs_.calls``, which a row pays with its first
        feature. With charge="model" a round is grown while the budget has room for its trees beside the
        features bought.
        With "row" the trees come first: the cost of all ``n_estimators`` rounds, or of as many as fit into
        the budget, is set aside, and the rest is for the features of each row, the same in training as in
        prediction, even if fewer rounds are kept. So choose ``n_estimators`` with the budget in mind: a
        `BudgetWarning` says if the trees leave nothing for features, or the budget ends boosting early.
    n_estimators : int
        Number of boosting rounds: one tree each, or one tree per class if there are more than two and
        ``multi_strategy`` says so. Boosting ends earlier if no split is worth its price.
    learning_rate : float
        Factor applied to the values of each tree.
    max_depth, max_leaf_nodes : int, optional
        Limits of each tree; None for no limit.
    min_samples_leaf : int
        Minimum number of training rows in a leaf, regardless of their weights.
    l2_regularization : float
        L2 penalty on the values of the leaves.
    leaf : {"newton", "gradient"}
        "newton" fits the trees to Newton steps: the square in equation 5 is weighted by the second derivative
        of the loss, in log losses at least a tenth of the gradient, so that no step is longer than 10.
        "gradient" is equation 5 as printed. For squared loss they are the same.
    subsample : float
        Share of the rows that each tree is grown on, drawn without replacement.
    """
_AFTER_CONSTRAINTS = """ For two classes, predictions are the
        probability of the second one; more are refused. Prices decide among splits that keep the constraint,
        and never bend it. Not with charge="row" and a budget: what a row can still afford then depends on its
        answers so far; a smaller ``budget`` of `predict` can break the order of rows for the same reason.
    validation_fraction : float, optional
        Share of the rows held out to choose the number of rounds; None holds out none.
    n_iter_no_change : int, optional
        Stop after this many rounds without an improvement on the validation rows, which it needs; None runs
        all rounds.
        Either way the model keeps the rounds up to the best.
    warm_start : bool
        Whether `fit` continues from the trees of the previous one, up to ``n_estimators`` rounds in total.
    max_bins : int
        Maximum number of bins per column, 2 to 255; thresholds lie between bins.
    random_state : int, RandomState or None
        Seed for ``subsample`` and ``validation_fraction``.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same trees."""

PARAMETERS = _BEFORE_CONSTRAINTS + MONOTONIC_TEXT + _AFTER_CONSTRAINTS

ATTRIBUTES = """forest_ : Forest
        The prediction before the first round, as trees of one node, then the trees in the order of growth.
    n_rounds_ : int
        Number of boosting rounds in the model.
    evaluation_cost_ : float
        ``tree_cost`` times the number of trees that have a split.
    validation_losses_ : ndarray of float64, shape (n_rounds_tried,)
        The loss of the validation rows after each round tried, smaller is better; empty without such rows."""

SHARED = {"parameters": PARAMETERS, "attributes": ATTRIBUTES}
"""What the docstrings of the three estimators share."""


class MiserParameters:
    """The constructor of the shared parameters."""

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
        monotonic_cst: Any = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        max_bins: int = 255,
        random_state: Any = None,
        costs: CostsLike = None,
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
        self.monotonic_cst = monotonic_cst
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.max_bins = max_bins
        self.random_state = random_state
        self.costs = costs
        self.n_jobs = n_jobs
