"""The steps of a link, exits and labels as C; the array ``v`` holds what the steps before made."""

from __future__ import annotations

from farthing.export.c_text import number
from farthing.export.program import Program
from farthing.export.tables import Tables
from farthing.walks.plans import Link, LinkStep

# Pieces of C, for n entries of v.
_NORMALISE = """    sum = 0.0;
    for (i = 0; i < {n}; ++i) if (v[i] != 0.0) break;
    if (i == {n}) for (i = 0; i < {n}; ++i) v[i] = 1.0;
    for (i = 0; i < {n}; ++i) sum += v[i];
    for (i = 0; i < {n}; ++i) v[i] = v[i] / sum;
"""
_MOST = """    most = v[0];
    for (i = 1; i < {n}; ++i) if (v[i] > most) most = v[i];
"""
_STEPS = {
    "first": "",
    "take": "",
    "rest": "    for (i = 1; i < {n}; ++i) v[i - 1] = v[i];\n",
    "divide": "    for (i = 0; i < {n}; ++i) v[i] = v[i] / {number};\n",
    "times": "    for (i = 0; i < {n}; ++i) v[i] = v[i] * {number};\n",
    "sigmoid": "    sum = v[0];\n    v[0] = 1.0 / (1.0 + exp(sum));\n    v[1] = 1.0 / (1.0 + exp(-sum));\n",
    "second": "    v[0] = v[1];\n",
    "softmax": _MOST + "    for (i = 0; i < {n}; ++i) v[i] = exp(v[i] - most);\n" + _NORMALISE,
    "normalise": _NORMALISE,
    "exponential": "    v[0] = exp(v[0]);\n",
    "one": "    v[0] = 1.0;\n",
    "temper": "    for (i = 0; i < {n}; ++i) v[i] = log(v[i] < 1e-12 ? 1e-12 : v[i]) / {number};\n"
    + _MOST
    + "    for (i = 0; i < {n}; ++i) v[i] = exp(v[i] - most);\n"
    + _NORMALISE,
    "single_exponential": "    v[0] = (double)(float)exp(v[0]);\n",
    "single_sigmoid": """    sum = -v[0] < (double)88.7f ? -v[0] : (double)88.7f;
    {{
        const float raised = (float)exp(sum);
        const float below = raised + 1.0f;
        const float second = 1.0f / below;
        const float first = 1.0f - second;
        v[0] = (double)first;
        v[1] = (double)second;
    }}
""",
    "single_softmax": _MOST
    + """    sum = 0.0;
    for (i = 0; i < {n}; ++i) v[i] = (double)(float)exp((double)(float)(v[i] - most));
    for (i = 0; i < {n}; ++i) sum += v[i];
    for (i = 0; i < {n}; ++i) {{
        const float share = (float)v[i] / (float)sum;
        v[i] = (double)share;
    }}
""",
}


def width_after(step: LinkStep, n: int) -> int:
    """Return the number of entries that a step leaves."""
    if step.name in ("first", "take"):
        return int(step.number)
    if step.name == "rest":
        return n - 1
    if step.name in ("second", "mean_grade", "one"):
        return 1
    return 2 if step.name in ("sigmoid", "single_sigmoid") else n


def widest(link: Link, n: int) -> int:
    """Return the most entries at any step."""
    sizes = [n]
    for step in link:
        sizes.append(width_after(step, sizes[-1]))
    return max(sizes)


def link_function(name: str, link: Link, n: int) -> str:
    """Return a C function that applies the steps of a link in place."""
    body = ""
    for step in link:
        if step.name == "mean_grade":
            terms = "".join(f"    sum += v[{i}] * {number(grade)};\n" for i, grade in enumerate(step.grades))
            body += f"    sum = 0.0;\n{terms}    v[0] = sum;\n"
        else:
            body += _STEPS[step.name].format(n=n, number=number(step.number))
        n = width_after(step, n)
    declared = [
        ("int i;", "i = " in body),
        ("double sum;", "sum = " in body),
        ("double most;", "most = " in body),
    ]
    head = "".join(f"    {text}\n" for text, used in declared if used)
    body = body or "    (void)v;\n"
    return f"static void {name}(double *v)\n{{\n{head}{body}}}\n"


_EXPECTED = """/* The least expected cost of a label, and the label. */
static double least_cost(const double *v, const {kind} *costs, int32_t *label)
{{
    double least = 0.0;
    int32_t i, j;
    for (j = 0; j < {k}; ++j) {{
        double sum = 0.0;
        for (i = 0; i < {k}; ++i) {{
            const double part = v[i] * costs[i * {k} + j];
            sum += part;
        }}
        if (j == 0 || sum < least) {{
            least = sum;
            *label = j;
        }}
    }}
    return least;
}}
"""


def conclusions(program: Program, tables: Tables) -> str:
    """Return the functions ``apply_link``, ``label_of`` and ``ends_here`` of a program."""
    text = link_function("apply_link", program.link, program.n_outputs)
    if "ERROR_COSTS" in tables.tables:
        kind = tables.tables["ERROR_COSTS"].kind
        text = _EXPECTED.format(kind=kind, k=program.n_results) + text
    if program.label_cut is None:
        text += _label_function(program)
    if tables.numbers.get("PLAN_EXITS"):
        text += _exit_function(program, tables)
    return text


def _label_function(program: Program) -> str:
    if program.classes is None:
        body = "    (void)v;\n    return -1;\n"
    elif program.error_costs is not None:
        body = "    int32_t label = 0;\n    (void)least_cost(v, ERROR_COSTS, &label);\n    return label;\n"
    else:
        body = (
            "    int32_t label = 0, i;\n"
            f"    for (i = 1; i < {program.n_results}; ++i) if (v[i] > v[label]) label = i;\n"
            "    return label;\n"
        )
    return f"static int32_t label_of(const double *v)\n{{\n{body}}}\n"


def _exit_function(program: Program, tables: Tables) -> str:
    head = "static int ends_here(const double *out, int32_t at)\n{\n"
    if tables.numbers["EXIT_INTERVAL"]:
        return head + "    return out[0] <= EXIT_LOW[at] || out[0] >= EXIT_HIGH[at];\n}\n"
    if tables.numbers["EXIT_GATE"]:
        return head + "    return out[FARTHING_OUTPUTS - 1] <= EXIT_THRESHOLD[at];\n}\n"
    risk = tables.exit_risk
    assert risk is not None
    text = link_function("exit_link", risk.link, program.n_outputs)
    n = program.n_results
    text += head + f"    double v[{max(n, widest(risk.link, program.n_outputs))}], risk;\n"
    text += "    memcpy(v, out, FARTHING_OUTPUTS * sizeof *out);\n    exit_link(v);\n"
    if risk.error_costs is not None:
        text += "    {\n        int32_t label;\n        risk = least_cost(v, ERROR_COSTS, &label);\n    }\n"
        if risk.certainty:
            text += f"    risk = 1.0 - risk / {number(risk.scale)};\n"
    else:
        text += (
            "    {\n        int i;\n        risk = v[0];\n"
            f"        for (i = 1; i < {n}; ++i) if (v[i] > risk) risk = v[i];\n    }}\n"
        )
        if not risk.certainty:
            text += "    risk = 1.0 - risk;\n"
    compares = ">" if risk.certainty else "<="
    return text + f"    return risk {compares} EXIT_THRESHOLD[at];\n}}\n"
