"""Gates and local models of all devices at once: scores, losses and gradients over the training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from farthing.adaptive.edge.devices import Devices
from farthing.learning.blas_threads import one_blas_thread
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.typing import Floats

# From scores, shape (n_rows, n_scores), to the mean loss and its gradient, of the same shape.
Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]
# From parameters to an objective and its gradient.
Objective: TypeAlias = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True)
class Activation:
    """The opening of a gate as a function of its score, and the derivative."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


def _sigmoid_slope(z: Floats) -> Floats:
    p = expit(z)
    return np.asarray(p * (1 - p))


ACTIVATIONS: Final = {
    "sigmoid": Activation(lambda z: np.asarray(expit(z)), _sigmoid_slope),
    "relu": Activation(lambda z: np.maximum(z, 0.0), lambda z: (z > 0).astype(np.float64)),
}


@dataclass(frozen=True, eq=False)
class Blocks:
    """The terms of each device, and how parameters lie in one vector.

    Parameters are one array (n_terms + n_devices, 1 + n_scores): the coefficients of the terms, device by
    device, then an intercept for each device. Column 0 is the gate's, the others are the local model's.

    Attributes
    ----------
    parts : list of ndarray of float64, shape (n_rows, n_terms_of_device)
        The standardised terms.
    places : list of ndarray of int64
        The terms of each device, as places in the design.
    n_scores : int
        Scores of a message.
    """

    parts: list[Floats]
    places: list[NDArray[np.int64]]
    n_scores: int

    @classmethod
    def of(cls, design: LinearDesign, devices: Devices, n_scores: int) -> Blocks:
        """Group the terms of a design by device; those of no device are left out."""
        columns = design.zeros.columns
        places = [np.flatnonzero(np.isin(columns, own)).astype(np.int64) for own in devices.columns]
        return cls([np.ascontiguousarray(design.terms[:, own]) for own in places], places, n_scores)

    @property
    def n_devices(self) -> int:
        """Number of devices."""
        return len(self.parts)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.parts[0])

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the parameters."""
        return sum(part.shape[1] for part in self.parts) + self.n_devices, 1 + self.n_scores

    def split(self, params: Floats) -> tuple[list[Floats], Floats]:
        """Return the coefficients of each device and the intercepts, (n_devices, 1 + n_scores)."""
        table = params.reshape(self.shape)
        bounds = np.cumsum([part.shape[1] for part in self.parts])
        return np.split(table[: bounds[-1]], bounds[:-1]), table[bounds[-1] :]

    def scores(self, params: Floats) -> tuple[Floats, Floats]:
        """Return scores of gates, (n_rows, n_devices), and local ones, (n_devices, n_rows, n_scores)."""
        coefs, intercepts = self.split(params)
        both = np.stack(
            [part @ coef + own for part, coef, own in zip(self.parts, coefs, intercepts, strict=True)]
        )
        return np.ascontiguousarray(both[:, :, 0].T), both[:, :, 1:]

    def gradient(self, of_gates: Floats | None, of_local: Floats | None) -> Floats:
        """Return the gradient of the parameters from those of the scores; None means zero."""
        slope = np.zeros((self.n_devices, self.n_rows, 1 + self.n_scores))
        if of_gates is not None:
            slope[:, :, 0] = of_gates.T
        if of_local is not None:
            slope[:, :, 1:] = of_local
        rows = [part.T @ one for part, one in zip(self.parts, slope, strict=True)]
        return np.concatenate([*rows, slope.sum(axis=1)]).ravel()

    def ridge(self, params: Floats, strength: float, *, gated: bool = True) -> tuple[float, Floats]:
        """Return strength / 2 times the squares of all but the gates' intercepts, and the gradient.

        If devices are not ``gated``, all of them send always, and local intercepts are not penalised either:
        their sum is the one intercept of a linear model.
        """
        table = params.reshape(self.shape).copy()
        # The gates' intercepts set how often devices send. Those of the local models do shrink: they add up
        # over the devices that send, so that without a penalty their differences are not determined, and a
        # nearly shut gate with a huge intercept would send as much as an open one at no cost.
        table[-self.n_devices :, : 1 if gated else None] = 0
        return float(strength / 2 * (table**2).sum()), (strength * table).ravel()

    def pairs(self, params: Floats, zeros: LinearScores, scale: float = 1.0) -> list[LinearScores]:
        """Return gate and local model of each device; local scores are multiplied by a scale."""
        coefs, intercepts = self.split(params)
        factors = np.array([1.0] + [scale] * self.n_scores)
        return [
            replace(
                zeros,
                columns=zeros.columns[own],
                category=zeros.category[own],
                mean=zeros.mean[own],
                scale=zeros.scale[own],
                coef=coef * factors,
                intercept=intercept * factors,
            )
            for own, coef, intercept in zip(self.places, coefs, intercepts, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Cloud:
    """The sum of the scores of devices, and its loss: objectives over the parameters.

    Attributes
    ----------
    blocks : Blocks
        The rows, device by device.
    loss : callable
        From scores to the mean loss and its gradient.
    prior : ndarray of float64, shape (n_scores,)
        The scores if all devices are silent.
    l2_regularization : float
        Strength of the L2 penalty.
    gated : bool
        Whether devices may be silent; see `Blocks.ridge`.
    """

    blocks: Blocks
    loss: Loss
    prior: Floats
    l2_regularization: float
    gated: bool = True

    def loss_at(self, opened: Floats, local: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient if each message is multiplied by how open its gate is.

        Parameters
        ----------
        opened : ndarray of float64, shape (n_rows, n_devices)
        local : ndarray of float64, shape (n_devices, n_rows, n_scores)
        """
        return self.loss(self.prior + np.einsum("nk,knm->nm", opened, local))

    def direct(self, activation: Activation, opening_costs: Floats) -> Objective:
        """Return (OPT-Direct-Clf), or its squared error: the loss of soft gates, and what they cost.

        Parameters
        ----------
        activation : Activation
            How open a gate is at a score.
        opening_costs : ndarray of float64, shape (n_rows, n_devices)
            What each opening costs: trade-off times price times weight of the row.
        """

        def objective(params: Floats) -> tuple[float, Floats]:
            gates, local = self.blocks.scores(params)
            opened = activation.value(gates)
            value, slope = self.loss_at(opened, local)
            # Chain rule: the loss and the price both depend on a gate's score through its opening alone.
            of_gates = (opening_gradient(slope, local) + opening_costs) * activation.slope(gates)
            ridge, ridge_slope = self.blocks.ridge(params, self.l2_regularization, gated=self.gated)
            total = value + float((opening_costs * opened).sum()) + ridge
            return total, self.blocks.gradient(of_gates, opened.T[:, :, np.newaxis] * slope) + ridge_slope

        return objective

    def with_fixed_gates(self, opened: Floats) -> Objective:
        """Return the objective of the local models for gates that stay as they are; convex."""

        def objective(params: Floats) -> tuple[float, Floats]:
            value, slope = self.loss_at(opened, self.blocks.scores(params)[1])
            ridge, ridge_slope = self.blocks.ridge(params, self.l2_regularization, gated=self.gated)
            return value + ridge, self.blocks.gradient(None, opened.T[:, :, np.newaxis] * slope) + ridge_slope

        return objective

    def refit(self, opened: Floats, start: Floats, max_steps: int) -> Floats:
        """Fit the local models again, to gates that stay as they are; return all parameters."""
        params = minimise(self.with_fixed_gates(opened), start, max_steps)
        # The L2 penalty has shrunk the gates too, on which this loss does not depend: they are restored.
        params.reshape(self.blocks.shape)[:, 0] = start.reshape(self.blocks.shape)[:, 0]
        return params

    def initial(self, opened: float, max_steps: int) -> Floats:
        """Return the starting point: gates of score 1, open by that much, and the best local models."""
        table = np.zeros(self.blocks.shape)
        table[-self.blocks.n_devices :, 0] = 1.0
        everyone = np.full((self.blocks.n_rows, self.blocks.n_devices), opened)
        return self.refit(everyone, table, max_steps)


def opening_gradient(slope: Floats, local: Floats) -> Floats:
    """Return the gradient of openings, (n_rows, n_devices), from that of the scores."""
    return np.asarray(np.einsum("nm,knm->nk", slope, local))


def minimise(objective: Objective, start: Floats, max_steps: int) -> Floats:
    """Minimise by L-BFGS."""
    # Repeatable: the last bits of a matrix product depend on the number of BLAS threads, and L-BFGS amplifies
    # them over its steps.
    with one_blas_thread():
        options: Any = {"maxiter": max_steps, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-7}
        return np.array(minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options).x)
