"""Estimates of the mean of something, such as the accuracy, that only complete walks show.

A policy asks a row for ``a_1, ..., a_T``, where ``a_t`` is a function of the answers before it. ``R_t`` is 1
if the record holds the answer to ``a_t``. So what is lost is a monotone sequence: after the first
``R_t = 0`` nothing of the walk is seen. ``H_t`` is what is known after ``t`` answers: the columns that every
record holds, and these answers. ``L`` is the loss, the accuracy or the spend at the end. With

    e_t = P(R_t = 1 | H_{t-1}, R_1 = ... = R_{t-1} = 1)          (propensity, at least the floor)
    W_t = product over s <= t of R_s / e_s
    Q_t = E[L | H_t],  found backwards: Q_T = L,  Q_{t-1} = E[Q_t | H_{t-1}, R_t = 1]

the mean of ``L`` under the policy is estimated by

    direct              mean of Q_0                      (sequential regression; Bang and Robins 2005)
    inverse propensity  sum of W_T L / sum of W_T        (Horvitz and Thompson 1952, in Hajek's form)
    doubly robust       mean of Q_0 + sum over t of W_t (Q_t - Q_{t-1})   (Robins, Rotnitzky and Zhao 1995;
                        Jiang and Li 2016, equation 10, with the decision to order as the action)

All need that a test is ordered by what is known before (sequential ignorability), and ``e_t > 0`` where the
policy asks (positivity). The third is right if either the propensities or the outcome models are. If tests
are ordered by their own value, none is right. Von Kleist et al. (2023) compare these estimators for the
acquisition of features. Propensities and outcome models of a row are fitted on the other folds
(cross-fitting), so that the standard error of the third is that of the mean of its terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from farthing.learning.unordered.sequential import Nuisances
from farthing.typing import Floats

# Half the width of a 95 % interval, in standard errors.
_WIDTH: Final = 1.96


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a mean.

    Attributes
    ----------
    value, error : float
        The estimate, and its standard error.
    least, most : float
        What the mean can be, such as 0 to 1 for an accuracy; the interval is cut there.
    """

    value: float
    error: float
    least: float = -math.inf
    most: float = math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval.

        Examples
        --------
        >>> Estimate(0.5, 0.1).interval
        (0.304, 0.696)
        """
        half = _WIDTH * self.error
        return max(self.value - half, self.least), min(self.value + half, self.most)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.4g} ({low:.4g} to {high:.4g})"


@dataclass(frozen=True, slots=True)
class Estimates:
    """The three estimates of one mean.

    Attributes
    ----------
    direct : Estimate
        By outcome models. Its interval has the sampling of rows in it, not the error of these models.
    inverse_propensity : Estimate
        By the weights of complete walks.
    doubly_robust : Estimate
        By both.
    """

    direct: Estimate
    inverse_propensity: Estimate
    doubly_robust: Estimate

    def within(self, least: float, most: float) -> Estimates:
        """Return them with the bounds of the mean."""
        kinds = (self.direct, self.inverse_propensity, self.doubly_robust)
        return Estimates(*[replace(one, least=least, most=most) for one in kinds])


def estimates(outcomes: Floats, nuisances: Nuisances, models: Floats) -> Estimates:
    """Return the three estimates of a mean.

    Parameters
    ----------
    outcomes : ndarray of float64, shape (n_rows,)
        What complete walks show; the others are not read.
    nuisances : Nuisances
        The weights ``W_t``.
    models : ndarray of float64, shape (n_rows, n_steps + 1)
        The outcome models ``Q_t`` of each row; not read after its last answer.

    Examples
    --------
    Two of four rows are recorded, with a propensity of a half; the model says 0.5 of each.

    >>> from farthing.learning.unordered.sequential import Nuisances
    >>> weights = np.array([[1, 2.0], [1, 2.0], [1, 0], [1, 0]])
    >>> nuisances = Nuisances(weights, np.array([True, True, False, False]))
    >>> models = np.array([[0.5, 1.0], [0.5, 0.0], [0.5, 0.0], [0.5, 0.0]])
    >>> estimates(np.array([1.0, 0.0, 0.0, 0.0]), nuisances, models).doubly_robust.value
    0.5
    """
    weights, complete = nuisances.weights, nuisances.complete
    n_rows = len(outcomes)
    last = np.where(complete, weights[:, -1], 0.0)
    total = max(float(last.sum()), 1e-300)
    seen = np.where(complete, outcomes, 0.0)
    mean = float(last @ seen) / total
    # The variance of a ratio of two means, by linearisation.
    spread = float(np.sqrt(np.sum((last * (seen - mean)) ** 2))) / total
    # W_t is 0 from the first answer on that is not recorded, and constant after the end of a walk.
    steps = weights[:, 1:] * np.diff(models, axis=1)
    terms = models[:, 0] + np.where(weights[:, 1:] > 0, steps, 0.0).sum(axis=1)
    return (
        Estimates(
            _mean(models[:, 0]),
            Estimate(mean, spread if complete.any() else float("nan")),
            _mean(terms),
        )
        if n_rows
        else Estimates(*[Estimate(float("nan"), float("nan"))] * 3)
    )


def _mean(terms: Floats) -> Estimate:
    error = float(terms.std(ddof=1) / np.sqrt(len(terms))) if len(terms) > 1 else float("nan")
    return Estimate(float(terms.mean()), error)
