"""Fitted models as immutable values: the interface that estimators, wrappers, files and walks rely on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import SplitJudge
from farthing.base.guarantee import Certificate
from farthing.costs import CostSheet
from farthing.errors import ExportError
from farthing.table import Schema
from farthing.trees import Forest, typical_values
from farthing.walks import Policy, Stand, Walk, walk_rows
from farthing.walks.plans import Link, LinkStep, Plan

#: Metadata of a field that a file may lack; it is None then.
OPTIONAL: Final = {"optional": True}

#: From a model and the hard budget of each row to raw outputs and what is acquired.
SharedOutputs: TypeAlias = Callable[
    ["FittedModel", NDArray[np.float64] | None], tuple[NDArray[np.float64], NDArray[np.bool_]]
]


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedModel(ABC):
    """A fitted model, which predicts one row feature by feature or many rows at once.

    Subclasses are frozen dataclasses. Their fields are all that prediction needs, and all that a file holds;
    whatever can be computed from the fields is a ``cached_property``. Another trade-off or threshold of the
    same fit is ``dataclasses.replace(model, ...)``.

    Parameters
    ----------
    schema : Schema
        Names and types of the columns.
    costs : CostSheet
        The prices, in the order of the columns.
    prior : ndarray of float64, shape (n_outputs,)
        The raw output of a row that acquired nothing.
    budget : float or None
        The hard budget of predictions for which none is given; None if the method's budget is not a hard one.
    certificate : Certificate or None
        What is guaranteed on new rows.
    """

    schema: Schema
    costs: CostSheet
    prior: NDArray[np.float64]
    budget: float | None = None
    certificate: Certificate | None = field(default=None, metadata=OPTIONAL)

    #: Why there is no `plan`; for the error of an export.
    no_plan: ClassVar[str] = "the method has not defined one"

    # What a method defines.

    @abstractmethod
    def policy(self, seed: int | None = None) -> Policy:
        """Return a fresh policy for one row; a seed of None means the model's own."""

    @abstractmethod
    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn raw outputs into probabilities or values.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n_rows, n_outputs)

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes) or (n_rows,)
            Each row is computed independently: same bits alone and in a batch (see `farthing.base.links`).
        """

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # noqa: ARG002 - walks are sequential
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows, by default each by a walk of its own.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        budget : ndarray of float64, shape (n_rows,), optional
            Hard budget of each row; None means no limit.
        seeds : ndarray of int64, shape (n_rows,), optional
            One seed per row; None means the model's own.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            Raw outputs; see `settle` for rows that acquired nothing.
        acquired : ndarray of bool, shape (n_rows, n_features + n_calls)
            What each row paid for: features, and the calls of the cost sheet, if it has any.
        """
        # The walk is the definition of a prediction. Faster overrides must give the same bits (one truth).
        return walk_rows(self.policy, self.costs, values, len(self.prior), budget=budget, seeds=seeds)

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns a prediction may ever read, shape (n_features,); by default all.

        A frame may lack the others. Methods that know more override this.
        """
        return np.ones(len(self.schema), dtype=np.bool_)

    def check(self) -> None:
        """Raise ValueError if the fields, which may come from a hostile file, do not fit together."""
        if self.budget is not None and not self.budget >= 0:  # written so that NaN fails, too
            raise ValueError(f"budget must be zero or more; got {self.budget!r}")
        prior = self.prior
        if prior.dtype != np.float64 or prior.ndim != 1 or not len(prior) or not np.isfinite(prior).all():
            raise ValueError("prior must be a list of finite floats")
        if tuple(self.ledger_names) != tuple(self.costs.features):
            raise ValueError("the cost sheet and the columns are not the same features in the same order")

    def plan(self) -> Plan:
        """Return the policy as tables, for `farthing.export`; by default there are none.

        Raises
        ------
        ExportError
            If the walk cannot be written as one of the plans.
        """
        raise ExportError(f"its walk has no plan: {self.no_plan}")

    def link_steps(self) -> Link:
        """Return `conclude` as steps, for `farthing.export`."""
        raise ExportError("its link from raw outputs to predictions is not given as steps")

    # What classifiers and regressors differ in.

    @abstractmethod
    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return predictions (n_rows,) and probabilities (n_rows, n_classes) or None."""

    @abstractmethod
    def conclude_rows(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> list[tuple[Any, dict[Any, float] | None]]:
        """Return the prediction and the probabilities of each walk, from raw outputs (n_rows, n_outputs)."""

    # What is derived from these.

    def conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        """Return the prediction and the probabilities of one walk, from raw outputs (1, n_outputs)."""
        return self.conclude_rows(outputs, looked)[0]

    def outputs_refused(
        self,
        values: NDArray[np.floating],
        refused: NDArray[np.bool_],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows, some of whose entries are refused, as in `outputs`.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        refused : ndarray of bool, shape (n_rows, n_features)
            The entries that are not available; they cost nothing.
        budget, seeds, n_threads
            As in `outputs`.
        """
        outputs = np.empty((len(values), len(self.prior)))
        acquired = np.zeros((len(values), len(self.costs.features)), dtype=np.bool_)
        # A refusal is not merely a missing value: it leaves the budget as it is, and a policy may treat it in
        # a way of its own. So rows with one are walked, and the others are not.
        some = np.asarray(refused.any(axis=1))
        walked, others = np.flatnonzero(some), np.flatnonzero(~some)
        if len(others):
            outputs[others], acquired[others] = self.outputs(
                values[others], budget=_at(budget, others), seeds=_at(seeds, others), n_threads=n_threads
            )
        if len(walked):
            outputs[walked], acquired[walked] = walk_rows(
                self.policy,
                self.costs,
                values[walked],
                len(self.prior),
                budget=_at(budget, walked),
                seeds=_at(seeds, walked),
                refused=refused[walked],
            )
        return outputs, acquired

    def outputs_capped(
        self,
        values: NDArray[np.floating],
        caps: Mapping[str, NDArray[np.float64]],
        refused: NDArray[np.bool_] | None = None,
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # noqa: ARG002 - walks are sequential
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows within caps of further resources, each by a walk of its own.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        caps : mapping of str to ndarray of float64, shape (n_rows,)
            What each row may take of a resource.
        refused, budget, seeds, n_threads
            As in `outputs_refused`.
        """
        return walk_rows(
            self.policy,
            self.costs,
            values,
            len(self.prior),
            budget=budget,
            seeds=seeds,
            refused=refused,
            caps=caps,
            answer_of=self.answer_of,
        )

    def outputs_of_variants(
        self,
        variants: Sequence[FittedModel],
        values: NDArray[np.floating],
        *,
        budgets: Sequence[NDArray[np.float64] | None],
        n_threads: int = 1,
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
        """Predict the same rows by other models of the same fit, by default one after another.

        Models that share trees or stages override this, so that a row passes these once for all variants.

        Parameters
        ----------
        variants : sequence of FittedModel
            The models, such as those of `BudgetedEstimator.variants`.
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        budgets : sequence of ndarray of float64, shape (n_rows,), or None
            For each model, the hard budget of each row; None means no limit.
        n_threads : int
            Threads to use; any number gives the same bits.

        Yields
        ------
        outputs, acquired
            For each model, the bits of its own `outputs`.
        """
        for variant, budget in zip(variants, budgets, strict=True):
            yield variant.outputs(values, budget=budget, n_threads=n_threads)

    def shared_outputs(self, values: NDArray[np.floating], *, n_threads: int = 1) -> SharedOutputs | None:  # noqa: ARG002
        """Return a function that predicts the same rows by any model of the same fit, moved to any budget.

        Unlike `outputs_of_variants` it need not know the models in advance. Models whose variants share
        stages override this; None means that nothing is shared.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        callable or None
            From a model and the hard budget of each row, or None, to the bits of the model's own `outputs`.
        """
        return None

    def own_caps(self) -> Mapping[str, float]:
        """Return the hard caps of further resources that hold where none is given; none by default."""
        return {}

    @property
    def ledger_names(self) -> tuple[str, ...]:
        """Names of what is bought: the columns, or a substitute such as devices, and then the calls."""
        return (*self.schema.names, *self.costs.calls)

    @property
    def questions(self) -> Any:
        """What walks may ask for, and how answers are encoded: the schema, or a substitute for it."""
        return self.schema

    def settle(self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Replace the outputs of rows that acquired nothing by the prior.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
        looked : ndarray of bool, shape (n_rows, n_features)
        """
        if len(outputs) == 1:  # the row of a walk, where the overhead of each array operation counts
            return outputs if np.count_nonzero(looked) else self.prior[np.newaxis]
        if len(looked) and looked[:, np.argmax(looked[0])].all():
            return outputs  # all rows looked at the same feature, such as the one that a first tree tests
        some = looked.any(axis=1, keepdims=True)
        return outputs if some.all() else np.where(some, outputs, self.prior)

    def walk(
        self,
        seed: int | None,
        budget: float | None,
        known: Mapping[str, object] | None = None,
        caps: Mapping[str, float] | None = None,
        fall_factor: float = 1.0,
    ) -> Walk:
        """Start the lazy prediction of one row; a budget of None means no limit."""
        policy = self.policy(seed)
        return Walk(
            policy,
            self.questions,
            self.costs,
            self.conclude_row,
            budget=budget,
            known=known,
            model=self,
            seed=seed,
            fall_factor=fall_factor,
            caps=caps,
        )

    # What reasons of questions need, see `farthing.walks.reasoning`.

    def believe(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities (n_rows, n_classes) or values (n_rows,) of the outputs of a `Stand`."""
        return self.conclude(outputs)

    def label_shares(self, stands: Sequence[Stand]) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Return what the trees that rows have walked say of the labels of such rows.

        Parameters
        ----------
        stands : sequence of Stand, length n_stands
            Where the rows stand; all in the same trees.

        Returns
        -------
        ndarray of float64, shape (n_stands, n_classes) or (n_stands, 1), or None
            Shares of the classes, or the mean of the target; None if the model does not know them.
        """
        return None

    def split_judge(self) -> SplitJudge | None:
        """Return what judges answers in one call of the core; None if it does not know the model.

        It finds what `believe`, `settle`, `results` and `label_shares` say, but for rounding.
        """
        return None

    def answer_of(self, column: int, entry: float) -> Any:
        """Return what a policy hears for an encoded entry of a table: the entry itself, unless overridden."""
        del column
        return entry

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return encoded values of a column, each equally likely, for panels; by default those of its trees.

        Empty if the model knows none.
        """
        forest = getattr(self, "forest", None)
        return typical_values(forest, column) if isinstance(forest, Forest) else ()

    def state(self) -> dict[str, Any]:
        """Return the fields by the names of the estimator's attributes, which end in "_"; for files.

        Optional fields that are None or empty are left out.
        """
        state = {f"{each.name}_": getattr(self, each.name) for each in fields(self)}
        unset = {f"{name}_" for name in optional_fields(type(self)) if _is_unset(getattr(self, name))}
        return {name: value for name, value in state.items() if name not in unset}

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties may hold compiled objects, which do not pickle; they are recomputed on demand.
        return {each.name: getattr(self, each.name) for each in fields(self)}

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
        """Return the index of the most likely class of each row, the lowest of equals."""
        return np.asarray(np.argmax(probabilities, axis=1), dtype=np.int64)

    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return labels (n_rows,) and probabilities (n_rows, n_classes)."""
        probabilities = self.conclude(outputs)
        return self.classes[self.decide(probabilities)], probabilities

    def conclude_rows(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> list[tuple[Any, dict[Any, float] | None]]:
        """Return the label and the probability of each class, for each row."""
        probabilities = self.conclude(self.settle(outputs, looked))
        labels, chosen = self.classes.tolist(), self.decide(probabilities).tolist()
        return [
            (labels[place], dict(zip(labels, likely, strict=True)))
            for place, likely in zip(chosen, probabilities.tolist(), strict=True)
        ]

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

    def link_steps(self) -> Link:
        """Return the step to the first raw output."""
        if type(self).conclude is not RegressorModel.conclude:
            return super().link_steps()
        return (LinkStep("first"),)

    def results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return values (n_rows,), and no probabilities."""
        return self.conclude(outputs), None

    def conclude_rows(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> list[tuple[Any, dict[Any, float] | None]]:
        """Return the value, and no probabilities, for each row."""
        return [(value, None) for value in self.conclude(self.settle(outputs, looked)).tolist()]


def optional_fields(model_type: type[FittedModel]) -> dict[str, Any]:
    """Return the fields of a model that its files may lack, with what they are then."""
    return {
        each.name: each.default_factory() if callable(each.default_factory) else each.default
        for each in fields(model_type)
        if each.metadata.get("optional")
    }


def _at(given: NDArray[Any] | None, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """Return the entries of some rows; None stays None."""
    return None if given is None else given[rows]


def _is_unset(value: Any) -> bool:
    """Return whether an optional field has nothing to store."""
    return value is None or (isinstance(value, dict) and not value)
