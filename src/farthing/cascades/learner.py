"""A network in the making: gradients, and steps of Adam."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.network import Network

Singles: TypeAlias = NDArray[np.float32]

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
        For the first weights, and for what is dropped.
    dropped : float
        Part of the units that say nothing in a batch, others each time, so that none relies on another.

    Examples
    --------
    >>> chance = np.random.default_rng(0)
    >>> learner = Learner([1, 8, 1], chance)
    >>> inputs = np.array([[0.0], [1.0]], dtype=np.float32)
    >>> for _ in range(200):
    ...     learner.step(learner.outputs(inputs) - np.array([[1.0], [3.0]], dtype=np.float32), rate=0.02)
    >>> learner.network().outputs(inputs.astype(np.float64)).ravel().round(1)
    array([1., 3.])
    """

    def __init__(self, sizes: list[int], chance: np.random.Generator, dropped: float = 0.0) -> None:
        self._chance, self._dropped = chance, dropped
        self._weights: list[Singles] = []
        for n_heard, n_said in pairwise(sizes):
            drawn = chance.standard_normal((n_heard, n_said), dtype=np.float32)
            self._weights.append(drawn * np.float32(np.sqrt(2 / n_heard)))
        # Little is said at first, so that nothing is to be unlearned.
        self._weights[-1] *= np.float32(0.1)
        self._biases = [np.zeros(size, dtype=np.float32) for size in sizes[1:]]
        self._params = [*self._weights, *self._biases]
        self._first = [np.zeros_like(array) for array in self._params]
        self._second = [np.zeros_like(array) for array in self._params]
        self._heard: list[Singles] = []
        self._n_steps = 0

    def outputs(self, inputs: Singles) -> Singles:
        """Return the outputs of a batch, shape (n_rows, n_outputs), and remember it for `step`."""
        self._heard, said = [], inputs
        for weights, biases in zip(self._weights, self._biases, strict=True):
            if self._heard:
                np.maximum(said, 0, out=said)
                if self._dropped:
                    said *= self._chance.random(said.shape, dtype=np.float32) >= self._dropped
                    said *= np.float32(1 / (1 - self._dropped))
            self._heard.append(said)
            said = said @ weights
            said += biases
        return said

    def step(self, gradient: Singles, rate: float) -> None:
        """Move by Adam, against the gradient of the outputs of the last batch, shape (n_rows, n_outputs)."""
        weights: list[Singles] = []
        biases: list[Singles] = []
        for layer in reversed(range(len(self._heard))):
            heard = self._heard[layer]
            weights.insert(0, heard.T @ gradient)
            biases.insert(0, gradient.sum(axis=0))
            if layer:
                gradient = gradient @ self._weights[layer].T
                gradient *= (heard > 0) * np.float32(1 / (1 - self._dropped))
        self._n_steps += 1
        ahead = np.float32(rate / (1 - float(_BETA_1) ** self._n_steps))
        scale = np.float32(1 / np.sqrt(1 - float(_BETA_2) ** self._n_steps))
        for number, slope in enumerate([*weights, *biases]):
            first, second = self._first[number], self._second[number]
            np.add(_BETA_1 * first, (1 - _BETA_1) * slope, out=first)
            np.add(_BETA_2 * second, (1 - _BETA_2) * slope * slope, out=second)
            self._params[number] -= ahead * first / (np.sqrt(second) * scale + _SMALL)

    def network(self) -> Network:
        """Return the network as it is now, with exact sums and all of its units."""
        return Network.of(self._weights, self._biases)
