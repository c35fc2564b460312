"""Fitted models that compare a row with the training rows after each purchase."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import KeptRows, LocalRegression, LocalRows, Neighborhood
from farthing.base import TrainingSet
from farthing.costs import RowLedger
from farthing.learning.voting import VoteModel
from farthing.table.bins import plain
from farthing.trees.progress import unpack
from farthing.typing import Floats

CompiledRows: TypeAlias = KeptRows | LocalRows


@dataclass(frozen=True, eq=False, kw_only=True)
class AcquisitionModel(VoteModel):
    """A binary classification model that buys features one by one.

    The raw output has two columns: the vote, positive for ``classes[1]``, and the probability that it is
    right, estimated on the training rows.

    Parameters
    ----------
    tradeoff : float
        The weight of a unit of price against the gain.
    confidence : float
        A row stops once the estimated probability that its vote is right exceeds this.
    seed : int or None
        The model's own seed; None if it is not stochastic.
    """

    tradeoff: float
    confidence: float
    seed: int | None = None

    # What each method implements.

    @abstractmethod
    def compile(self) -> CompiledRows:
        """Lay out the training rows for the compiled core; ValueError if they are inconsistent."""

    @abstractmethod
    def inputs(self, values: NDArray[np.floating]) -> tuple[NDArray[np.floating], Floats]:
        """Return the input of the core for an encoded table, and the margin of each entry."""

    @abstractmethod
    def input(self, column: int, value: float) -> tuple[float, float]:
        """Return the input of the core for one value, and its margin; bitwise as in `inputs`."""

    def refused_input(self, column: int) -> tuple[float, float]:
        """Return the input of the core for a refused feature, and its margin; by default as if missing."""
        return self.input(column, np.nan)

    # What all methods share.

    @cached_property
    def compiled(self) -> CompiledRows:
        """The training rows in the compiled core."""
        return self.compile()

    no_plan: ClassVar[str] = "it compares a row with the training rows"

    def policy(self, seed: int | None = None) -> AcquisitionPolicy:
        """Return the policy of one row."""
        own = self.seed or 0
        return AcquisitionPolicy(self, own if seed is None else seed)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: Floats | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Predict many rows in the compiled core; see `FittedModel.outputs`."""
        table, votes = self.inputs(values)
        outputs, words = self.compiled.predict(
            plain(table),
            votes,
            budgets=budget,
            seeds=np.full(len(table), self.seed or 0, dtype=np.int64) if seeds is None else seeds,
            own=self.costs.own,
            shared=self.costs.shared,
            group_of=self.costs.group_of,
            n_threads=n_threads,
        )
        return outputs, unpack(words, table.shape[1])

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        if not 0 <= self.tradeoff < np.inf or not 0 <= self.confidence <= 1:
            raise ValueError(f"tradeoff is {self.tradeoff}, confidence is {self.confidence}")
        if self.seed is not None and not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must lie between 0 and 2**63 - 1; got {self.seed}")
        if len(self.prior) != 2 or not 1 <= len(self.classes) <= 2:
            raise ValueError("a vote is between two classes, and its prior has two entries")
        _ = self.compiled  # raises if the training rows do not fit together


class AcquisitionPolicy:
    """The policy of one row: the compiled method, given the prices of the row's ledger.

    Parameters
    ----------
    model : AcquisitionModel
        The fitted model.
    seed : int
        The seed; used by stochastic models only.
    """

    def __init__(self, model: AcquisitionModel, seed: int) -> None:
        rows = model.compiled
        self._row = Neighborhood(rows, seed) if isinstance(rows, KeptRows) else LocalRegression(rows, seed)
        self._model = model

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the feature with the largest gain minus weighted price; None at the end."""
        columns = range(len(ledger.sheet.features))
        # Unpaid prices, renewed after each purchase: the first feature of a group makes the others cheaper.
        prices = np.array([ledger.price(column) for column in columns])
        # As in the array calls, the core skips features that the row cannot afford.
        affordable = np.array([ledger.affords(column) for column in columns], dtype=np.uint8)
        found = int(self._row.next(prices, affordable))
        return None if found < 0 else found

    def hear(self, column: int, value: float) -> None:
        """Take the value of the requested feature."""
        self._row.hear(column, *self._model.input(column, value))

    def refuse(self, column: int) -> None:
        """Go on without the requested feature."""
        self._row.hear(column, *self._model.refused_input(column))

    def output(self) -> Floats:
        """Return the vote and the probability that it is right, shape (2,)."""
        return np.asarray(self._row.output())


def positive_share(rows: TrainingSet) -> float:
    """Return the weighted share of ``classes[1]``."""
    return float(rows.weights[rows.target == 1].sum() / rows.weights.sum())


def signs_of(rows: TrainingSet) -> Floats:
    """Return the labels as -1 and 1, shape (n_rows,)."""
    return np.where(rows.target == 1, 1.0, -1.0)
