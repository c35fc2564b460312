"""The relaxed training: each row and device has an opening q of its own, which the gates follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr, expit, logit

from farthing.adaptive.edge.blocks import Cloud, Objective, minimise, opening_gradient
from farthing.learning.blas_threads import one_blas_thread
from farthing.typing import Floats

# Openings are kept this far from 0 and 1, where their log-odds are infinite.
MARGIN: Final = 1e-12
# Steps over the openings in one alternation, at most.
_STEPS: Final = 20
# Alternations end when one of them gains at most this share of the objective, and the steps over the openings
# within one a tenth of it.
TOLERANCE: Final = 1e-5
# Where a weight or a multiplier that is doubled again and again is given up.
_HEAVIEST: Final = 1e12


@dataclass(frozen=True, eq=False)
class Relaxation:
    """(OPT-Relax-Reg) or (OPT-Relax-Clf): the loss at the openings q, and the divergence of the gates.

    Attributes
    ----------
    cloud : Cloud
        The rows and the loss; the log loss of the thesis lacks its minus sign.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which add up to 1.
    prices : ndarray of float64, shape (n_devices,)
    tradeoff : float
        Weight of a unit of price against the mean loss; 0 in the thesis, which has the budget alone.
    limit : float
        Largest mean cost of the openings; infinite without a budget.
    coupling : float
        Weight of the divergence.
    """

    cloud: Cloud
    shares: Floats
    prices: Floats
    tradeoff: float
    limit: float
    coupling: float

    def solve(self, start: Floats, n_alternations: int, max_steps: int) -> tuple[Floats, list[float]]:
        """Alternate over q and the parameters, until an alternation gains at most 1e-5 of the objective.

        Neither half step raises the objective, so it converges; it is convex in q and in the parameters, but
        not in both.

        Parameters
        ----------
        start : ndarray of float64
            The parameters to start from.
        n_alternations, max_steps : int
            Maximum number of alternations, and of L-BFGS steps in each.

        Returns
        -------
        params : ndarray of float64
        history : list of float
            The objective after each half step.
        """
        params = start
        most = min(0.5, self._room / max(float(self.prices.sum()), 1e-300))
        q = np.full((self.cloud.blocks.n_rows, self.cloud.blocks.n_devices), most)
        history: list[float] = []
        for _ in range(n_alternations):
            q = self.step_openings(q, params)
            history.append(self.value(q, params))
            params = minimise(self.fit_objective(q), params, max_steps)
            history.append(self.value(q, params))
            if len(history) > 2 and history[-3] - history[-1] <= TOLERANCE * abs(history[-1]):
                break
        return params, history

    @property
    def _room(self) -> float:
        # No budget shuts an opening entirely in training; the hard gates keep a budget of zero.
        return max(self.limit, MARGIN * float(self.prices.sum()))

    @property
    def opening_costs(self) -> Floats:
        """The cost of each opening in the objective, shape (n_rows, n_devices)."""
        return self.tradeoff * self.shares[:, np.newaxis] * self.prices

    def value(self, q: Floats, params: Floats) -> float:
        """Return the objective."""
        gates, local = self.cloud.blocks.scores(params)
        return self._loss(q, gates, local) + self.cloud.blocks.ridge(params, self.cloud.l2_regularization)[0]

    def _loss(self, q: Floats, gates: Floats, local: Floats) -> float:
        value = self.cloud.loss_at(q, local)[0] + float((self.opening_costs * q).sum())
        return value + self.coupling * float((divergence(q, gates) * self.shares[:, np.newaxis]).sum())

    def fit_objective(self, q: Floats) -> Objective:
        """Return the objective of gates and local models for given openings q; convex."""
        paid = float((self.opening_costs * q).sum())

        def objective(params: Floats) -> tuple[float, Floats]:
            gates, local = self.cloud.blocks.scores(params)
            value, slope = self.cloud.loss_at(q, local)
            value += paid
            apart = self.coupling * float((divergence(q, gates) * self.shares[:, np.newaxis]).sum())
            of_gates = self.coupling * (expit(gates) - q) * self.shares[:, np.newaxis]
            ridge, ridge_slope = self.cloud.blocks.ridge(params, self.cloud.l2_regularization)
            gradient = self.cloud.blocks.gradient(of_gates, q.T[:, :, np.newaxis] * slope)
            return value + apart + ridge, gradient + ridge_slope

        return objective

    def step_openings(self, q: Floats, params: Floats, max_steps: int = _STEPS) -> Floats:
        """Improve q by proximal steps in the divergence; the objective is convex in q, and never rises.

        A step minimises, within the budget, the objective with its loss linearised at q, plus the divergence
        from q times a weight that is doubled until the objective does not rise. All but the loss of the
        objective is a divergence or linear, so the minimum has a closed form but for the budget's multiplier.
        The thesis takes Frank-Wolfe steps to corners of the budget, which need many more: the openings of the
        optimum lie between 0 and 1.
        """
        shares = self.shares[:, np.newaxis]
        with one_blas_thread():
            gates, local = self.cloud.blocks.scores(params)
            reached, weight = self._loss(q, gates, local), 1.0
            for _ in range(max_steps):
                slope = opening_gradient(self.cloud.loss_at(q, local)[1], local) / shares
                slope += self.tradeoff * self.prices
                while True:
                    log_odds = self.coupling * gates + weight * logit(q) - slope
                    nearer = self._within(log_odds, self.coupling + weight)
                    value = self._loss(nearer, gates, local)
                    if value <= reached or weight > _HEAVIEST:
                        break
                    weight *= 2
                if value >= reached:
                    break
                q, gained, reached, weight = nearer, reached - value, value, 0.7 * weight
                if gained <= 0.1 * TOLERANCE * abs(reached):
                    break
            return q

    def _within(self, log_odds: Floats, weight: float) -> Floats:
        """Return openings by their log-odds times a weight, less a price of costs that keeps the budget."""

        def openings(multiplier: float) -> Floats:
            q = expit((log_odds - multiplier * self.prices) / weight)
            return np.asarray(q.clip(MARGIN, 1 - MARGIN))

        def excess(multiplier: float) -> float:
            return float(self.shares @ openings(multiplier) @ self.prices) / self._room - 1

        if excess(0.0) <= 0:
            return openings(0.0)
        high = 1.0
        while excess(high) > 0 and high < _HEAVIEST:
            high *= 2
        q = openings(brentq(excess, 0.0, high, xtol=1e-12) if excess(high) < 0 else high)
        # The root is exact up to rounding; the budget holds.
        paid = self.prices > 0
        q[:, paid] *= min(1.0, self._room / float(self.shares @ q @ self.prices))
        return q


def divergence(q: Floats, gates: Floats) -> Floats:
    """Return KL(q, sigmoid(gate)) of each opening.

    Examples
    --------
    >>> divergence(np.array([[0.5, 1.0]]), np.array([[0.0, 0.0]])).round(4)
    array([[0.    , 0.6931]])
    """
    return np.asarray(np.logaddexp(0.0, gates) - q * gates - entr(q) - entr(1 - q))
