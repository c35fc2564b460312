"""A booster that answers for every set of columns: trained on rows of which random columns are hidden."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.learning.booster import TreeSettings
from farthing.learning.folds import Fold
from farthing.learning.losses import classification_loss, scores_to_probabilities
from farthing.learning.out_of_fold import OutOfFoldTrainer
from farthing.table import PreparedTable
from farthing.table.encode import Encoded
from farthing.trees import Forest, Predictor
from farthing.typing import Flags, Floats

# Entries of a table that are made at a time: rows under all sets would not fit in memory.
_ENTRIES: Final = 4_000_000
# Fewer would be faster by a tenth, and blur where two values part.
_BINS: Final = 255


@dataclass(frozen=True, eq=False)
class SubsetBooster:
    """Boosters of several folds, none of which has seen the rows that it holds out.

    Parameters
    ----------
    rows : TrainingSet
        The training rows.
    fold_of : ndarray of int64, shape (n_rows,)
        The fold that holds out each row.
    forests : tuple of Forest
        The booster of each fold.
    n_threads : int
        Threads of predictions.
    """

    rows: TrainingSet
    fold_of: NDArray[np.int64]
    forests: tuple[Forest, ...]
    n_threads: int

    @classmethod
    def grow(
        cls,
        rows: TrainingSet,
        folds: list[Fold],
        shown: list[Flags],
        settings: TreeSettings,
        patience: int | None,
    ) -> Self:
        """Learn from copies of the rows, in each of which only some entries are shown.

        Parameters
        ----------
        rows : TrainingSet
            The training rows.
        folds : list of Fold
            Every row is held out once; its copies are held out with it.
        shown : list of ndarray of bool, shape (n_rows, n_features)
            The entries that each copy has; the others are missing.
        settings : TreeSettings
            How trees are grown; ``min_samples_leaf`` is a number of rows, each with all of its copies.
        patience : int or None
            Rounds without a lower loss of held-out rows after which the boosters stop.
        """
        n_rows, n_copies = len(rows), len(shown)
        values = np.concatenate([np.where(flags, rows.values, np.nan) for flags in shown])
        copies = replace(
            rows,
            table=PreparedTable(rows.schema, Encoded.valid(values, rows.schema.columns)),
            target=np.tile(rows.target, n_copies),
            weights=np.tile(rows.weights / n_copies, n_copies),
            errors=None,
        )
        fold_of = np.zeros(n_rows, dtype=np.int64)
        for number, fold in enumerate(folds):
            fold_of[fold.held_out] = number
        trainer = OutOfFoldTrainer(
            copies,
            classification_loss(rows.n_classes),
            folds=[
                Fold(_copied(f.learn, n_rows, n_copies), _copied(f.held_out, n_rows, n_copies)) for f in folds
            ],
            final=np.arange(len(copies)),
            # A leaf with a few copies of one row would repeat its label.
            settings=replace(settings, min_samples_leaf=settings.min_samples_leaf * n_copies),
            max_bins=_BINS,
        )
        core = trainer.core
        if core is None:
            raise TypeError("the compiled core must know the loss of a classification")
        columns = np.arange(rows.values.shape[1])
        forests = core.fold_forests(columns, settings.n_estimators, patience)
        return cls(rows, fold_of, tuple(forests), settings.n_threads)

    @cached_property
    def forest(self) -> Forest:
        """The mean of the boosters, for new rows."""
        share = 1 / len(self.forests)
        return Forest.concat([forest.scaled(share) for forest in self.forests])

    @cached_property
    def _predictors(self) -> list[Predictor]:
        return [Predictor(forest) for forest in self.forests]

    def held_out_scores(self, numbers: NDArray[np.int64], values: Floats) -> Floats:
        """Return the scores of rows, some of whose entries are shown, by boosters that have not seen them.

        Parameters
        ----------
        numbers : ndarray of int64, shape (n,)
            The training row of each.
        values : ndarray of float64, shape (n, n_features)
            Its values, NaN where not shown.
        """
        scores = np.empty((len(numbers), self.forests[0].n_outputs))
        fold_of = self.fold_of[numbers]
        for fold, predictor in enumerate(self._predictors):
            mine = np.flatnonzero(fold_of == fold)
            if len(mine):
                scores[mine] = predictor.predict(values[mine], n_threads=self.n_threads)[0]
        return scores

    def least_losses(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what `losses` cannot go below for each training row, whatever the booster says; (n,)."""
        if self.rows.errors is None:
            return np.zeros(len(numbers), dtype=np.float32)
        least = (self.rows.errors.rows[numbers].min(axis=1) + self.rows.errors.table.min()) / 2
        return np.asarray(least, dtype=np.float32)  # rounded as they are

    def losses(self, numbers: NDArray[np.int64], sets: Flags) -> NDArray[np.float32]:
        """Return what each training row is expected to lose if the columns of a set are all that is known.

        The mean of two estimates: what the decision costs by the row's own label, which is not biased, and
        what the booster believes that it costs, which varies less.

        Parameters
        ----------
        numbers : ndarray of int64, shape (n,)
            The training rows.
        sets : ndarray of bool, shape (n_sets, n_features)

        Returns
        -------
        ndarray of float32, shape (n, n_sets)
        """
        n_rows, n_sets = len(numbers), len(sets)
        losses = np.empty((n_rows, n_sets), dtype=np.float32)
        if not n_rows or not n_sets:
            return losses
        values = np.asarray(self.rows.values, dtype=np.float64)[numbers]
        step = max(1, _ENTRIES // values.size)
        for begin in range(0, n_sets, step):
            part = sets[begin : begin + step]
            shown = np.where(part[:, np.newaxis, :], values, np.nan).reshape(-1, values.shape[1])
            repeated = np.tile(numbers, len(part))
            scores = self.held_out_scores(repeated, shown)
            found = label_losses(self.rows, repeated, scores_to_probabilities(scores, self.rows.n_classes))
            losses[:, begin : begin + step] = found.reshape(len(part), n_rows).T
        return losses


def label_losses(rows: TrainingSet, numbers: NDArray[np.int64], probabilities: Floats) -> Floats:
    """Return the mean of the cost of decisions by labels and by belief, shape (n,)."""
    expected = believed_costs(rows, probabilities)
    decided = expected.argmin(axis=1)
    every = np.arange(len(numbers))
    if rows.errors is None:
        actual = (decided != rows.target[numbers]).astype(np.float64)
    else:
        actual = rows.errors.rows[numbers, decided]
    return np.asarray((actual + expected[every, decided]) / 2)


def believed_costs(rows: TrainingSet, probabilities: Floats) -> Floats:
    """Return the expected cost of each decision, shape (n, n_classes)."""
    if rows.errors is None:
        return np.asarray(1 - probabilities)
    return np.asarray(probabilities @ rows.errors.table)


def random_entries(n_rows: int, n_features: int, n_copies: int, random: np.random.RandomState) -> list[Flags]:
    """Return random entries to show: of each row a share that is itself random, from none to all."""
    return [
        random.uniform(size=(n_rows, n_features)) < random.uniform(size=(n_rows, 1)) for _ in range(n_copies)
    ]


def _copied(numbers: NDArray[np.int64], n_rows: int, n_copies: int) -> NDArray[np.int64]:
    """Return the numbers of all copies of some rows, ascending."""
    return np.concatenate([numbers + copy * n_rows for copy in range(n_copies)])
