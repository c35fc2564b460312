"""From a vote to a class: what all classifiers by a vote share."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractClassifier, sigmoid

# Half the log-odds of the most lopsided prior.
_SURE: Final = 18.0


class VoteLink(ContractClassifier):
    """A classifier of two classes whose raw output is a vote, half the log-odds of ``classes_[1]``.

    A positive vote is for ``classes_[1]``; zero or less is for ``classes_[0]``. The probability of
    ``classes_[1]`` is 1 / (1 + exp(-2 f(x))).
    """

    _binary_only = True

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Return the vote, positive for ``classes_[1]``; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        return self._raw(X, budget, seeds)[0][:, 0]

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        if len(self.classes_) == 1:
            return np.ones((len(outputs), 1))
        return sigmoid(2 * outputs)

    def _default_prior(self, target: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        up, down = weights[target == 1].sum(), weights[target == 0].sum()
        if up == 0 or down == 0:
            return np.array([_SURE if up > 0 else -_SURE])
        return np.array([min(max(0.5 * math.log(up / down), -_SURE), _SURE)])
