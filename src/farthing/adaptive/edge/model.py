"""Edge devices and a cloud: what the classifier and the regressor share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.adaptive.adapt.expensive_model import Rows
from farthing.adaptive.adapt.gate_pairs import SLACK, LinearPair, fits
from farthing.adaptive.adapt.projection import Floats
from farthing.adaptive.adapt.thresholds import WithValidation, apart, check_share, lowest_threshold
from farthing.adaptive.edge.blocks import ACTIVATIONS, Blocks
from farthing.adaptive.edge.devices import Devices, prices
from farthing.adaptive.edge.messages import Channel, DeviceWalk, Messages
from farthing.adaptive.edge.training import (
    LossOf,
    Task,
    learn_by_adam,
    learn_direct,
    learn_projected,
    learn_relaxed,
)
from farthing.base.inputs import check_caps
from farthing.base.parameters import check_whole
from farthing.costs import CostSheet, RowLedger
from farthing.errors import TableError
from farthing.learning.proximal_descent import Design
from farthing.table import Schema
from farthing.walks import Policy, Walk

SHARED = """devices : mapping of str to list of str or int, optional
        The columns of each device, by name or by place; each column in one device at most, and those in none
        are not looked at. None makes a device of each column.
    training : {trainings}
        How gates and local models are learned together. "direct": gates are soft in training, and the mean
        loss plus ``tradeoff`` times what they open is minimised (OPT-Direct-Clf). "relaxed": each row and
        device has an opening q of its own, within the budget in the mean; the gates follow q in divergence
        (OPT-Relax).{projected}
    activation : {{"sigmoid", "relu"}}
        How open a soft gate is at a score; "relaxed" has the sigmoid always.
    solver : {{"lbfgs", "adam"}}
        Of "direct": all rows at once, or batches of 100.
    tradeoff : float
        What a unit of price weighs against the mean loss{unit}.
        With unit prices, it is the lambda of (OPT-Direct-Clf) over the number of devices. At 0,
        "relaxed"{and_projected} has the budget alone, as in the thesis.
    coupling : float
        Of "relaxed": what the divergence between q and the gates weighs, the lambda of (OPT-Relax).
    ridge : float
        Half of it times the squares of all coefficients is added; terms are standardised.
    max_steps : int
        Most steps of L-BFGS.
    n_alternations : int
        Most turns of "relaxed"{turns}.
    n_epochs : int
        Times that "adam" goes over the rows.
    learning_rate : float
        Of "adam".
    costs : CostSheet, mapping, array, Series, path or None
        What a message of each device costs, by the devices' names; None is 1 each.
    budget : float, optional
        The mean share of devices that speak, 0 to 1; with prices, what is spent in the mean over what all
        devices cost. It sets the threshold of all gates on validation rows. None sets the threshold where
        loss and price are least on the training rows.
    validation_fraction : float
        Share of the rows that is held out to set the threshold, if there is a budget and `fit` is given no
        validation rows.
    random_state : int, RandomState or None
        For held out rows, and the batches of "adam"."""

ATTRIBUTES = """devices_ : Devices
        Names and columns.
    pairs_ : list of LinearPair
        Gate and local model of each device.
    threshold_ : float
        A device speaks if its gate's score is above it.
    history_ : ndarray of float64
        The objective at the start and after each step or turn of the training."""

CLASSES: Final = {
    "trainings": '{"direct", "relaxed"}',
    "projected": "",
    "unit": "",
    "turns": "",
    "and_projected": "",
}
NUMBERS: Final = {
    "trainings": '{"direct", "relaxed", "projected"}',
    "projected": """
        "projected": steps down the squared error, and projections of gates on the budget (7.3 to 7.5).""",
    "unit": ", that as a share of the target's variance",
    "turns": ' and of "projected"',
    "and_projected": ' or "projected"',
}


class EdgeModel(WithValidation):
    """Devices with a gate and a local linear model each, and a cloud that adds up what it hears.

    The raw output is the prior's scores plus those that devices said. What a device measures is its own: the
    gate is run there, for nothing. What is paid for, and all that a prediction looks at, are the messages.
    So the ledger is over devices: ``acquired`` is (n_rows, n_devices).
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "devices_": Devices,
        "pairs_": list,
        "threshold_": float,
        "history_": np.ndarray,
    }
    _budget_is_share = True
    _asks_columns = False
    _trainings: ClassVar[tuple[str, ...]] = ("direct", "relaxed")

    def __init__(
        self,
        devices: Any = None,
        *,
        training: str = "direct",
        activation: str = "sigmoid",
        solver: str = "lbfgs",
        tradeoff: float = 0.03,
        coupling: float = 0.1,
        ridge: float = 1e-3,
        max_steps: int = 200,
        n_alternations: int = 10,
        n_epochs: int = 50,
        learning_rate: float = 0.001,
        costs: Any = None,
        budget: float | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.devices = devices
        self.training = training
        self.activation = activation
        self.solver = solver
        self.tradeoff = tradeoff
        self.coupling = coupling
        self.ridge = ridge
        self.max_steps = max_steps
        self.n_alternations = n_alternations
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.costs = costs
        self.budget = budget
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    # What classes and numbers differ in.

    @abstractmethod
    def _loss_of(self) -> LossOf:
        """Return the loss, from target and shares."""

    @abstractmethod
    def _prepared(self, target: NDArray[Any], weights: Floats) -> tuple[NDArray[Any], Floats, float]:
        """Set ``prior_``; return the target to learn, its prior, and the scale of what devices will say."""

    # Learning.

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[Any],
        weights: Floats,
        sheet: CostSheet,
        *,
        validation: Any = None,
    ) -> None:
        self._check_parameters()
        self.devices_ = Devices.of(self.devices, self.schema_)
        goal, prior, scale = self._prepared(target, weights)
        rows = Rows(values, goal, weights)
        chance = check_random_state(self.random_state)
        held = self._held_rows(validation)
        total = sheet.total(sheet.features)
        # Where nothing costs anything, no budget binds.
        limit = np.inf if self.budget is None or total == 0 else float(self.budget)
        if limit < np.inf and held is None:
            rows, held = apart(rows, self.validation_fraction, chance)
        shares = rows.weights / rows.weights.sum()
        design = Design.of(rows.values, self.schema_, shares, 1 + len(prior))
        blocks = Blocks.of(design, self.devices_, len(prior))
        task = Task(
            blocks,
            rows.target,
            self._loss_of(),
            prior,
            shares,
            prices(sheet),
            float(self.tradeoff),
            float(self.ridge),
            self.max_steps,
        )
        if limit == np.inf and not task.weighed.any():
            params, self.threshold_ = task.start(), -np.inf
            history: list[float] = []
        else:
            params, history = self._train(task, limit * task.prices.sum(), chance)
            if limit < np.inf and held is not None:
                self.pairs_ = blocks.pairs(params, design.blank)
                self.threshold_ = self._threshold(held, limit * total, sheet)
            else:
                soft = "sigmoid" if self.training == "relaxed" else self.activation
                self.threshold_ = task.best_threshold(params, ACTIVATIONS[soft])
            params = task.settle(params, self.threshold_)
        self.pairs_ = blocks.pairs(params, design.blank, scale)
        self.history_ = np.array(history, dtype=np.float64)

    def _train(self, task: Task, limit: float, chance: np.random.RandomState) -> tuple[Floats, list[float]]:
        if self.training == "relaxed":
            return learn_relaxed(task, limit, float(self.coupling), self.n_alternations)
        if self.training == "projected":
            return learn_projected(task, self.activation, limit, self.n_alternations)
        if self.solver == "adam":
            return learn_by_adam(task, self.activation, self.n_epochs, float(self.learning_rate), chance)
        return learn_direct(task, self.activation)

    def _threshold(self, rows: Rows, limit: float, sheet: CostSheet) -> float:
        """Return the lowest threshold at which the mean spend of the rows is within the limit.

        A device that speaks pays its own cost, and the first of a group, the one of the highest score, what
        the group shares.
        """
        gates = self._gates(rows.values)
        shares = (rows.weights / rows.weights.sum())[:, np.newaxis]
        scores, costs = [gates], [shares * sheet.own]
        for place, shared in enumerate(sheet.shared):
            scores.append(gates[:, sheet.group_of == place].max(axis=1, keepdims=True))
            costs.append(shares * shared)
        return lowest_threshold(np.hstack(scores).ravel(), np.hstack(costs).ravel(), limit * (1 + SLACK))

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("training", self._trainings),
            ("activation", tuple(ACTIVATIONS)),
            ("solver", ("lbfgs", "adam")),
        ):
            if getattr(self, name) not in allowed:
                listed = ", ".join(map(repr, allowed))
                raise ValueError(f"{name} must be one of {listed}; got {getattr(self, name)!r}")
        for name, least in (("tradeoff", 0.0), ("ridge", 0.0)):
            if not least <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be zero or more, and finite; got {getattr(self, name)!r}")
        for name in ("coupling", "learning_rate"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be above 0, and finite; got {getattr(self, name)!r}")
        for name in ("max_steps", "n_alternations", "n_epochs"):
            check_whole(name, getattr(self, name), 1)
        if self.budget is not None and not 0 <= self.budget <= 1:
            raise ValueError(
                "budget is the mean share of devices that speak and must lie between 0 and 1; got "
                f"{self.budget!r}"
            )
        check_share("validation_fraction", self.validation_fraction)

    # Predicting.

    def messages(self, X: Any) -> Messages:
        """Say what each device would send to the cloud.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            What the devices measured.

        Returns
        -------
        Messages
            The array calls take it in place of X: it is all that the cloud needs to know.
        """
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        measured = self.devices_.measured(len(self.schema_))
        encoded.check(np.broadcast_to(measured, encoded.values.shape))
        scores = [pair.answers(encoded.values)[0] for pair in self.pairs_]
        both = np.stack(scores, axis=1)
        return Messages(
            self.devices_.names, np.ascontiguousarray(both[:, :, 1:]), both[:, :, 0] > self.threshold_
        )

    @property
    def device_models_(self) -> dict[str, dict[str, Any]]:
        """What each device runs, as values that JSON knows; see `speak`, which runs it.

        ``terms``: the columns to read, with the category to look for or None, the mean to take off and the
        scale to divide by; a missing value's terms are left out. ``gate`` and ``local``: a coefficient, or
        one for each number of the message, for each term. A device speaks if its gate's score is above
        ``threshold``.
        """
        check_is_fitted(self)
        return {name: self._device(pair) for name, pair in zip(self.devices_.names, self.pairs_, strict=True)}

    def _device(self, pair: LinearPair) -> dict[str, Any]:
        terms: list[dict[str, Any]] = []
        for column, code, mean, scale in zip(
            pair.columns.tolist(),
            pair.category.tolist(),
            pair.mean.tolist(),
            pair.scale.tolist(),
            strict=True,
        ):
            known = self.schema_.columns[column]
            term = {"column": known.name, "category": None, "mean": mean, "scale": scale}
            if known.is_categorical:
                term |= {"category": known.categories[int(code)], "categories": list(known.categories)}
            terms.append(term)
        gate, *local = pair.coef.T.tolist()
        bias, *biases = pair.intercept.tolist()
        return {
            "terms": terms,
            "gate": {"coef": gate, "intercept": bias, "threshold": self.threshold_},
            "local": {"coef": np.array(local).T.tolist(), "intercept": biases},
        }

    def _gates(self, values: NDArray[np.floating]) -> Floats:
        """Return the gates' scores, shape (n_rows, n_devices)."""
        return np.column_stack([pair.answers(values)[0][:, 0] for pair in self.pairs_])

    def _raw(self, X: Any, budget: Any, seeds: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """Return raw outputs (n_rows, n_outputs) and acquired (n_rows, n_devices), of a table or messages."""
        check_is_fitted(self)
        messages = X if isinstance(X, Messages) else self.messages(X)
        if messages.devices != self.devices_.names or messages.said.shape[2] != len(self.prior_):
            raise TableError(
                f"got messages of {', '.join(messages.devices[:5])} with {messages.said.shape[2]} numbers "
                f"each; expected {', '.join(self.devices_.names[:5])} with {len(self.prior_)}"
            )
        _ = self._options(len(messages), None, seeds)
        acquired = self._heard(messages, check_caps(budget, len(messages)))
        messages.check(acquired)
        return self._settle(add_up(self.prior_, messages.said, acquired), acquired), acquired

    def _heard(self, messages: Messages, budget: Floats | None) -> NDArray[np.bool_]:
        """Tell whose messages are paid for: devices are asked in order, as far as a row can pay."""
        if budget is None:
            return messages.spoke.copy()
        acquired = np.zeros_like(messages.spoke)
        for device in range(len(self.devices_)):
            acquired[:, device] = messages.spoke[:, device]
            acquired[:, device] &= fits(self.costs_, acquired, budget)
        return acquired

    def _policy(self, seed: int | None) -> Policy:  # noqa: ARG002 - devices draw no lots
        return _EdgePolicy(self.prior_, len(self.devices_))

    @property
    def _questions(self) -> Channel:
        return Channel.of(self.devices_.names, len(self.prior_))

    def _start_walk(self, policy: Policy, budget: float | None, known: Mapping[str, object] | None) -> Walk:
        return DeviceWalk(
            policy, self._questions, self.costs_, self._conclude_row, budget=budget, known=known
        )

    # The ledger, and files.

    def _sheet(self, schema: Schema) -> CostSheet:
        return CostSheet.of(self.costs, Devices.of(self.devices, schema).names)

    def _ledger_names(self) -> tuple[str, ...]:
        return self.devices_.names

    def _file_params(self) -> dict[str, Any]:
        params = super()._file_params()
        if params["devices"] is not None:
            names = self.schema_.names
            params["devices"] = {
                name: [names[column] for column in columns]
                for name, columns in zip(self.devices_.names, self.devices_.columns, strict=True)
            }
        return params

    def _check_stored(self) -> None:
        super()._check_stored()
        n_features = len(self.schema_)
        if len(self.pairs_) != len(self.devices_):
            raise ValueError(f"{len(self.pairs_)} gates do not fit {len(self.devices_)} devices")
        for name, columns, pair in zip(self.devices_.names, self.devices_.columns, self.pairs_, strict=True):
            if max(columns, default=0) >= n_features:
                raise ValueError(f"device {name!r} has columns that the table does not have")
            if not isinstance(pair, LinearPair) or pair.n_features != n_features:
                raise ValueError(f"device {name!r} has no gate for this table")
            if pair.n_outputs != 1 + len(self.prior_) or not np.isin(pair.columns, columns).all():
                raise ValueError(f"the gate of device {name!r} reads or says what it should not")
            for column, code in zip(pair.columns.tolist(), pair.category.tolist(), strict=True):
                known = self.schema_.columns[column]
                if not (code in range(len(known.categories)) if known.is_categorical else np.isnan(code)):
                    raise ValueError(
                        f"device {name!r} looks for a category that {known.name!r} does not have"
                    )
        if np.isnan(self.threshold_):
            raise ValueError("threshold_ must be a number")
        if self.history_.dtype != np.float64 or self.history_.ndim != 1:
            raise ValueError("history_ must be a list of floats")


def add_up(prior: Floats, said: Floats, heard: NDArray[np.bool_]) -> Floats:
    """Return the prior plus what was heard, device by device, so that a row has the same bits alone.

    Parameters
    ----------
    prior : ndarray of float64, shape (n_scores,)
    said : ndarray of float64, shape (n_rows, n_devices, n_scores)
    heard : ndarray of bool, shape (n_rows, n_devices)

    Returns
    -------
    ndarray of float64, shape (n_rows, n_scores)

    Examples
    --------
    >>> add_up(np.array([1.0]), np.array([[[2.0], [np.nan]]]), np.array([[True, False]]))
    array([[3.]])
    """
    outputs = np.tile(prior, (len(said), 1))
    for device in range(said.shape[1]):
        outputs += np.where(heard[:, device, np.newaxis], said[:, device], 0.0)
    return outputs


class _EdgePolicy:
    """Want every device, in order; a silent one is heard as NaN."""

    def __init__(self, prior: Floats, n_devices: int) -> None:
        self._prior = prior
        self._said = np.zeros((1, n_devices, len(prior)))
        self._heard = np.zeros((1, n_devices), dtype=np.bool_)
        self._next = 0

    def wants(self, ledger: RowLedger) -> int | None:  # noqa: ARG002 - all are asked, whatever they cost
        return self._next if self._next < self._heard.shape[1] else None

    def hear(self, column: int, value: Any) -> None:
        self._next = column + 1
        if isinstance(value, np.ndarray):
            self._said[0, column] = value
            self._heard[0, column] = True

    def output(self) -> Floats:
        return np.asarray(add_up(self._prior, self._said, self._heard)[0])
