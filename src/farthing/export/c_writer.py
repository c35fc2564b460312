"""A program as C99: one header and one source, without dynamic memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from farthing.export.c_devices import device_files
from farthing.export.c_fast import AT_ONCE_CALL, FAST_SWITCH, fast_trees
from farthing.export.c_links import conclusions, widest
from farthing.export.c_stack import stack_bytes
from farthing.export.c_text import array, comment, identifier, number
from farthing.export.program import Program
from farthing.export.runtime_files import Written, runtime
from farthing.export.table_types import Table
from farthing.export.tables import Tables
from farthing.walks.drawn_votes import DrawnVotePlan

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
    n, fields = tables.numbers, _state_fields(program, tables)
    header = _header(program, tables, name, fields)
    plan = [f"{tables.kind}_plan"]
    if isinstance(program.plan, DrawnVotePlan):
        plan.append(f"drawn_{program.plan.way}")
    if program.handover is not None:
        plan.append("handover")
    parts = [
        "core",
        *(["pairs"] if tables.numbers.get("PLAN_CALLS") else []),
        *(["trees"] if tables.trees else []),
        *(["random"] if "PURCHASE" in tables.tables else []),
    ]
    source = [
        f'#include "{name}.h"\n\n#include <math.h>\n#include <string.h>\n',
        "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n",
        *_constants(tables),
        *([_SKIPS] if tables.trees else []),
        *(_array(key, table) for key, table in tables.tables.items()),
        *_macros(program, tables),
        *(runtime(f"{part}.c") for part in parts),
        fast_trees(tables) if n.get("PLAN_AT_ONCE") else "",
        conclusions(program, tables),
        *(runtime(f"{part}.c") for part in plan),
        runtime("decision.c"),
        runtime("at_once.c") if n.get("PLAN_AT_ONCE") else "",
    ]
    return Written(
        {f"{name}.h": header, f"{name}.c": "\n".join(source), **device_files(program, name)},
        table_bytes=sum(table.size for table in tables.tables.values()),
        state_bytes=_aligned(fields, tables),
        stack_bytes=stack_bytes(program, tables),
    )


_SKIPS: Final = """/* Whether right children are in a table; code that is to be small searches for them. */
#if TREE_SHORT && defined(__OPTIMIZE_SIZE__)
#define TREE_SKIPS 0
#else
#define TREE_SKIPS 1
#endif
"""


def _array(key: str, table: Table) -> str:
    """Return a table, which may be left out."""
    written = array(key, table)
    return f"#if TREE_SKIPS\n{written}\n#endif" if key == "SKIP" else written


def _state_fields(program: Program, tables: Tables) -> list[tuple[str, str, int]]:
    """Return type, name and length of the fields of the state, the widest types first; 0 is no array."""
    n, items = tables.numbers, len(program.prices.names)
    doubles = [("value", max(1, items)), ("limit", 0)]
    words: list[str] = ["asked"]
    flags: list[str] = []
    fields: list[tuple[str, str, int]] = []
    if tables.kind == "drawn":
        return [
            *((("double", *each)) for each in doubles),
            *_drawn_fields(program, tables),
            *_flag_fields(n, items),
        ]
    if tables.kind != "station" or not n.get("PLAN_PARTIAL"):
        doubles.append(("outputs", program.n_outputs))
    if program.answer_width:
        doubles.append(("answer", program.answer_width))
    if tables.kind == "tree":
        words += ["tree", "node", "block"]
    if tables.kind == "station":
        words += ["station", "at", *(["node"] if n["PLAN_ROUTES"] else [])]
        flags.append("done")
    if tables.kind == "message":
        words.append("device")
    if program.handover is not None:
        words.append("place")
        flags.append("stage")
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
    return [*fields, *_flag_fields(n, items), *(("uint8_t", key, 0) for key in flags)]


def _flag_fields(n: Mapping[str, float], items: int) -> list[tuple[str, str, int]]:
    groups = [("uint8_t", "groups", int(n["FARTHING_GROUPS"]))] if n["FARTHING_GROUPS"] else []
    return [("uint8_t", "flags", max(1, items)), *groups]


def _drawn_fields(program: Program, tables: Tables) -> list[tuple[str, str, int]]:
    """Return the fields of a vote whose learners are drawn."""
    n, k = tables.numbers, program.n_outputs
    words, flags = ["asked", "learner", "samples"], ["stays", "has_read"]
    doubles: list[tuple[str, int]] = []
    keys: list[str] = []
    bytes_: list[tuple[str, int]] = []
    words += ["node"] if n["DRAWN_TREES"] else []
    if n["DRAWN_UNITS"]:
        units = int(n["UNITS"])
        doubles += [(key, k) for key in ("known", "unknown", "estimate")]
        doubles += [(key, 0) for key in ("share", "weight", "budget", "spent")]
        doubles += [(key, max(1, units)) for key in ("prices", "scores", "weights")]
        bytes_ += [("units", max(1, units)), ("after", max(1, units))]
        words.append("voter")
        keys.append("seed_key")
    elif n["DRAWN_TOP"]:
        doubles.append(("outputs", k))
        words.append("place")
    else:
        doubles += [(key, k) for key in ("certain", "full", "drawn")] + [("unpaid", 0)]
        words.append("place")
        flags += ["mode", "changed"]
        keys += ["seed_key", "key"]
    return [
        *(("double", *each) for each in doubles),
        *(("uint64_t", key, 0) for key in keys),
        *(("int32_t", key, 0) for key in words),
        *(("uint8_t", *each) for each in bytes_),
        *(("uint8_t", key, 0) for key in flags),
    ]


def _aligned(fields: Sequence[tuple[str, str, int]], tables: Tables) -> int:
    node = 4 if tables.numbers.get("FINISHED", 0) > 65535 else 2
    sizes = {"double": 8, "uint64_t": 8, "int32_t": 4, "farthing_node": node, "uint8_t": 1}
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
@/* The prediction so far, valid at any time, final at FARTHING_DECIDED. */
farthing_result farthing_decision(farthing_state *state);
/* Whether a feature, or a call after the features, was paid for. */
int farthing_acquired(const farthing_state *state, int32_t feature);
"""


