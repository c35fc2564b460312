"""Fitted models as immutable values: the interface that estimators, wrappers, files and walks rely on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing._core import SplitJudge
from farthing.base.batch_outputs import BatchOutputs
from farthing.base.guarantee import Certificate
from farthing.base.model_fields import OPTIONAL, ModelFields
from farthing.costs import CostSheet
from farthing.errors import ExportError
from farthing.table import Schema
from farthing.trees import Forest, typical_values
from farthing.walks import Policy, Stand, Walk
from farthing.walks.plans import Link, Plan


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedModel(ModelFields, BatchOutputs):
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

    #: Whether the price list may have calls, which predictions pay for beside columns.
    makes_calls: ClassVar[bool] = True

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
        if self.costs.calls and not self.makes_calls:
            raise ValueError(f"a {type(self).__name__} makes no calls; the cost sheet has {self.costs.calls}")

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

    def label_shares(self, stands: Sequence[Stand]) -> NDArray[np.float64] | None:
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

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return encoded values of a column, each equally likely, for panels; by default those of its trees.

        Empty if the model knows none.
        """
        forest = getattr(self, "forest", None)
        return typical_values(forest, column) if isinstance(forest, Forest) else ()
