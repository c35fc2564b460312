"""VoC: buy the feature with the largest expected gain of a local regression, minus its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing._core import LocalRows
from farthing.base import TrainingSet, documented, register
from farthing.base.parameters import POSITIVE
from farthing.costs import CostsLike
from farthing.neighbors.acquisition.base import CONSTRAINTS, TEXTS, AcquiringClassifier
from farthing.neighbors.acquisition.model import AcquisitionModel, positive_share, signs_of
from farthing.neighbors.value_of_classifier.regression_rows import RegressionRows
from farthing.neighbors.value_of_classifier.standardizer import Standardizer
from farthing.typing import Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueOfClassifierModel(AcquisitionModel):
    """A local regression of the label, -1 or 1: the vote is the expected label.

    Parameters
    ----------
    standard : Standardizer
        How values are standardised.
    local : RegressionRows
        The training rows, standardised, with their labels and weights.
    l2_regularization : float
        The ridge penalty of the regression.
    """

    standard: Standardizer
    local: RegressionRows
    l2_regularization: float

    def conclude(self, outputs: Floats) -> Floats:
        """Return the probabilities: (1 + vote) / 2 for ``classes[1]``, clipped to [0, 1]."""
        if len(self.classes) == 1:
            return np.ones((len(outputs), 1))
        positive = np.clip(0.5 + 0.5 * outputs[:, 0], 0.0, 1.0)
        return np.column_stack([1.0 - positive, positive])

    def compile(self) -> LocalRows:
        """Lay out the training rows for the compiled core."""
        return LocalRows(
            values=self.local.values,
            labels=self.local.signs,
            weights=self.local.weights,
            ridge=self.l2_regularization,
            alpha=self.tradeoff,
            confidence=self.confidence,
        )

    def inputs(self, values: NDArray[np.floating]) -> tuple[NDArray[np.floating], Floats]:
        """Return the standardised table twice: it is both input and margin."""
        table = self.standard.table(values)
        return table, table

    def input(self, column: int, value: float) -> tuple[float, float]:
        """Return the standardised value, twice."""
        standardised = self.standard.value(column, value)
        return standardised, standardised

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        n_features = len(self.schema.names)
        if self.standard.n_features != n_features or self.local.values.shape[1] != n_features:
            raise ValueError(f"the rows must have the {n_features} features of the table")
        if not 0 < self.l2_regularization < np.inf:
            raise ValueError(f"l2_regularization must be above 0, and finite; got {self.l2_regularization}")
        super().check()


@register(
    trials=[{"tradeoff": 0.02}],
)
@documented(TEXTS)
class ValueOfClassifier(AcquiringClassifier):
    """Buy features by their expected reward to a locally weighted regression (VoC); binary labels.

    After Gao and Koller (2011), with the settings of Nan's thesis; details that both leave open are specified
    here. Labels are -1 and 1, and features are standardised. O is the set of measured features of a row, x_O
    their values.

    - A training row at distance D from x_O, over O, has the weight exp(-D^2 / (2 b^2)). The bandwidth b is
      the median of these distances, recomputed after each purchase; with nothing measured, all weights are
      equal.
    - With these weights the label is regressed on O by least squares, with an L2 penalty of
      ``l2_regularization`` on the slopes and none on the intercept: g = E[y | x_O]. The prediction is the
      sign of g, and the probability of ``classes_[1]`` is (1 + g) / 2, clipped to [0, 1].
    - A feature i that is not measured is normal given x_O: its mean is the ridge regression of i on O with
      the same weights, its variance s^2 the mean squared residual. Let w be the slope of i in the regression
      of the label on O and i. The expected label after the purchase, G, is normal with mean g and standard
      deviation ``|w| s``.
    - The reward is minus the probability of an error, ``(|g| - 1) / 2``. So the expected gain of i is
      ``(E|G| - |g|) / 2``, which has a closed form and is never negative.

    The row buys the feature with the largest gain minus ``tradeoff`` times its price. It stops when no gain
    exceeds the weighted price, or when ``(1 + |g|) / 2`` is above ``confidence``.

    A category is replaced by the mean label of its training rows, and a missing value of a training row by
    the mean. A measured value that is missing is ignored.

    The time of a purchase is proportional to rows times measured features times features, much more than for
    `MarginNeighborsClassifier`.

    Parameters
    ----------
    tradeoff : float
        The weight of a unit of price against the expected gain in reward: a probability per unit of price.
    {confidence}
    {budget}
    l2_regularization : float
        The ridge penalty of the regression, above zero; 0.5 in the thesis.
    {costs}

    Attributes
    ----------
    standard_ : Standardizer
        How values are standardised.
    local_ : RegressionRows
        The training rows, standardised, with their labels and weights.

    References
    ----------
    Gao, Koller: Active Classification based on Value of Classifier. NIPS 2011.
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Section 2.4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> model = ValueOfClassifier(confidence=1.0).fit(X, X[:, 0] + 3 * X[:, 1] > 0)
    >>> walk = model.walk()
    >>> walk.ask.feature
    'x1'
    """

    model_type = ValueOfClassifierModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {**CONSTRAINTS, "l2_regularization": [POSITIVE]}

    def __init__(
        self,
        *,
        tradeoff: float = 0.0,
        confidence: float = 0.95,
        budget: float | None = None,
        l2_regularization: float = 0.5,
        class_weight: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.tradeoff = tradeoff
        self.confidence = confidence
        self.budget = budget
        self.l2_regularization = l2_regularization
        self.class_weight = class_weight
        self.costs = costs
        self.n_jobs = n_jobs

    def _learn(self, rows: TrainingSet) -> ValueOfClassifierModel:
        signs, share = signs_of(rows), positive_share(rows)
        standard = Standardizer.learn(rows.values, signs, rows.weights, rows.schema)
        # The mean of a standardised column is 0, so that is what missing values become.
        values = np.nan_to_num(standard.table(rows.values))
        # The expected label of -1 or 1, and the probability that its sign is right.
        prior = np.array([2 * share - 1, max(share, 1 - share)])
        # The gains of a single class are all zero, which a trade-off of zero would find worth any price.
        tradeoff = 1.0 if rows.n_classes == 1 else float(self.tradeoff)
        return ValueOfClassifierModel(
            **rows.header(prior=prior, budget=self.hard_cap()),
            tradeoff=tradeoff,
            confidence=float(self.confidence),
            standard=standard,
            local=RegressionRows(values, signs, np.array(rows.weights)),
            l2_regularization=float(self.l2_regularization),
        )
