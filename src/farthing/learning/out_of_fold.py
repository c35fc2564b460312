"""Boosters with out-of-fold scores, grown on many sets of columns of one binned table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.collective import count, mean, total
from farthing.costs import CostSheet
from farthing.learning.booster import Boosting, Grow, TreeSettings, Weighting, constants
from farthing.learning.core_boosting import CoreBoosting
from farthing.learning.folds import Fold
from farthing.learning.losses import Loss
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown
from farthing.typing import Floats

Columns: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OutOfFoldBooster:
    """A booster, and scores of held-out rows by boosters with the same settings that have not seen them.

    Attributes
    ----------
    forest : Forest
        One tree of one node for each output, or one for all, then the rounds; of the mean of several
        boosters, those of one after another.
    held_out : ndarray of float64, shape (n_outputs, n_rows)
        Scores of the held-out rows; meaningless for other rows.
    n_rounds : int
        Number of rounds with the least loss on the held-out rows.
    """

    forest: Forest
    held_out: Floats
    n_rounds: int


@dataclass
class Holdings:
    """The features bought so far, and those that may be bought.

    Attributes
    ----------
    owned : ndarray of uint8, shape (n_features,)
        1 for owned features.
    cap : float or None
        Budget of all owned features together.
    columns : ndarray of int64
        Columns that may be bought, or are owned, ascending.
    """

    owned: NDArray[np.uint8]
    cap: float | None
    columns: Columns


@dataclass(frozen=True, eq=False)
class OutOfFoldTrainer:
    """Grow boosters on sets of columns of one table, which is binned once.

    ``dataclasses.replace`` gives a trainer with other folds, settings or rows.

    Parameters
    ----------
    rows : TrainingSet
        All rows, held out or not, with their weights and the prices.
    loss : Loss
        The loss to minimise.
    folds : sequence of Fold
        Which rows are learned from and which held out; several folds hold out every row once.
    final : ndarray of int64, shape (n_final,)
        The rows that the final boosters are grown on, ascending.
    settings : TreeSettings
        How trees are grown.
    max_bins : int
        Maximum number of bins per column.
    n_iter_no_change : int or None
        Stop a booster after this many rounds without a lower loss on the held-out rows; None runs all.
    ensemble : bool
        Whether the final booster is the mean of those of the folds, in place of one on the final rows.

    Examples
    --------
    >>> from farthing.learning.folds import folds_of
    >>> from farthing.learning.losses import SQUARED
    >>> rows = TrainingSet.of(np.arange(100.0)[:, np.newaxis], np.repeat([0.0, 1.0], 50))
    >>> folds = folds_of(rows.values, rows.target, 2, np.random.RandomState(0))
    >>> settings = TreeSettings(n_estimators=5, learning_rate=1.0, max_depth=1)
    >>> trainer = OutOfFoldTrainer(rows, SQUARED, folds=folds, final=np.arange(100), settings=settings)
    >>> booster = trainer.booster(np.array([0]))
    >>> booster.held_out[0, [0, 99]]
    array([0., 1.])
    """

    rows: TrainingSet
    loss: Loss
    folds: Sequence[Fold]
    final: NDArray[np.int64]
    settings: TreeSettings
    max_bins: int = 255
    n_iter_no_change: int | None = None
    ensemble: bool = False
    _made: list[CoreBoosting] = field(default_factory=list, init=False, repr=False)

    @property
    def costs(self) -> CostSheet:
        """The prices, in the order of the columns."""
        return self.rows.costs

    @property
    def bins(self) -> Bins:
        """The binned table, shared by all trainers of the same table."""
        return self.rows.bins(self.max_bins, self.settings.n_threads)

    @cached_property
    def held_out(self) -> NDArray[np.int64]:
        """The rows held out by some fold, ascending."""
        return np.sort(np.concatenate([fold.held_out for fold in self.folds]))

    @cached_property
    def learned(self) -> NDArray[np.int64]:
        """The rows that some fold learns from, ascending: those that choose what to buy."""
        return np.unique(np.concatenate([fold.learn for fold in self.folds]))

    @property
    def core(self) -> CoreBoosting | None:
        """The same rows in the compiled core, which grows the same boosters; None if it does not know how.

        It does not know a loss of one's own.
        """
        # Not a cached_property, whose lock is one for all trainers: peers of two fits would wait for each
        # other within it.
        if self.loss.core is not None and not self._made:
            self._made.append(CoreBoosting(self))
        return self._made[0] if self._made else None

    def start(self, learn: NDArray[np.int64]) -> Floats:
        """Return the best constant scores for some rows, shape (n_outputs,)."""
        return self.loss.start(self.rows.target[learn], self.rows.weights[learn])

    def min_hessian(self, learn: NDArray[np.int64]) -> float:
        """Return the least sum of hessians in a leaf of trees grown on some rows."""
        weighting = Weighting.of(self.rows.weights)
        return self.settings.min_hessian(total(self.rows.weights[learn]) / weighting.unit)

    # One tree at a time.

    def grower(self, tradeoff: float) -> Grower:
        """Return a grower whose model ledger charges for what is not owned."""
        return self.settings.make_grower(self.bins, self.costs, tradeoff=tradeoff)

    def boosting(self, learn: NDArray[np.int64]) -> Boosting:
        """Return an ensemble without trees that starts from the best constant for some rows.

        It has scores of all rows, so held-out rows can be tracked from round to round.
        """
        rows, start = self.rows, self.start(learn)
        return Boosting(
            self.loss,
            rows.target,
            Weighting.of(rows.weights),
            np.repeat(start[:, np.newaxis], len(rows), axis=1),
            self.settings.learning_rate,
            multi_output=self.settings.multi_output,
        )

    def grow(self, learn: NDArray[np.int64], columns: Columns) -> Grow:
        """Return a function that grows a tree on some rows and columns, all columns free."""
        return self._grow(self._free_grower, learn, columns=columns)

    def buy(self, grower: Grower, learn: NDArray[np.int64], holdings: Holdings) -> Grow:
        """Return a function that grows a tree which may buy columns, and adds them to the holdings."""

        def grow(gradients: Floats, hessians: Floats | None, number: int, step: float) -> Grown:
            buys = self._grow(
                grower, learn, owned=holdings.owned, columns=holdings.columns, budget=holdings.cap
            )
            grown = buys(gradients, hessians, number, step)
            holdings.owned = grown.owned
            return grown

        return grow

    @cached_property
    def _free_grower(self) -> Grower:
        return self.grower(0.0)

    def _grow(self, grower: Grower, learn: NDArray[np.int64], **options: Any) -> Grow:
        # None, for all rows, saves the grower from gathering them.
        rows = None if len(learn) == len(self.rows) else learn
        weighting = Weighting.of(self.rows.weights)

        def grow_tree(
            gradients: Floats,
            hessians: Floats | None,
            # It would seed the sampling of rows, which there is none of here, and send refused values on. But
            # trees that stop at them leave their stage unsure, so that the row goes on to the next stage.
            number: int,  # noqa: ARG001
            **limits: Any,
        ) -> Grown:
            # Held-out rows go down the tree, too, so that their scores are known after each round.
            return grower.gradient(gradients, hessians, rows=rows, send_others=True, **limits, **options)

        return self.settings.make_grow(grow_tree, weighting, total(self.rows.weights[learn]) / weighting.unit)

    # Whole boosters.

    def boosters(self, sets: Sequence[Columns]) -> list[OutOfFoldBooster]:
        """Grow a booster on each of several sets of columns; the held-out rows choose the number of rounds.

        All folds grow round by round together. Then a booster with that number of rounds is grown on the
        final rows, unless it is one that a fold has just grown, or the mean of those of all folds.
        """
        if self.core is None:
            return [self.booster(columns) for columns in sets]
        grown = self.core.out_of_fold(sets, of_folds=self._is_of_folds)
        return [OutOfFoldBooster(forest, held_out, n_rounds) for n_rounds, held_out, forest in grown]

    def booster(self, columns: Columns) -> OutOfFoldBooster:
        """Grow a booster on a set of columns, as `boosters` does."""
        if self.core is not None:
            return self.boosters([columns])[0]
        return self.booster_by_definition(columns)

    def booster_by_definition(self, columns: Columns) -> OutOfFoldBooster:
        """Grow a booster round by round in Python: for any loss, and the bits that the core has to give."""
        patience = self.n_iter_no_change
        boostings = [self.boosting(fold.learn) for fold in self.folds]
        grows = [self.grow(fold.learn, columns) for fold in self.folds]
        held_out = np.empty_like(boostings[0].scores)
        best, least, n_rounds = held_out, np.inf, 0
        # Round 0 is the constant alone, which wins if no round lowers the held-out loss.
        for number in range((self.settings.n_estimators if len(columns) else 0) + 1):
            if number:
                grown = [b.round(grow, must_split=True) for b, grow in zip(boostings, grows, strict=True)]
                if not any(grown):
                    break  # no fold has a split left that reduces its loss
            for boosting, fold in zip(boostings, self.folds, strict=True):
                held_out[:, fold.held_out] = boosting.scores[:, fold.held_out]
            loss = self.held_out_loss(held_out)
            if loss < least:
                best, least, n_rounds = held_out.copy(), loss, number
            elif patience is not None and number - n_rounds >= patience:
                break
        if self._is_of_folds:
            return OutOfFoldBooster(self._mean_forest(boostings, n_rounds), best, n_rounds)
        return OutOfFoldBooster(self._final_by_definition(columns, n_rounds), best, n_rounds)

    @property
    def _is_of_folds(self) -> bool:
        """Whether the final booster is the mean of those of the folds."""
        # A fold that learns from all final rows has grown it.
        alone = len(self.folds) == 1 and count(len(self.folds[0].learn)) >= count(len(self.final))
        return alone or (self.ensemble and len(self.folds) > 1)

    def final_forest(self, columns: Columns, n_rounds: int) -> Forest:
        """Grow a booster with a number of rounds on a set of columns and the final rows."""
        if self.core is None:
            return self._final_by_definition(columns, n_rounds)
        return self.core.final_forest(columns, n_rounds)

    def _final_by_definition(self, columns: Columns, n_rounds: int) -> Forest:
        boosting = self.boosting(self.final)
        grow = self.grow(self.final, columns)
        for _ in range(n_rounds if len(columns) else 0):
            if not boosting.round(grow, must_split=True):
                break
        return self.forest(boosting, len(boosting.trees) // boosting.trees_per_round)

    def forest(self, boosting: Boosting, n_rounds: int) -> Forest:
        """Return the first rounds of an ensemble, after the constants that it started from."""
        return self._after(self.start(self.final), boosting.trees[: n_rounds * boosting.trees_per_round])

    def _mean_forest(self, boostings: Sequence[Boosting], n_rounds: int) -> Forest:
        """Return the first rounds of the folds' boosters, with values that add up to their mean."""
        start = np.sum([self.start(fold.learn) for fold in self.folds], axis=0) / len(self.folds)
        trees = [tree for one in boostings for tree in one.trees[: n_rounds * one.trees_per_round]]
        if len(boostings) > 1:
            trees = [tree.scaled(1 / len(boostings)) for tree in trees]
        return self._after(start, trees)

    def _after(self, start: Floats, trees: Sequence[Forest]) -> Forest:
        bins, multi_output = self.bins, self.settings.multi_output
        first = constants(start, bins.n_features, bins.category_widths, multi_output=multi_output)
        return Forest.concat([first, *trees])

    def held_out_loss(self, scores: Floats) -> float:
        """Return the mean loss of the held-out rows, from scores of all rows, (n_outputs, n_rows)."""
        held_out = self.held_out
        losses = self.loss.values(self.rows.target[held_out], scores[:, held_out])
        return mean(losses, self.rows.weights[held_out])
