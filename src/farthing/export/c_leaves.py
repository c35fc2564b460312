"""Leaves in C, for the second copy of trees: scores, and the features on the way to them."""

from __future__ import annotations

from collections.abc import Sequence

from farthing.export.c_text import number, records
from farthing.export.tree_table import TreeTable


def leaf_record(table: TreeTable, leaf: int, words: Sequence[str]) -> str:
    """Return a leaf as an entry of `leaf_records`; ``words`` have the bits of features."""
    scores = ", ".join(map(number, table.scores[table.score[leaf]]))
    return f"{{{{{scores}}}, {{{', '.join(words)}}}}}"


def leaf_records(name: str, leaves: Sequence[str]) -> str:
    """Return leaves as a constant array, and their type."""
    head = (
        "typedef struct {\n    double scores[TREE_WIDTH];\n    uint32_t seen[FARTHING_WORDS];\n} leaf_record;"
    )
    return f"{head}\n{records('leaf_record', name, leaves)}"
