"""A second copy of trees in C, as sets of leaves, for rows that have every value.

A row goes through the thresholds of each feature from the middle one on, and each of them takes away leaves
of one tree, so hardly a jump depends on values. The sets follow QuickScorer (Lucchese et al., SIGIR 2015),
which starts from the lowest threshold and goes through twice as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from farthing.export.c_text import array, number
from farthing.export.runtime_files import runtime
from farthing.export.table_types import whole
from farthing.export.tree_paths import TreePaths, bit_words, for_doubles, n_words
from farthing.export.tree_table import TreeTable

# The bits of a set of leaves, and its type.
_SETS: Final = ((8, "uint8_t"), (16, "uint16_t"), (32, "uint32_t"), (64, "uint64_t"))
MOST_LEAVES: Final = 64


def mask_trees(table: TreeTable, trees: list[TreePaths]) -> str:
    """Return the nodes by feature and the leaves by tree, and the function that goes through them.

    Parameters
    ----------
    table : TreeTable
        With trees of at most `MOST_LEAVES` leaves, which test numbers alone.
    trees : list of TreePaths
        The trees of the table.
    """
    nodes, middle = _by_feature(table)
    upper = _upper_halves(nodes, middle)
    sets = [_LeafSets.of(table, tree, upper) for tree in trees]
    tree_of = {node: tree.number for tree in trees for node in range(tree.first, tree.end)}
    taken = {node: bits for each in sets for node, bits in each.taken.items()}
    n_bits, kind = next(each for each in _SETS if max(len(tree.leaves) for tree in trees) <= each[0])
    suffix = "ull" if n_bits > 32 else "u"
    written = []
    for node in nodes:
        if node is None:
            written.append("{NAN, 0, 0}")
        else:
            rest = ~taken[node] & (1 << n_bits) - 1
            written.append(f"{{{number(for_doubles(table, node))}, {tree_of[node]}, {rest:#x}{suffix}}}")
    leaves = [_leaf(table, tree, leaf) for tree, each in zip(trees, sets, strict=True) for leaf in each.order]
    begins = list(accumulate((len(tree.leaves) for tree in trees), initial=0))[:-1]
    parts = [
        f"typedef {kind} leaf_set;",
        f"#define TREE_EXCEEDS {'>=' if table.strict else '>'}",
        "typedef struct {",
        f"    double threshold;\n    {whole([len(trees)]).kind} tree;\n    leaf_set rest;",
        "} masking_node;",
        f"static const masking_node MASKING[{len(nodes)}] = {{\n    " + ",\n    ".join(written) + "\n};",
        array("MIDDLE", whole(middle)),
        "typedef struct {",
        "    double scores[TREE_WIDTH];\n    uint32_t seen[FARTHING_WORDS];",
        "} masked_leaf;",
        f"static const masked_leaf LEAVES[{len(leaves)}] = {{\n    " + ",\n    ".join(leaves) + "\n};",
        array("LEAVES_BEGIN", whole(begins)),
        runtime("tree_masks.c"),
    ]
    return "\n".join(parts)


def set_bytes(most_leaves: int) -> int:
    """Return the bytes of the set of leaves of one tree.

    Examples
    --------
    >>> set_bytes(16), set_bytes(17)
    (2, 4)
    """
    return next(n_bits for n_bits, _ in _SETS if most_leaves <= n_bits) // 8


def _by_feature(table: TreeTable) -> tuple[list[int | None], list[int]]:
    """Return the nodes by feature and threshold, None around a feature's, and where its upper half begins."""
    slots: list[list[int]] = [[] for _ in range(table.n_slots)]
    for node, slot in enumerate(table.feature):
        if slot >= 0:
            slots[slot].append(node)
    nodes: list[int | None] = [None]
    middle = []
    for own in slots:
        own.sort(key=lambda node: table.thresholds[table.test[node]])
        middle.append(len(nodes) + len(own) // 2)
        nodes += [*own, None]
    return nodes, middle


def _upper_halves(nodes: list[int | None], middle: list[int]) -> set[int]:
    """Return the nodes that a row meets on its way up."""
    upper = set[int]()
    for place in middle:
        while (node := nodes[place]) is not None:
            upper.add(node)
            place += 1  # noqa: PLW2901 - up to the end of the feature
    return upper


@dataclass(frozen=True)
class _LeafSets:
    """The leaves of a tree in the order of their bits, and the bits that each node takes away."""

    order: list[int]
    taken: dict[int, int]

    @classmethod
    def of(cls, table: TreeTable, tree: TreePaths, upper: set[int]) -> _LeafSets:
        """Return them, the side that a node takes away before its other one."""
        sides: dict[int, tuple[int, int]] = {}
        order: list[int] = []
        begins: dict[int, int] = {}
        waiting = [tree.first]
        while waiting:
            node = waiting.pop()
            begins[node] = len(order)
            if table.feature[node] < 0:
                order.append(node)
                continue
            left, right = node + 1, node + table.skip[node]
            sides[node] = (left, right) if node in upper else (right, left)
            waiting += reversed(sides[node])
        taken = {node: (1 << begins[other]) - (1 << begins[first]) for node, (first, other) in sides.items()}
        return cls(order, taken)


def _leaf(table: TreeTable, tree: TreePaths, leaf: int) -> str:
    scores = ", ".join(map(number, table.scores[table.score[leaf]]))
    return f"{{{{{scores}}}, {{{', '.join(bit_words(tree.on_path[leaf], n_words(table)))}}}}}"
