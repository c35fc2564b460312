"""The rounds of an `OnlineGate`: random numbers, decisions, the round that awaits its label, the history."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.errors import FileError
from farthing.learning.random_numbers import random_bits

# Numbers drawn at a time; any block size gives the same stream.
_BLOCK: Final = 256
# Columns of the history, with their type in memory and in arrays.
_COLUMNS: Final = {"remote": ("b", np.bool_), "expert": ("q", np.int64), "chance": ("d", np.float64)}


class RandomStream:
    """Uniform random numbers, each a pure function of a key and of the number of the round.

    Parameters
    ----------
    key : int
        The seed.

    Examples
    --------
    >>> stream = RandomStream(7)
    >>> stream[300] == RandomStream(7)[300]
    True
    """

    def __init__(self, key: int) -> None:
        self.key = key
        self._first = -1
        self._block: list[float] = []

    def __getitem__(self, number: int) -> float:
        """Return the number of a round, uniform in [0, 1)."""
        place = number % _BLOCK
        if self._first != number - place:
            self._first = number - place
            bits = random_bits(self.key, np.arange(self._first, self._first + _BLOCK, dtype=np.uint64))
            # The upper 53 bits fill the significand of a double: uniform in [0, 1), and never 1.
            self._block = ((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53).tolist()
        return self._block[place]


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The decision about one row.

    Attributes
    ----------
    remote : bool
        Whether to ask the remote model, and to give its answer to `OnlineGate.feedback`.
    prediction : object
        The prediction of the local model; None if the remote one is to be asked.
    expert : int
        The drawn expert; the last one is the one that always asks.
    """

    remote: bool
    prediction: Any
    expert: int


@dataclass(frozen=True, slots=True)
class Pending:
    """A round whose label is awaited.

    Attributes
    ----------
    asks : ndarray of bool, shape (n_experts,)
        Which experts would send the row on.
    predictions : sequence, length n_experts - 1
        The predictions of their local models; the last expert has none.
    chance : float
        The probability that the row was sent on.
    """

    asks: NDArray[np.bool_]
    predictions: Any
    chance: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields to store in a file."""
        return {"asks": self.asks, "predictions": self.predictions, "chance": self.chance}

    @classmethod
    def from_dict(cls, given: Any, n_experts: int) -> Pending:
        """Build a round from what `to_dict` returned; nothing in it is trusted."""
        asks, predictions, chance = given["asks"], given["predictions"], given["chance"]
        if not isinstance(asks, np.ndarray) or asks.dtype != np.bool_ or asks.shape != (n_experts,):
            raise FileError(f"asks must be booleans of shape ({n_experts},)")
        if not isinstance(predictions, list | np.ndarray) or len(predictions) != n_experts - 1:
            raise FileError(f"predictions must be a list of {n_experts - 1}")
        if not isinstance(chance, float) or not 0 < chance <= 1 + 1e-9 or not asks[-1]:
            raise FileError("a row that is waiting has a chance above 0, and the last expert asks")
        return cls(asks, predictions, chance)


class History:
    """A record of all rounds, in 17 bytes of memory per round.

    Examples
    --------
    >>> history = History()
    >>> history.append(True, 2, 0.5)
    >>> history.arrays()["expert"]
    array([2])
    """

    def __init__(self, columns: dict[str, array[Any]] | None = None) -> None:
        self._columns = columns or {name: array(kind) for name, (kind, _) in _COLUMNS.items()}

    def append(self, remote: bool, expert: int, chance: float) -> None:
        """Add a round: whether the row was sent on, the expert drawn, and the probability of sending it."""
        columns = self._columns
        columns["remote"].append(remote)
        columns["expert"].append(expert)
        columns["chance"].append(chance)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns, each of shape (n_rounds,)."""
        return {name: np.array(self._columns[name], dtype=dtype) for name, (_, dtype) in _COLUMNS.items()}

    @classmethod
    def from_arrays(cls, given: Any, n_rounds: int) -> History:
        """Build a history from what `arrays` returned; nothing in it is trusted."""
        if not isinstance(given, dict) or set(given) != set(_COLUMNS):
            raise FileError(f"history must hold {sorted(_COLUMNS)}")
        columns: dict[str, array[Any]] = {}
        for name, (kind, dtype) in _COLUMNS.items():
            column = given[name]
            if not isinstance(column, np.ndarray) or column.dtype != dtype or column.shape != (n_rounds,):
                raise FileError(f"history of {name} must be {np.dtype(dtype)} of shape ({n_rounds},)")
            # `array` has no boolean type, so flags are stored as bytes.
            columns[name] = array(kind, column.astype(np.int8 if kind == "b" else dtype).tobytes())
        return cls(columns)
