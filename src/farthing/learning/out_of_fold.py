"""Where the boosters of a cascade grow: one binned table, many sets of columns, rows held out of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.greedy_miser.base import LEAST_HESSIAN
from farthing.costs import CostSheet
from farthing.learning.booster import Boosting, Floats, Grow, Weighting, constants
from farthing.learning.losses import Loss
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown

Columns: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """How trees are grown; as the parameters of `GreedyMiserClassifier`."""

    n_estimators: int
    n_iter_no_change: int | None
    learning_rate: float
    max_depth: int | None
    max_leaf_nodes: int | None
    min_samples_leaf: int
    l2_regularization: float
    n_threads: int


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows held out, by ascending numbers."""

    learn: NDArray[np.int64]
    held: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Booster:
    """A booster, and what it says about rows that it, or its likes, were not grown on.

    Attributes
    ----------
    forest : Forest
        One tree of one node for each output, then the rounds.
    held : ndarray of float64, shape (n_outputs, n_rows)
        Scores of the rows held out, each by a booster that has not seen it; the start for other rows.
    n_rounds : int
        Rounds of the least loss on the rows held out.
    """

    forest: Forest
    held: Floats
    n_rounds: int


class OutOfFoldTrainer:
    """Grow boosters on sets of columns of one table, which is binned once.

    Parameters
    ----------
    bins : Bins
        The table: all rows, held out or not.
    loss : Loss
        What is minimised.
    target, weights : ndarray, shape (n_rows,)
        Of all rows.
    sheet : CostSheet
        The prices, in the order of the columns.
    folds : sequence of Fold
        Who learns and who is held out; several folds hold out every row once.
    final : ndarray of int64, shape (n_final,)
        The rows that the final boosters are grown on, ascending.
    settings : Settings
        How trees are grown.
    """

    def __init__(
        self,
        bins: Bins,
        loss: Loss,
        target: NDArray[Any],
        weights: Floats,
        *,
        sheet: CostSheet,
        folds: Sequence[Fold],
        final: NDArray[np.int64],
        settings: Settings,
    ) -> None:
        self.bins = bins
        self.loss = loss
        self.target = target
        self.weights = weights
        self.sheet = sheet
        self.folds = folds
        self.settings = settings
        #: The rows held out by some fold, ascending.
        self.held: NDArray[np.int64] = np.sort(np.concatenate([fold.held for fold in folds]))
        #: The rows that some fold learns from, ascending: those that purchases are chosen by.
        self.learned: NDArray[np.int64] = np.unique(np.concatenate([fold.learn for fold in folds]))
        self.final = final
        self._plain = self.grower(0.0)

    def with_folds(self, folds: Sequence[Fold]) -> OutOfFoldTrainer:
        """Return a nursery of the same table with other rows held out."""
        return self._like(folds, self.settings)

    def with_settings(self, settings: Settings) -> OutOfFoldTrainer:
        """Return a nursery of the same rows whose trees grow in another way."""
        return self._like(self.folds, settings)

    def _like(self, folds: Sequence[Fold], settings: Settings) -> OutOfFoldTrainer:
        return OutOfFoldTrainer(
            self.bins,
            self.loss,
            self.target,
            self.weights,
            sheet=self.sheet,
            folds=folds,
            final=self.final,
            settings=settings,
        )

    def grower(self, tradeoff: float) -> Grower:
        """Return a grower whose model ledger charges for what is not owned."""
        settings = self.settings
        return Grower(
            self.bins,
            self.sheet,
            max_depth=settings.max_depth,
            max_leaf_nodes=settings.max_leaf_nodes,
            min_samples_leaf=settings.min_samples_leaf,
            ledger="model",
            tradeoff=tradeoff,
            n_threads=settings.n_threads,
        )

    def boosting(self, learn: NDArray[np.int64]) -> Boosting:
        """Return an ensemble in the making, whose start is that of some rows; it has scores of all rows."""
        start = self.loss.start(self.target[learn], self.weights[learn])
        return Boosting(
            self.loss,
            self.target,
            Weighting.of(self.weights),
            np.repeat(start[:, np.newaxis], len(self.target), axis=1),
            self.settings.learning_rate,
        )

    def grow(self, learn: NDArray[np.int64], columns: Columns) -> Grow:
        """Return how a tree is grown on some rows and columns, all of them free."""
        return self._grow(self._plain, learn, columns=columns)

    def buy(self, grower: Grower, learn: NDArray[np.int64], purse: Holdings) -> Grow:
        """Return how a tree is grown that may buy, at the prices of what the purse does not own yet."""

        def grow(gradients: Floats, hessians: Floats | None, number: int, step: float) -> Grown:
            buys = self._grow(grower, learn, owned=purse.owned, columns=purse.columns, budget=purse.cap)
            grown = buys(gradients, hessians, number, step)
            purse.owned = grown.owned
            return grown

        return grow

    def _grow(self, grower: Grower, learn: NDArray[np.int64], **options: Any) -> Grow:
        rows = None if len(learn) == self.bins.n_rows else learn
        weighting = Weighting.of(self.weights)
        total = float(self.weights[learn].sum()) / weighting.unit

        def grow(gradients: Floats, hessians: Floats | None, _: int, step: float) -> Grown:
            return grower.gradient(
                gradients,
                hessians,
                rows=rows,
                send_others=True,
                step=step,
                l2_regularization=self.settings.l2_regularization / weighting.unit,
                min_hessian=LEAST_HESSIAN * total,
                **options,
            )

        return grow

    def booster(self, columns: Columns) -> Booster:
        """Grow a booster on a set of columns, with as many rounds as suit the rows held out.

        The folds grow side by side. Then a booster of that number of rounds is grown on the final rows,
        unless a fold has just done so.
        """
        settings = self.settings
        makings = [self.boosting(fold.learn) for fold in self.folds]
        grows = [self.grow(fold.learn, columns) for fold in self.folds]
        held = np.empty_like(makings[0].scores)
        best, least, n_rounds = held, np.inf, 0
        for number in range((settings.n_estimators if len(columns) else 0) + 1):
            if number:
                for making, grow in zip(makings, grows, strict=True):
                    making.round(grow)
            for making, fold in zip(makings, self.folds, strict=True):
                held[:, fold.held] = making.scores[:, fold.held]
            loss = self.held_loss(held)
            if loss < least:
                best, least, n_rounds = held.copy(), loss, number
            elif settings.n_iter_no_change is not None and number - n_rounds >= settings.n_iter_no_change:
                break
        if len(self.folds[0].learn) < len(self.final):
            return Booster(self.grown(columns, n_rounds), best, n_rounds)
        return Booster(self._forest(makings[0], n_rounds), best, n_rounds)

    def grown(self, columns: Columns, n_rounds: int) -> Forest:
        """Grow a booster of so many rounds on a set of columns, from all rows to learn from."""
        making = self.boosting(self.final)
        grow = self.grow(self.final, columns)
        for _ in range(n_rounds if len(columns) else 0):
            making.round(grow)
        return self._forest(making, len(making.trees) // len(making.scores))

    def held_loss(self, scores: Floats) -> float:
        """Return the mean loss of the rows held out."""
        held = self.held
        return float(
            np.average(self.loss.values(self.target[held], scores[:, held]), weights=self.weights[held])
        )

    def _forest(self, making: Boosting, n_rounds: int) -> Forest:
        start = self.loss.start(self.target[self.final], self.weights[self.final])
        first = constants(start, self.bins.n_features, self.bins.category_widths)
        return Forest.concat([first, *making.trees[: n_rounds * len(start)]])


@dataclass
class Holdings:
    """What has been bought so far, and what may be.

    Attributes
    ----------
    owned : ndarray of uint8, shape (n_features,)
        1 for what is owned.
    cap : float or None
        What all of it may cost together.
    columns : ndarray of int64 or None
        What is for sale, ascending; None is all.
    """

    owned: NDArray[np.uint8]
    cap: float | None = None
    columns: Columns | None = None