def _header(program: Program, tables: Tables, name: str, fields: Sequence[tuple[str, str, int]]) -> str:
    guard = re.sub(r"\W", "_", name).upper() + "_H"
    budget = "HUGE_VAL" if program.budget is None else number(program.budget)
    lines = [
        f"/* {program.method} of Farthing as a walk, which asks for one feature at a time.",
        f"   Compile the source with {FLAGS}; on x86 in 32 bits, add -msse2 -mfpmath=sse. */",
        f"#ifndef {guard}\n#define {guard}\n\n#include <math.h>\n#include <stdint.h>\n",
        f"#define FARTHING_BUDGET {budget}",
        "#define FARTHING_DECIDED (-1)",
        *(
            f"#define {key} {int(tables.numbers[key])}"
            for key in tables.numbers
            if key.startswith("FARTHING_")
        ),
        *(
            [f"#define FARTHING_SEED {program.plan.seed}ULL"]
            if isinstance(program.plan, DrawnVotePlan)
            else []
        ),
        f"#define FARTHING_STATE_BYTES {_aligned(fields, tables)} /* with aligned 8-byte doubles */\n",
        f"#define FARTHING_STACK_BYTES {stack_bytes(program, tables)} /* at most, calls of math.h apart */\n",
        *([FAST_SWITCH] if tables.numbers.get("PLAN_AT_ONCE") else []),
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
        _API.replace("@", _further_calls(program, tables)),
        *([AT_ONCE_CALL] if tables.numbers.get("PLAN_AT_ONCE") else []),
        "#ifdef __cplusplus\n}\n#endif\n",
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(lines)


_LISTS: Final = """/* Answer with FARTHING_ANSWER numbers, and pay: {what}.
   -1: the question takes one number, or there is none. */
int farthing_tell_list(farthing_state *state, const double *numbers);
"""
_SEED: Final = """/* Another seed of the draws than the model's own; right after farthing_start. */
void farthing_seed(farthing_state *state, uint64_t seed);
"""


def _further_calls(program: Program, tables: Tables) -> str:
    """Return what the header declares for some plans alone."""
    if program.answer_width:
        what = (
            "a message" if program.handover is None else f"the probabilities of the {program.handover.name}"
        )
        return _LISTS.format(what=what)
    return _SEED if "PURCHASE" in tables.tables else ""


def _feature_lines(program: Program) -> list[str]:
    prices, taken = program.prices, set[str]()
    unit = f" in {comment(prices.unit)}" if prices.unit else ""
    lines = [f"/* Features by number, with what each costs by itself{unit}. */"]
    for item, name in enumerate(prices.names):
        call = " (a call, bought by the walk itself)" if item >= prices.n_columns else ""
        group = prices.group_of[item]
        shared = f" + {prices.shared[group]:g} once for {comment(prices.groups[group])}" if group >= 0 else ""
        price = f"{prices.own[item]:g}{shared}{call}"
        lines.append(f"#define FARTHING_{identifier(name, taken)} {item} /* {comment(name)}: {price} */")
        if item < prices.n_columns and prices.categories[item]:
            codes = ", ".join(f"{code} {comment(str(c))}" for code, c in enumerate(prices.categories[item]))
            lines.append(f"/*   codes: {codes}; any other category is NAN */")
    return [*lines, ""]


def _label_lines(program: Program) -> list[str]:
    if program.classes is None:
        return []
    labels = ", ".join(f"{code} {comment(str(label))}" for code, label in enumerate(program.classes))
    return [f"/* Labels: {labels}. */\n"]


def _constants(tables: Tables) -> list[str]:
    lines = []
    for key, value in tables.numbers.items():
        if not key.startswith("FARTHING_"):
            lines.append(f"#define {key} {value if isinstance(value, int) else number(value)}")
    return [*lines, ""]


def _macros(program: Program, tables: Tables) -> list[str]:
    n = tables.numbers
    wide = max(widest(program.link, program.n_outputs), program.n_outputs, program.n_results)
    lines = [
        f"#define FARTHING_WIDEST {wide}",
        # Whole prices add up to the same in any order, and faster.
        f"typedef {'int32_t' if n['PRICES_WHOLE'] else 'double'} spend;",
    ]
    if tables.trees is not None:
        lines += [
            f"#define TREE_COMPARES {'<' if n['TREE_STRICT'] else '<='}",
            f"#define TREE_TARGET(tree) {'TARGET[tree]' if n['TREE_TARGETS'] else '0'}",
            f"#define SCORE_OF(node) {'SCORE[node]' if n['TREE_POOLED'] else '(node)'}",
            f"typedef {tables.tables['SCORES'].kind} double_table;" if tables.kind == "class_vote" else "",
        ]
    return [*lines, ""]
