"""The parameter ``learners``: linear models over the columns of a table, or over boosted trees."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from farthing.base import BudgetedEstimator, TrainingSet
from farthing.base.parameters import NON_NEGATIVE, POSITIVE, at_least, one_of
from farthing.learning.booster import TreeSettings
from farthing.learning.linear_design import standardised
from farthing.learning.mixed_norm import MixedNorm
from farthing.learning.terms import Terms
from farthing.learning.tree_terms import TreeTerms
from farthing.typing import Floats

LEARNER_CONSTRAINTS: Final[dict[str, Any]] = {
    "learners": [one_of("columns", "trees")],
    "n_estimators": [at_least(1)],
    "learning_rate": [POSITIVE],
    "max_depth": [at_least(1)],
    "tree_cost": [NON_NEGATIVE],
}

LEARNER_TEXTS: Final = {
    "learners": """learners : {"columns", "trees"}
    What scores are linear in: the standardised columns, or the outputs of trees that are boosted first, on
    the squared loss and without regard to prices. A row pays for every feature that an active tree may test
    before the tree is evaluated, whichever way it takes.
n_estimators : int
    Number of trees, one after another; as many for each class if there are more than two.
learning_rate : float
    Factor of each tree while they are boosted.
max_depth : int
    Depth of a tree.
tree_cost : float
    Price of evaluating a tree, in the unit of the costs; a row pays it once for each tree that it evaluates,
    as entries of the sheet after the columns.""",
}


class LearnerMixin(BudgetedEstimator):
    """An estimator with these parameters."""

    price_parameters = ("tree_cost",)

    learners: str
    n_estimators: int
    learning_rate: float
    max_depth: int
    tree_cost: float

    def learned_terms(self, rows: TrainingSet, targets: Floats) -> tuple[Terms, Floats]:
        """Return the terms, and their values for the rows.

        Parameters
        ----------
        rows : TrainingSet
            The rows to learn from.
        targets : ndarray of float64, shape (n_rows, n_targets)
            What trees are boosted on.

        Returns
        -------
        terms : Terms
        values : ndarray of float64, shape (n_rows, n_terms)
        """
        if self.learners == "columns":
            shares = rows.weights / rows.weights.sum()
            zeros, entries = standardised(rows.values, rows.schema, shares, 1)
            return zeros, np.ascontiguousarray(entries[: zeros.n_terms].T)
        settings = TreeSettings(
            n_estimators=self.n_estimators, learning_rate=self.learning_rate, max_depth=self.max_depth
        )
        trees = TreeTerms.boosted(rows, targets, settings)
        return trees, trees.terms(rows.values)

    def price_norm(self, terms: Terms, rows: TrainingSet) -> MixedNorm:
        """Return the mixed norm of the prices of features, groups and evaluations."""
        evaluation = np.where(terms.reads.any(axis=1), self.evaluation_price, 0.0)
        return MixedNorm.of(terms.reads, rows.costs, evaluation)

    @property
    def evaluation_price(self) -> float:
        """The price of evaluating a learner; columns are free to evaluate."""
        return self.tree_cost if self.learners == "trees" else 0.0
