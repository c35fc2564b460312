"""The boosters of all folds, grown round by round, with scores of the rows that each fold holds out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from farthing._core import FoldBoosters as CoreBoosters
from farthing.deadline import check_deadline, deadline_end
from farthing.learning.out_of_fold import Columns, Holdings, OutOfFoldTrainer
from farthing.typing import Floats


class FoldBoosters(ABC):
    """The boosters of all folds of a trainer, side by side.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows and folds, and how trees are grown.
    """

    def __init__(self, trainer: OutOfFoldTrainer) -> None:
        self._trainer = trainer

    @classmethod
    def of(cls, trainer: OutOfFoldTrainer) -> FoldBoosters:
        """Return boosters without trees: compiled ones, unless the core does not know the loss."""
        return PythonBoosters(trainer) if trainer.core is None else CompiledBoosters(trainer)

    @abstractmethod
    def boost(self, columns: Columns, n_rounds: int, *, must_split: bool = True) -> None:
        """Add rounds over some columns, all of them free; none without a column.

        Parameters
        ----------
        columns : ndarray of int64
            The columns, ascending.
        n_rounds : int
            Number of rounds.
        must_split : bool
            Whether a fold stops at a round without a split.
        """

    @abstractmethod
    def buy(self, tradeoff: float, holdings: Holdings) -> bool:
        """Add a round that may buy columns, for a single fold; undo it if it buys nothing.

        Parameters
        ----------
        tradeoff : float
            What a unit of price is worth, relative to the sums over rows in the gain.
        holdings : Holdings
            What is owned, changed by what is bought, and what may be bought.

        Returns
        -------
        bool
            Whether anything was bought.
        """

    def buy_falling(self, tradeoff: float, holdings: Holdings, *, least: float, fall: float) -> float:
        """Try `buy` at falling trade-offs until a round buys something, and return the last trade-off.

        Parameters
        ----------
        tradeoff : float
            The first trade-off.
        holdings : Holdings
            As in `buy`.
        least : float
            The least trade-off that is tried, above zero; a smaller one is returned if nothing was bought.
        fall : float
            Factor of the trade-off after each round that buys nothing.
        """
        while tradeoff >= least and not self.buy(tradeoff, holdings):
            tradeoff *= fall
        return tradeoff

    @abstractmethod
    def losses_after(self, sets: Sequence[Columns], n_rounds: int) -> list[float]:
        """Return the held-out loss after more rounds over each of some sets; the rounds are undone."""

    @abstractmethod
    def scores(self, fold: int) -> Floats:
        """Return the scores of all rows by the booster of a fold, shape (n_outputs, n_rows)."""

    def loss(self) -> float:
        """Return the mean loss of the held-out rows."""
        return self._trainer.held_out_loss(self._held_out())

    def loss_after(self, columns: Columns, n_rounds: int) -> float:
        """Return the loss after more rounds over some columns; the rounds are undone."""
        return self.losses_after([columns], n_rounds)[0]

    def steps(self) -> tuple[Floats, Floats]:
        """Return weighted negative gradients and hessians at held-out scores, both (n_outputs, n_rows)."""
        rows = self._trainer.rows
        gradients, hessians = self._trainer.loss.steps(rows.target, self._held_out())
        # None stands for hessians of 1.
        curvature = np.ones_like(gradients) if hessians is None else hessians
        return gradients * rows.weights, curvature * rows.weights

    def _held_out(self) -> Floats:
        """Return scores in which those of each held-out row come from a booster that has not seen it."""
        # Rows that no fold holds out keep the scores of the first booster; nothing reads them.
        held_out = self.scores(0).copy()
        for number, fold in enumerate(self._trainer.folds):
            held_out[:, fold.held_out] = self.scores(number)[:, fold.held_out]
        return held_out


class CompiledBoosters(FoldBoosters):
    """Boosters in the compiled core."""

    def __init__(self, trainer: OutOfFoldTrainer) -> None:
        super().__init__(trainer)
        if trainer.core is None:
            raise ValueError("the compiled core does not know this loss")
        self._core: CoreBoosters = trainer.core.boosters()

    def boost(self, columns: Columns, n_rounds: int, *, must_split: bool = True) -> None:
        """Add rounds over some columns; see `FoldBoosters.boost`."""
        check_deadline()
        self._core.boost(columns, n_rounds, must_split)

    def buy(self, tradeoff: float, holdings: Holdings) -> bool:
        """Add a round that may buy columns; see `FoldBoosters.buy`."""
        return self._buy(tradeoff, holdings, least=tradeoff, fall=0.5)[0]

    def buy_falling(self, tradeoff: float, holdings: Holdings, *, least: float, fall: float) -> float:
        """Try rounds at falling trade-offs, in one call of the core; see `FoldBoosters.buy_falling`."""
        bought = False
        # The core returns early if the time is over, which ends the fit here.
        while not bought and tradeoff >= least:
            bought, tradeoff = self._buy(tradeoff, holdings, least=least, fall=fall)
        return tradeoff

    def _buy(self, tradeoff: float, holdings: Holdings, *, least: float, fall: float) -> tuple[bool, float]:
        """Return whether anything was bought, and the trade-off that was reached."""
        check_deadline()
        owned, reached = self._core.buy(
            holdings.columns, holdings.owned, holdings.cap, tradeoff, least, fall, deadline_end()
        )
        if owned is not None:
            holdings.owned = owned
        return owned is not None, reached

    def loss(self) -> float:
        """Return the mean loss of the held-out rows."""
        return self._core.loss()

    def losses_after(self, sets: Sequence[Columns], n_rounds: int) -> list[float]:
        """Return the held-out loss after more rounds over each of some sets; the rounds are undone."""
        check_deadline()
        return self._core.losses_after(list(sets), n_rounds)

    def scores(self, fold: int) -> Floats:
        """Return the scores of all rows by the booster of a fold, shape (n_outputs, n_rows)."""
        return self._core.scores(fold)


class PythonBoosters(FoldBoosters):
    """Boosters grown tree by tree: for any loss, and the bits that the compiled ones have to give."""

    def __init__(self, trainer: OutOfFoldTrainer) -> None:
        super().__init__(trainer)
        self._boostings = [trainer.boosting(fold.learn) for fold in trainer.folds]

    def boost(self, columns: Columns, n_rounds: int, *, must_split: bool = True) -> None:
        """Add rounds over some columns; see `FoldBoosters.boost`."""
        for boosting, fold in zip(self._boostings, self._trainer.folds, strict=True):
            grow = self._trainer.grow(fold.learn, columns)
            for _ in range(n_rounds if len(columns) else 0):
                if not boosting.round(grow, must_split=must_split):
                    break

    def buy(self, tradeoff: float, holdings: Holdings) -> bool:
        """Add a round that may buy columns; see `FoldBoosters.buy`."""
        (boosting,), (fold,) = self._boostings, self._trainer.folds
        owned, scores, n_trees = holdings.owned, boosting.scores.copy(), len(boosting.trees)
        boosting.round(self._trainer.buy(self._trainer.grower(tradeoff), fold.learn, holdings))
        if (holdings.owned > owned).any():
            return True
        boosting.scores[:] = scores
        del boosting.trees[n_trees:]
        return False

    def losses_after(self, sets: Sequence[Columns], n_rounds: int) -> list[float]:
        """Return the held-out loss after more rounds over each of some sets; the rounds are undone."""
        losses = []
        for columns in sets:
            # A stack, since the number of folds, and so of contexts to undo, varies.
            with ExitStack() as trials:
                for boosting in self._boostings:
                    trials.enter_context(boosting.on_trial())
                self.boost(columns, n_rounds)
                losses.append(self.loss())
        return losses

    def scores(self, fold: int) -> Floats:
        """Return the scores of all rows by the booster of a fold, shape (n_outputs, n_rows)."""
        return self._boostings[fold].scores
