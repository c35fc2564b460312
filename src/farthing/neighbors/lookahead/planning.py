"""Learning plans: the booster, the library of sets, and the losses of the training rows under these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.deadline import check_deadline
from farthing.learning.booster import TreeSettings
from farthing.learning.folds import Fold
from farthing.learning.losses import scores_to_probabilities
from farthing.neighbors.lookahead.model import MOST_ANSWERS, LookaheadModel
from farthing.neighbors.lookahead.set_library import SetLibrary
from farthing.neighbors.lookahead.subset_booster import SubsetBooster, label_losses, random_entries
from farthing.table.moments import moments
from farthing.trees import explained_shares
from farthing.typing import Flags, Floats

# Columns with at most so many values are told apart by each of them, others by quarters of the rows.
_FEW_VALUES: Final = MOST_ANSWERS - 1
_QUARTERS: Final = 4
# Copies of the rows that boosters learn from: until they have so many rows.
_COPIED_ROWS: Final = 12_000
_MOST_COPIES: Final = 48
# Columns that sets are made of, rounds without a lower loss, rows that choose the number of neighbours.
_MOST_COLUMNS: Final = 24
_PATIENCE: Final = 10
_JUDGES: Final = 400
_SIZES: Final = (15.0, 50.0)
# Squared distance of two different categories, that of their indicators; and the least variance.
_APART: Final = 2.0
_LEAST: Final = 1e-300


@dataclass(frozen=True, eq=False)
class PlanLearner:
    """Learn the parts of a `LookaheadModel`.

    Parameters
    ----------
    rows : TrainingSet
        The training rows, no two the same.
    few_folds, folds : list of Fold
        Every row is held out once: those of the boosters that search sets, and of the final one.
    settings : TreeSettings
        How trees are grown.
    tradeoff : float
        What a unit of price is worth, in units of loss.
    header : dict
        The fields that all models of the rows have.
    max_sets, max_size : int
        Of the library and its search.
    width : int or None
        As in `SetSearch`.
    random : RandomState
        Draws the entries that boosters are shown.
    """

    rows: TrainingSet
    few_folds: list[Fold]
    folds: list[Fold]
    settings: TreeSettings
    tradeoff: float
    header: dict[str, Any]
    max_sets: int
    max_size: int
    width: int | None
    random: np.random.RandomState

    @property
    def _shape(self) -> tuple[int, int]:
        n_rows, n_features = self.rows.values.shape
        return n_rows, n_features

    @cached_property
    def _n_copies(self) -> int:
        return max(3, min(_MOST_COPIES, _COPIED_ROWS // self._shape[0]))

    @cached_property
    def answers(self) -> NDArray[np.uint8]:
        """The values of the rows as a few answers per column, shape (n_rows, n_features)."""
        fine = self.rows.bins(_FEW_VALUES).codes()
        coarse = self.rows.bins(_QUARTERS).codes()
        answers = np.empty(self._shape, dtype=np.uint8)
        for column, kind in enumerate(self.rows.schema.columns):
            few = kind.is_categorical or len(np.unique(self.rows.values[:, column])) <= _FEW_VALUES
            answers[:, column] = np.minimum((fine if few else coarse)[column], MOST_ANSWERS - 1)
        return answers

    @cached_property
    def half(self) -> NDArray[np.uint8]:
        """A random half of the rows."""
        return np.asarray(self.random.permutation(self._shape[0]) % 2, dtype=np.uint8)

    @cached_property
    def scales(self) -> tuple[Floats, Floats]:
        """The weight of a squared difference of each column, and the distance to a missing value."""
        n_features = self._shape[1]
        scale, gap = np.ones(n_features), np.zeros(n_features)
        for column, kind in enumerate(self.rows.schema.columns):
            if kind.is_categorical:
                scale[column] = gap[column] = _APART
                continue
            values = np.array(self.rows.values[:, column], dtype=np.float64)
            values[~np.isfinite(values)] = np.nan
            variance = moments(values, self.rows.weights)[1]
            with np.errstate(over="ignore"):
                factor = 1.0 / variance if variance > _LEAST else 1.0
            scale[column] = factor if np.isfinite(factor) else 1.0
            gap[column] = 2.0
        return scale, gap

    def learn(self, n_neighbors: float | None) -> LookaheadModel:
        """Return the model; None chooses the number of neighbours."""
        n_rows, n_features = self._shape
        booster = self._grow(random_entries(n_rows, n_features, self._n_copies, self.random), self.few_folds)
        sets = self._library(booster)
        # The sets of first plans are what rows will know: a booster that has seen them often is surer there,
        # and a second search by it finds what random entries hid.
        shown = self._planned(booster, sets, self._n_copies)
        booster = self._grow([*self._random(0.3), *shown], self.few_folds)
        sets = self._library(booster)
        model = self._model(booster, sets, n_neighbors or _SIZES[0])
        walked = self._walked(model, booster, np.arange(n_rows))[1]
        shown = self._planned(booster, sets, self._n_copies // 2)
        shown += self._parts(walked, self._n_copies // 2)
        booster = self._grow([*self._random(0.2), *shown], self.folds)
        model = self._model(booster, sets, n_neighbors or _SIZES[0])
        if n_neighbors is not None:
            return model
        return self._best_size(model, booster, sets)

    def _grow(self, shown: list[Flags], folds: list[Fold]) -> SubsetBooster:
        check_deadline()
        return SubsetBooster.grow(self.rows, folds, shown, self.settings, _PATIENCE)

    def _random(self, share: float) -> list[Flags]:
        n_copies = max(1, round(share * self._n_copies))
        return random_entries(*self._shape, n_copies, self.random)

    def _library(self, booster: SubsetBooster) -> Flags:
        check_deadline()
        shares = explained_shares(booster.forest, booster.forest.node_values)
        columns = np.sort(np.argsort(-shares, kind="stable")[:_MOST_COLUMNS])
        columns = columns[shares[columns] > 0]
        library = SetLibrary(booster, self.answers, columns, self.tradeoff, self.width, self.max_size)
        return library.sets(self.max_sets)

    def _planned(self, booster: SubsetBooster, sets: Flags, n_copies: int) -> list[Flags]:
        """Return what rows know after plans of one question and a set, or on the way there.

        The set is the best of all rows with the same answer, so it says nothing of a row's own label.
        """
        n_rows, n_features = self._shape
        losses = booster.losses(np.arange(n_rows), sets)
        plans: list[tuple[float, int, NDArray[np.int64]]] = []
        for column in np.flatnonzero(sets.any(axis=0)).tolist():
            prices = self.tradeoff * self.rows.costs.total_rows(sets | (np.arange(n_features) == column))
            chosen, total = np.zeros(n_rows, dtype=np.int64), 0.0
            for answer in np.unique(self.answers[:, column]).tolist():
                inside = self.answers[:, column] == answer
                weights = self.rows.weights[inside]
                costs = np.average(losses[inside], axis=0, weights=weights) + prices
                chosen[inside] = np.argmin(costs)
                total += float(costs.min() * weights.sum())
            plans.append((total, column, chosen))
        plans.sort(key=lambda plan: plan[0])
        if not plans:
            return self._random(1.0)
        shown = []
        for copy in range(n_copies):
            # Two of three copies show the best plan, others the next two.
            _, column, chosen = plans[min(len(plans) - 1, 0 if copy % 3 < 2 else 1 + copy % 2)]
            flags = sets[chosen].copy()
            if copy % 2:
                flags &= self.random.uniform(size=flags.shape) < self.random.uniform(size=(n_rows, 1))
            flags[:, column] = True
            shown.append(flags)
        return shown

    def _parts(self, orders: Sequence[Sequence[int]], n_copies: int) -> list[Flags]:
        """Return what rows know at the end of a walk, and on the way there."""
        shown = []
        for copy in range(max(1, n_copies)):
            flags = np.zeros(self._shape, dtype=np.bool_)
            parts = self.random.uniform(size=len(orders)) if copy % 2 else np.ones(len(orders))
            for row, order in enumerate(orders):
                flags[row, list(order[: int(np.ceil(parts[row] * len(order)))])] = True
            shown.append(flags)
        return shown

    def _model(self, booster: SubsetBooster, sets: Flags, n_neighbors: float) -> LookaheadModel:
        scale, gap = self.scales
        return LookaheadModel(
            **self.header,
            booster=booster.forest,
            values=np.array(self.rows.values, dtype=np.float64, order="C"),
            answers=self.answers,
            weights=np.array(self.rows.weights),
            half=self.half,
            scale=scale,
            gap=gap,
            sets=sets,
            losses=booster.losses(np.arange(self._shape[0]), sets),
            n_neighbors=float(n_neighbors),
            tradeoff=self.tradeoff,
        )

    def _walked(
        self, model: LookaheadModel, booster: SubsetBooster, numbers: NDArray[np.int64]
    ) -> tuple[Floats, list[list[int]]]:
        """Walk training rows, each by boosters and neighbours without it; return values and orders."""
        check_deadline()
        values = np.asarray(self.rows.values, dtype=np.float64)[numbers]
        known, heard = np.full(values.shape, np.nan), np.zeros(values.shape, dtype=np.bool_)
        orders: list[list[int]] = [[] for _ in numbers]
        active = np.arange(len(numbers))
        every = np.ones(values.shape, dtype=np.bool_)
        while len(active):
            columns = model.next_columns(
                known[active],
                heard[active],
                heard[active],
                every[active],
                np.full(len(active), np.inf),
                skipped=numbers[active],
                scores=booster.held_out_scores(numbers[active], known[active]),
                n_threads=self.settings.n_threads,
            )
            active, columns = active[columns >= 0], columns[columns >= 0]
            known[active, columns] = values[active, columns]
            heard[active, columns] = True
            for row, column in zip(active.tolist(), columns.tolist(), strict=True):
                orders[row].append(column)
        return known, orders

    def _best_size(self, model: LookaheadModel, booster: SubsetBooster, sets: Flags) -> LookaheadModel:
        """Return the model with the number of neighbours of the least total cost on training rows."""
        n_rows = self._shape[0]
        numbers = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _JUDGES)).astype(np.int64))
        best, least = model, np.inf
        for size in _SIZES:
            tried = self._model(booster, sets, size) if size != model.n_neighbors else model
            known, orders = self._walked(tried, booster, numbers)
            bought = self._parts(orders, 1)[0] if len(orders) == n_rows else _flags(orders, self._shape[1])
            scores = booster.held_out_scores(numbers, known)
            losses = label_losses(self.rows, numbers, scores_to_probabilities(scores, self.rows.n_classes))
            totals = losses + self.tradeoff * self.rows.costs.total_rows(bought)
            total = float(np.average(totals, weights=self.rows.weights[numbers]))
            if total < least:
                best, least = tried, total
        return best


def _flags(orders: Sequence[Sequence[int]], n_features: int) -> Flags:
    flags = np.zeros((len(orders), n_features), dtype=np.bool_)
    for row, order in enumerate(orders):
        flags[row, list(order)] = True
    return flags
