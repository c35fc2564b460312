"""Probabilities of rows from the stage at which they leave a cascade, and their score there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from farthing.typing import Floats

# Penalty on the squared offsets of stages, in rows: a stage where few rows leave stays near the others.
_SHRINKAGE: Final = 1.0


@dataclass(frozen=True)
class ExitOdds:
    """Log-odds of the positive class: slope * score + the offset of the stage.

    Attributes
    ----------
    slope : float
        Zero or more, so that a higher score is never less likely within a stage.
    offsets : ndarray of float64, shape (n_stages,)
        One for each stage.
    """

    slope: float
    offsets: Floats

    @classmethod
    def of(
        cls,
        scores: Floats,
        stages: NDArray[np.int64],
        positive: NDArray[np.bool_],
        weights: Floats,
        n_stages: int,
    ) -> ExitOdds:
        """Fit them by Platt scaling, which draws labels in a little, so that no slope is infinite.

        Parameters
        ----------
        scores : ndarray of float64, shape (n_rows,)
            The score of each held-out row at the stage where it left.
        stages : ndarray of int64, shape (n_rows,)
            This stage.
        positive : ndarray of bool, shape (n_rows,)
            Whether the row is of the positive class.
        weights : ndarray of float64, shape (n_rows,)
            Weights of the rows.
        n_stages : int
            Number of stages.

        Examples
        --------
        >>> odds = ExitOdds.of(
        ...     np.array([-1.0, 1.0]), np.array([0, 1]), np.array([False, True]), np.ones(2), n_stages=2
        ... )
        >>> odds.slope > 0, bool(odds.offsets[1] > odds.offsets[0])
        (True, True)
        """
        n_positive = float(weights @ positive)
        n_negative = float(weights.sum()) - n_positive
        soft = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

        def loss(vector: Floats) -> tuple[float, Floats]:
            slope, common, own = vector[0], vector[1], vector[2:]
            odds = slope * scores + common + own[stages]
            losses = np.logaddexp(0.0, odds) - soft * odds
            by_odds = weights * (expit(odds) - soft)
            by_stage = np.bincount(stages, weights=by_odds, minlength=n_stages)
            gradient = np.concatenate([[by_odds @ scores, by_odds.sum()], by_stage + _SHRINKAGE * own])
            return float(weights @ losses) + _SHRINKAGE / 2 * float(own @ own), gradient

        free = [(None, None)] * (n_stages + 1)
        found = minimize(
            loss,
            np.append(1.0, np.zeros(n_stages + 1)),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None), *free],
            options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9},
        )
        return cls(float(found.x[0]), np.asarray(found.x[1] + found.x[2:]))
