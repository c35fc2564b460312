"""A second copy of trees in C, for rows that have every value: larger, and faster to go down."""

from __future__ import annotations

from typing import Final

import numpy as np

from farthing.export.c_text import number
from farthing.export.table_types import whole
from farthing.export.tables import Tables

FAST_SWITCH: Final = """/* Whether farthing_tell_all has a second copy of the trees: larger, and faster. */
#ifndef FARTHING_FAST
#ifdef __OPTIMIZE_SIZE__
#define FARTHING_FAST 0
#else
#define FARTHING_FAST 1
#endif
#endif
"""

# Trees that go down in step, at most: enough to hide the time that a step waits for the one before. They are
# written out, since compilers do not unroll loops at every level of optimisation.
_TOGETHER: Final = 12


def fast_nodes(tables: Tables) -> str:
    """Return the nodes in preorder: what each tests, and how far it is to the right and to the left child.

    A leaf leads to itself, and has its score, if it is a single number, in place of a threshold.
    """
    table = tables.trees
    assert table is not None
    scores = np.array([table.scores[row][0] for row in table.score])
    items, skips = tables.tables["FEATURE"], whole(table.skip)
    # Two bytes each at least: the threshold before them is aligned to eight.
    kinds = ["uint32_t" if each.kind == "int32_t" else "uint16_t" for each in (items, skips)]
    lines = [
        f"    {{{number(value)}, {item}, {{{skip}, {int(skip > 0)}}}}},"
        for value, item, skip in zip(
            (
                score if slot < 0 else table.thresholds[test]
                for score, slot, test in zip(scores.tolist(), table.feature, table.test, strict=True)
            ),
            items.entries,
            skips.entries,
            strict=True,
        )
    ]
    body = "\n".join(lines)
    together = -(-table.n_trees // -(-table.n_trees // _TOGETHER))
    written_out = " ".join(f"STEP({lane})" for lane in range(together))
    return (
        f"#if FARTHING_FAST\nenum {{ TOGETHER = {together} }};\n#define FOR_ALL(STEP) {written_out}\n"
        f"typedef struct {{\n    double test;\n    {kinds[0]} item;\n    {kinds[1]} go[2];\n}} fast_node;\n"
        f"static const fast_node FAST[{len(lines)}] = {{\n{body}\n}};\n#endif\n"
    )
