"""Training of gates and local models: direct, relaxed, or by projection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.edge.blocks import (
    ACTIVATIONS,
    Activation,
    Blocks,
    Cloud,
    Loss,
    Objective,
    minimise,
)
from farthing.adaptive.edge.projection import nearest_within
from farthing.adaptive.edge.relaxed import TOLERANCE, Relaxation
from farthing.learning.adam import Adam
from farthing.learning.blas_threads import one_blas_thread
from farthing.typing import Floats

# From target and shares of rows to their loss; the classifier and the regressor differ in it.
LossOf: TypeAlias = Callable[[NDArray[Any], Floats], Loss]

# Rows of a batch of Adam.
_BATCH_SIZE: Final = 100
# Steps of L-BFGS between two projections, and levels at which a threshold is tried.
_STEPS_PER_PROJECTION: Final = 5
_LEVELS: Final = 41


@dataclass(frozen=True, eq=False)
class Task:
    """The training rows, and the objective over them.

    Attributes
    ----------
    blocks : Blocks
        The rows, device by device.
    target : ndarray, shape (n_rows,)
        Classes as numbers from 0, or standardised numbers.
    loss_of : callable
        From (target, shares) to a loss of scores.
    prior : ndarray of float64, shape (n_scores,)
        The scores if all devices are silent.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which add up to 1.
    prices : ndarray of float64, shape (n_devices,)
        What a message costs.
    tradeoff : float
        Weight of a unit of price against the mean loss.
    l2_regularization : float
        Strength of the L2 penalty.
    max_steps : int
        Maximum number of L-BFGS steps.
    gated : bool
        Whether devices may be silent: something costs something, or there is a budget.
    """

    blocks: Blocks
    target: NDArray[Any]
    loss_of: LossOf
    prior: Floats
    shares: Floats
    prices: Floats
    tradeoff: float
    l2_regularization: float
    max_steps: int
    gated: bool = True

    @property
    def cloud(self) -> Cloud:
        """The sum of the devices' scores, and its loss over all rows."""
        loss = self.loss_of(self.target, self.shares)
        return Cloud(self.blocks, loss, self.prior, self.l2_regularization, self.gated)

    @property
    def opening_costs(self) -> Floats:
        """The cost of each opening in the objective, shape (n_rows, n_devices)."""
        return self.tradeoff * self.shares[:, np.newaxis] * self.prices

    def start(self, opened: float = 1.0) -> Floats:
        """Return equal gates for all rows, and the best local models for them."""
        return self.cloud.initial(opened, self.max_steps)

    def refit(self, params: Floats, threshold: float) -> Floats:
        """Fit the local models again, to hard gates."""
        gates, _ = self.blocks.scores(params)
        return self.cloud.refit((gates > threshold).astype(np.float64), params, self.max_steps)

    def best_threshold(self, params: Floats, activation: Activation) -> float:
        """Return the threshold of the least loss plus price, if soft gates are cut off at it."""
        gates, local = self.blocks.scores(params)
        levels = _between(gates.ravel(), np.repeat(self.shares, gates.shape[1]))
        soft, cloud, opening_costs = activation.value(gates), self.cloud, self.opening_costs
        found = []
        # Soft gates above the level and none below: closer to the hard gates of prediction than the soft
        # gates alone, and cheap, since nothing is refitted.
        for level in (-np.inf, *levels):
            opened = gates > level
            paid = float((opening_costs * opened).sum())
            found.append((cloud.loss_at(soft * opened, local)[0] + paid, level))
        return min(found)[1]

    def take(self, rows: NDArray[np.int64]) -> Task:
        """Return the task of some of the rows; their weights add up to 1 again."""
        parts = [part[rows] for part in self.blocks.parts]
        shares = self.shares[rows] / self.shares[rows].sum()
        return replace(
            self, blocks=replace(self.blocks, parts=parts), target=self.target[rows], shares=shares
        )

    def objective(self, activation: Activation) -> Objective:
        """Return (OPT-Direct-Clf), or its squared error."""
        return self.cloud.direct(activation, self.opening_costs)


