"""Gates and local models of all devices at once: scores, losses and gradients over the training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from farthing.adaptive.adapt.gate_pairs import LinearPair
from farthing.adaptive.adapt.projection import Floats
from farthing.adaptive.edge.devices import Devices
from farthing.learning.blas_threads import one_thread
from farthing.learning.proximal_descent import Design

# From scores, shape (n_rows, n_scores), to the mean loss and its gradient, of the same shape.
Loss: TypeAlias = Callable[[Floats], tuple[float, Floats]]
# From parameters to an objective and its gradient.
Objective: TypeAlias = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True)
class Activation:
    """A gate's opening as a function of its score, and the derivative."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


def _bell(z: Floats) -> Floats:
    p = expit(z)
    return np.asarray(p * (1 - p))


ACTIVATIONS: Final = {
    "sigmoid": Activation(lambda z: np.asarray(expit(z)), _bell),
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
        Where the terms of each device stand in the design.
    n_scores : int
        Numbers that a device says.
    """

    parts: list[Floats]
    places: list[NDArray[np.int64]]
    n_scores: int

    @classmethod
    def of(cls, design: Design, devices: Devices, n_scores: int) -> Blocks:
        """Sort the terms of a design by device; those of no device are left out."""
        columns = design.blank.columns
        places = [np.flatnonzero(np.isin(columns, own)).astype(np.int64) for own in devices.columns]
        return cls([np.ascontiguousarray(design.terms[:, own]) for own in places], places, n_scores)

    @property
    def n_devices(self) -> int:
        """How many devices there are."""
        return len(self.parts)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
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
        """Return the gradient of the parameters from those of the scores; None is zero."""
        slope = np.zeros((self.n_devices, self.n_rows, 1 + self.n_scores))
        if of_gates is not None:
            slope[:, :, 0] = of_gates.T
        if of_local is not None:
            slope[:, :, 1:] = of_local
        rows = [part.T @ one for part, one in zip(self.parts, slope, strict=True)]
        return np.concatenate([*rows, slope.sum(axis=1)]).ravel()

    def shrink(self, params: Floats, ridge: float) -> tuple[float, Floats]:
        """Return half the ridge times the squares of coefficients, and the gradient; intercepts are free."""
        table = params.reshape(self.shape).copy()
        table[-self.n_devices :] = 0
        return float(ridge / 2 * (table**2).sum()), (ridge * table).ravel()

    def pairs(self, params: Floats, blank: LinearPair, scale: float = 1.0) -> list[LinearPair]:
        """Return gate and local model of each device; what is said is multiplied by a scale."""
        coefs, intercepts = self.split(params)
        factors = np.array([1.0] + [scale] * self.n_scores)
        return [
            replace(
                blank,
                columns=blank.columns[own],
                category=blank.category[own],
                mean=blank.mean[own],
                scale=blank.scale[own],
                coef=coef * factors,
                intercept=intercept * factors,
            )
            for own, coef, intercept in zip(self.places, coefs, intercepts, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Cloud:
    """What adds up the scores of devices, and what is lost by them: objectives over the parameters.

    Attributes
    ----------
    blocks : Blocks
        The rows, device by device.
    loss : callable
        From scores to the mean loss and its gradient.
    prior : ndarray of float64, shape (n_scores,)
        The scores when all are silent.
    ridge : float
        Of the coefficients.
    """

    blocks: Blocks
    loss: Loss
    prior: Floats
    ridge: float

    def hears(self, opened: Floats, local: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient if what each device says counts as much as its gate is open.

        Parameters
        ----------
        opened : ndarray of float64, shape (n_rows, n_devices)
        local : ndarray of float64, shape (n_devices, n_rows, n_scores)
        """
        return self.loss(self.prior + np.einsum("nk,knm->nm", opened, local))

    def direct(self, activation: Activation, weighed: Floats) -> Objective:
        """Return (OPT-Direct-Clf), or its squared error: the loss of soft gates, and what they cost.

        Parameters
        ----------
        activation : Activation
            How open a gate is at a score.
        weighed : ndarray of float64, shape (n_rows, n_devices)
            What each opening costs: trade-off, price and weight of the row multiplied.
        """

        def objective(params: Floats) -> tuple[float, Floats]:
            gates, local = self.blocks.scores(params)
            opened = activation.value(gates)
            value, slope = self.hears(opened, local)
            of_gates = (against(slope, local) + weighed) * activation.slope(gates)
            held, pull = self.blocks.shrink(params, self.ridge)
            total = value + float((weighed * opened).sum()) + held
            return total, self.blocks.gradient(of_gates, opened.T[:, :, np.newaxis] * slope) + pull

        return objective

    def settled(self, opened: Floats) -> Objective:
        """Return the loss of the local models for gates that stay as they are; convex."""

        def objective(params: Floats) -> tuple[float, Floats]:
            value, slope = self.hears(opened, self.blocks.scores(params)[1])
            held, pull = self.blocks.shrink(params, self.ridge)
            return value + held, self.blocks.gradient(None, opened.T[:, :, np.newaxis] * slope) + pull

        return objective

    def refit(self, opened: Floats, start: Floats, max_steps: int) -> Floats:
        """Fit the local models once more, to gates that stay as they are; return all parameters."""
        made = descend(self.settled(opened), start, max_steps)
        made.reshape(self.blocks.shape)[:, 0] = start.reshape(self.blocks.shape)[:, 0]
        return made

    def first(self, opened: float, max_steps: int) -> Floats:
        """Return where to begin: gates of score 1, open by that much, and the best local models."""
        table = np.zeros(self.blocks.shape)
        table[-self.blocks.n_devices :, 0] = 1.0
        everyone = np.full((self.blocks.n_rows, self.blocks.n_devices), opened)
        return self.refit(everyone, table, max_steps)


def against(slope: Floats, local: Floats) -> Floats:
    """Return the gradient of openings, (n_rows, n_devices), from that of the scores."""
    return np.asarray(np.einsum("nm,knm->nk", slope, local))


def descend(objective: Objective, start: Floats, max_steps: int) -> Floats:
    """Minimise by L-BFGS."""
    # One thread, as everywhere in this package: the bits do not depend on it.
    with one_thread():
        options: Any = {"maxiter": max_steps, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-7}
        return np.array(minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options).x)
