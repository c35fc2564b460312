"""The base class of estimators that acquire features one by one."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from farthing.base.parameters import CLASS_WEIGHT, NON_NEGATIVE, SHARE
from farthing.learning.voting import BinaryVoteClassifier
from farthing.neighbors.acquisition.model import AcquisitionModel
from farthing.typing import Floats

TEXTS: Final = {
    "confidence": """confidence : float
        A row stops once its vote is right with an estimated probability above this. At 1 it never does, and
        buys features as long as the budget allows.""",
    "budget": """budget : float, optional
        Hard: no row spends more. A feature that a row cannot afford is skipped. None means no limit.""",
    "costs": """class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Threads over the rows to predict, as in joblib; any number gives the same bits.""",
}

#: What the parameters may be that all methods have.
CONSTRAINTS: Final[dict[str, Any]] = {
    "tradeoff": [NON_NEGATIVE],
    "confidence": [SHARE],
    "class_weight": CLASS_WEIGHT,
}


class AcquiringClassifier(BinaryVoteClassifier):
    """A binary classifier that compares a row with the training rows after each purchase."""

    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    confidence: float
    fitted_: AcquisitionModel

    def estimated_accuracy(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Floats:
        """Estimate the probability that each prediction is right; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            For a row that bought nothing, the share of the more frequent class.
        """
        return self.raw_outputs(X, budget=budget, seeds=seeds)[0][:, 1]
