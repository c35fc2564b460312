"""The parameters that the estimators of CSTC share."""

from __future__ import annotations

from typing import Any, Final

from farthing.base import SweepContext
from farthing.base.parameters import FRACTION, NON_NEGATIVE, POSITIVE, RANDOM_STATE, at_least, between
from farthing.costs import per_price
from farthing.learning.learner_terms import LEARNER_CONSTRAINTS, LEARNER_TEXTS

CONSTRAINTS: Final[dict[str, Any]] = {
    "tradeoff": [NON_NEGATIVE],
    "depth": [between(1, 6)],
    "sparsity": [NON_NEGATIVE],
    "steepness": [POSITIVE],
    "max_cycles": [at_least(0)],
    "tol": [POSITIVE],
    "validation_fraction": [FRACTION, None],
    "random_state": [RANDOM_STATE],
    **LEARNER_CONSTRAINTS,
}

TEXTS: Final = {
    "parameters": f"""costs : CostSheet, mapping, array, Series, path or None
    Prices of the features; None means 1 each.
tradeoff : float
    What a unit of price weighs against the loss, lambda.
{LEARNER_TEXTS["learners"]}
depth : int
    Number of nodes on a path; the tree has up to 2^depth - 1.
sparsity : float
    Weight of the L1 norm of the coefficients, rho.
steepness : float
    Factor of the scores in the sigmoid by which training rows go up or down. The scores
    of classes are log-odds, those of numbers are in units of the target's standard deviation.
max_cycles : int
    Most cycles over the nodes; 0 leaves each as it was fitted alone.
tol : float
    A cycle that lowers the objective by less than this share of it is the last.
validation_fraction : float or None
    Share of the rows that decide which nodes are pruned and how sharp probabilities are; they are not learned
    from. None prunes nothing.
random_state : int, RandomState or None
    Draws these rows.""",
    "attributes": """trees_ : tuple of ScoreTree
    The tree.""",
    "references": """Xu, Kusner, Weinberger, Chen: Cost-Sensitive Tree of Classifiers. ICML 2013.""",
}

# Settings at which the contract is checked: a small tree over columns, and one over trees that are paid for.
OVER_COLUMNS: Final[dict[str, Any]] = {
    "depth": 2,
    "tradeoff": 0.02,
    "max_cycles": 1,
    "validation_fraction": None,
}
OVER_TREES: Final[dict[str, Any]] = {
    "depth": 2,
    "tradeoff": 0.02,
    "max_cycles": 1,
    "learners": "trees",
    "n_estimators": 4,
    "max_depth": 2,
    "learning_rate": 0.5,
    "tree_cost": 0.05,
}


def grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return the settings that a sweep tries: a feature of the mean price should cost parts of the loss."""
    unit = context.mean_price or 1.0
    return {
        "tradeoff": [float(per_price(share, unit)) for share in (0.003, 0.01, 0.03, 0.1)],
        "learners": ["columns", "trees"],
        # Deep trees test so many features that they are bought all together or not at all.
        "max_depth": [2],
    }