def _between(scores: Floats, weights: Floats) -> list[float]:
    """Return levels between scores, equal weights apart; scores that differ by rounding are not separated."""
    order = np.argsort(scores, kind="stable")
    ascending, below = scores[order], np.cumsum(weights[order])
    gaps = np.flatnonzero(np.diff(ascending) > 1e-9 * (1 + np.abs(ascending[1:])))
    if not len(gaps):
        return []
    # Not at round shares: sums of weights may hit those exactly, and rounding would decide.
    wanted = (np.arange(_LEVELS) + 0.618) / _LEVELS * below[-1]
    places = gaps[np.minimum(np.searchsorted(below[gaps], wanted), len(gaps) - 1)]
    return np.unique((ascending[places] + ascending[places + 1]) / 2).tolist()  # type: ignore[no-any-return]


def learn_direct(task: Task, activation: str) -> tuple[Floats, list[float]]:
    """Minimise by L-BFGS; return the parameters, and the objective before and after."""
    gate = ACTIVATIONS[activation]
    objective = task.objective(gate)
    start = task.start(float(gate.value(np.array(1.0))))
    params = minimise(objective, start, task.max_steps)
    return params, [objective(start)[0], objective(params)[0]]


def learn_by_adam(
    task: Task, activation: str, n_epochs: int, learning_rate: float, rng: np.random.RandomState
) -> tuple[Floats, list[float]]:
    """Minimise by Adam over batches of 100 rows; return parameters, and the objective after each epoch."""
    gate = ACTIVATIONS[activation]
    params = task.start(float(gate.value(np.array(1.0)))).ravel().copy()
    objective = task.objective(gate)
    history = [objective(params)[0]]
    adam = Adam(len(params), learning_rate)
    with one_blas_thread():
        for _ in range(n_epochs):
            order = rng.permutation(len(task.shares))
            # Batches of nearly equal size: a small last one would have a noisy gradient.
            for rows in np.array_split(order, max(1, len(order) // _BATCH_SIZE)):
                _, slope = task.take(rows).objective(gate)(params)
                params -= adam.step(slope)
            history.append(objective(params)[0])
    return params, history


def learn_relaxed(
    task: Task, limit: float, coupling: float, n_alternations: int
) -> tuple[Floats, list[float]]:
    """Alternate over openings of each row and device, and the gates that follow them."""
    relaxation = Relaxation(task.cloud, task.shares, task.prices, task.tradeoff, limit, coupling)
    return relaxation.solve(task.start(), n_alternations, task.max_steps)


def learn_projected(
    task: Task, activation: str, limit: float, n_alternations: int
) -> tuple[Floats, list[float]]:
    """Minimise (7.3), and project the gates on the budget after every few steps, by (7.5).

    The projection shuts the openings of least score until the rest is within the budget, and the gates are
    fitted to what is left by least squares. The fitted gates need not keep the budget exactly; the threshold
    that is set later does.
    """
    gate = ACTIVATIONS[activation]
    objective = task.objective(gate)
    params = task.start(float(gate.value(np.array(1.0)))).ravel()
    history = [objective(params)[0]]
    for _ in range(n_alternations):
        params = minimise(objective, params, _STEPS_PER_PROJECTION)
        gates, _ = task.blocks.scores(params)
        goal = nearest_within(gates, task.shares, task.prices, limit)
        params = _fit_gates(task, params, goal)
        history.append(objective(params)[0])
        if abs(history[-2] - history[-1]) <= TOLERANCE * abs(history[-1]):
            break
    return params, history


def _fit_gates(task: Task, params: Floats, goal: Floats) -> Floats:
    """Fit the gates to scores by least squares."""
    # (7.4) would project the coefficients. (7.5) projects the scores instead, and the coefficients follow
    # from them by least squares (section 7.1.3).
    blocks, table = task.blocks, params.reshape(task.blocks.shape).copy()
    root = np.sqrt(task.shares)[:, np.newaxis]
    begin = 0
    with one_blas_thread():
        for device, part in enumerate(blocks.parts):
            with_intercept = np.column_stack([part, np.ones(len(part))]) * root
            solution = np.linalg.lstsq(with_intercept, goal[:, device] * root[:, 0], rcond=None)[0]
            table[begin : begin + part.shape[1], 0] = solution[:-1]
            table[len(table) - blocks.n_devices + device, 0] = solution[-1]
            begin += part.shape[1]
    return table.ravel()
