"""`EdgeClassifier` and `EdgeRegressor`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.edge.base import EDGE_CONSTRAINTS, EdgeBase, Goal
from farthing.adaptive.edge.blocks import Loss
from farthing.adaptive.edge.model import EdgeClassifierModel, EdgeRegressorModel
from farthing.adaptive.edge.parameter_docs import CLASSIFIER_TEXTS, REGRESSOR_TEXTS
from farthing.adaptive.edge.training import LossOf
from farthing.base import ContractClassifier, ContractRegressor, TrainingSet, documented, register
from farthing.base.parameters import CLASS_WEIGHT, one_of
from farthing.costs import CostsLike
from farthing.learning.logistic import log_loss
from farthing.learning.losses import classification_loss
from farthing.typing import Floats

_QUICK = {"max_steps": 8, "n_alternations": 2}


@register(
    trials=[_QUICK | {"tradeoff": 0.2}],
)
@documented(CLASSIFIER_TEXTS)
class EdgeClassifier(EdgeBase, ContractClassifier):
    """Several devices, each with a gate and a local linear model; the cloud adds up their messages.

    A device measures its own columns, evaluates its gate on them, and if the gate is open sends the output of
    its local model, a score for each class (one for two classes). The cloud adds the scores to those of the
    prior. Gates and local models are learned together; gates are hard in prediction, and the local models are
    fitted again to the hard gates. A silent device costs nothing: the account is over devices, ``acquired``
    has shape (n_rows, n_devices), and a walk asks devices, whose answer is a list of scores, or None if they
    are silent. With nothing to pay and no budget all devices send, and the model is logistic regression.

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
    >>> devices = {"wrist": ["x0", "x1"], "ankle": ["x2", "x3"]}
    >>> model = EdgeClassifier(devices, budget_share=0.6, random_state=0).fit(X, y)
    >>> model.acquired(X).mean().round(1)
    np.float64(0.6)
    >>> model.walk().ask
    Ask(feature='wrist', price=1.0, group=None)
    """

    model_type = EdgeClassifierModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {**EDGE_CONSTRAINTS, "class_weight": CLASS_WEIGHT}
    fitted_: EdgeClassifierModel

    def __init__(
        self,
        devices: Any = None,
        *,
        training: str = "direct",
        activation: str = "sigmoid",
        solver: str = "lbfgs",
        tradeoff: float = 0.03,
        coupling: float = 0.1,
        l2_regularization: float = 1e-3,
        max_steps: int = 200,
        n_alternations: int = 200,
        n_epochs: int = 50,
        learning_rate: float = 0.001,
        class_weight: Any = None,
        costs: CostsLike = None,
        budget_share: float | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            devices,
            training=training,
            activation=activation,
            solver=solver,
            tradeoff=tradeoff,
            coupling=coupling,
            l2_regularization=l2_regularization,
            max_steps=max_steps,
            n_alternations=n_alternations,
            n_epochs=n_epochs,
            learning_rate=learning_rate,
            costs=costs,
            budget_share=budget_share,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def _loss_of(self, rows: TrainingSet) -> LossOf:
        n_classes = rows.n_classes

        def loss_of(target: NDArray[Any], shares: Floats) -> Loss:
            def loss(scores: Floats) -> tuple[float, Floats]:
                value, slope = log_loss(target, shares, np.ascontiguousarray(scores.T), n_classes)
                return value, np.ascontiguousarray(slope.T)

            return loss

        return loss_of

    def _goal(self, rows: TrainingSet) -> Goal:
        prior = classification_loss(rows.n_classes).start(rows.target, rows.weights)
        return Goal(rows.target, prior, prior)


@register(
    trials=[_QUICK | {"training": "projected", "activation": "relu", "tradeoff": 0.05}],
)
@documented(REGRESSOR_TEXTS)
class EdgeRegressor(EdgeBase, ContractRegressor):
    """Several devices, each with a gate and a local linear model; the cloud adds up messages and the mean.

    Like `EdgeClassifier`, for a numeric target: a message is one number, and the loss is the squared error.

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
    >>> devices = {"wrist": ["x0", "x1"], "ankle": ["x2", "x3"]}
    >>> model = EdgeRegressor(devices, budget_share=0.5, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    """

    model_type = EdgeRegressorModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EDGE_CONSTRAINTS,
        "training": [one_of("direct", "relaxed", "projected")],
    }
    fitted_: EdgeRegressorModel

    def _loss_of(self, rows: TrainingSet) -> LossOf:  # the same for all rows
        def loss_of(target: NDArray[Any], shares: Floats) -> Loss:
            def loss(scores: Floats) -> tuple[float, Floats]:
                residual = scores[:, 0] - target
                return float((residual**2) @ shares / 2), (residual * shares)[:, np.newaxis]

            return loss

        return loss_of

    def _goal(self, rows: TrainingSet) -> Goal:
        prior = rows.prior()
        mean = prior[0]
        # Standardised, so that tradeoff and regularisation mean the same for targets of any unit.
        scale = float(np.sqrt(np.average((rows.target - mean) ** 2, weights=rows.weights))) or 1.0
        return Goal((rows.target - mean) / scale, np.zeros(1), prior, scale)
