"""A network while it is trained, in PyTorch: rectified linear layers over masks and terms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from farthing.deep.networks.column_inputs import ColumnInputs
from farthing.deep.networks.network import Network

Tensor: TypeAlias = Any


class TorchNetwork:
    """Weights, and what they give for a batch.

    Parameters
    ----------
    widths : sequence of int
        Inputs, hidden units, outputs.
    random : numpy.random.RandomState
        Draws the first weights, uniformly within one over the root of the number of inputs.
    """

    def __init__(self, widths: Sequence[int], random: np.random.RandomState) -> None:
        self.layers: list[tuple[Tensor, Tensor]] = []
        for n_in, n_out in pairwise(widths):
            bound = 1 / np.sqrt(max(1, n_in))
            drawn = random.uniform(-bound, bound, size=(n_in + 1, n_out)).astype(np.float32)
            weights, intercepts = torch.from_numpy(drawn[:n_in].copy()), torch.from_numpy(drawn[n_in].copy())
            self.layers.append((weights.requires_grad_(), intercepts.requires_grad_()))

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and intercepts."""
        return [part for layer in self.layers for part in layer]

    def __call__(self, inputs: Tensor, dropout: float = 0.0, generator: Any = None) -> Tensor:
        """Return the outputs, shape (n_rows, n_outputs), of inputs, shape (n_rows, n_inputs)."""
        *hidden, (weights, intercepts) = self.layers
        for each, shift in hidden:
            inputs = torch.relu(torch.addmm(shift, inputs, each))
            if dropout:
                kept = torch.rand(inputs.shape, generator=generator) >= dropout
                inputs = inputs * kept / (1 - dropout)
        return torch.addmm(intercepts, inputs, weights)

    def copied(self) -> list[Tensor]:
        """Return copies of the parameters."""
        return [part.detach().clone() for part in self.parameters]

    def restore(self, parts: Sequence[Tensor]) -> None:
        """Take parameters that `copied` returned."""
        with torch.no_grad():
            for part, kept in zip(self.parameters, parts, strict=True):
                part.copy_(kept)

    def as_value(self, inputs: ColumnInputs, used: NDArray[np.bool_]) -> Network:
        """Return the trained network as the compiled core takes it.

        Parameters
        ----------
        inputs : ColumnInputs
            The inputs of the columns.
        used : ndarray of bool, shape (n_terms,)
            The terms that it was trained on; the others were 0 in all rows.
        """
        layers = [(weights.detach().numpy(), shift.detach().numpy()) for weights, shift in self.layers]
        first, shift = layers[0]
        n_masks = len(inputs.n_terms)
        whole = np.zeros((n_masks + len(used), first.shape[1]), dtype=np.float32)
        whole[:n_masks] = first[:n_masks]
        whole[n_masks:][used] = first[n_masks:]
        return Network.of([(inputs.first_layer(whole), shift), *layers[1:]])
