"""What a method has learned, as a value: the protocol that estimators, wrappers, files and walks rely on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.table import Schema
from farthing.walks import Policy, Walk, walk_rows


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedModel(ABC):
    """A model that answers rows, one feature at a time or many rows at once.

    Subclasses are frozen dataclasses. Their fields are all that prediction needs, and all that a file holds;
    what can be computed from the fields is a ``cached_property``. Another trade-off or threshold of the same
    fit is ``dataclasses.replace(model, ...)``.

    Parameters
    ----------
    schema : Schema
        Names and types of the columns.
    costs : CostSheet
        The prices, in the order of the columns.
    prior : ndarray of float64, shape (n_outputs,)
        The raw output of a row whose prediction looked at nothing.
    budget : float or None
        The cap that predictions keep when none is given; None if the method's budget is not a hard one.
    """

    schema: Schema
    costs: CostSheet
    prior: NDArray[np.float64]
    budget: float | None = None

    # What a method fills in.

    @abstractmethod
    def policy(self, seed: int | None = None) -> Policy:
        """Return a fresh policy for one row; a seed of None is the model's own."""

    @abstractmethod
    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn raw outputs into probabilities or values.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n_rows, n_outputs)

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes) or (n_rows,)
            Each row on its own: the same bits alone and among others (see `farthing.base.links`).
        """

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # noqa: ARG002 - walks are sequential
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows: by default each by a walk of its own.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        budget : ndarray of float64, shape (n_rows,), optional
            What each row may spend; None is no limit.
        seeds : ndarray of int64, shape (n_rows,), optional
            A seed for each row; None is the model's own.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            Raw outputs; see `settle` for rows that looked at nothing.
        acquired : ndarray of bool, shape (n_rows, n_features)
            What each row paid for.
        """
        return walk_rows(self.policy, self.costs, values, len(self.prior), budget=budget, seeds=seeds)

    def check(self) -> None:
        """Raise ValueError if the fields, which may come from a hostile file, do not fit together."""
        if self.budget is not None and not self.budget >= 0:
            raise ValueError(f"budget must be zero or more; got {self.budget!r}")
        prior = self.prior
        if prior.dtype != np.float64 or prior.ndim != 1 or not len(prior) or not np.isfinite(prior).all():
            raise ValueError("prior must be a list of finite floats")
        if tuple(self.ledger_names) != tuple(self.costs.features):
            raise ValueError("the cost sheet and the columns are not the same features in the same order")

    # What classifiers and regressors differ in.

    @abstractmethod
    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return predictions (n_rows,) and probabilities (n_rows, n_classes) or None."""

    @abstractmethod
    def conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        """Return the prediction and the probabilities of one walk, from raw outputs (1, n_outputs)."""

    # What follows.

    @property
    def ledger_names(self) -> tuple[str, ...]:
        """What the account is about: the columns, or what stands in for them, such as devices."""
        return self.schema.names

    @property
    def questions(self) -> Any:
        """What walks may ask for, and how answers are read: the schema, or what stands in for it."""
        return self.schema

    def settle(self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Give the prior to rows that looked at nothing.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
        looked : ndarray of bool, shape (n_rows, n_features)
        """
        if len(outputs) == 1:  # a walk's, where each array operation counts
            return outputs if np.count_nonzero(looked) else self.prior[np.newaxis]
        some = looked.any(axis=1, keepdims=True)
        return outputs if some.all() else np.where(some, outputs, self.prior)

    def walk(self, seed: int | None, budget: float | None, known: Mapping[str, object] | None = None) -> Walk:
        """Start the lazy prediction of one row; a budget of None is no limit."""
        policy = self.policy(seed)
        return Walk(policy, self.questions, self.costs, self.conclude_row, budget=budget, known=known)

    def state(self) -> dict[str, Any]:
        """Return what a file holds, by the names of the estimator's attributes: a field and "_"."""
        return {f"{field.name}_": getattr(self, field.name) for field in fields(self)}

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties may hold compiled objects; they are computed again where they are needed.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # a frozen dataclass refuses setattr


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierModel(FittedModel):
    """A fitted classifier: `conclude` gives one probability per class.

    Parameters
    ----------
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    """

    classes: NDArray[Any]

    def decide(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the place of each row's label among the classes: the most likely, the earlier of equals."""
        return np.asarray(np.argmax(probabilities, axis=1), dtype=np.int64)

    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return labels (n_rows,) and probabilities (n_rows, n_classes)."""
        probabilities = self.conclude(outputs)
        return self.classes[self.decide(probabilities)], probabilities

    def conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        """Return the label and the probability of each class."""
        probabilities = self.conclude(self.settle(outputs, looked))
        labels = self.classes.tolist()
        label = labels[int(self.decide(probabilities)[0])]
        return label, dict(zip(labels, probabilities[0].tolist(), strict=True))

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        if self.classes.ndim != 1 or not np.array_equal(np.unique(self.classes), self.classes):
            raise ValueError("classes must be labels, each once, in order")

    def check_probabilities(self) -> None:
        """Raise ValueError unless `conclude` gives one probability per class; after `check`."""
        shape = self.conclude(self.prior[np.newaxis]).shape
        if shape != (1, len(self.classes)):
            raise ValueError(f"{len(self.classes)} classes do not fit {shape[-1]} outputs")


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressorModel(FittedModel):
    """A fitted regressor: `conclude` gives one value per row, by default the first raw output."""

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the first raw output, shape (n_rows,)."""
        return outputs[:, 0]

    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return values (n_rows,), and no probabilities."""
        return self.conclude(outputs), None

    def conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        """Return the value, and no probabilities."""
        return float(self.conclude(self.settle(outputs, looked))[0]), None
