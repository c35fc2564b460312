"""A second copy of trees in C, as sets of leaves, for rows that have every value.

The thresholds of each feature are cut into blocks. A row finds the block of its value by a search without
jumps, and takes the leaves that it may still reach, of all trees at once, from a table. Large models have
several thresholds in a block: a row goes through them from the middle one on, and each takes away leaves of
one tree. The sets follow QuickScorer (Lucchese et al., SIGIR 2015), which goes through all thresholds below
a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from farthing.export.c_leaves import leaf_record, leaf_records
from farthing.export.c_text import array, number, records
from farthing.export.leaf_sets import LeafSets, ThresholdBlocks, set_bits, sets_of_row
from farthing.export.runtime_files import runtime
from farthing.export.table_types import Table, whole
from farthing.export.tree_paths import TreePaths, bit_words, for_doubles, n_words
from farthing.export.tree_table import TreeTable


def mask_trees(table: TreeTable, trees: list[TreePaths]) -> str:
    """Return the sets by block, the leaves by tree, and the function that goes through them.

    Parameters
    ----------
    table : TreeTable
        With trees of at most `MOST_LEAVES` leaves, which test numbers alone.
    trees : list of TreePaths
        The trees of the table.
    """
    n_bits, n_sets, blocks = set_bits(table), sets_of_row(table), ThresholdBlocks.of(table)
    sets = [LeafSets.of(table, tree, blocks.upper) for tree in trees]
    tree_of = {node: tree.number for tree in trees for node in range(tree.first, tree.end)}
    masks = _Masks(blocks, sets, tree_of, (1 << n_bits) - 1)
    rows = [masks.row(passed, stopped, n_sets) for passed, stopped in blocks.rows]
    leaves = [
        leaf_record(table, leaf, bit_words(tree.on_path[leaf], n_words(table)))
        for tree, each in zip(trees, sets, strict=True)
        for leaf in each.order
    ]
    begins = list(accumulate((len(tree.leaves) for tree in trees), initial=0))[:-1]
    parts = [
        f"typedef uint{n_bits}_t leaf_set;",
        f"#define TREE_EXCEEDS {'>=' if table.strict else '>'}",
        f"enum {{ SETS_OF_ROW = {n_sets} }};",
        array("CUTS", Table("double", blocks.cuts)),
        array("STEPS", whole(blocks.steps)),
        array("CUTS_BEGIN", whole(blocks.cut_begins)),
        array("BLOCKS_BEGIN", whole(blocks.block_begins)),
        records("leaf_set", "REACHED", rows, "[SETS_OF_ROW]"),
        *_walks(table, masks),
        leaf_records("LEAVES", leaves),
        array("LEAVES_BEGIN", whole(begins)),
        runtime("tree_masks.c"),
        _adding(table),
    ]
    return "\n".join(parts)


@dataclass(frozen=True)
class _Masks:
    """Sets of leaves as C has them."""

    blocks: ThresholdBlocks
    sets: list[LeafSets]
    tree_of: dict[int, int]
    all_bits: int

    def row(self, passed: Sequence[int], stopped: Sequence[int], n_sets: int) -> str:
        """Return the leaves that nodes below and above a block leave, of all trees."""
        reached = [self.all_bits] * n_sets
        for node in passed:
            reached[self.tree_of[node]] &= ~self.sets[self.tree_of[node]].left[node]
        for node in stopped:
            reached[self.tree_of[node]] &= ~self.sets[self.tree_of[node]].right[node]
        return f"{{{', '.join(map(self._text, reached))}}}"

    def walked(self, table: TreeTable, node: int | None) -> str:
        """Return a node that takes one of its sides away; None is the end of a feature."""
        if node is None:
            return "{NAN, 0, 0}"
        tree, own = self.tree_of[node], self.sets[self.tree_of[node]]
        rest = self.all_bits & ~(own.left if node in self.blocks.upper else own.right)[node]
        return f"{{{number(for_doubles(table, node))}, {tree}, {self._text(rest)}}}"

    def _text(self, bits: int) -> str:
        return f"{bits:#x}{'ull' if self.all_bits >> 32 else 'u'}"


def _walks(table: TreeTable, masks: _Masks) -> list[str]:
    """Return the nodes within blocks, if there are any."""
    if not masks.blocks.walks:
        return ["#define MASKS_WALK 0"]
    kind = whole([table.n_trees]).kind
    return [
        "#define MASKS_WALK 1",
        f"typedef struct {{\n    double threshold;\n    {kind} tree;\n    leaf_set rest;\n}} masking_node;",
        records("masking_node", "MASKING", [masks.walked(table, node) for node in masks.blocks.nodes]),
        array("MIDDLES", whole(masks.blocks.middles)),
    ]


def _adding(table: TreeTable) -> str:
    """Return the function that adds up leaves; sums and features seen stay in registers."""
    lines = ["        const leaf_record *leaf = LEAVES + LEAVES_BEGIN[tree] + FIRST_BIT(reached[tree]);"]
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
            "    reach(x, reached);",
            "    for (tree = 0; tree < TREES; ++tree) {", *lines, "    }", *end, "}",
        ]
    )  # fmt: skip
