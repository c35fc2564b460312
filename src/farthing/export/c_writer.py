"""A program as C99: one header and one source, without dynamic memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from farthing.export.c_links import conclusions, number, widest
from farthing.export.program import Program
from farthing.export.runtime_files import Written, runtime
from farthing.export.tables import Table, Tables

# Columns of the written code.
_LINE: Final = 110

FLAGS: Final = "-std=c99 -ffp-contract=off"
"""Compiler flags under which sums are added and rounded as in the library."""


def write_c(program: Program, name: str) -> Written:
    """Return a program as C.

    Parameters
    ----------
    program : Program
    name : str
        The name of the files: ``name.h`` and ``name.c``.
    """
    tables = Tables.of(program)
    fields = _state_fields(program, tables)
    header = _header(program, tables, name, fields)
    parts = [
        "core",
        *(["pairs"] if tables.numbers.get("PLAN_CALLS") else []),
        *(["trees"] if tables.trees else []),
    ]
    source = [
        f'#include "{name}.h"\n\n#include <math.h>\n#include <string.h>\n',
        "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n",
        *_constants(tables),
        *(_array(key, table) for key, table in tables.tables.items()),
        *_macros(program, tables),
        *(runtime(f"{part}.c") for part in parts),
        conclusions(program, tables),
        runtime(f"{tables.kind}_plan.c"),
        runtime("decision.c"),
    ]
    return Written(
        {f"{name}.h": header, f"{name}.c": "\n".join(source)},
        table_bytes=sum(table.size for table in tables.tables.values()),
        state_bytes=_aligned(fields, tables),
    )


def _state_fields(program: Program, tables: Tables) -> list[tuple[str, str, int]]:
    """Return type, name and length of the fields of the state, the widest types first; 0 is no array."""
    n, items = tables.numbers, len(program.prices.names)
    doubles = [("value", max(1, items + int(n.get("PLAN_AT_ONCE", 0)))), ("limit", 0)]
    words: list[str] = ["asked"]
    flags: list[str] = []
    fields: list[tuple[str, str, int]] = []
    if tables.kind in ("tree", "vote", "class_vote") or not n.get("PLAN_PARTIAL"):
        doubles.append(("outputs", program.n_outputs))
    if tables.kind == "tree":
        words += ["tree", "node", "block"]
    if tables.kind == "station":
        words += ["station", "at", *(["node"] if n["PLAN_ROUTES"] else [])]
        flags.append("done")
    if n.get("PLAN_CALLS"):
        words += ["heard", "call"]
        flags += ["looked", *(["stopped"] if tables.kind == "tree" else [])]
    if tables.kind == "vote":
        doubles += [("low", 0), ("high", 0)]
    if tables.kind == "class_vote":
        doubles.append(("lead", program.n_outputs**2))
    fields += [("double", key, length) for key, length in doubles]
    fields += [("int32_t", key, 0) for key in words]
    if tables.kind in ("vote", "class_vote"):
        fields.append(("farthing_node", "nodes", int(n["TREES"])))
    fields.append(("uint8_t", "flags", max(1, items)))
    if n["FARTHING_GROUPS"]:
        fields.append(("uint8_t", "groups", int(n["FARTHING_GROUPS"])))
    return [*fields, *(("uint8_t", key, 0) for key in flags)]


def _aligned(fields: Sequence[tuple[str, str, int]], tables: Tables) -> int:
    node = 4 if tables.numbers.get("FINISHED", 0) > 65535 else 2
    sizes = {"double": 8, "int32_t": 4, "farthing_node": node, "uint8_t": 1}
    total = sum(sizes[kind] * max(1, length) for kind, _, length in fields)
    return -(-total // 8) * 8


_API: Final = """/* Start a walk. FARTHING_BUDGET is the model's own hard budget, HUGE_VAL no limit. */
void farthing_start(farthing_state *state, double budget);
/* A feature owned from the start, which costs nothing; before all else. -1: no feature, or too late. */
int farthing_known(farthing_state *state, int32_t feature, double value);
/* The feature asked for, or FARTHING_DECIDED. */
int32_t farthing_next(farthing_state *state);
/* What the feature asked for would cost now; 0 at the end. */
double farthing_price(farthing_state *state);
/* Answer and pay: a number, the code of a category, NAN if it is missing. -1: no question. */
int farthing_tell(farthing_state *state, double value);
/* Refuse: the feature cannot be had, which is free. -1: no question. */
int farthing_refuse(farthing_state *state);
/* Answer all questions that are left from a row at hand: one value for each feature. */
void farthing_tell_all(farthing_state *state, const double *values);
/* The prediction so far, valid at any time, final at FARTHING_DECIDED. */
farthing_result farthing_decision(farthing_state *state);
/* Whether a feature, or a call after the features, was paid for. */
int farthing_acquired(const farthing_state *state, int32_t feature);
"""


def _header(program: Program, tables: Tables, name: str, fields: Sequence[tuple[str, str, int]]) -> str:
    guard = re.sub(r"\W", "_", name).upper() + "_H"
    budget = "HUGE_VAL" if program.budget is None else number(program.budget)
    lines = [
        f"/* A {program.method} of Farthing as a walk, which asks for one feature at a time.",
        f"   Compile the source with {FLAGS}; on x86 in 32 bits, add -msse2 -mfpmath=sse. */",
        f"#ifndef {guard}\n#define {guard}\n\n#include <math.h>\n#include <stdint.h>\n",
        f"#define FARTHING_BUDGET {budget}",
        "#define FARTHING_DECIDED (-1)",
        *(
            f"#define {key} {int(tables.numbers[key])}"
            for key in tables.numbers
            if key.startswith("FARTHING_")
        ),
        f"#define FARTHING_STATE_BYTES {_aligned(fields, tables)} /* with aligned 8-byte doubles */\n",
        *_feature_lines(program),
        *_label_lines(program),
    ]
    if any(kind == "farthing_node" for kind, _, _ in fields):
        wide = tables.numbers["FINISHED"] > 65535
        lines.append(f"typedef {'uint32_t' if wide else 'uint16_t'} farthing_node;")
    body = "".join(f"    {kind} {key}{f'[{length}]' if length else ''};\n" for kind, key, length in fields)
    meaning = "value[0] is the prediction" if program.classes is None else "value holds the probabilities"
    lines += [
        f"/* The state of one walk; copy it freely. */\ntypedef struct {{\n{body}}} farthing_state;\n",
        f"/* {meaning}; label is the number of the class, -1 if there are none. */",
        "typedef struct {\n    double value[FARTHING_RESULTS];\n    double spent;\n    int32_t label;",
        "} farthing_result;\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        _API,
        "#ifdef __cplusplus\n}\n#endif\n",
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(lines)


def _feature_lines(program: Program) -> list[str]:
    prices, taken = program.prices, set[str]()
    unit = f" in {_comment(prices.unit)}" if prices.unit else ""
    lines = [f"/* Features by number, with what each costs by itself{unit}. */"]
    for item, name in enumerate(prices.names):
        call = " (a call, bought by the walk itself)" if item >= prices.n_columns else ""
        group = prices.group_of[item]
        shared = (
            f" + {prices.shared[group]:g} once for {_comment(prices.groups[group])}" if group >= 0 else ""
        )
        price = f"{prices.own[item]:g}{shared}{call}"
        lines.append(f"#define FARTHING_{_identifier(name, taken)} {item} /* {_comment(name)}: {price} */")
        if item < prices.n_columns and prices.categories[item]:
            codes = ", ".join(f"{code} {_comment(str(c))}" for code, c in enumerate(prices.categories[item]))
            lines.append(f"/*   codes: {codes}; any other category is NAN */")
    return [*lines, ""]


def _label_lines(program: Program) -> list[str]:
    if program.classes is None:
        return []
    labels = ", ".join(f"{code} {_comment(str(label))}" for code, label in enumerate(program.classes))
    return [f"/* Labels: {labels}. */\n"]


def _comment(text: str) -> str:
    """Return a name that cannot end a comment, in ASCII."""
    return (
        text.replace("*/", "* /")
        .replace("/*", "/ *")
        .encode("ascii", "backslashreplace")
        .decode()
        .replace("\\", "/")
    )


def _identifier(name: str, taken: set[str]) -> str:
    """Return a name for a macro that no other feature has."""
    base = re.sub(r"[^0-9A-Za-z_]", "_", name) or "_"
    found, counter = f"X_{base}", 1
    while found in taken:
        counter += 1
        found = f"X_{base}_{counter}"
    taken.add(found)
    return found


def _constants(tables: Tables) -> list[str]:
    lines = []
    for key, value in tables.numbers.items():
        if not key.startswith("FARTHING_"):
            lines.append(f"#define {key} {value if isinstance(value, int) else number(value)}")
    return [*lines, ""]


def _array(name: str, table: Table) -> str:
    if table.kind in ("float", "double"):
        entries = [number(entry) for entry in table.entries] or ["0.0"]
        if table.kind == "float":
            entries = [e if "VAL" in e or e == "NAN" else f"{e}f" for e in entries]
    else:
        entries = [str(entry) for entry in table.entries] or ["0"]
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > _LINE:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line)
    inner = "\n".join(lines)
    return f"static const {table.kind} {name}[{len(entries)}] = {{\n{inner}\n}};"


def _macros(program: Program, tables: Tables) -> list[str]:
    n = tables.numbers
    wide = max(widest(program.link, program.n_outputs), program.n_outputs, program.n_results)
    lines = [f"#define FARTHING_WIDEST {wide}"]
    if tables.trees is not None:
        lines += [
            f"#define TREE_COMPARES {'<' if n['TREE_STRICT'] else '<='}",
            f"#define TREE_TARGET(tree) {'TARGET[tree]' if n['TREE_TARGETS'] else '0'}",
            f"#define SCORE_OF(node) {'SCORE[node]' if n['TREE_POOLED'] else '(node)'}",
            f"typedef {tables.tables['SCORES'].kind} double_table;" if tables.kind == "class_vote" else "",
        ]
    return [*lines, ""]
