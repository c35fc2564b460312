"""A fitted policy that plans by sets of columns, and how a row walks it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from farthing._core import PlanRows
from farthing.base.priced_errors import PricedErrorsModel
from farthing.costs import RowLedger, spending_limit
from farthing.learning.losses import scores_to_probabilities
from farthing.trees import Forest, Predictor
from farthing.typing import Flags, Floats

#: Weight of all neighbours in the choice of a set for those of one answer.
SHRINKAGE: Final = 4.0
# Most answers of a column that plans tell apart.
MOST_ANSWERS: Final = 13


@dataclass(frozen=True, eq=False, kw_only=True)
class LookaheadModel(PricedErrorsModel):
    """A booster for every set of columns, and the training rows that plans are made on.

    Parameters
    ----------
    booster : Forest
        Log-odds of the second of two classes, or a score per class; hidden columns count as missing.
    values : ndarray of float64, shape (n_kept, n_features)
        The training rows, NaN where missing; codes of categories.
    answers : ndarray of uint8, shape (n_kept, n_features)
        Their values, as a few answers per column.
    weights : ndarray of float64, shape (n_kept,)
        Their weights.
    half : ndarray of uint8, shape (n_kept,)
        0 or 1: sets are chosen by rows of one half and judged by those of the other.
    scale, gap : ndarray of float64, shape (n_features,)
        The weight of a squared difference, and the squared distance to a row without a value.
    sets : ndarray of bool, shape (n_sets, n_features)
        The sets that plans choose from.
    losses : ndarray of float32, shape (n_kept, n_sets)
        What each row is expected to lose if it knows a set, by boosters that have not seen the row.
    n_neighbors : float
        The least weight of a neighbourhood.
    tradeoff : float
        What a unit of price is worth, in units of loss.
    """

    booster: Forest
    values: Floats
    answers: NDArray[np.uint8]
    weights: Floats
    half: NDArray[np.uint8]
    scale: Floats
    gap: Floats
    sets: Flags
    losses: NDArray[np.float32]
    n_neighbors: float
    tradeoff: float

    no_plan: ClassVar[str] = (
        "it compares a row with the training rows; export the tree that `distill` returns"
    )

    @cached_property
    def predictor(self) -> Predictor:
        """The booster, compiled."""
        return Predictor(self.booster)

    @cached_property
    def compiled(self) -> PlanRows:
        """The training rows in the compiled core."""
        categorical = [column.is_categorical for column in self.schema.columns]
        return PlanRows(
            values=np.ascontiguousarray(self.values.T),
            codes=np.ascontiguousarray(self.answers),
            scale=self.scale,
            gap=self.gap,
            categorical=np.array(categorical, dtype=np.uint8),
            weights=self.weights,
            half=self.half,
            losses=np.ascontiguousarray(self.losses),
            members=self.sets.astype(np.uint8),
            own=self.costs.own,
            shared=self.costs.shared,
            group_of=self.costs.group_of,
            n_neighbors=self.n_neighbors,
            tradeoff=self.tradeoff,
            shrinkage=SHRINKAGE,
        )

    def may_buy(self) -> Flags:
        """Return the columns of some set, shape (n_features,)."""
        return np.asarray(self.sets.any(axis=0))

    def conclude(self, outputs: Floats) -> Floats:
        """Return the booster's probabilities, shape (n_rows, n_classes)."""
        return scores_to_probabilities(outputs, len(self.classes))

    def policy(self, seed: int | None = None) -> LookaheadPolicy:  # not stochastic
        """Return the policy of one row."""
        return LookaheadPolicy(self)

    def next_columns(
        self,
        known: Floats,
        heard: Flags,
        owned: Flags,
        affordable: Flags,
        left: Floats,
        *,
        skipped: NDArray[np.int64] | None = None,
        scores: Floats | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.int64]:
        """Return the column that each row buys next, -1 if it stops.

        Parameters
        ----------
        known : ndarray of float64, shape (n_rows, n_features)
            The answers so far; NaN where there is none, or it is missing.
        heard : ndarray of bool, shape (n_rows, n_features)
            Whether a column was answered, or refused.
        owned, affordable : ndarray of bool, shape (n_rows, n_features)
            What costs nothing any more, and what the row can pay for.
        left : ndarray of float64, shape (n_rows,)
            What is left of the budget.
        skipped : ndarray of int64, shape (n_rows,), optional
            A training row that is no neighbour of the row.
        scores : ndarray of float64, shape (n_rows, n_outputs), optional
            What is believed of the rows; by default the outputs of the booster.
        n_threads : int
            Threads to use; any number gives the same bits.
        """
        if scores is None:
            scores = self.predictor.predict(known, n_threads=n_threads)[0]
        columns, costs, stops = self.compiled.choose(
            np.ascontiguousarray(known, dtype=np.float64),
            _bytes(heard),
            _bytes(owned),
            _bytes(affordable & self.may_buy()),
            left,
            skipped,
            n_threads=n_threads,
        )
        # Stopping is judged as going on is, by the losses of neighbours, unless the booster is surer.
        stop = np.minimum(self.risks(self.conclude(scores)), stops)
        return np.where(costs < stop, columns, -1)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: Floats | None = None,
        seeds: NDArray[np.int64] | None = None,  # not stochastic
        n_threads: int = 1,
    ) -> tuple[Floats, Flags]:
        """Predict many rows, all of them a question at a time; see `FittedModel.outputs`."""
        known, acquired = self.acquire(values, budget=budget, n_threads=n_threads)
        return self.predictor.predict(known, n_threads=n_threads)[0], acquired

    def acquire(
        self, values: NDArray[np.floating], *, budget: Floats | None = None, n_threads: int = 1
    ) -> tuple[Floats, Flags]:
        """Return the values that rows buy, NaN elsewhere, and which these are; both (n_rows, n_features)."""
        known = np.full(values.shape, np.nan)
        acquired = np.zeros(values.shape, dtype=np.bool_)
        limit = np.full(len(values), np.inf) if budget is None else spending_limit(budget)
        rows = np.arange(len(values))
        while len(rows):
            affordable, left = self.affordable(acquired[rows], limit[rows])
            columns = self.next_columns(
                known[rows], acquired[rows], acquired[rows], affordable, left, n_threads=n_threads
            )
            rows, columns = rows[columns >= 0], columns[columns >= 0]
            known[rows, columns] = values[rows, columns]
            acquired[rows, columns] = True
        return known, acquired

    def affordable(self, acquired: Flags, limit: Floats) -> tuple[Flags, Floats]:
        """Return which columns each row can buy, and what is left of its limit, as in `RowLedger`.

        Parameters
        ----------
        acquired : ndarray of bool, shape (n_rows, n_features)
            What each row has bought.
        limit : ndarray of float64, shape (n_rows,)
            The budget with its slack, see `spending_limit`; infinite without a budget.
        """
        spent = self.costs.total_rows(acquired)
        affordable = np.ones(acquired.shape, dtype=np.bool_)
        if np.isfinite(limit).any():
            for column in np.flatnonzero(self.may_buy()).tolist():
                more = acquired.copy()
                more[:, column] = True
                affordable[:, column] = self.costs.total_rows(more) <= limit
        return affordable, limit - spent

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        n_features, n_kept, n_sets = len(self.schema.names), len(self.values), len(self.sets)
        n_outputs = 1 if len(self.classes) == 2 else len(self.classes)
        if len(self.prior) != n_outputs or self.booster.n_outputs != n_outputs:
            raise ValueError(f"{len(self.classes)} classes need {n_outputs} outputs")
        if self.booster.n_features != n_features:
            raise ValueError(f"the booster must have the {n_features} features of the table")
        for name, dtype, shape in (
            ("values", np.float64, (n_kept, n_features)),
            ("answers", np.uint8, (n_kept, n_features)),
            ("weights", np.float64, (n_kept,)),
            ("half", np.uint8, (n_kept,)),
            ("scale", np.float64, (n_features,)),
            ("gap", np.float64, (n_features,)),
            ("sets", np.bool_, (n_sets, n_features)),
            ("losses", np.float32, (n_kept, n_sets)),
        ):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} must be an array of {np.dtype(dtype)} of shape {shape}")
        if not n_kept or not n_sets or self.answers.max() >= MOST_ANSWERS:
            raise ValueError(f"there must be rows, sets, and answers below {MOST_ANSWERS}")
        for name in ("weights", "scale", "gap", "losses"):
            array = getattr(self, name)
            if not np.isfinite(array).all() or (array < 0).any():
                raise ValueError(f"{name} must be finite and not negative")
        if not 0 < self.n_neighbors < np.inf or not 0 <= self.tradeoff < np.inf:
            raise ValueError(f"n_neighbors is {self.n_neighbors}, tradeoff is {self.tradeoff}")
        _ = self.compiled  # raises if weights are zero, or halves are not 0 or 1


class LookaheadPolicy:
    """One row on its way: asks for the column of the best plan, until none pays."""

    def __init__(self, model: LookaheadModel) -> None:
        n_features = len(model.schema.names)
        self._model = model
        self._known = np.full((1, n_features), np.nan)
        self._heard = np.zeros((1, n_features), dtype=np.bool_)

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column; None if no plan pays."""
        n_features = self._known.shape[1]
        affordable = np.array([[ledger.affords(column) for column in range(n_features)]])
        left = np.array([ledger.limit - ledger.spent])
        owned = np.array(ledger.owned[:n_features], dtype=np.bool_)[np.newaxis]
        found = int(self._model.next_columns(self._known, self._heard, owned, affordable, left)[0])
        return None if found < 0 else found

    def hear(self, column: int, value: float) -> None:
        """Take the answer; what is missing or refused is not asked again, nor any set that has it."""
        self._heard[0, column] = True
        self._known[0, column] = value

    def output(self) -> Floats:
        """Return the booster's output for the answers so far, shape (n_outputs,)."""
        return np.asarray(self._model.predictor.predict(self._known)[0][0])


def _bytes(flags: Flags) -> NDArray[np.uint8]:
    return np.ascontiguousarray(flags, dtype=np.uint8)
