"""VoC: buy the feature whose value is expected to help a local regression most, less its price."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing._core import LocalRows
from farthing.base import documented, register
from farthing.costs import CostSheet
from farthing.neighbors.acquiring import TEXTS, AcquiringClassifier
from farthing.neighbors.columns import Floats
from farthing.neighbors.local import Local
from farthing.neighbors.standard import Standard


@register(
    trials=[{"alpha": 0.02}],
)
@documented(TEXTS)
class ValueOfClassifier(AcquiringClassifier):
    """Locally weighted regression buys features by their expected reward (VoC), for two classes.

    After Gao and Koller (2011), of whom the thesis gives the settings; the rest is specified here. Labels are
    -1 and 1, features are standardised. O is what is measured of a row, x_O its values.

    - A training row at distance D from x_O, over O, weighs exp(-D^2 / (2 b^2)), where the bandwidth b is the
      median of these distances, taken anew after each purchase; with nothing measured all weigh the same.
    - Under these weights the label is regressed on O by least squares with the penalty ``ridge`` times the
      squared slopes, the intercept free: g = E[y | x_O]. The prediction is the sign of g, the probability of
      ``classes_[1]`` is (1 + g) / 2, between 0 and 1.
    - An unknown feature i is normal given x_O: its mean is the ridge regression of i on O under the same
      weights, its variance s^2 the mean square of what that leaves. With w the slope of i in the regression
      of the label on O and i, the label will be expected at G, normal around g with deviation |w| s.
    - The reward is minus the probability of an error, (|g| - 1) / 2. So i is worth (E|G| - |g|) / 2, in
      closed form, never negative.

    The row buys the feature that is worth most less ``alpha`` times its price. It ends when none is worth
    its weighed price, or when (1 + |g|) / 2 is above ``confidence``.

    A category stands for the mean label of its training rows. A training row without a value has the mean
    there. A value that was measured and is missing says nothing.

    A purchase takes time linear in the rows times the features measured times all features, far more than
    for `MarginNeighborsClassifier`.

    Parameters
    ----------
    alpha : float
        What a unit of price counts against a gain in the expected reward.
    {confidence}
    {budget}
    ridge : float
        The penalty of the regression, above zero; 0.5 in the thesis.
    {costs}

    Attributes
    ----------
    standard_ : Standard
        How values are standardised.
    local_ : Local
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

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "standard_": Standard,
        "local_": Local,
        "ridge_": float,
    }

    standard_: Standard
    local_: Local
    ridge_: float

    def __init__(
        self,
        *,
        alpha: float = 0.0,
        confidence: float = 0.95,
        budget: float | None = None,
        ridge: float = 0.5,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.confidence = confidence
        self.budget = budget
        self.ridge = ridge
        self.costs = costs
        self.n_jobs = n_jobs

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: Floats,
        sheet: CostSheet,  # noqa: ARG002 - prices matter at prediction only
    ) -> None:
        if not 0 < self.ridge < np.inf:
            raise ValueError(f"ridge must be above 0, and finite; got {self.ridge!r}")
        self._set_terms()
        self.ridge_ = float(self.ridge)
        signs = np.where(target == 1, 1.0, -1.0)
        self.standard_ = Standard.learn(values, signs, weights, self.schema_)
        self.local_ = Local(np.nan_to_num(self.standard_.table(values)), signs, np.array(weights))

    def _conclude(self, outputs: Floats) -> Floats:
        if len(self.classes_) == 1:
            return np.ones((len(outputs), 1))
        up = np.clip(0.5 + 0.5 * outputs[:, 0], 0.0, 1.0)
        return np.column_stack([1.0 - up, up])

    def _default_prior(self, target: NDArray[Any], weights: Floats) -> Floats:
        up = float(weights[target == 1].sum() / weights.sum())
        return np.array([2 * up - 1, max(up, 1 - up)])

    def _learned(self) -> tuple[Any, ...]:
        return self.local_, self.ridge_

    def _compile(self) -> LocalRows:
        return LocalRows(
            values=self.local_.values,
            labels=self.local_.signs,
            weights=self.local_.weights,
            ridge=self.ridge_,
            alpha=self.alpha_,
            confidence=self.confidence_,
        )

    def _inputs(self, values: NDArray[np.floating]) -> tuple[NDArray[np.floating], Floats]:
        table = self.standard_.table(values)
        return table, table

    def _input(self, column: int, value: float) -> tuple[float, float]:
        standardised = self.standard_.value(column, value)
        return standardised, standardised

    def _check_stored(self) -> None:
        n_features = len(self.schema_.names)
        if self.standard_.n_features != n_features or self.local_.values.shape[1] != n_features:
            raise ValueError(f"the rows must have the {n_features} features of the table")
        if not 0 < self.ridge_ < np.inf:
            raise ValueError(f"ridge_ must be above 0, and finite; got {self.ridge_}")
        super()._check_stored()
