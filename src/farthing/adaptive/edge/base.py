"""Edge devices and a cloud: what the classifier and the regressor share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.adaptive.edge.blocks import ACTIVATIONS, Blocks
from farthing.adaptive.edge.devices import Devices, message_prices
from farthing.adaptive.edge.messages import Messages
from farthing.adaptive.edge.model import EdgeModel
from farthing.adaptive.edge.training import (
    LossOf,
    Task,
    learn_by_adam,
    learn_direct,
    learn_projected,
    learn_relaxed,
)
from farthing.adaptive.unlabelled_validation import UnlabelledValidationMixin
from farthing.base import TrainingSet
from farthing.base.inputs import check_caps, check_seeds
from farthing.base.parameters import FRACTION, NON_NEGATIVE, POSITIVE, SHARE, at_least, one_of
from farthing.costs import CostSheet, CostsLike, spending_limit
from farthing.errors import TableError
from farthing.learning.holdout import hold_out
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.thresholds import lowest_threshold
from farthing.table import Schema, encode, refused_flags, refused_names
from farthing.typing import Floats

EDGE_CONSTRAINTS: Final[dict[str, Any]] = {
    "training": [one_of("direct", "relaxed")],
    "activation": [one_of(*ACTIVATIONS)],
    "solver": [one_of("lbfgs", "adam")],
    "tradeoff": [NON_NEGATIVE],
    "coupling": [POSITIVE],
    "l2_regularization": [NON_NEGATIVE],
    "max_steps": [at_least(1)],
    "n_alternations": [at_least(1)],
    "n_epochs": [at_least(1)],
    "learning_rate": [POSITIVE],
    "budget_share": [SHARE, None],
    "validation_fraction": [FRACTION],
}
"""Allowed values of the parameters of the edge estimators."""


@dataclass(frozen=True, eq=False)
class Goal:
    """The target that the sum of all messages is fitted to.

    Parameters
    ----------
    target : ndarray, shape (n_rows,)
        Classes as numbers from 0, or standardised numbers.
    prior : ndarray of float64, shape (n_scores,)
        The scores without any message, in training.
    model_prior : ndarray of float64, shape (n_scores,)
        The same in the units of the model's output.
    scale : float
        Factor for the outputs of the local models after training.
    """

    target: NDArray[Any]
    prior: Floats
    model_prior: Floats
    scale: float = 1.0


class EdgeBase(UnlabelledValidationMixin):
    """Learns a gate and a local linear model for each device; see `EdgeModel`."""

    model_type: ClassVar[type[EdgeModel]]
    asks = "devices"
    _parameter_constraints: ClassVar[dict[str, Any]] = EDGE_CONSTRAINTS

    fitted_: EdgeModel

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
        costs: CostsLike = None,
        budget_share: float | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.devices = devices
        self.training = training
        self.activation = activation
        self.solver = solver
        self.tradeoff = tradeoff
        self.coupling = coupling
        self.l2_regularization = l2_regularization
        self.max_steps = max_steps
        self.n_alternations = n_alternations
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.costs = costs
        self.budget_share = budget_share
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    # What the classifier and the regressor differ in.

    @abstractmethod
    def _loss_of(self, rows: TrainingSet) -> LossOf:
        """Return the loss, as a function of target and shares."""

    @abstractmethod
    def _goal(self, rows: TrainingSet) -> Goal:
        """Return the target to learn."""

    # Learning.

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> EdgeModel:
        devices = Devices.of(self.devices, rows.schema)
        goal = self._goal(rows)
        header = rows.header(prior=goal.model_prior)
        rows = replace(rows, target=goal.target)
        rng = check_random_state(self.random_state)
        total = rows.costs.total(rows.costs.features)
        # Where nothing costs anything, no budget binds.
        share = np.inf if self.budget_share is None or total == 0 else float(self.budget_share)
        held_out = validation
        if share < np.inf and held_out is None:
            rows, held_out = hold_out(rows, self.validation_fraction, lambda n, k: rng.permutation(n)[:k])
        shares = rows.weights / rows.weights.sum()
        design = LinearDesign.of(rows.values, rows.schema, shares, 1 + len(goal.prior))
        task = self._task(rows, design, devices, goal.prior)
        if share == np.inf and not task.opening_costs.any():
            task = replace(task, gated=False)
        history: list[float] = []
        # Free is free: with nothing to pay and no budget every gate stays open, and the model is the plain
        # linear one.
        if not task.gated:
            params, threshold = task.start(), -np.inf
        else:
            params, history = self._train(task, share * task.prices.sum(), rng)
            if share < np.inf and held_out is not None:
                pairs = task.blocks.pairs(params, design.zeros)
                threshold = _budget_threshold(pairs, held_out, share * total)
            else:
                activation = "sigmoid" if self.training == "relaxed" else self.activation
                threshold = task.best_threshold(params, ACTIVATIONS[activation])
            # The local models were fitted to soft gates, but gates are hard in prediction.
            params = task.refit(params, threshold)
        if rows.classes is not None and rows.n_classes == 1:
            threshold = np.inf  # no message says more than the prior
        return self.model_type(
            **header,
            devices=devices,
            pairs=task.blocks.pairs(params, design.zeros, goal.scale),
            threshold=threshold,
            history=np.array(history, dtype=np.float64),
        )

    def _task(self, rows: TrainingSet, design: LinearDesign, devices: Devices, prior: Floats) -> Task:
        return Task(
            blocks=Blocks.of(design, devices, len(prior)),
            target=rows.target,
            loss_of=self._loss_of(rows),
            prior=prior,
            shares=rows.weights / rows.weights.sum(),
            prices=message_prices(rows.costs),
            tradeoff=float(self.tradeoff),
            l2_regularization=float(self.l2_regularization),
            max_steps=self.max_steps,
        )

    def _train(self, task: Task, limit: float, rng: np.random.RandomState) -> tuple[Floats, list[float]]:
        if self.training == "relaxed":
            return learn_relaxed(task, limit, float(self.coupling), self.n_alternations)
        if self.training == "projected":
            return learn_projected(task, self.activation, limit, self.n_alternations)
        if self.solver == "adam":
            return learn_by_adam(task, self.activation, self.n_epochs, float(self.learning_rate), rng)
        return learn_direct(task, self.activation)

    # Predicting.

    def messages(self, X: Any) -> Messages:
        """Return the messages that each device sends to the cloud.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            What the devices measured.

        Returns
        -------
        Messages
            The array calls take it in place of X: it is all that the cloud needs.
        """
        check_is_fitted(self)
        return self._messages(X)

    def _messages(self, X: Any, lacking: Sequence[str] = ()) -> Messages:
        """Return the messages of each device; what the lacking ones measure need not be in the table."""
        model = self.fitted_
        needed = model.may_buy()
        for name in lacking:
            needed[[*model.devices.columns[model.questions.index(name)]]] = False
        encoded = encode(model.schema, X, type(self).__name__, needed=needed, min_rows=0)
        # A device reads its columns whether it sends or not, so all of them are validated here. The cloud
        # then validates only the messages that it receives.
        encoded.check(np.broadcast_to(needed, encoded.values.shape))
        return model.messages(encoded.values)

    @property
    def device_models_(self) -> dict[str, dict[str, Any]]:
        """The program of each device, as JSON-compatible values; `run_device` runs it.

        ``terms``: the columns to read, with the category to look for or None, the mean to subtract and the
        scale to divide by; a missing value's terms are left out. ``gate`` and ``local``: a coefficient, or
        one for each score of the message, for each term. A device sends its message if its gate's score is
        above ``threshold``.
        """
        check_is_fitted(self)
        return self.fitted_.device_models

    def raw_outputs(
        self, X: Any, *, budget: Any = None, seeds: Any = None, refused: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return raw outputs (n_rows, n_outputs) and acquired (n_rows, n_devices), of a table or messages.

        ``refused`` are devices: names, or a flag for each row and device. A refused device is silent.
        """
        self.check_ready()
        model = self.fitted_
        names = () if refused is None else refused_names(refused) or ()
        messages = X if isinstance(X, Messages) else self._messages(X, lacking=names)
        # Messages may come from outside, so they are checked like a table.
        if messages.devices != model.devices.names or messages.scores.shape[2] != len(model.prior):
            raise TableError(
                f"got messages of {', '.join(messages.devices[:5])} with {messages.scores.shape[2]} numbers "
                f"each; expected {', '.join(model.devices.names[:5])} with {len(model.prior)}"
            )
        if seeds is not None:
            check_seeds(seeds, len(messages))
        if refused is not None:
            # A refused device is a silent one.
            order: dict[str, list[bool]] = {name: [] for name in model.devices.names}
            flags = refused_flags(model.questions, order, refused, len(messages))
            messages = replace(messages, sent=messages.sent & ~flags)
        acquired = model.received(messages, check_caps(budget, len(messages)))
        messages.check(acquired)
        return model.settle(model.cloud_outputs(messages, acquired), acquired), acquired

    # The account, and files.

    def _cost_sheet(self, schema: Schema) -> CostSheet:
        return CostSheet.of(self.costs, Devices.of(self.devices, schema).names)

    def file_params(self) -> dict[str, Any]:
        """Return the constructor parameters to store in a file: columns of devices by their names."""
        params = super().file_params()
        if params["devices"] is not None:
            names, devices = self.fitted_.schema.names, self.fitted_.devices
            params["devices"] = {
                name: [names[column] for column in columns]
                for name, columns in zip(devices.names, devices.columns, strict=True)
            }
        return params


def _budget_threshold(pairs: list[LinearScores], rows: TrainingSet, limit: float) -> float:
    """Return the lowest threshold at which the mean spend of the rows is within the limit.

    A device that sends pays its own cost, and the first of a group, the one of the highest score, what the
    group shares.
    """
    costs = rows.costs
    # A shared cost is one more entry at the highest score of its group: it is due once any member sends.
    gates = np.column_stack([pair.outputs(rows.values)[0][:, 0] for pair in pairs])
    shares = (rows.weights / rows.weights.sum())[:, np.newaxis]
    scores, prices = [gates], [shares * costs.own]
    for place, shared in enumerate(costs.shared):
        scores.append(gates[:, costs.group_of == place].max(axis=1, keepdims=True))
        prices.append(shares * shared)
    return lowest_threshold(np.hstack(scores).ravel(), np.hstack(prices).ravel(), spending_limit(limit))
