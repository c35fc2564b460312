"""Peers that are threads of one process: the sums of a cluster without one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from farthing.collective import among


class ThreadPeers:
    def __init__(self, group: _Group, rank: int, row_numbers: np.ndarray) -> None:
        self.size = group.barrier.parties
        self.n_rows = group.n_rows
        self.row_numbers = row_numbers
        self.rank = rank
        self._group = group

    def sum(self, numbers: np.ndarray) -> np.ndarray:
        return self._meet(numbers, np.add)

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        return self._meet(numbers, np.maximum)

    def _meet(self, numbers: np.ndarray, combine: Any) -> np.ndarray:
        return self._group.meet(self.rank, numbers, combine)


class _Group:
    def __init__(self, size: int, n_rows: int) -> None:
        self.barrier = threading.Barrier(size, timeout=15)
        self.n_rows = n_rows
        self._brought: list[Any] = [None] * size

    def meet(self, rank: int, numbers: np.ndarray, combine: Any) -> np.ndarray:
        self._brought[rank] = numbers.copy()
        self.barrier.wait()
        total = combine.reduce(self._brought)
        self.barrier.wait()
        return np.asarray(total)


def run_among(
    row_numbers: Sequence[np.ndarray], work: Callable[[int], Any], saved: Sequence[Any] = ()
) -> list[Any]:
    """Call ``work(rank)`` in one thread per rank, each with its own rows; return what they return."""
    group = _Group(len(row_numbers), sum(map(len, row_numbers)))

    def call(rank: int) -> Any:
        with among(ThreadPeers(group, rank, row_numbers[rank]), list(saved)):
            try:
                return work(rank)
            except BaseException:
                group.barrier.abort()
                raise

    with ThreadPoolExecutor(len(row_numbers)) as pool:
        return [future.result() for future in [pool.submit(call, rank) for rank in range(len(row_numbers))]]
