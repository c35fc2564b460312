"""Names, numbers and arrays as C writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from farthing.export.table_types import Table

# Columns of the written code.
_LINE: Final = 110


def number(value: float) -> str:
    """Return a double as C has it, to the last bit.

    Examples
    --------
    >>> number(0.5), number(float("inf"))
    ('0x1p-1', 'HUGE_VAL')
    """
    if value != value:  # noqa: PLR0124
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    if value == int(value) and abs(value) < 2**31:
        return f"{value:.1f}"
    mantissa, _, exponent = value.hex().partition("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{int(exponent)}"


def comment(text: str) -> str:
    """Return a name that cannot end a comment or begin one, in printable ASCII on one line.

    Examples
    --------
    >>> comment("Größe"), comment("*é"), comment("5*/")
    ('Gr/xf6/xdfe', '* /xe9', '5* /')
    """
    plain = text.encode("ascii", "backslashreplace").decode().replace("\\", "/")
    line = "".join(character if character.isprintable() else " " for character in plain)
    # The escape of a character may follow a star, so it is written first.
    return line.replace("*/", "* /").replace("/*", "/ *")


def identifier(name: str, taken: set[str]) -> str:
    """Return a name for a macro that no other feature has."""
    base = re.sub(r"[^0-9A-Za-z_]", "_", name) or "_"
    found, counter = f"X_{base}", 1
    while found in taken:
        counter += 1
        found = f"X_{base}_{counter}"
    taken.add(found)
    return found


def array(name: str, table: Table) -> str:
    """Return a table as a constant array."""
    if table.kind in ("float", "double"):
        entries = [number(entry) for entry in table.entries] or ["0.0"]
        if table.kind == "float":
            entries = [e if "VAL" in e or e == "NAN" else f"{e}f" for e in entries]
    else:
        suffix = "ULL" if table.kind == "uint64_t" else ""
        entries = [f"{entry}{suffix}" for entry in table.entries] or ["0"]
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > _LINE:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line)
    inner = "\n".join(lines)
    return f"static const {table.kind} {name}[{len(entries)}] = {{\n{inner}\n}};"


def records(kind: str, name: str, entries: Sequence[str], size: str = "") -> str:
    """Return entries in C as a constant array; ``size`` is that of an entry that is an array."""
    inner = ",\n    ".join(entries)
    return f"static const {kind} {name}[{len(entries)}]{size} = {{\n    {inner}\n}};"
