"""A second copy of trees in C, as jumps, for rows that have every value.

A walk over tables waits for each node; jumps are guessed ahead by the processor, well if most training
rows of a node went the same way. Where they did not, the last tests before leaves are taken all together, and
a table has the leaf of each set of results. Thresholds, scores and the features of each path are constants of
the code. Features that are on every path of some tree are always paid for, so no path names them.
"""

from __future__ import annotations

from typing import Final

from farthing.export.c_leaves import leaf_record, leaf_records
from farthing.export.c_text import number
from farthing.export.leaf_lookups import LeafLookups
from farthing.export.tree_paths import TreePaths, bit_words, for_doubles, n_words
from farthing.export.tree_table import TreeTable

# Nodes of one function, at least: compilers take more than twice the time for twice the length.
_CHUNK: Final = 800
# Scores of a leaf that are constants of the code; more of them are added from the tables.
_MOST_SCORES: Final = 4
_NONE: Final = "0x0u"


def jump_trees(table: TreeTable, trees: list[TreePaths], always: frozenset[int]) -> str:
    """Return the trees as functions that add up scores and note the features on the way.

    Parameters
    ----------
    table : TreeTable
        With trees that test numbers alone.
    trees : list of TreePaths
        The trees of the table.
    always : frozenset of int
        Slots that need not be noted.
    """
    parts: list[str] = []
    leaves: list[str] = []
    for chunk in _chunks(trees):
        written = [_Tree(table, tree) for tree in chunk]
        parts.append(_function(f"fast_trees_{len(parts)}", written, always, table, leaves))
    calls = "\n".join(f"    fast_trees_{place}(x, out, seen);" for place in range(len(parts)))
    head = "static void fast_trees(const double *x, double *out, uint32_t *seen)"
    if leaves:
        parts.insert(0, leaf_records("FAST_LEAVES", leaves))
    return "\n".join([*parts, f"{head}\n{{\n{calls}\n}}"])


def _is_wide(table: TreeTable) -> bool:
    return table.width > _MOST_SCORES


class _Tree:
    """The statements of a tree."""

    def __init__(self, table: TreeTable, paths: TreePaths) -> None:
        self.table, self.paths, self.number = table, paths, paths.number
        self.first, self.end = paths.first, paths.end
        self.lookups = LeafLookups({}, 0.0, 0.0) if _is_wide(table) else LeafLookups.of(table, paths)
        self.jumps = {self._other(node) for node in range(self.first, self.end) if table.feature[node] >= 0}

    def _other(self, node: int) -> int:
        """Return the child that fewer training rows went to."""
        table, left, right = self.table, node + 1, node + self.table.skip[node]
        return right if table.cover[left] >= table.cover[right] else left

    def lines(self, always: frozenset[int], leaves: list[str]) -> list[str]:
        """Return the statements: the child of more training rows comes first, the other by a jump."""
        table, made = self.table, list[str]()
        waiting = [self.first]
        while waiting:
            node = waiting.pop()
            if node in self.jumps:
                made.append(f"n{node}:")
            is_looked_up = node in self.lookups.inner
            if table.feature[node] < 0 or is_looked_up:
                said = self._lookup(node, always, leaves) if is_looked_up else self._leaf(node, always)
                made.append(f"    {said}")
                if waiting:
                    made.append(f"    goto end{self.number};")
                continue
            left, right = node + 1, node + table.skip[node]
            other = self._other(node)
            test = f"x[{table.feature[node]}] TREE_COMPARES {self._threshold(node)}"
            test = f"!({test})" if other == right else test
            made.append(f"    if ({test}) goto n{other};")
            waiting += [other, left + right - other]
        end = f"end{self.number}"
        return [*made, f"{end}:;"] if f"    goto {end};" in made else made

    def _threshold(self, node: int) -> str:
        return number(for_doubles(self.table, node))

    def _leaf(self, node: int, always: frozenset[int]) -> str:
        table, said = self.table, list[str]()
        if _is_wide(table):
            said.append(f"add_scores(out, {self.number}, {node});")
        else:
            first = table.target[self.number] if table.width < table.n_outputs else 0
            for place, score in enumerate(table.scores[table.score[node]]):
                said.append(f"out{first + place} += {number(score)};")
        words = self._words(node, always)
        said += [f"seen{place} |= {word};" for place, word in enumerate(words) if word != _NONE]
        return " ".join(said)

    def _lookup(self, root: int, always: frozenset[int], leaves: list[str]) -> str:
        """Return the statement that finds a leaf below a node by all tests there, and add its leaves."""
        table, found = self.table, self.lookups.leaves(self.table, root)
        tests = [
            f"(x[{table.feature[node]}] TREE_COMPARES {self._threshold(node)}) << {place}"
            for place, node in enumerate(self.lookups.inner[root])
        ]
        said = [f"leaf = FAST_LEAVES + {len(leaves)} + ({' | '.join(tests)});"]
        first = table.target[self.number] if table.width < table.n_outputs else 0
        said += [f"out{first + place} += leaf->scores[{place}];" for place in range(table.width)]
        for place, words in enumerate(zip(*(self._words(leaf, always) for leaf in found), strict=True)):
            if set(words) != {_NONE}:
                said.append(f"seen{place} |= leaf->seen[{place}];")
        leaves += [leaf_record(table, leaf, self._words(leaf, always)) for leaf in found]
        return " ".join(said)

    def _words(self, leaf: int, always: frozenset[int]) -> list[str]:
        return bit_words(self.paths.on_path[leaf] - always, n_words(self.table))


def _chunks(trees: list[TreePaths]) -> list[list[TreePaths]]:
    """Return the trees by function."""
    made: list[list[TreePaths]] = []
    size = _CHUNK
    for tree in trees:
        if size >= _CHUNK:
            made.append([])
            size = 0
        made[-1].append(tree)
        size += tree.end - tree.first
    return made


def _function(
    name: str, trees: list[_Tree], always: frozenset[int], table: TreeTable, leaves: list[str]
) -> str:
    """Return a function of some trees; sums and features seen are local, so that they stay in registers."""
    body = []
    rounded = [f"    out{i} = (double)(float)out{i};" for i in range(table.n_outputs)]
    for tree in trees:
        body += tree.lines(always, leaves)
        if table.single_sums and not _is_wide(table):
            target = table.target[tree.number] if table.width < table.n_outputs else 0
            body += rounded[target : target + table.width]
    text = "\n".join(body)
    outs = [] if _is_wide(table) else [i for i in range(table.n_outputs) if f"out{i} " in text]
    words = [i for i in range(n_words(table)) if f"seen{i} " in text]
    begin = [f"    double out{i} = out[{i}];" for i in outs]
    begin += [f"    uint32_t seen{i} = seen[{i}];" for i in words]
    end = [f"    out[{i}] = out{i};" for i in outs] + [f"    seen[{i}] = seen{i};" for i in words]
    begin += ["    const leaf_record *leaf;"] if "leaf =" in text else []
    unused = ["    (void)x;", "    (void)out;", "    (void)seen;"]
    return "\n".join(
        [
            f"static void {name}(const double *x, double *out, uint32_t *seen)\n{{",
            *begin, *unused, text, *end, "}",
        ]
    )  # fmt: skip
