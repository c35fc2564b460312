"""The relaxed training: openings q of their own for each row and device, which the gates follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit, logit

from farthing.adaptive.adapt.projection import Floats
from farthing.adaptive.edge.blocks import Cloud, Objective, against, descend
from farthing.learning.blas_threads import one_thread

# Openings are kept this far from 0 and 1, where the divergence has no slope.
LEAST = 1e-6
# Sorting steps of one turn, halvings of a line search, and the turns end when one gains less than this.
_STEPS, _HALVINGS, _TOLERANCE = 10, 10, 1e-5


@dataclass(frozen=True, eq=False)
class Relaxation:
    """(OPT-Relax-Reg) or (OPT-Relax-Clf): the loss at the openings q, and the divergence of the gates.

    Attributes
    ----------
    cloud : Cloud
        The rows and the loss; the thesis's log loss lacks its minus sign.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which add up to 1.
    prices : ndarray of float64, shape (n_devices,)
    tradeoff : float
        What a unit of price weighs against the mean loss; 0 in the thesis, which has the budget alone.
    limit : float
        Most that openings may cost in the mean; infinite without a budget.
    coupling : float
        What the divergence weighs.
    """

    cloud: Cloud
    shares: Floats
    prices: Floats
    tradeoff: float
    limit: float
    coupling: float

    def solve(self, start: Floats, n_alternations: int, max_steps: int) -> tuple[Floats, list[float]]:
        """Take turns over q and the parameters; return these, and the objective after each half turn."""
        params = start
        most = min(0.5, self.limit / max(float(self.prices.sum()), 1e-300))
        q = np.full((self.cloud.blocks.n_rows, self.cloud.blocks.n_devices), max(most, LEAST))
        history: list[float] = []
        for _ in range(n_alternations):
            q = self._open(q, params)
            history.append(self.value(q, params))
            params = descend(self._fit(q), params, max_steps)
            history.append(self.value(q, params))
            if len(history) > 2 and history[-3] - history[-1] <= _TOLERANCE * abs(history[-1]):
                break
        return params, history

    @property
    def weighed(self) -> Floats:
        """What each opening adds to the objective, shape (n_rows, n_devices)."""
        return self.tradeoff * self.shares[:, np.newaxis] * self.prices

    def value(self, q: Floats, params: Floats) -> float:
        """Return the objective."""
        gates, local = self.cloud.blocks.scores(params)
        return self._loss(q, gates, local) + self.cloud.blocks.shrink(params, self.cloud.ridge)[0]

    def _loss(self, q: Floats, gates: Floats, local: Floats) -> float:
        value = self.cloud.hears(q, local)[0] + float((self.weighed * q).sum())
        return value + self.coupling * float((divergence(q, gates) * self.shares[:, np.newaxis]).sum())

    def _fit(self, q: Floats) -> Objective:
        """Return what gates and local models minimise for given openings; convex."""
        paid = float((self.weighed * q).sum())

        def objective(params: Floats) -> tuple[float, Floats]:
            gates, local = self.cloud.blocks.scores(params)
            value, slope = self.cloud.hears(q, local)
            value += paid
            apart = self.coupling * float((divergence(q, gates) * self.shares[:, np.newaxis]).sum())
            of_gates = self.coupling * (expit(gates) - q) * self.shares[:, np.newaxis]
            held, pull = self.cloud.blocks.shrink(params, self.cloud.ridge)
            gradient = self.cloud.blocks.gradient(of_gates, q.T[:, :, np.newaxis] * slope)
            return value + apart + held, gradient + pull

        return objective

    def _open(self, q: Floats, params: Floats) -> Floats:
        """Move q by Frank-Wolfe steps; the objective is convex in q, and never rises."""
        with one_thread():
            gates, local = self.cloud.blocks.scores(params)
            reached = self._loss(q, gates, local)
            for _ in range(_STEPS):
                slope = self.cloud.hears(q, local)[1]
                inner = logit(q.clip(LEAST, 1 - LEAST)) - gates
                gradient = against(slope, local) + self.weighed
                gradient += self.coupling * inner * self.shares[:, np.newaxis]
                corner = cheapest_corner(gradient, self.shares[:, np.newaxis] * self.prices, self.limit)
                step, value = self._line(q, corner, gates, local)
                if value >= reached:
                    break
                q, gained, reached = q + step * (corner - q), reached - value, value
                if gained <= _TOLERANCE * 0.1 * abs(reached):
                    break
            return q

    def _line(self, q: Floats, corner: Floats, gates: Floats, local: Floats) -> tuple[float, float]:
        """Return the best step from q towards a corner, by golden section, and the objective there."""
        ratio = (np.sqrt(5) - 1) / 2
        low, high = 0.0, 1.0

        def at(step: float) -> float:
            return self._loss(q + step * (corner - q), gates, local)

        a, b = high - ratio * (high - low), low + ratio * (high - low)
        at_a, at_b = at(a), at(b)
        for _ in range(_HALVINGS):
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


def cheapest_corner(gradient: Floats, weighed: Floats, limit: float) -> Floats:
    """Minimise the inner product with a gradient over 0 <= q <= 1 within a budget: the sorting step.

    Entries of negative gradient are opened, those first that gain most for their price, until the budget is
    gone; the last one in part. Entries of another gradient stay shut, whatever the budget has left.

    Parameters
    ----------
    gradient : ndarray of float64, shape (n_rows, n_devices)
    weighed : ndarray of float64, shape (n_rows, n_devices)
        What each entry takes of the budget.
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
    flat, price = gradient.ravel(), weighed.ravel()
    made = np.zeros(len(flat))
    wanted = np.flatnonzero(flat < 0)
    with np.errstate(divide="ignore"):
        ratio = flat[wanted] / price[wanted]
    order = wanted[np.argsort(ratio, kind="stable")]
    before = np.cumsum(price[order]) - price[order]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(price[order] > 0, (limit - before) / price[order], 1.0)
    made[order] = np.clip(part, 0.0, 1.0)
    return made.reshape(gradient.shape)
