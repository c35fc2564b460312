"""What the methods of this package share: features bought one by one, a vote, and how sure it is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from farthing._core import KeptRows, LocalRegression, LocalRows, Neighborhood
from farthing.base import n_threads
from farthing.costs import RowLedger
from farthing.learning.voting.link import VoteLink
from farthing.neighbors.acquisition.by_column import Floats
from farthing.table import Encoded
from farthing.table.bins import plain
from farthing.trees.progress import unpack
from farthing.walks import Policy

Rows: TypeAlias = KeptRows | LocalRows

TEXTS: Final = {
    "confidence": """confidence : float
        A row ends once its vote is held to be right with a probability above this; at 1 it never is, and buys
        as long as there are features and money.""",
    "budget": """budget : float, optional
        Hard: no row spends more. A feature that a row cannot pay for is left aside. None is no limit.""",
    "costs": """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    n_jobs : int, optional
        Threads over the rows to predict, as in joblib; any number gives the same bits.""",
}

# Training rows laid out for the core, by model; beside the models, so that predicting changes no attribute.
_READY: WeakKeyDictionary[AcquiringClassifier, tuple[tuple[Any, ...], Rows]] = WeakKeyDictionary()


class AcquiringClassifier(VoteLink):
    """A classifier of two classes that compares a row with the training rows after each purchase.

    The raw output has two columns: the vote, positive for ``classes_[1]``, and the probability that it is
    right, as the training rows have it.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "tradeoff_": float,
        "confidence_": float,
        "seed_": int | NoneType,
    }
    _hard_budget = True
    _tradeoff = "tradeoff"

    confidence: float
    tradeoff_: float
    confidence_: float
    seed_: int | None

    def estimated_accuracy(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Floats:
        """Say how likely each prediction is right, by the training rows; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            For a row that bought nothing, the share of the more frequent class.
        """
        return self._raw(X, budget, seeds)[0][:, 1]

    # What a method fills in.

    @abstractmethod
    def _learned(self) -> tuple[Any, ...]:
        """Return all that `_compile` reads; while these are equal, what was compiled is good."""

    @abstractmethod
    def _compile(self) -> Rows:
        """Lay the training rows out for the core."""

    @abstractmethod
    def _inputs(self, values: NDArray[np.floating]) -> tuple[NDArray[np.floating], Floats]:
        """Return an encoded table as the core reads it, and what each entry adds to the vote."""

    @abstractmethod
    def _input(self, column: int, value: float) -> tuple[float, float]:
        """Return one value as the core reads it, and what it adds to the vote; the bits of `_inputs`."""

    # How it is done.

    def _default_prior(self, target: NDArray[Any], weights: Floats) -> Floats:
        up = float(weights[target == 1].sum() / weights.sum())
        return np.append(super()._default_prior(target, weights), max(up, 1 - up))

    def _set_terms(self) -> None:
        """Check and keep the parameters that all methods have."""
        tradeoff = getattr(self, "tradeoff", 0.0)
        for name, given, most in (("tradeoff", tradeoff, np.inf), ("confidence", self.confidence, 1.0)):
            if isinstance(given, bool) or not isinstance(given, int | float | np.number):
                raise ValueError(f"{name} must be a number; got {given!r}")  # noqa: TRY004 - as for its bounds
            if not 0 <= given <= most or given == np.inf:
                expected = "zero or more" if most == np.inf else "between 0 and 1"
                raise ValueError(f"{name} must be {expected}; got {given!r}")
        self.tradeoff_, self.confidence_, self.seed_ = float(tradeoff), float(self.confidence), None

    def _ready(self) -> Rows:
        learned = (*self._learned(), self.tradeoff_, self.confidence_)
        found = _READY.get(self)
        if found is None or found[0] != learned:
            found = _READY[self] = learned, self._compile()
        return found[1]

    def _policy(self, seed: int | None) -> Policy:
        own = self.seed_ or 0
        return AcquiringPolicy(self._ready(), self._input, own if seed is None else seed)

    def _answers(
        self, encoded: Encoded, budget: Floats | None, seeds: NDArray[np.int64] | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        read, votes = self._inputs(encoded.values)
        own = np.full(len(read), self.seed_ or 0, dtype=np.int64) if seeds is None else seeds
        outputs, words = self._ready().predict(
            plain(read),
            votes,
            budgets=budget,
            seeds=own,
            own=self.costs_.own,
            shared=self.costs_.shared,
            group_of=self.costs_.group_of,
            n_threads=n_threads(getattr(self, "n_jobs", None)),
        )
        return outputs, unpack(words, read.shape[1])

    def _check_stored(self) -> None:
        super()._check_stored()
        n_threads(getattr(self, "n_jobs", None))
        if not 0 <= self.tradeoff_ < np.inf or not 0 <= self.confidence_ <= 1:
            raise ValueError(f"tradeoff_ is {self.tradeoff_}, confidence_ is {self.confidence_}")
        if self.seed_ is not None and not 0 <= self.seed_ < 2**63:
            raise ValueError(f"seed_ must lie between 0 and 2**63 - 1; got {self.seed_}")
        if len(self.prior_) != 2 or not 1 <= len(self.classes_) <= 2:
            raise ValueError("a vote is between two classes, and its prior has two entries")
        self._ready()  # raises if the rows do not fit together


class AcquiringPolicy:
    """Walk one row: the compiled method of its model, fed by the ledger's prices."""

    def __init__(self, rows: Rows, read: Callable[[int, float], tuple[float, float]], seed: int) -> None:
        self._row = begin(rows, seed)
        self._read = read

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the feature of the largest gain less its weighed price, None at the end."""
        columns = range(len(ledger.sheet.features))
        prices = np.array([ledger.price(column) for column in columns])
        affordable = np.array([ledger.affords(column) for column in columns], dtype=np.uint8)
        found = int(self._row.next(prices, affordable))
        return None if found < 0 else found

    def hear(self, column: int, value: float) -> None:
        """Take a value."""
        self._row.hear(column, *self._read(column, value))

    def output(self) -> Floats:
        """Return the vote and the probability that it is right, shape (2,)."""
        return np.asarray(self._row.output())


def begin(rows: Rows, seed: int) -> Neighborhood | LocalRegression:
    """Return the compiled method for one row, which has heard nothing."""
    return Neighborhood(rows, seed) if isinstance(rows, KeptRows) else LocalRegression(rows, seed)
