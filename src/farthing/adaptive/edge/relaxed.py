"""The relaxed training: each row and device has an opening q of its own, which the gates follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import entr, expit, logit

from farthing.adaptive.edge.blocks import Cloud, Objective, minimise, opening_gradient
from farthing.learning.blas_threads import one_blas_thread
from farthing.typing import Floats

# Openings are kept this far from 0 and 1, where the slope of the divergence is infinite.
MARGIN: Final = 1e-6
# Frank-Wolfe steps of one alternation, and steps of their line search.
_STEPS: Final = 10
_LINE_STEPS: Final = 10
# Alternations end when one of them gains less than this share of the objective.
_TOLERANCE: Final = 1e-5


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
        """Alternate over q and the parameters; return these, and the objective after each half step."""
        params = start
        # Frank-Wolfe iterates are convex combinations of feasible points, so the first one must keep the
        # budget too.
        most = min(0.5, self.limit / max(float(self.prices.sum()), 1e-300))
        q = np.full((self.cloud.blocks.n_rows, self.cloud.blocks.n_devices), max(most, MARGIN))
        history: list[float] = []
        for _ in range(n_alternations):
            q = self.step_openings(q, params)
            history.append(self.value(q, params))
            params = minimise(self.fit_objective(q), params, max_steps)
            history.append(self.value(q, params))
            if len(history) > 2 and history[-3] - history[-1] <= _TOLERANCE * abs(history[-1]):
                break
        return params, history

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

    def step_openings(self, q: Floats, params: Floats) -> Floats:
        """Improve q by Frank-Wolfe steps; the objective is convex in q, and never rises."""
        with one_blas_thread():
            gates, local = self.cloud.blocks.scores(params)
            reached = self._loss(q, gates, local)
            for _ in range(_STEPS):
                slope = self.cloud.loss_at(q, local)[1]
                # Derivative of KL(q, sigmoid(g)) by q; the clip keeps it finite where q is 0 or 1.
                inner = logit(q.clip(MARGIN, 1 - MARGIN)) - gates
                gradient = opening_gradient(slope, local) + self.opening_costs
                gradient += self.coupling * inner * self.shares[:, np.newaxis]
                corner = cheapest_corner(gradient, self.shares[:, np.newaxis] * self.prices, self.limit)
                step, value = self._line_search(q, corner, gates, local)
                if value >= reached:
                    break
                q, gained, reached = q + step * (corner - q), reached - value, value
                if gained <= _TOLERANCE * 0.1 * abs(reached):
                    break
            return q

    def _line_search(self, q: Floats, corner: Floats, gates: Floats, local: Floats) -> tuple[float, float]:
        """Return the best step from q towards a corner, by golden section, and the objective there."""
        # Convex along the line, so golden section applies; the thesis leaves the step size open.
        ratio = (np.sqrt(5) - 1) / 2
        low, high = 0.0, 1.0

        def at(step: float) -> float:
            return self._loss(q + step * (corner - q), gates, local)

        a, b = high - ratio * (high - low), low + ratio * (high - low)
        at_a, at_b = at(a), at(b)
        for _ in range(_LINE_STEPS):
            if at_a <= at_b:
                high, b, at_b = b, a, at_a
                a = high - ratio * (high - low)
                at_a = at(a)
            else:
                low, a, at_a = a, b, at_b
                b = low + ratio * (high - low)
                at_b = at(b)
        return (a, at_a) if at_a <= at_b else (b, at_b)


def divergence(q: Floats, gates: Floats) -> Floats:
    """Return KL(q, sigmoid(gate)) of each opening.

    Examples
    --------
    >>> divergence(np.array([[0.5, 1.0]]), np.array([[0.0, 0.0]])).round(4)
    array([[0.    , 0.6931]])
    """
    return np.asarray(np.logaddexp(0.0, gates) - q * gates - entr(q) - entr(1 - q))


def cheapest_corner(gradient: Floats, prices: Floats, limit: float) -> Floats:
    """Minimise the inner product with a gradient over 0 <= q <= 1 within a budget: the sorting step.

    Entries of negative gradient are opened, those of the largest gain per price first, until the budget is
    used up; the last one in part. Other entries stay shut, whatever is left of the budget.

    Parameters
    ----------
    gradient : ndarray of float64, shape (n_rows, n_devices)
    prices : ndarray of float64, shape (n_rows, n_devices)
        What each entry uses of the budget.
    limit : float
        The budget.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_devices)

    Examples
    --------
    >>> gradient = np.array([[-3.0, -1.0], [2.0, -2.0]])
    >>> cheapest_corner(gradient, np.ones((2, 2)), 1.5)
    array([[1. , 0. ],
           [0. , 0.5]])
    >>> cheapest_corner(gradient, np.ones((2, 2)), np.inf)
    array([[1., 1.],
           [0., 1.]])
    """
    flat, price = gradient.ravel(), prices.ravel()
    corner = np.zeros(len(flat))
    wanted = np.flatnonzero(flat < 0)
    # Free entries have a ratio of minus infinity and are opened first.
    with np.errstate(divide="ignore"):
        ratio = flat[wanted] / price[wanted]
    order = wanted[np.argsort(ratio, kind="stable")]
    before = np.cumsum(price[order]) - price[order]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(price[order] > 0, (limit - before) / price[order], 1.0)
    corner[order] = np.clip(part, 0.0, 1.0)
    return corner.reshape(gradient.shape)
