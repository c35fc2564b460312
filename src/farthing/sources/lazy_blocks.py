"""The blocks of a lazy pipeline: how they are given, priced, and handed to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from sklearn.model_selection import train_test_split

from farthing.costs import Block, CostSheet, Group
from farthing.costs.validation import unique
from farthing.sources.lazy_rounds import as_floats
from farthing.table import Column, Encoded, PreparedTable, Schema
from farthing.typing import Floats, Integers

# Rows on which the cheapest model is chosen, if a loss is allowed.
_HELD_OUT: Final = 0.2


def block_costs(blocks: Sequence[Block], prices: Mapping[str, float]) -> CostSheet:
    """Return the price list in which each block is a group and its features cost nothing by themselves."""
    own = {
        name: prices[block.name] if len(block.features) == 1 else 0.0
        for block in blocks
        for name in block.features
    }
    shared = {
        block.name: Group(prices[block.name], block.features) for block in blocks if len(block.features) > 1
    }
    return CostSheet(own, shared)


class FittedBlocks:
    """Fitted blocks, for `CostSheet.measure`."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks

    def blocks_to_measure(self) -> list[Block]:
        """Return them."""
        return list(self._blocks)


class OneRow:
    """A block as a function of one raw row."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def __call__(self, row: Any) -> dict[str, float]:
        """Return the features by name."""
        # A row of a frame is a frame of one row already; anything else is put into a list.
        batch = row if hasattr(row, "columns") else [row]
        return dict(
            zip(
                self._block.features,
                as_floats(self._block, self._block.compute(batch))[0].tolist(),
                strict=True,
            )
        )


def feature_table(blocks: Sequence[Block], values: Floats) -> PreparedTable:
    """Return the features of all blocks as a table with their names."""
    names = [name for block in blocks for name in block.features]
    columns = tuple(Column(name, "numeric") for name in names)
    return PreparedTable(Schema(columns, named=True), Encoded.valid(values, columns))


def held_out_rows(y: Any, n_rows: int, *, stratify: bool) -> tuple[Integers, Integers]:
    """Return the rows to learn from, and a fifth that is held out; of each class, if that is possible."""
    labels = np.asarray(y)
    counts = np.unique(labels, return_counts=True)[1] if stratify else np.array([0])
    rows = np.arange(n_rows)
    some = labels if counts.min() > 1 and len(counts) <= n_rows // 5 else None
    learn, held_out = train_test_split(rows, test_size=_HELD_OUT, random_state=0, stratify=some)
    return np.sort(learn), np.sort(held_out)


def specified(blocks: Any, X: Any) -> list[tuple[str, Any, Any]]:
    """Return the blocks as triples, with columns that are not functions."""
    if not isinstance(blocks, (list, tuple)) or not blocks:
        raise ValueError(f"blocks must be a list of (name, transformer); got {blocks!r}")
    found = []
    for block in blocks:
        if not isinstance(block, (list, tuple)) or len(block) not in (2, 3) or not isinstance(block[0], str):
            raise ValueError(f"a block is (name, transformer) or (name, transformer, columns); got {block!r}")
        name, transformer, columns = (*block, None)[:3]
        if not hasattr(transformer, "fit_transform") or not hasattr(transformer, "transform"):
            raise TypeError(
                f"block {name!r}: {type(transformer).__name__} has no fit_transform and transform"
            )
        if isinstance(columns, slice):
            raise TypeError(f"block {name!r}: columns is a slice; give a list of names or positions")
        found.append((name, transformer, columns(X) if callable(columns) else columns))
    unique([name for name, _, _ in found], "block")
    return found
