"""The graph of states: what a row may own, and how it gets from one state to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.typing import Floats

NO_EDGE: Final = -1
"""Fills the rows of ``edges`` after the last edge of a state."""


@dataclass(frozen=True, eq=False)
class StateGraph:
    """States and the purchases that lead from one to another; every state may also stop.

    Parameters
    ----------
    states : ndarray of bool, shape (n_states, n_features)
        What a row owns. The first state, the root, costs nothing; the last owns all that can be bought.
    edges : ndarray of int64, shape (n_states, n_edges)
        The states that a purchase leads to, all of a higher number; `NO_EDGE` after the last.
    forced : ndarray of bool, shape (n_states,)
        States where a row does not stop, unless it can pay for no purchase.
    names : tuple of str
        What each state is called in the account of evaluations.
    """

    states: NDArray[np.bool_]
    edges: NDArray[np.int64]
    forced: NDArray[np.bool_]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.states)

    @property
    def n_actions(self) -> int:
        """The largest number of actions of a state, stopping included."""
        return 1 + int(self.edges.shape[1])

    def next_states(self, state: int) -> list[int]:
        """Return the states that the purchases of a state lead to."""
        edges: list[int] = self.edges[state].tolist()
        return [end for end in edges if end != NO_EDGE]

    def prices(self, state: int, costs: CostSheet) -> Floats:
        """Return what each purchase of a state costs a row that owns the state, shape (n_purchases,)."""
        owned = self.states[state]
        return np.array([costs.total(self.states[end], owned=owned) for end in self.next_states(state)])

    @classmethod
    def all_subsets(
        cls,
        free: NDArray[np.int64],
        sensors: Mapping[str, NDArray[np.int64]],
        n_features: int,
    ) -> StateGraph:
        """Return all subsets of sensors, each with an edge for every sensor that it lacks.

        Parameters
        ----------
        free : ndarray of int64
            Columns of every state.
        sensors : mapping of str to ndarray of int64
            The columns of each sensor.
        n_features : int
            Columns of the table.

        Examples
        --------
        >>> graph = StateGraph.all_subsets(np.array([2]), {"a": np.array([0]), "b": np.array([1])}, 3)
        >>> graph.states.astype(int).tolist()
        [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]]
        >>> graph.edges.tolist()
        [[1, 2], [3, -1], [3, -1], [-1, -1]]
        >>> graph.names
        ('no sensor', 'a', 'b', 'a, b')
        """
        columns = list(sensors.values())
        numbers = range(len(sensors))
        # Smaller sets first, so that every purchase leads to a state of a higher number.
        sets = [frozenset(part) for size in range(len(sensors) + 1) for part in combinations(numbers, size)]
        place = {owned: number for number, owned in enumerate(sets)}
        states = np.zeros((len(sets), n_features), dtype=np.bool_)
        states[:, free] = True
        edges = np.full((len(sets), len(sensors)), NO_EDGE, dtype=np.int64)
        for number, owned in enumerate(sets):
            for sensor in owned:
                states[number, columns[sensor]] = True
            ends = [place[owned | {sensor}] for sensor in numbers if sensor not in owned]
            edges[number, : len(ends)] = ends
        known = list(sensors)
        names = tuple(", ".join(known[m] for m in sorted(owned)) or "no sensor" for owned in sets)
        return cls(states, edges, np.zeros(len(sets), dtype=np.bool_), names)

    @classmethod
    def two_states(cls, cheap: NDArray[np.bool_], full: NDArray[np.bool_]) -> StateGraph:
        """Return a root that owns nothing and buys the cheap columns in any case, then all of them.

        Parameters
        ----------
        cheap, full : ndarray of bool, shape (n_features,)
            The columns of the two states; the second also owns those of the first.
        """
        states = np.array([np.zeros_like(cheap), cheap, cheap | full])
        edges = np.array([[1], [2], [NO_EDGE]], dtype=np.int64)
        return cls(states, edges, np.array([True, False, False]), ("nothing", "cheap", "full"))

    @classmethod
    def root_alone(cls, n_features: int) -> StateGraph:
        """Return the graph of one state, which owns nothing."""
        states = np.zeros((1, n_features), dtype=np.bool_)
        return cls(states, np.empty((1, 0), dtype=np.int64), np.zeros(1, dtype=np.bool_), ("nothing",))
