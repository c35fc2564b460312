"""The parameters that the estimators of Cronus share."""

from __future__ import annotations

from typing import Any, Final

from farthing.base import SweepContext
from farthing.base.parameters import FRACTION, NON_NEGATIVE, POSITIVE, at_least, between
from farthing.costs import per_price
from farthing.learning.learner_terms import LEARNER_CONSTRAINTS, LEARNER_TEXTS

CONSTRAINTS: Final[dict[str, Any]] = {
    "tradeoff": [NON_NEGATIVE],
    "n_stages": [between(1, 30)],
    "reject_fraction": [FRACTION],
    "inflation": [POSITIVE],
    "sparsity": [NON_NEGATIVE],
    "last_sparsity": [NON_NEGATIVE, None],
    "steepness": [POSITIVE],
    "max_cycles": [at_least(0)],
    "tol": [POSITIVE],
    **LEARNER_CONSTRAINTS,
}

TEXTS: Final = {
    "parameters": f"""costs : CostSheet, mapping, array, Series, path or None
    Prices of the features; None means 1 each.
tradeoff : float
    What a unit of price weighs against the mean squared error, lambda; the paper's, whose loss is a sum, is
    this times the number of rows.
{LEARNER_TEXTS["learners"]}
n_stages : int
    Number of stages, K. With 1 there is no cascade, and the problem is convex: the learners are weighed anew
    at their prices (equation 7).
reject_fraction : float
    Share of the rows of a stage that it rejects at the start, epsilon. After all stages
    (1 - reject_fraction)^(n_stages - 1) are left, which should be more than there are positive rows.
inflation : float
    The trade-off at the start is this times as high at a stage as at the next, delta; at the last stage
    it is ``tradeoff`` itself.
sparsity, last_sparsity : float
    Weights of the L1 norm of the coefficients, rho, of all stages and of the last; None means the same.
steepness : float
    Factor of the distance to the threshold in the sigmoid by which training rows leave.
max_cycles : int
    Most cycles over the stages; 0 leaves the start as it is.
tol : float
    A cycle that lowers the objective by less than this share of it is the last.""",
    "attributes": """trees_ : tuple of ScoreTree
    The cascade, as a tree of scores without lower children.""",
    "notes": """The paper prints a trade-off that would grow from stage to stage, against its words; here it
    falls. The norm charges little for a stage of small scores, which can still reject by a steep sigmoid;
    cycles over the stages tend to shrink them. So of the start and the cascades after each cycle, the one is
    kept whose squared error plus ``tradeoff`` times the exact mean price is least. All that an active tree
    may test is bought before the stage is evaluated; where prices matter, trees of depth 1 or 2 leave more to
    choose from than deep ones. Coefficients of less than a hundredth of the largest are set to zero, since
    smooth norms only come near it.""",
    "references": """Chen, Xu, Weinberger, Chapelle, Kedem: Classifier Cascade for Minimizing Feature
    Evaluation Cost. AISTATS 2012.""",
}

# Settings at which the contract is checked: few trees, which are paid for.
SMALL: Final[dict[str, Any]] = {
    "n_stages": 2,
    "tradeoff": 0.02,
    "max_cycles": 1,
    "n_estimators": 4,
    "max_depth": 2,
    "learning_rate": 0.5,
    "tree_cost": 0.05,
}


def grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return the settings that a sweep tries: a feature of the mean price should cost parts of the loss."""
    unit = context.mean_price or 1.0
    return {
        "tradeoff": [float(per_price(share, unit)) for share in (0.003, 0.01, 0.03, 0.1, 0.3)],
        "n_stages": [1, 4],
        # Deep trees test so many features that they are bought all together or not at all.
        "max_depth": [2],
    }
