"""Adam, the stochastic gradient method of Kingma and Ba (2015)."""

from __future__ import annotations

from typing import Final

import numpy as np

from farthing.typing import Floats

# Decay rates of the two moments, and the term that avoids division by zero: the defaults of the paper.
_BETA_1: Final = 0.9
_BETA_2: Final = 0.999
_EPSILON: Final = 1e-8


class Adam:
    """The state of a descent: running means of gradients and of their squares.

    Parameters
    ----------
    n_params : int
        Number of parameters.
    learning_rate : float
        Step size.

    Examples
    --------
    >>> adam, x = Adam(1, learning_rate=0.1), np.array([1.0])
    >>> for _ in range(100):
    ...     x -= adam.step(2 * x)
    >>> bool(abs(x[0]) < 0.01)
    True
    """

    def __init__(self, n_params: int, learning_rate: float) -> None:
        self._learning_rate = learning_rate
        self._mean = np.zeros(n_params)
        self._mean_square = np.zeros(n_params)
        self._n_steps = 0

    def step(self, gradient: Floats) -> Floats:
        """Return what to subtract from the parameters, shape (n_params,), at a gradient."""
        self._n_steps += 1
        self._mean = _BETA_1 * self._mean + (1 - _BETA_1) * gradient
        self._mean_square = _BETA_2 * self._mean_square + (1 - _BETA_2) * gradient**2
        # The moments start at zero; this division corrects the bias (Algorithm 1 of the paper).
        ahead = self._mean / (1 - _BETA_1**self._n_steps)
        unbiased_square = self._mean_square / (1 - _BETA_2**self._n_steps)
        return np.asarray(self._learning_rate * ahead / (np.sqrt(unbiased_square) + _EPSILON))
