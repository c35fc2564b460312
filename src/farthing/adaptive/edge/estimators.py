"""`EdgeClassifier` and `EdgeRegressor`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.edge.blocks import Loss
from farthing.adaptive.edge.model import ATTRIBUTES, CLASSES, NUMBERS, SHARED, EdgeModel
from farthing.adaptive.edge.training import LossOf
from farthing.adaptive.objective import Problem
from farthing.adaptive.projection import Floats
from farthing.adaptive.start import f1_slope
from farthing.base import ContractClassifier, ContractRegressor, documented, register, sigmoid, softmax
from farthing.errors import FileError

_QUICK = {"max_steps": 8, "n_alternations": 2}


@register(
    trials=[{"tradeoff": 0.2, **_QUICK}],
)
@documented({"shared": SHARED.format(**CLASSES), "attributes": ATTRIBUTES})
class EdgeClassifier(EdgeModel, ContractClassifier):
    """Several devices, each with a gate and a local linear model; the cloud adds what it hears.

    A device measures its own columns, runs its gate on them, and if the gate is open sends what its local
    model says, a score for each class (one for two classes). The cloud adds the scores to those of the prior.
    Gates and local models are learned together; gates are hard in prediction, and the local models are fitted
    once more to the hard gates. Silence costs nothing: the ledger is over devices, ``acquired`` has shape
    (n_rows, n_devices), and a walk asks devices, whose answer is a list of scores, or None for silence.
    With nothing to pay and no budget all devices speak, and the model is logistic regression.

    Parameters
    ----------
    {shared}

    Attributes
    ----------
    {attributes}
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Section 7.1. Its log losses lack
    their minus sign.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 4))
    >>> y = np.where(X[:, 0] > 0.3, "up", np.where(X[:, 2] > 0, "right", "left"))
    >>> model = EdgeClassifier({"wrist": ["x0", "x1"], "ankle": ["x2", "x3"]}, budget=0.6, random_state=0)
    >>> model = model.fit(X, y)
    >>> model.acquired(X).mean().round(1)
    np.float64(0.6)
    >>> model.walk().ask
    Ask(feature='wrist', price=1.0, group=None)
    """

    def _loss_of(self) -> LossOf:
        n_classes = len(self.classes_)

        def of(target: NDArray[Any], shares: Floats) -> Loss:
            problem = Problem(target, shares, np.zeros(len(target)), n_classes)

            def loss(scores: Floats) -> tuple[float, Floats]:
                value, slope = f1_slope(problem, shares, np.ascontiguousarray(scores.T))
                return value, np.ascontiguousarray(slope.T)

            return loss

        return of

    def _prepared(self, target: NDArray[Any], weights: Floats) -> tuple[NDArray[Any], Floats, float]:
        problem = Problem(target, weights, np.zeros(len(target)), len(self.classes_))
        self.prior_ = problem.loss.start(target, weights)
        return target, self.prior_, 1.0

    def _conclude(self, outputs: Floats) -> Floats:
        return sigmoid(outputs) if len(self.classes_) == 2 else softmax(outputs)

    def _check_stored(self) -> None:
        super()._check_stored()
        if len(self.prior_) != (1 if len(self.classes_) == 2 else len(self.classes_)):
            raise FileError(f"{len(self.prior_)} scores do not fit {len(self.classes_)} classes")


@register(
    trials=[{"training": "projected", "activation": "relu", "tradeoff": 0.05, **_QUICK}],
)
@documented({"shared": SHARED.format(**NUMBERS), "attributes": ATTRIBUTES})
class EdgeRegressor(EdgeModel, ContractRegressor):
    """Several devices, each with a gate and a local linear model; the cloud adds what it hears to the mean.

    As `EdgeClassifier`, for numbers: a message is one number, and the loss is the squared error.

    Parameters
    ----------
    {shared}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Section 7.1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 4))
    >>> y = np.where(X[:, 0] > 0, 3 * X[:, 1], 0) + np.where(X[:, 2] > 0, X[:, 3], 0)
    >>> model = EdgeRegressor({"wrist": ["x0", "x1"], "ankle": ["x2", "x3"]}, budget=0.5, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    """

    _trainings = ("direct", "relaxed", "projected")

    def _loss_of(self) -> LossOf:
        def of(target: NDArray[Any], shares: Floats) -> Loss:
            def loss(scores: Floats) -> tuple[float, Floats]:
                off = scores[:, 0] - target
                return float((off**2) @ shares / 2), (off * shares)[:, np.newaxis]

            return loss

        return of

    def _prepared(self, target: NDArray[Any], weights: Floats) -> tuple[NDArray[Any], Floats, float]:
        mean = self.prior_[0]  # the default prior
        scale = float(np.sqrt(np.average((target - mean) ** 2, weights=weights))) or 1.0
        return (target - mean) / scale, np.zeros(1), scale
