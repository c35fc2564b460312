"""What tables of nodes share a place for: tests with rows of leaves, and ways with one another."""

from __future__ import annotations

from collections.abc import Sequence

from farthing.export.table_types import Table
from farthing.export.tree_table import TreeTable


def tests_and_rows(table: TreeTable, given: Sequence[tuple[float, ...]]) -> list[int]:
    """Return the tests of inner nodes, and the places of leaves among the distinct rows."""
    rows = {row: place for place, row in enumerate(dict.fromkeys(given))}
    leaves = iter(given)
    return [
        test if slot >= 0 else rows[next(leaves)]
        for test, slot in zip(table.test, table.feature, strict=True)
    ]


def packed_ways(table: TreeTable) -> tuple[Table, dict[str, float]]:
    """Return where values that are not there go, a bit for each node if it is enough, or four; and which."""
    inner = [way for way, slot in zip(table.ways, table.feature, strict=True) if slot >= 0]
    missing = {way & 3 for way in inner}
    two_ways = all(way >> 2 < 2 for way in inner)
    one_way = len(missing) <= 1 and two_ways
    same_ways = not one_way and two_ways and all(way >> 2 == way & 3 for way in inner)
    if one_way or same_ways:
        codes, bits = [way >> 2 & 1 for way in table.ways], 1
    else:
        codes, bits = table.ways, 4
    per_byte = 8 // bits
    packed = Table(
        "uint8_t",
        [
            sum(code << bits * place for place, code in enumerate(codes[first : first + per_byte]))
            for first in range(0, len(codes), per_byte)
        ],
    )
    return packed, {
        "TREE_ONE_MISSING": int(one_way),
        "TREE_SAME_WAYS": int(same_ways),
        "MISSING_WAY": min(missing, default=0),
    }
