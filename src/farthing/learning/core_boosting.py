"""Boosting in the compiled core: the rounds of `Boosting`, bit for bit, for the losses that it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthing._core import BoostFolds, BoostProblem
from farthing._core import FoldBoosters as CoreBoosters
from farthing.collective import peers
from farthing.deadline import check_deadline, deadline_end
from farthing.learning.booster import Weighting
from farthing.learning.folds import Fold
from farthing.trees import Forest
from farthing.trees.grow import limit
from farthing.typing import Floats

if TYPE_CHECKING:
    from farthing.learning.out_of_fold import OutOfFoldTrainer


class CoreBoosting:
    """The rows, the loss and the settings of a trainer, in the core.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        Its loss must be one of those that the core knows.
    """

    def __init__(self, trainer: OutOfFoldTrainer) -> None:
        rows, settings, costs = trainer.rows, trainer.settings, trainer.costs
        weighting = Weighting.of(rows.weights)
        self._trainer = trainer
        self._unit = weighting.unit
        start = trainer.start(trainer.final)
        self._problem = BoostProblem(
            trainer.bins.core,
            costs.own,
            costs.shared,
            costs.group_of,
            loss=str(trainer.loss.core),
            n_outputs=len(start),
            target=np.ascontiguousarray(rows.target, dtype=np.float64),
            weights=np.ascontiguousarray(rows.weights),
            weighted=weighting.weights is not None,
            learning_rate=settings.learning_rate,
            l2=settings.l2_regularization / weighting.unit,
            multi_output=settings.multi_output,
            max_depth=limit("max_depth", settings.max_depth, least=0),
            max_leaves=limit("max_leaf_nodes", settings.max_leaf_nodes, least=1),
            min_rows_leaf=limit("min_samples_leaf", settings.min_samples_leaf, least=1),
            n_threads=settings.n_threads,
            peers=peers(),
        )
        self._folds = self._rows_of(trainer.folds)
        self._final = self._rows_of([Fold(trainer.final, trainer.final[:0])])

    def _rows_of(self, folds: Sequence[Fold]) -> BoostFolds:
        trainer = self._trainer
        return BoostFolds(
            self._problem,
            learn=[fold.learn for fold in folds],
            held_out=[fold.held_out for fold in folds],
            start=[trainer.start(fold.learn) for fold in folds],
            min_hessian=[trainer.min_hessian(fold.learn) for fold in folds],
        )

    def out_of_fold(
        self, sets: Sequence[NDArray[np.int64]], *, of_folds: bool
    ) -> list[tuple[int, Floats, Forest]]:
        """Grow a booster on each set of columns; see `OutOfFoldTrainer.booster`.

        Parameters
        ----------
        sets : sequence of ndarray of int64
            The columns of each booster, ascending.
        of_folds : bool
            Whether the final booster is the mean of those of the folds.

        Returns
        -------
        list of (int, ndarray of float64, Forest)
            The number of rounds, the scores of held-out rows, shape (n_outputs, n_rows), and the final trees.
        """
        trainer = self._trainer
        found = self._folds.out_of_fold(
            list(sets),
            most_rounds=trainer.settings.n_estimators,
            patience=trainer.n_iter_no_change,
            final_rows=None if of_folds else self._final,
            end=deadline_end(),
        )
        # The core gives up at the end of the time, which has come then.
        while found is None:
            check_deadline()
        return [(n_rounds, held_out, self._forest(fields)) for n_rounds, held_out, fields in found]

    def boosters(self) -> CoreBoosters:
        """Return the boosters of all folds, without trees."""
        return CoreBoosters(self._folds)

    def final_forest(self, columns: NDArray[np.int64], n_rounds: int) -> Forest:
        """Grow rounds on the final rows."""
        boosters = CoreBoosters(self._final)
        boosters.boost(columns, n_rounds, True)
        return self._forest(boosters.forest(0))

    def fold_forests(
        self, columns: NDArray[np.int64], n_rounds: int, patience: int | None, every: int = 2
    ) -> list[Forest]:
        """Grow a booster on each fold, with the number of rounds of the least loss on the held-out rows.

        Parameters
        ----------
        columns : ndarray of int64
            The columns, ascending.
        n_rounds : int
            The most rounds.
        patience : int or None
            Stop after this many rounds without a lower loss; None grows all.
        every : int
            The loss is looked at after so many rounds.

        Returns
        -------
        list of Forest
            The constants and the rounds of each fold; some folds may have fewer, without a split left.
        """
        boosters = self.boosters()
        best, least = 0, boosters.loss()
        for done in range(every, n_rounds + every, every):
            check_deadline()
            boosters.boost(columns, min(every, n_rounds - done + every), True)
            if (loss := boosters.loss()) < least:
                best, least = done, loss
            elif patience is not None and done - best >= patience:
                break
        forests = [self._forest(boosters.forest(fold)) for fold in range(len(self._trainer.folds))]
        outputs = forests[0].n_outputs
        each = 1 if self._trainer.settings.multi_output else outputs
        return [forest.trees(0, min(forest.n_trees, each * (1 + best))) for forest in forests]

    def _forest(self, fields: Mapping[str, Any]) -> Forest:
        bins = self._trainer.bins
        return Forest(
            n_features=bins.n_features,
            n_outputs=len(self._trainer.start(self._trainer.final)),
            category_widths=bins.category_widths,
            node_values=fields["value"],
            **{name: array for name, array in fields.items() if name != "value"},
        )
