"""How much stack exported C needs at most: its local arrays, and a bound for all else."""

from __future__ import annotations

from typing import Final

from farthing.export.c_links import widest
from farthing.export.fast_forms import mask_bytes
from farthing.export.program import Program
from farthing.export.tables import Tables

# Calls within each other at most, and what each needs beside arrays: registers that it saves, a return
# address, scalars, without optimisation as well. No function calls itself.
_CALLS: Final = 8
_FRAME: Final = 144


def stack_bytes(program: Program, tables: Tables) -> int:
    """Return a bound of the stack that a call of the walk takes, functions of ``math.h`` apart.

    It is the sum of the local arrays of all functions that may be active together, with eight bytes for each
    double and pointer. The tests compare it with what gcc reports.
    """
    n, items = tables.numbers, len(program.prices.names)
    numbers = max(widest(program.link, program.n_outputs), program.n_outputs, program.n_results)
    doubles = 2 * (program.n_results + 2)  # a result, and its copy
    doubles += 2 * numbers  # raw outputs, in a decision and in an exit
    doubles += program.n_outputs  # the scores of a station, or a vote
    other = 0
    if n.get("TREE_MEANS"):
        height, width = int(n["TREE_HEIGHT"]) + 1, int(n["TREE_WIDTH"])
        doubles += (height + 1) * width
        other += 4 * height
    if n.get("PLAN_AT_ONCE"):
        words = -(-items // 32)
        # Features seen, and local copies of these and of the sums.
        doubles += program.n_outputs + 2 * (words + 1)
    if n.get("PLAN_MASKS"):
        assert tables.trees is not None
        other += mask_bytes(tables.trees) + 4 * items
        doubles += items + 3  # the sets of each feature
    if n.get("DRAWN_UNITS"):
        doubles += 10
    total = 8 * doubles + other + _CALLS * _FRAME
    return -(-total // 16) * 16
