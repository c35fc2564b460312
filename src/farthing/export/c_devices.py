"""The programs of devices as C: from what a device measures to its message, or none."""

from __future__ import annotations

import re

import numpy as np

from farthing.export.c_text import array, comment, identifier, number
from farthing.export.program import Program
from farthing.export.runtime_files import runtime
from farthing.export.table_types import real, whole
from farthing.walks.plans import DevicePlan, MessagePlan


def device_files(program: Program, name: str) -> dict[str, str]:
    """Return a header and a source for each device, by the names of the files; empty without devices."""
    if not isinstance(program.plan, MessagePlan):
        return {}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for device in program.plan.devices:
        stem = f"{name}_{identifier(device.name, taken)[2:]}"
        found |= {f"{stem}.h": _header(device, stem), f"{stem}.c": _source(device, stem)}
    return found


def _header(device: DevicePlan, stem: str) -> str:
    guard = f"{stem.upper()}_H"
    lines = [
        f"/* Device {comment(device.name)}: its message to the model, if its gate is open. */",
        f"#ifndef {guard}\n#define {guard}\n",
        "/* What it reads, by number. */",
    ]
    taken: set[str] = set()
    for place, (feature, categories) in enumerate(zip(device.readings, device.categories, strict=True)):
        lines.append(f"#define {stem.upper()}_{identifier(feature, taken)} {place} /* {comment(feature)} */")
        if categories:
            codes = ", ".join(f"{code} {comment(str(each))}" for code, each in enumerate(categories))
            lines.append(f"/*   codes: {codes}; any other category is NAN */")
    lines += [
        f"#define {stem.upper()}_READINGS {len(device.readings)}",
        f"#define {stem.upper()}_NUMBERS {len(device.scores.intercept) - 1}\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        "/* Fill in the message; returns whether it is to be sent. NAN is a missing reading. */",
        f"int {stem}_message(const double *readings, double *message);",
        "#ifdef __cplusplus\n}\n#endif\n",
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(lines)


def _source(device: DevicePlan, stem: str) -> str:
    scores = device.scores
    tables = {
        "TERM_READING": whole(scores.columns.tolist()),
        "TERM_CATEGORY": real(scores.category),
        "TERM_MEAN": real(scores.mean),
        "TERM_SCALE": real(scores.scale),
        "TERM_COEF": real(scores.coef.ravel()),
        "INTERCEPT": real(np.asarray(scores.intercept)),
    }
    lines = [
        f'#include "{stem}.h"\n\n#include <math.h>\n#include <stdint.h>\n',
        "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n",
        f"#define FARTHING_FUNCTION {stem}_message",
        f"#define FARTHING_NUMBERS {len(scores.intercept) - 1}",
        f"#define TERMS {len(scores.columns)}",
        f"#define THRESHOLD {number(device.threshold)}\n",
        *(array(key, table) for key, table in tables.items()),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines) + runtime("device.c"))
