"""A small network whose sums are exact: one row has the bits of many, on any machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.booster import Floats
from farthing.store import register_codec

# Weights and what units say lie on grids and within bounds. A product has at most 23 + 20 bits and 2^9 units
# are added, so that float64, with its 53, holds every sum as it is, in whatever order it was added.
_GRID: Final = 2.0**18
_MOST: Final = 2.0**5 - 1 / _GRID
_SAID_GRID: Final = 2.0**12
_MOST_SAID: Final = 2.0**8
MOST_UNITS: Final = 2**9
_MOST_INPUTS: Final = 2**19


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of sums, and between them what is above zero.

    Parameters
    ----------
    weights : list of ndarray, shapes (n_inputs, n_units), ..., (n_units, n_outputs)
        On a grid, and within bounds.
    biases : list of ndarray, shapes (n_units,), ..., (n_outputs,)
        Likewise.

    Examples
    --------
    >>> network = Network([np.ones((2, 1)), np.full((1, 1), 0.5)], [np.zeros(1), np.ones(1)])
    >>> network.outputs(np.array([[1.0, 2.0], [0.0, -1.0]])).ravel()
    array([2.5, 1. ])
    """

    weights: list[Floats]
    biases: list[Floats]

    @property
    def n_inputs(self) -> int:
        """Inputs."""
        return len(self.weights[0])

    @property
    def n_outputs(self) -> int:
        """Outputs."""
        return len(self.biases[-1])

    @classmethod
    def of(cls, weights: Sequence[NDArray[np.floating]], biases: Sequence[NDArray[np.floating]]) -> Network:
        """Return the network of weights and biases that are brought onto the grid."""

        def on_grid(array: NDArray[np.floating]) -> Floats:
            return np.clip(np.rint(array.astype(np.float64) * _GRID) / _GRID, -_MOST, _MOST)

        return cls([on_grid(array) for array in weights], [on_grid(array) for array in biases])

    def outputs(self, inputs: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the outputs, shape (n_rows, n_outputs).

        Parameters
        ----------
        inputs : ndarray of float, shape (n_rows, n_inputs)
            On a grid of 2^-8, and between -4 and 4, for sums to be exact.
        """
        sums = inputs @ self.weights[0] + self.biases[0]
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            said = np.minimum(np.rint(np.maximum(sums, 0.0) * _SAID_GRID) / _SAID_GRID, _MOST_SAID)
            sums = said @ weights + biases
        return np.asarray(sums)


def _encode(network: Network) -> dict[str, object]:
    return {"weights": list(network.weights), "biases": list(network.biases)}


def _decode(fields: dict[str, Any]) -> Network:
    weights, biases = fields["weights"], fields["biases"]
    if not isinstance(weights, list) or not isinstance(biases, list) or len(weights) != len(biases):
        raise ValueError("a network has as many weights as biases")
    for array in (*weights, *biases):
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise ValueError("weights and biases must be arrays of float64")
        if not (np.abs(array) <= _MOST).all() or (np.rint(array * _GRID) != array * _GRID).any():
            raise ValueError("weights and biases must lie on their grid")
    shapes = [(len(left), len(right)) for left, right in pairwise(biases)]
    if len(weights) < 2 or any(array.ndim != 1 or not len(array) for array in biases):
        raise ValueError("a network has two layers or more")
    if (
        weights[0].ndim != 2
        or weights[0].shape[1] != len(biases[0])
        or not 0 < len(weights[0]) < _MOST_INPUTS
    ):
        raise ValueError("the first weights must lead from the inputs to the first layer")
    if [array.shape for array in weights[1:]] != shapes:
        raise ValueError("weights must lead from layer to layer")
    if max(len(array) for array in biases[:-1]) > MOST_UNITS:
        raise ValueError(f"a layer has at most {MOST_UNITS} units")
    return Network(weights, biases)


register_codec("Network", Network, _encode, _decode)
