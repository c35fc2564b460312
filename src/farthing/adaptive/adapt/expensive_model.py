"""The expensive model after the gate: a Farthing classifier or one of scikit-learn, behind one protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, ContractClassifier, TreeModel
from farthing.costs import CostSheet, RowLedger
from farthing.learning.affordable import affordable
from farthing.learning.sklearn_model import SklearnModel
from farthing.trees import Progress
from farthing.typing import Floats
from farthing.walks import Policy, pass_refusal

ExpensiveModel: TypeAlias = ContractClassifier | SklearnModel


class ExpensivePolicy(Protocol):
    """The part of a walk after the gate, for one row."""

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column needed next, or None at the end."""
        ...

    def hear(self, column: int, value: float) -> None:
        """Take the answer for the column just wanted."""
        ...

    def can_pay(self, ledger: RowLedger, call: int) -> bool:
        """Return whether a row can pay for a call of the model."""
        ...

    def output(self) -> Floats | None:
        """Return the probabilities of the model's classes; None if it has not finished."""
        ...


class Answering(Protocol):
    """The interface that an Adapt model needs from its expensive model."""

    @property
    def classes(self) -> NDArray[Any]:
        """The labels that the model knows."""
        ...

    @property
    def calls(self) -> dict[str, float]:
        """What the model pays for beside columns, with the prices."""
        ...

    def outputs(
        self, values: NDArray[np.floating], seeds: NDArray[np.int64] | None = None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return probabilities of the model's classes, and what each row acquires, as if without a gate."""
        ...

    def acquires(self, values: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return what each row acquires, as if without a gate: columns and then calls."""
        ...

    def outputs_within(
        self,
        values: NDArray[np.floating],
        costs: CostSheet,
        budget: Floats,
        acquired: NDArray[np.bool_],
        refused: NDArray[np.bool_],
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Answer rows that own something, were refused something, and have a budget each.

        What they own includes the call of the model, if it has a price, although some cannot pay for it.

        Returns
        -------
        probabilities : ndarray of float64, shape (n_rows, n_classes)
        acquired : ndarray of bool, shape (n_rows, n_features)
            What the rows own in the end.
        answered : ndarray of bool, shape (n_rows,)
            Whether the row could pay for the model; probabilities of other rows are not valid.

        None if the rows have to be walked one by one.
        """
        ...

    def policy(self, n_features: int, seed: int | None, first_call: int) -> ExpensivePolicy:
        """Return a fresh policy for one row, in whose ledger the model's calls begin at a place."""
        ...


@dataclass(frozen=True, eq=False)
class FarthingAnswers:
    """A fitted Farthing classifier as an expensive model; it keeps its own budget, if it has one."""

    estimator: ContractClassifier

    @property
    def fitted(self) -> ClassifierModel:
        """The fitted model of the classifier."""
        return self.estimator.fitted_

    @property
    def classes(self) -> NDArray[Any]:
        """The labels that the model knows."""
        return self.fitted.classes

    @property
    def calls(self) -> dict[str, float]:
        """What the model pays for beside columns, with the prices."""
        return self.fitted.costs.call_prices()

    def outputs(
        self, values: NDArray[np.floating], seeds: NDArray[np.int64] | None = None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return probabilities of the model's classes, and what each row acquires, as if without a gate."""
        model = self.fitted
        caps = None if model.budget is None else np.full(len(values), model.budget)
        outputs, acquired = model.outputs(
            values, budget=caps, seeds=seeds, n_threads=self.estimator.n_threads()
        )
        return model.conclude(model.settle(outputs, acquired)), acquired

    def acquires(self, values: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return what each row acquires, as if without a gate, shape (n_rows, n_features)."""
        return self.outputs(values)[1]

    def outputs_within(
        self,
        values: NDArray[np.floating],
        costs: CostSheet,
        budget: Floats,
        acquired: NDArray[np.bool_],
        refused: NDArray[np.bool_],
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Answer rows in the compiled core if the model is one sum over trees; see `Answering`."""
        model = self.fitted
        # The core keeps one budget per row, and this row has spent part of it already. A model with a budget
        # of its own would need a second one, so its rows are walked, as are those of models that are not one
        # sum of trees.
        if not isinstance(model, TreeModel) or not model.is_one_sum or model.budget is not None:
            return None
        if not model.passes_all_trees or type(model).outputs is not TreeModel.outputs:
            return None
        answered = affordable(costs, acquired, budget)
        progress = Progress(values, model.forest.n_outputs, costs, budget=budget)
        progress.touched[:] = _pack(acquired)
        progress.refused[:] = _pack(np.pad(refused, ((0, 0), (0, len(costs.calls)))))
        model.predictor.advance(progress, 0, model.forest.n_trees, np.flatnonzero(answered))
        # One truth: a walk counts a column as used once it is asked for, even if the row is then refused it.
        # `settle` must see the same here, so a row counts as having looked if the trees test anything.
        asks = np.full((len(values), 1), bool((model.forest.feature >= 0).any()))
        probabilities = model.conclude(model.settle(progress.outputs, asks))
        return probabilities, progress.acquired, answered

    def policy(self, n_features: int, seed: int | None, first_call: int) -> ExpensivePolicy:
        """Return a fresh policy for one row, in whose ledger the model's calls begin at a place."""
        return _FarthingPolicy(self.fitted, seed, first_call)


def answering(model: ExpensiveModel) -> Answering:
    """Return an expensive model of either kind behind the protocol that Adapt models use."""
    return model if isinstance(model, SklearnModel) else FarthingAnswers(model)


class _FarthingPolicy:
    """A Farthing model after the gate; it walks as it would alone, within its own budget if it has one."""

    def __init__(self, model: ClassifierModel, seed: int | None, first_call: int) -> None:
        self._model = model
        # From a place in the ledger of the row to that in the model's own account.
        self._shift = first_call - model.costs.n_columns
        self._n_columns = model.costs.n_columns
        self._policy: Policy = model.policy(seed)
        # Its own account: what it would have bought without a gate before it.
        self._account = RowLedger(model.costs, model.budget)
        self._ended = False

    def wants(self, ledger: RowLedger) -> int | None:  # it goes by its own account
        while (column := self._policy.wants(self._account)) is not None:
            if self._account.affords(column):
                return column if column < self._n_columns else column + self._shift
            self._policy.hear(column, np.nan)
        self._ended = True
        return None

    def can_pay(self, ledger: RowLedger, call: int) -> bool:
        return ledger.affords(call)

    def hear(self, column: int, value: float) -> None:
        if column >= self._n_columns:
            column -= self._shift
            if np.isnan(value):  # not made
                self._policy.hear(column, value)
                return
        # Charged here even if the row owns the column already: this budget is that of the model without a
        # gate. What the row really pays is computed from the union of all that it acquired.
        self._account.buy(column)
        self._policy.hear(column, value)

    def refuse(self, column: int) -> None:
        self._account.buy(column)
        pass_refusal(self._policy, column)

    def output(self) -> Floats | None:
        if not self._ended:
            return None
        outputs = self._policy.output()[np.newaxis]
        settled = self._model.settle(outputs, self._account.bought[np.newaxis])
        return np.asarray(self._model.conclude(settled)[0])


def _pack(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack sets of features into words of 64; the inverse of `farthing.trees.progress.unpack`."""
    n_words = -(-flags.shape[1] // 64)
    # Bit i of word w is feature 64 w + i on any machine, hence little-endian bits and words.
    octets = np.zeros((len(flags), 8 * n_words), dtype=np.uint8)
    packed = np.packbits(flags, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64)
