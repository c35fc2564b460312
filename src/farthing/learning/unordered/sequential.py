"""The path of a policy through records as decisions to order, with models of them, cross-fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.learning.unordered.regression import regress
from farthing.table import Schema
from farthing.typing import Flags, Floats, Integers
from farthing.walks import RecordedPaths

#: Propensities below this count as this.
FLOOR: Final = 0.05
N_FOLDS: Final = 3


@dataclass(frozen=True, eq=False)
class Nuisances:
    """What the inverse-propensity part needs.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_rows, n_steps + 1)
        ``W_t`` of `estimates`: the product of the inverse propensities of the first answers; 0 from the first
        one on that is not recorded, and constant after the end of a walk.
    complete : ndarray of bool, shape (n_rows,)
        Whether the walk came to its end.
    """

    weights: Floats
    complete: Flags

    def effective_rows(self) -> float:
        """Return the number of equally weighted rows that are worth as much as the complete walks (Kish)."""
        last = np.where(self.complete, self.weights[:, -1], 0.0)
        return float(last.sum() ** 2 / max(float(last @ last), 1e-300))


@dataclass(frozen=True, eq=False)
class Sequence:
    """A table of records, and the path of a policy through each of its rows.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_features)
        The encoded records, NaN where nothing is recorded.
    always : ndarray of bool, shape (n_features,)
        The columns that every record holds, which are known before any question.
    paths : RecordedPaths
        The paths.
    schema : Schema
        The columns.
    seed : int
        Of the folds.
    """

    values: NDArray[np.floating]
    always: Flags
    paths: RecordedPaths
    schema: Schema
    seed: int = 0

    @property
    def n_steps(self) -> int:
        """The largest number of questions of a row."""
        return int(self.paths.asked.shape[1])

    def folds(self) -> Integers:
        """Return the fold of each row."""
        n_rows = len(self.values)
        return np.random.default_rng(self.seed).permutation(n_rows) % min(N_FOLDS, max(n_rows, 1))

    def known(self, rows: Integers, n_answers: int) -> NDArray[np.floating]:
        """Return what is known of some rows after their first answers, NaN elsewhere."""
        told = np.zeros((len(rows), self.values.shape[1]), dtype=np.bool_)
        told[:, self.always] = True
        for step in range(n_answers):
            columns = self.paths.asked[rows, step]
            some = (columns >= 0) & (step < self.paths.n_told[rows])
            told[np.flatnonzero(some), columns[some]] = True
        return np.where(told, self.values[rows], np.nan)

    def propensities(self) -> Floats:
        """Return how likely each question of each row was to be answered, shape (n_rows, n_steps).

        One boosted regression per column, from what was known before the question; 1 for columns that every
        record holds, and where there is no question. Not clipped at the floor.
        """
        asked, n_told = self.paths.asked, self.paths.n_told
        found, folds = np.ones(asked.shape), self.folds()
        for column in np.unique(asked[asked >= 0]).tolist():
            if self.always[column]:
                continue
            rows, steps = np.nonzero(asked == column)
            known = np.empty((len(rows), self.values.shape[1]))
            for step in np.unique(steps).tolist():
                known[steps == step] = self.known(rows[steps == step], step)
            answered = (steps < n_told[rows]).astype(np.float64)
            for fold in range(N_FOLDS):
                inside = folds[rows] == fold
                if inside.any():
                    model = regress(known[~inside], answered[~inside], self.schema)
                    found[rows[inside], steps[inside]] = model(known[inside])
        return found

    def nuisances(self, propensities: Floats, floor: float = FLOOR) -> Nuisances:
        """Return the weights, from propensities that are at least the floor."""
        n_rows, steps = len(self.values), np.arange(self.n_steps)
        factors = np.where(self.paths.asked >= 0, 1 / np.maximum(propensities, floor), 1.0)
        missed = (self.paths.asked >= 0) & (steps >= self.paths.n_told[:, np.newaxis])
        weights = np.ones((n_rows, self.n_steps + 1))
        weights[:, 1:] = np.cumprod(np.where(missed, 0.0, factors), axis=1)
        return Nuisances(weights, self.paths.complete)

    def outcome_models(self, outcomes: Floats) -> Floats:
        """Return the expected outcome of each row after each answer, shape (n_rows, n_steps + 1).

        Parameters
        ----------
        outcomes : ndarray of float64, shape (n_rows,)
            What complete walks show; the others are not read.
        """
        n_rows, n_told, folds = len(self.values), self.paths.n_told, self.folds()
        length = n_told + ~self.paths.complete
        found = np.zeros((n_rows, self.n_steps + 1))
        # After the end of a walk the outcome is known.
        ended = self.paths.complete[:, np.newaxis] & (np.arange(self.n_steps + 1) >= length[:, np.newaxis])
        found[ended] = np.broadcast_to(outcomes[:, np.newaxis], found.shape)[ended]
        for fold in range(N_FOLDS):
            own = found.copy()
            for step in range(self.n_steps - 1, -1, -1):
                # Rows with a question after so many answers; those that have its answer teach.
                rows = np.flatnonzero((length > step) & (n_told >= step))
                if not len(rows):
                    continue
                known = self.known(rows, step)
                teach = (folds[rows] != fold) & (n_told[rows] > step)
                model = regress(known[teach], own[rows[teach], step + 1], self.schema)
                own[rows, step] = model(known)
            inside = folds == fold
            found[inside] = own[inside]
        return found
