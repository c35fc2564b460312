"""A program as an ES module with types, for browsers, Node and edge workers."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from farthing.errors import ExportError
from farthing.export.program import Program
from farthing.export.runtime_files import Written, runtime
from farthing.export.tables import Tables
from farthing.walks.drawn_votes import DrawnVotePlan
from farthing.walks.plans import DevicePlan, Link, MessagePlan, Plan

# Number.MAX_SAFE_INTEGER.
_LARGEST_WHOLE: Final = 2**53 - 1


def write_js(program: Program, name: str) -> Written:
    """Return a program as an ES module and its types.

    Parameters
    ----------
    program : Program
    name : str
        The name of the files: ``name.js`` and ``name.d.ts``.
    """
    tables = Tables.of(program)
    head = f"// {program.method} of Farthing as a walk, which asks for one feature at a time.\n"
    script = f"{head}const MODEL = {js_text(model_data(program, tables))};\n\n{walk_script(program, tables)}"
    size = sum(table.size for table in tables.tables.values())
    types = runtime("walk.d.ts") + (runtime("devices.d.ts") if tables.kind == "message" else "")
    return Written({f"{name}.js": script, f"{name}.d.ts": types}, table_bytes=size)


def walk_script(program: Program, tables: Tables) -> str:
    """Return the runtime of a program: a module, without ``MODEL``."""
    parts = ["state", *(["trees"] if tables.trees else []), "links"]
    parts += ["votes"] if tables.kind in ("vote", "class_vote") else []
    parts.append(f"{tables.kind}_plan")
    if isinstance(program.plan, DrawnVotePlan):
        parts.append(f"drawn_{program.plan.way}")
    if program.handover is not None:
        parts.append("handover")
    return "\n".join(runtime(f"{part}.js") for part in [*parts, "walk"])


def model_data(program: Program, tables: Tables) -> dict[str, Any]:
    """Return what the runtime in JavaScript reads."""
    prices, risk = program.prices, tables.exit_risk
    return {
        "method": program.method,
        "kind": tables.kind,
        "budget": program.budget,
        "unit": prices.unit,
        "items": list(prices.names),
        "features": [
            {"name": name, "categories": list(categories)}
            for name, categories in zip(prices.names, prices.categories, strict=False)
        ],
        "classes": program.classes,
        "priced": program.error_costs is not None,
        "link": _steps(program.link),
        "exitRisk": None
        if risk is None
        else {
            "link": _steps(risk.link),
            "certainty": risk.certainty,
            "priced": risk.error_costs is not None,
            "scale": risk.scale,
        },
        "numbers": tables.numbers,
        # Words of 64 bits are strings, since numbers of JavaScript have 53.
        "tables": {
            key: list(map(str, table.entries)) if table.kind == "uint64_t" else table.entries
            for key, table in tables.tables.items()
        },
        **_further_data(program.plan),
    }


def _further_data(plan: Plan) -> dict[str, Any]:
    """Return what some plans have beside tables: a seed, or the programs of devices."""
    if isinstance(plan, DrawnVotePlan):
        return {"seed": str(plan.seed)}
    if isinstance(plan, MessagePlan):
        return {"devices": [_device(device) for device in plan.devices]}
    return {}


def _device(device: DevicePlan) -> dict[str, Any]:
    scores = device.scores
    rows = zip(
        scores.columns.tolist(),
        scores.category.tolist(),
        scores.mean.tolist(),
        scores.scale.tolist(),
        scores.coef.tolist(),
        strict=True,
    )
    return {
        "name": device.name,
        "categories": dict(zip(device.readings, map(list, device.categories), strict=True)),
        "threshold": device.threshold,
        "intercept": scores.intercept.tolist(),
        "terms": [
            {
                "reading": device.readings[place],
                "category": None if math.isnan(code) else code,
                "mean": mean,
                "scale": scale,
                "coef": coef,
            }
            for place, code, mean, scale, coef in rows
        ],
    }


def _steps(link: Link) -> list[dict[str, Any]]:
    return [{"name": step.name, "number": step.number, "grades": list(step.grades)} for step in link]


def js_text(value: Any) -> str:
    """Return plain data as a JavaScript expression; numbers keep all their bits.

    Examples
    --------
    >>> js_text({"a": [1.5, float("inf"), None]})
    '{"a":[1.5,Infinity,null]}'
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{js_text(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(js_text, value)) + "]"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return repr(int(value)) if value == int(value) and abs(value) < 2**53 and value != 0 else repr(value)
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        raise ExportError(f"JavaScript has no number {value}; give such labels and categories as text")
    # A page may hold the module in a script, which "</script>" would end.
    return json.dumps(value).replace("</", "<\\/").replace("<!--", "<\\!--")
