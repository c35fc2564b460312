"""A second copy of trees in C, as sets of leaves, for rows that have every value.

The thresholds of each feature are cut into blocks. A row finds the block of its value by a search without jumps,
and takes the leaves that it may still reach, of all trees at once, from a table. Large models have few blocks, and a row goes
through the thresholds of its block, from the middle one on; each takes away leaves of one tree. The sets follow
QuickScorer (Lucchese et al., SIGIR 2015), which goes through all thresholds below a value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final

from farthing.export.c_text import array, number
from farthing.export.runtime_files import runtime
from farthing.export.table_types import Table, whole
from farthing.export.tree_paths import TreePaths, bit_words, for_doubles, n_words
from farthing.export.tree_table import TreeTable

# The bits of a set of leaves, and its type.
_SETS: Final = ((8, "uint8_t"), (16, "uint16_t"), (32, "uint32_t"), (64, "uint64_t"))
MOST_LEAVES: Final = 64
# Sets are combined by this many bytes.
_VECTOR: Final = 16
# Bytes of the sets of all blocks.
_MOST_BYTES: Final = 1 << 17


def mask_trees(table: TreeTable, trees: list[TreePaths]) -> str:
    """Return the sets by block, the leaves by tree, and the function that goes through them.

    Parameters
    ----------
    table : TreeTable
        With trees of at most `MOST_LEAVES` leaves, which test numbers alone.
    trees : list of TreePaths
        The trees of the table.
    """
    n_bits, kind = next(each for each in _SETS if max(len(tree.leaves) for tree in trees) <= each[0])
    n_sets = set_bytes_of_row(len(trees), n_bits) * 8 // n_bits
    blocks = _Blocks.of(table, _MOST_BYTES // (n_sets * n_bits // 8))
    tree_of = {node: tree.number for tree in trees for node in range(tree.first, tree.end)}
    sets = [_LeafSets.of(table, tree, blocks.upper) for tree in trees]
    all_bits, suffix = (1 << n_bits) - 1, "ull" if n_bits > 32 else "u"

    def text(bits: int) -> str:
        return f"{bits:#x}{suffix}"

    rows = []
    for passed, stopped in blocks.rows:
        reached = [all_bits] * n_sets
        for node in passed:
            reached[tree_of[node]] &= ~sets[tree_of[node]].left[node]
        for node in stopped:
            reached[tree_of[node]] &= ~sets[tree_of[node]].right[node]
        rows.append(f"{{{', '.join(map(text, reached))}}}")
    leaves = [_leaf(table, tree, leaf) for tree, each in zip(trees, sets, strict=True) for leaf in each.order]
    begins = list(accumulate((len(tree.leaves) for tree in trees), initial=0))[:-1]
    walked = []
    if blocks.walks:
        for node in blocks.nodes:
            if node is None:
                walked.append("{NAN, 0, 0}")
            else:
                own = sets[tree_of[node]]
                taken = own.left[node] if node in blocks.upper else own.right[node]
                walked.append(f"{{{number(for_doubles(table, node))}, {tree_of[node]}, {text(all_bits & ~taken)}}}")
    parts = [
        f"typedef {kind} leaf_set;",
        f"#define TREE_EXCEEDS {'>=' if table.strict else '>'}",
        f"enum {{ SETS_OF_ROW = {n_sets} }};",
        array("CUTS", Table("double", blocks.cuts)),
        array("STEPS", whole(blocks.steps)),
        array("CUTS_BEGIN", whole(blocks.cut_begins)),
        array("BLOCKS_BEGIN", whole(blocks.block_begins)),
        _records("leaf_set", f"REACHED[{len(rows)}][SETS_OF_ROW]", rows),
        f"#define MASKS_WALK {int(blocks.walks)}",
        *(
            [
                f"typedef struct {{\n    double threshold;\n    {whole([len(trees)]).kind} tree;\n"
                "    leaf_set rest;\n} masking_node;",
                _records("masking_node", f"MASKING[{len(walked)}]", walked),
                array("MIDDLES", whole(blocks.middles)),
            ]
            if blocks.walks
            else []
        ),
        "typedef struct {\n    double scores[TREE_WIDTH];\n    uint32_t seen[FARTHING_WORDS];\n} masked_leaf;",
        _records("masked_leaf", f"LEAVES[{len(leaves)}]", leaves),
        array("LEAVES_BEGIN", whole(begins)),
        runtime("tree_masks.c"),
        _adding(table),
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


def set_bytes_of_row(n_trees: int, n_bits: int) -> int:
    """Return the bytes of the sets of all trees, filled up to whole vectors."""
    return -(-n_trees * n_bits // 8 // _VECTOR) * _VECTOR


def _records(kind: str, name: str, entries: Iterable[str]) -> str:
    return f"static const {kind} {name} = {{\n    " + ",\n    ".join(entries) + "\n};"


@dataclass
class _Blocks:
    """The thresholds of each slot, cut into blocks.

    Attributes
    ----------
    cuts : list of float
        Of each slot, some thresholds in order, and NAN up to a power of two.
    steps : list of int
        The first step of the search of each slot; 0 if it has one block.
    cut_begins, block_begins : list of int
        The first cut and the first block of each slot.
    rows : list of (list of int, list of int)
        The nodes whose thresholds are below each block, and those above it.
    nodes : list of int or None
        The nodes by slot and threshold, None around those of a slot.
    middles : list of int
        The node of each block from which a row goes up or down.
    upper : set of int
        Nodes that a row meets on its way up.
    walks : bool
        Whether there are nodes within blocks.
    """

    cuts: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    cut_begins: list[int] = field(default_factory=list)
    block_begins: list[int] = field(default_factory=list)
    rows: list[tuple[list[int], list[int]]] = field(default_factory=list)
    nodes: list[int | None] = field(default_factory=lambda: [None])
    middles: list[int] = field(default_factory=list)
    upper: set[int] = field(default_factory=set)
    walks: bool = False

    @classmethod
    def of(cls, table: TreeTable, most: int) -> _Blocks:
        """Return about as many blocks as ``most`` allows."""
        by_slot: list[dict[float, list[int]]] = [{} for _ in range(table.n_slots)]
        for node, slot in enumerate(table.feature):
            if slot >= 0:
                by_slot[slot].setdefault(for_doubles(table, node), []).append(node)
        n_distinct = sum(map(len, by_slot))
        made = cls()
        every = max(1, -(-n_distinct // max(1, most - table.n_slots)))
        for own in by_slot:
            made._add(sorted(own.items()), every)
        return made

    def _add(self, own: list[tuple[float, list[int]]], every: int) -> None:
        """Add a slot: its thresholds in order, each with its nodes; every so many of them is a cut."""
        places = list(range(every - 1, len(own), every))
        self.cut_begins.append(len(self.cuts))
        self.block_begins.append(len(self.rows))
        self.steps.append((1 << len(places).bit_length()) // 2)
        self.cuts += [own[place][0] for place in places]
        self.cuts += [float("nan")] * ((1 << len(places).bit_length()) - 1 - len(places))
        for low, high in pairwise([-1, *places, len(own)]):
            below = [node for _, nodes in own[: low + 1] for node in nodes]
            above = [node for _, nodes in own[high:] for node in nodes]
            within = [node for _, nodes in own[low + 1 : high] for node in nodes]
            half = len(within) // 2
            self.rows.append((below, above))
            self.middles.append(len(self.nodes) + half)
            self.upper.update(within[half:])
            self.walks = self.walks or bool(within)
            self.nodes += within + (own[high][1] if high < len(own) else [None])


@dataclass(frozen=True)
class _LeafSets:
    """The leaves of a tree in the order of their bits, and the bits on both sides of each node."""

    order: list[int]
    left: dict[int, int]
    right: dict[int, int]

    @classmethod
    def of(cls, table: TreeTable, tree: TreePaths, upper: set[int]) -> _LeafSets:
        """Return them, the side that a walk through a block takes away before the other one."""
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
        ends: dict[int, int] = {}
        for node in range(tree.end - 1, tree.first - 1, -1):
            ends[node] = begins[node] + 1 if node not in sides else ends[sides[node][1]]

        def bits(node: int) -> int:
            return (1 << ends[node]) - (1 << begins[node])

        return cls(
            order,
            left={node: bits(node + 1) for node in sides},
            right={node: bits(node + table.skip[node]) for node in sides},
        )


def _leaf(table: TreeTable, tree: TreePaths, leaf: int) -> str:
    scores = ", ".join(map(number, table.scores[table.score[leaf]]))
    return f"{{{{{scores}}}, {{{', '.join(bit_words(tree.on_path[leaf], n_words(table)))}}}}}"


def _adding(table: TreeTable) -> str:
    """Return the function that adds up leaves; sums and features seen are local, so that they stay in registers."""
    lines = ["        const masked_leaf *leaf = LEAVES + LEAVES_BEGIN[tree] + FIRST_BIT(reached[tree]);"]
    begin, end = [], []
    if table.width == table.n_outputs:
        for i in range(table.width):
            begin.append(f"    double out{i} = out[{i}];")
            lines.append(f"        out{i} += leaf->scores[{i}];")
            if table.single_sums:
                lines.append(f"        out{i} = (double)(float)out{i};")
            end.append(f"    out[{i}] = out{i};")
    else:
        for i in range(table.width):
            lines.append(f"        out[TARGET[tree] + {i}] += leaf->scores[{i}];")
            if table.single_sums:
                lines.append(f"        out[TARGET[tree] + {i}] = (double)(float)out[TARGET[tree] + {i}];")
    for i in range(n_words(table)):
        begin.append(f"    uint32_t seen{i} = seen[{i}];")
        lines.append(f"        seen{i} |= leaf->seen[{i}];")
        end.append(f"    seen[{i}] = seen{i};")
    return "\n".join(
        [
            "static void fast_trees(const double *x, double *out, uint32_t *seen)\n{",
            "    leaf_set reached[SETS_OF_ROW];", "    int32_t tree;", *begin,
            "    reach(x, reached);", "    for (tree = 0; tree < TREES; ++tree) {", *lines, "    }", *end, "}",
        ]
    )  # fmt: skip
