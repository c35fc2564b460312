"""A second copy of trees in C, as jumps, for rows that have every value: larger, and faster to go down.

A walk over tables waits for each node; jumps are guessed ahead by the processor, well if most training
rows of a node went the same way. Thresholds, scores and the features of each path are constants of the
code. Features that are on every path of some tree are always paid for, so no path names them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from farthing.export.c_text import number
from farthing.export.tables import Tables
from farthing.export.tree_table import TreeTable

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
# Nodes of one function, at least: compilers take more than twice the time for twice the length.
_CHUNK: Final = 800
# Scores of a leaf that are constants of the code; more of them are added from the tables.
_MOST_SCORES: Final = 4
_WORD: Final = 32


def fast_trees(tables: Tables) -> str:
    """Return the trees as functions that add up scores and note the features on the way.

    Parameters
    ----------
    tables : Tables
        With trees that test numbers alone.
    """
    table = tables.trees
    assert table is not None
    trees = [_Tree(table, tree) for tree in range(table.n_trees)]
    always = frozenset[int]().union(*(tree.always for tree in trees))
    n_words = -(-table.n_slots // _WORD)
    kind = "float" if table.single else "double"
    parts = [
        f"#if FARTHING_FAST\ntypedef {kind} fast_value;",
        "enum { SEEN_WORDS = FARTHING_WORDS };",
        *_sometimes(tables, always),
        f"static const uint32_t ALWAYS[SEEN_WORDS] = {{{', '.join(_words(always, max(1, n_words)))}}};",
    ]
    names: list[str] = []
    for chunk in _chunks(trees):
        names.append(f"fast_trees_{len(names)}")
        parts.append(_function(names[-1], chunk, always, table))
    calls = " \\\n".join(f"    {name}(x, out, seen);" for name in names)
    parts.append(f"#define FAST_TREES(x, out, seen) \\\n{calls}\n#endif\n")
    return "\n".join(parts)


def _sometimes(tables: Tables, always: frozenset[int]) -> list[str]:
    """Return what is always spent, and the features that only some rows pay for, where sums are whole."""
    own = tables.tables["OWN"].entries
    rest = [item for item in range(len(own)) if item not in always]
    kind = "uint8_t" if len(own) <= 2**8 else "int32_t"
    return [
        "#if PRICES_WHOLE && FARTHING_GROUPS == 0",
        f"enum {{ ALWAYS_SPENT = {int(sum(own[item] for item in always))}, N_SOMETIMES = {len(rest)} }};",
        f"static const {kind} SOMETIMES[{len(rest) + 1}] = {{{', '.join(map(str, [*rest, 0]))}}};",
        "#endif",
    ]


def _is_wide(table: TreeTable) -> bool:
    return table.width > _MOST_SCORES


def _words(items: Iterable[int], n_words: int) -> list[str]:
    words = [0] * n_words
    for item in items:
        words[item // _WORD] |= 1 << item % _WORD
    return [f"0x{word:x}u" for word in words]


class _Tree:
    """A tree of a table: the features on the path to each leaf."""

    def __init__(self, table: TreeTable, number_: int) -> None:
        self.table, self.number = table, number_
        self.first, self.end = table.roots[number_], table.roots[number_ + 1]
        self.on_path = {self.first: frozenset[int]()}
        for node in range(self.first, self.end):
            if (slot := table.feature[node]) >= 0:
                self.on_path[node + 1] = self.on_path[node + table.skip[node]] = self.on_path[node] | {slot}
        leaves = [node for node in range(self.first, self.end) if table.feature[node] < 0]
        self.always = frozenset.intersection(*(self.on_path[leaf] for leaf in leaves))
        self.jumps = {self._other(node) for node in range(self.first, self.end) if table.feature[node] >= 0}

    def _other(self, node: int) -> int:
        """Return the child that fewer training rows went to."""
        table, left, right = self.table, node + 1, node + self.table.skip[node]
        return right if table.cover[left] >= table.cover[right] else left

    def lines(self, always: frozenset[int]) -> list[str]:
        """Return the statements: the child of more training rows comes first, the other by a jump."""
        table, made = self.table, list[str]()
        waiting = [self.first]
        while waiting:
            node = waiting.pop()
            if node in self.jumps:
                made.append(f"n{node}:")
            if table.feature[node] < 0:
                made.append(f"    {self._leaf(node, always)}")
                if waiting:
                    made.append(f"    goto end{self.number};")
                continue
            left, right = node + 1, node + table.skip[node]
            other = self._other(node)
            test = f"x[{table.feature[node]}] TREE_COMPARES {self._threshold(node)}"
            test = f"!({test})" if other == right else test
            made.append(f"    if ({test}) goto n{other};")
            waiting += [other, left + right - other]
        return made if self.end - self.first == 1 else [*made, f"end{self.number}:;"]

    def _threshold(self, node: int) -> str:
        text = number(self.table.thresholds[self.table.test[node]])
        return f"{text}f" if self.table.single and "VAL" not in text else text

    def _leaf(self, node: int, always: frozenset[int]) -> str:
        table, said = self.table, list[str]()
        if _is_wide(table):
            said.append(f"add_scores(out, {self.number}, {node});")
        else:
            first = table.target[self.number] if table.width < table.n_outputs else 0
            for place, score in enumerate(table.scores[table.score[node]]):
                said.append(f"out{first + place} += {number(score)};")
        words = _words(self.on_path[node] - always, max(1, -(-table.n_slots // _WORD)))
        said += [f"seen{place} |= {word};" for place, word in enumerate(words) if word != "0x0u"]
        return " ".join(said)


def _chunks(trees: list[_Tree]) -> list[list[_Tree]]:
    """Return the trees by function."""
    made: list[list[_Tree]] = []
    size = _CHUNK
    for tree in trees:
        if size >= _CHUNK:
            made.append([])
            size = 0
        made[-1].append(tree)
        size += tree.end - tree.first
    return made


def _function(name: str, trees: list[_Tree], always: frozenset[int], table: TreeTable) -> str:
    """Return a function of some trees; sums and features seen are local, so that they stay in registers."""
    body = []
    rounded = [f"    out{i} = (double)(float)out{i};" for i in range(table.n_outputs)]
    for tree in trees:
        body += tree.lines(always)
        if table.single_sums and not _is_wide(table):
            target = table.target[tree.number] if table.width < table.n_outputs else 0
            body += rounded[target : target + table.width]
    text = "\n".join(body)
    outs = [] if _is_wide(table) else [i for i in range(table.n_outputs) if f"out{i} " in text]
    words = [i for i in range(max(1, -(-table.n_slots // _WORD))) if f"seen{i} " in text]
    begin = [f"    double out{i} = out[{i}];" for i in outs]
    begin += [f"    uint32_t seen{i} = seen[{i}];" for i in words]
    end = [f"    out[{i}] = out{i};" for i in outs] + [f"    seen[{i}] = seen{i};" for i in words]
    unused = ["    (void)x;", "    (void)out;", "    (void)seen;"]
    return "\n".join(
        [
            f"static void {name}(const fast_value *x, double *out, uint32_t *seen)\n{{",
            *begin, *unused, text, *end, "}",
        ]
    )  # fmt: skip
