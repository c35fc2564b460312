"""A network as an immutable value: widths and weights, which a file holds and the compiled core evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing._core import MaskedNetwork
from farthing.store import register_codec


@dataclass(frozen=True, eq=False)
class Network:
    """Rectified linear layers; the first is over rows of columns, see `ColumnInputs.first_layer`.

    Parameters
    ----------
    widths : ndarray of int64, shape (n_layers + 1,)
        Rows of the first layer, units of the hidden layers, outputs.
    weights : ndarray of float32
        For each layer a row for each input, and then the intercepts.

    Examples
    --------
    >>> Network.of([(np.ones((3, 2)), np.zeros(2)), (np.ones((2, 1)), np.zeros(1))]).widths
    array([3, 2, 1])
    """

    widths: NDArray[np.int64]
    weights: NDArray[np.float32]

    def __post_init__(self) -> None:
        widths, weights = self.widths, self.weights
        if not isinstance(widths, np.ndarray) or widths.dtype != np.int64 or widths.ndim != 1:
            raise ValueError("widths must be whole numbers, one more than there are layers")
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float32 or weights.ndim != 1:
            raise ValueError("weights must be an array of float32 of one dimension")
        if not np.isfinite(weights).all():
            raise ValueError("weights must be finite")
        _ = self.compiled  # raises if they do not fit together

    @classmethod
    def of(cls, layers: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Network:
        """Build one from the matrix, shape (n_inputs, n_units), and the intercepts of each layer."""
        widths = [layers[0][0].shape[0], *(len(intercepts) for _, intercepts in layers)]
        parts = [np.ravel(part) for layer in layers for part in layer]
        return cls(np.array(widths, dtype=np.int64), np.concatenate(parts).astype(np.float32))

    @cached_property
    def compiled(self) -> MaskedNetwork:
        """The network in the compiled core."""
        return MaskedNetwork(np.ascontiguousarray(self.widths), np.ascontiguousarray(self.weights))

    def __getstate__(self) -> dict[str, Any]:
        return {"widths": self.widths, "weights": self.weights}  # compiled objects do not pickle

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _encode(network: Network) -> dict[str, object]:
    return {"widths": network.widths, "weights": network.weights}


register_codec("Network", Network, _encode, lambda fields: Network(**fields))
