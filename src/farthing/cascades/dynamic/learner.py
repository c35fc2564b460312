"""A network in the making: gradients, and steps of Adam."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.dynamic.network import Network

Singles = NDArray[np.float32]

_BETA_1: Final = np.float32(0.9)
_BETA_2: Final = np.float32(0.999)
_SMALL: Final = np.float32(1e-8)


class Learner:
    """A network of float32 that moves against gradients.

    Parameters
    ----------
    sizes : list of int
        Inputs, units of each layer, outputs.
    chance : Generator
        For the first weights.
    """

    def __init__(self, sizes: list[int], chance: np.random.Generator) -> None:
        pairs = list(pairwise(sizes))
        weights = [
            chance.standard_normal(pair, dtype=np.float32) * np.float32(np.sqrt(2 / pair[0]))
            for pair in pairs
        ]
        # Nothing is said at first, so that all is learned and nothing to be unlearned.
        weights[-1] *= np.float32(0.1)
        #: The network as it is now; its arrays are changed by `step`.
        self.network = Network(weights, [np.zeros(size, dtype=np.float32) for size in sizes[1:]])
        self._params = [*self.network.weights, *self.network.biases]
        self._first = [np.zeros_like(array) for array in self._params]
        self._second = [np.zeros_like(array) for array in self._params]
        self._heard: list[NDArray[np.floating]] = []
        self._n_steps = 0

    def outputs(self, inputs: Singles) -> NDArray[np.floating]:
        """Return the outputs of a batch, shape (n_rows, n_outputs), and remember it for `step`."""
        self._heard = [inputs]
        said = self.sums = self.network.sums(inputs)
        for weights, biases in zip(self.network.weights[1:], self.network.biases[1:], strict=True):
            self._heard.append(np.maximum(said, 0))
            said = self._heard[-1] @ weights
            said += biases
        return said

    def step(self, gradient: NDArray[np.floating], rate: float) -> None:
        """Move by Adam, against the gradient of the outputs of the last batch, shape (n_rows, n_outputs)."""
        weights: list[NDArray[np.floating]] = []
        biases: list[NDArray[np.floating]] = []
        for layer in reversed(range(len(self._heard))):
            heard = self._heard[layer]
            weights.insert(0, heard.T @ gradient)
            biases.insert(0, gradient.sum(axis=0))
            if layer:
                gradient = gradient @ self.network.weights[layer].T
                gradient *= heard > 0
        self._n_steps += 1
        ahead = np.float32(rate / (1 - float(_BETA_1) ** self._n_steps))
        scale = np.float32(1 / np.sqrt(1 - float(_BETA_2) ** self._n_steps))
        for number, slope in enumerate([*weights, *biases]):
            first, second = self._first[number], self._second[number]
            np.add(_BETA_1 * first, (1 - _BETA_1) * slope, out=first)
            np.add(_BETA_2 * second, (1 - _BETA_2) * slope * slope, out=second)
            self._params[number] -= ahead * first / (np.sqrt(second) * scale + _SMALL)
