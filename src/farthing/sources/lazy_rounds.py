"""Predictions in rounds over a batch: a block is computed at once for all rows that want it next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from farthing.base import FittedModel
from farthing.costs import Block, RowLedger, take_rows
from farthing.errors import TableError
from farthing.typing import Flags, Floats, Integers
from farthing.walks import RowWalk


class Computed(NamedTuple):
    """What rounds give.

    Attributes
    ----------
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        Raw outputs; the prior for rows that acquired nothing.
    acquired : ndarray of bool, shape (n_rows, n_features + n_calls)
        What each row paid for.
    blocks : ndarray of bool, shape (n_rows, n_blocks)
        Which blocks were computed for each row.
    """

    outputs: Floats
    acquired: Flags
    blocks: Flags


def predict_in_rounds(
    model: FittedModel,
    blocks: Sequence[Block],
    X: Any,
    n_rows: int,
    *,
    budget: Floats | None = None,
    caps: Mapping[str, Floats] | None = None,
    n_threads: int = 1,
) -> Computed:
    """Predict rows, computing only the blocks that their walks ask for.

    The array calls of a model are blind: what a row did not acquire has no influence on it. So the model is
    asked with the blocks that are not computed left missing. A row that acquired none of them is finished. If
    it acquired columns of a single one, its walk came to that block; among several, the walk tells which one
    came first.

    Parameters
    ----------
    model : FittedModel
        Of the features of all blocks, in their order.
    blocks : sequence of Block
    X : array, frame or list
        Raw rows, as the blocks take them.
    n_rows : int
    budget : ndarray of float64, shape (n_rows,), optional
        Hard budget of each row.
    caps : mapping of str to ndarray of float64, shape (n_rows,), optional
        What each row may take of further resources.
    n_threads : int
        Threads of the model; any number gives the same bits.
    """
    block_of = np.repeat(np.arange(len(blocks)), [len(block.features) for block in blocks])
    ends = np.cumsum([len(block.features) for block in blocks]).tolist()
    columns = [slice(end - len(block.features), end) for block, end in zip(blocks, ends, strict=True)]
    values = np.full((n_rows, len(block_of)), np.nan)
    outputs = np.empty((n_rows, len(model.prior)))
    acquired = np.zeros((n_rows, len(model.costs.features)), dtype=np.bool_)
    computed = np.zeros((n_rows, len(blocks)), dtype=np.bool_)
    rows = np.arange(n_rows)
    limits = Limits(budget, caps or {})
    wanted = _first_blocks(model, block_of, n_rows, limits)
    while len(rows):
        for number in np.unique(wanted[wanted >= 0]).tolist():
            asking = rows[wanted == number]
            _put(values, asking, columns[number], compute(blocks[number], X, asking, n_rows))
            computed[asking, number] = True
        left = limits.of(rows)
        known = values if len(rows) == n_rows else values[rows]
        outputs[rows], acquired[rows] = left.outputs(model, known, n_threads)
        wanted = _next_blocks(
            model, block_of, known, computed=computed[rows], acquired=acquired[rows], limits=left
        )
        rows, wanted = rows[wanted >= 0], wanted[wanted >= 0]
    return Computed(model.settle(outputs, acquired), acquired, computed)


def _put(values: Floats, rows: Integers, columns: slice, features: Floats) -> None:
    """Write the features of a block; into all rows at once where it can, which is much faster."""
    if len(rows) == len(values):
        values[:, columns] = features
    else:
        values[rows, columns] = features


def compute(block: Block, X: Any, rows: Integers, n_rows: int) -> Floats:
    """Return the features of a block for some rows, shape (n_rows, n_features)."""
    return as_floats(block, block.compute(X if len(rows) == n_rows else take_rows(X, rows)))


def as_floats(block: Block, features: Any) -> Floats:
    """Return what a block gave as float64; the error for something else names the block."""
    try:
        return np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(
            f"block {block.name!r} gives features that are not numbers ({error}); encode them, as by an "
            "OrdinalEncoder"
        ) from None


class Limits(NamedTuple):
    """The hard budget of each row, and its caps of further resources.

    Attributes
    ----------
    budget : ndarray of float64, shape (n_rows,), or None
    caps : mapping of str to ndarray of float64, shape (n_rows,)
    """

    budget: Floats | None
    caps: Mapping[str, Floats]

    def of(self, rows: Integers) -> Limits:
        """Return those of some rows."""
        budget = None if self.budget is None else self.budget[rows]
        return Limits(budget, {name: cap[rows] for name, cap in self.caps.items()})

    def outputs(self, model: FittedModel, values: Floats, n_threads: int) -> tuple[Floats, Flags]:
        """Return the outputs of a model within these limits, and what was acquired."""
        if self.caps:
            return model.outputs_capped(values, self.caps, budget=self.budget, n_threads=n_threads)
        return model.outputs(values, budget=self.budget, n_threads=n_threads)

    def walk(self, model: FittedModel, row: int) -> RowWalk:
        """Start the walk of one row."""
        cap = None if self.budget is None else float(self.budget[row])
        caps = {name: float(each[row]) for name, each in self.caps.items()}
        return RowWalk(model.policy(), RowLedger(model.costs, cap, caps=caps))


def _first_blocks(model: FittedModel, block_of: Integers, n_rows: int, limits: Limits) -> Integers:
    """Return the block that each row wants first: it depends on nothing but the row's limits."""
    columns = [*([] if limits.budget is None else [limits.budget]), *limits.caps.values()]
    if not columns:
        return np.full(n_rows, _asked(limits.walk(model, 0), block_of))
    _, some, place = np.unique(np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True)
    first = [_asked(limits.walk(model, row), block_of) for row in some.tolist()]
    return np.array(first, dtype=np.int64)[place.ravel()]


def _next_blocks(
    model: FittedModel,
    block_of: Integers,
    values: Floats,
    *,
    computed: Flags,
    acquired: Flags,
    limits: Limits,
) -> Integers:
    """Return the block that each row wants next, -1 if it is finished."""
    read = np.stack(
        [
            acquired[:, : len(block_of)][:, block_of == number].any(axis=1)
            for number in range(computed.shape[1])
        ],
        axis=1,
    )
    lacking = read & ~computed
    wanted = np.where(lacking.any(axis=1), lacking.argmax(axis=1), -1)
    for row in np.flatnonzero(np.count_nonzero(lacking, axis=1) > 1).tolist():
        # Columns of a block that is not computed were read as missing, so only the first one was truly asked.
        walk = limits.walk(model, row)
        while walk.column is not None and computed[row, block_of[walk.column]]:
            walk.buy(float(values[row, walk.column]))
        wanted[row] = _asked(walk, block_of)
    return wanted


def _asked(walk: RowWalk, block_of: Integers) -> int:
    """Return the block of the column that a walk asks for, -1 at its end."""
    return -1 if walk.column is None else int(block_of[walk.column])
