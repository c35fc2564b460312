"""A second copy of trees in C for rows that have every value: larger than the tables of walks, and faster."""

from __future__ import annotations

from typing import Final

from farthing.export.c_jumps import jump_trees
from farthing.export.c_masks import mask_trees
from farthing.export.c_text import array
from farthing.export.table_types import whole
from farthing.export.tables import Tables
from farthing.export.tree_paths import TreePaths, bit_words, n_words

FAST_SWITCH: Final = """/* Whether farthing_tell_all has a second copy of the trees: larger, and faster. */
#ifndef FARTHING_FAST
#ifdef __OPTIMIZE_SIZE__
#define FARTHING_FAST 0
#else
#define FARTHING_FAST 1
#endif
#endif
"""

AT_ONCE_CALL: Final = """#if FARTHING_FAST
/* The decision of a row at hand, one value for each feature, without a limit: the same as farthing_start,
   farthing_tell_all and farthing_decision, and faster. acquired gets FARTHING_WORDS words, a bit for
   each feature that was paid for. */
enum { FARTHING_WORDS = (FARTHING_ITEMS + 31) / 32 + !FARTHING_ITEMS };
farthing_result farthing_decide(const double *values, uint32_t *acquired);
#endif
"""
# Features whose prices are added up before.
_TOGETHER: Final = 4


def fast_trees(tables: Tables) -> str:
    """Return the function ``fast_trees``, which adds up scores and notes the features on the way.

    Parameters
    ----------
    tables : Tables
        With trees that test numbers alone.
    """
    table = tables.trees
    assert table is not None
    trees = [TreePaths(table, tree) for tree in range(table.n_trees)]
    always = frozenset[int]().union(*(tree.always for tree in trees))
    parts = [
        "#if FARTHING_FAST",
        f"static const uint32_t ALWAYS[FARTHING_WORDS] = {{{', '.join(bit_words(always, n_words(table)))}}};",
        *_sums(tables),
        mask_trees(table, trees) if tables.numbers["PLAN_MASKS"] else jump_trees(table, trees, always),
        "#endif\n",
    ]
    return "\n".join(parts)


def _sums(tables: Tables) -> list[str]:
    """Return what each set of four features costs, where prices are whole, so that their order is free."""
    own = list(tables.tables["OWN"].entries)
    own += [0] * (-len(own) % _TOGETHER)
    sums = [
        sum(int(own[first + place]) for place in range(_TOGETHER) if chosen >> place & 1)
        for first in range(0, len(own), _TOGETHER)
        for chosen in range(1 << _TOGETHER)
    ]
    return [
        "#if PRICES_WHOLE && FARTHING_GROUPS == 0",
        f"enum {{ SUMS_OF = {_TOGETHER} }};",
        array("SUMS", whole(sums)),
        "#endif",
    ]
