"""Prices by the clock: how long each block of a pipeline takes, per row."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from farthing.costs.blocks import Block, blocks_of, n_rows_of, take_rows
from farthing.costs.group import Group
from farthing.errors import CostError

Per: TypeAlias = Literal["row", "batch"]

#: How many of a unit are a second.
UNITS: Final = {"s": 1.0, "ms": 1e3, "us": 1e6}


@dataclass(frozen=True)
class Times:
    """The seconds per row that repeated calls took.

    Attributes
    ----------
    median : float
        The median over the calls.
    spread : float
        The interquartile range.
    """

    median: float
    spread: float

    @classmethod
    def of(cls, seconds: list[float]) -> Times:
        """Summarise the seconds of some calls."""
        low, high = np.quantile(seconds, [0.25, 0.75])
        return cls(statistics.median(seconds), float(high - low))


@dataclass(frozen=True)
class BlockTimes:
    """What one block takes.

    Attributes
    ----------
    name : str
        The block.
    features : tuple of str
        Its outputs.
    row : Times
        Of a call with one row, as in a consultation.
    batch : Times
        Of a call with many rows, per row, as in a scoring job.
    """

    name: str
    features: tuple[str, ...]
    row: Times
    batch: Times


@dataclass(frozen=True)
class Measurement:
    """The times of all blocks of a pipeline.

    Attributes
    ----------
    blocks : tuple of BlockTimes
        In the order of the pipeline.
    batch : int
        Rows of a batch.
    repeats : int
        Calls of each kind.
    """

    blocks: tuple[BlockTimes, ...]
    batch: int
    repeats: int

    def prices(self, per: Per, unit: str) -> tuple[dict[str, float], dict[str, Group]]:
        """Return own costs and groups: a block is a group, as its features are computed together.

        Its time is the shared cost, and what a further feature of it costs is nothing. A block of one feature
        needs no group.
        """
        if per not in ("row", "batch"):
            raise CostError(f"per must be 'row' or 'batch'; got {per!r}")
        if unit not in UNITS:
            raise CostError(f"unit must be one of {', '.join(UNITS)}; got {unit!r}")
        own: dict[str, float] = {}
        groups: dict[str, Group] = {}
        for block in self.blocks:
            price = getattr(block, per).median * UNITS[unit]
            if len(block.features) == 1:
                own[block.features[0]] = price
            else:
                own.update(dict.fromkeys(block.features, 0.0))
                groups[block.name] = Group(price, block.features)
        return own, groups

    def lines(self, unit: str) -> list[str]:
        """Return a line of text for each block: medians and spreads, alone and in a batch."""
        scale = UNITS[unit]

        def shown(times: Times) -> str:
            return f"{times.median * scale:.4g} {unit} (spread {times.spread * scale:.2g})"

        return [
            f"{block.name}: {shown(block.row)} for a row alone, {shown(block.batch)} per row of {self.batch}"
            for block in self.blocks
        ]


def measure(
    pipeline: Any,
    X: Any,
    *,
    batch: int = 256,
    repeats: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> Measurement:
    """Time each block of a fitted pipeline.

    Parameters
    ----------
    pipeline : ColumnTransformer, FeatureUnion, LazyPipeline or Sources
        Fitted. Or anything that has ``blocks_to_measure()``, a list of `Block`.
    X : array, frame or list, shape (n_rows, ...)
        Sample rows, as the pipeline takes them; for `farthing.sources.Sources`, what they are called with.
    batch : int
        Rows of a batch; fewer if there are fewer.
    repeats : int
        Calls with one row and with a batch. One more of each comes before them and is not counted.
    clock : callable
        Returns seconds.

    Returns
    -------
    Measurement
    """
    n_rows = n_rows_of(X)
    if n_rows == 0 or batch < 1 or repeats < 1:
        raise CostError(
            f"measuring needs rows, a batch and repeats of at least 1; got {n_rows} rows, batch={batch!r}, "
            f"repeats={repeats!r}"
        )
    size = min(batch, n_rows)
    found = []
    for block in blocks_of(pipeline):
        alone = _times(block, X, 1, repeats, clock)
        found.append(BlockTimes(block.name, block.features, alone, _times(block, X, size, repeats, clock)))
    return Measurement(tuple(found), size, repeats)


def _times(block: Block, X: Any, size: int, repeats: int, clock: Callable[[], float]) -> Times:
    """Time a block on ``size`` rows at a time, other ones in each call as far as there are any."""
    n_rows = n_rows_of(X)
    seconds = []
    for turn in range(repeats + 1):
        rows = take_rows(X, np.arange(turn * size, (turn + 1) * size) % n_rows)
        begin = clock()
        block.compute(rows)
        seconds.append((clock() - begin) / size)
    return Times.of(seconds[1:])  # the first call may load and compile
