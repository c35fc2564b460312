"""The entry: a fitted model to files in another language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from farthing.base import BudgetedEstimator
from farthing.export.c_writer import write_c
from farthing.export.js_writer import write_js
from farthing.export.onnx_writer import write_onnx
from farthing.export.program import Program
from farthing.export.runtime_files import Written

TARGETS: Final = ("c", "js", "html", "onnx")
"""What a model can be exported to."""


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes
    ----------
    paths : tuple of Path
        The files.
    table_bytes : int
        Bytes of the constant tables, as C stores them.
    state_bytes : int or None
        Bytes of the state of one walk in C.
    stack_bytes : int or None
        The most that C needs of the stack, functions of ``math.h`` apart.
    """

    paths: tuple[Path, ...]
    table_bytes: int
    state_bytes: int | None
    stack_bytes: int | None = None


def export_model(
    model: BudgetedEstimator, folder: str | Path, *, to: str = "c", name: str = "model"
) -> Exported:
    """Write a fitted model in another language.

    Parameters
    ----------
    model : estimator
        Fitted.
    folder : path
        Where the files go; it is made if it does not exist.
    to : {"c", "js", "html", "onnx"}
        C99, an ES module with types, the consultation page as one file that works offline, or the prediction
        of whole rows by a sum over trees as an ONNX model, which asks for nothing and keeps no account.
    name : str
        The name of the files, without extension.

    Returns
    -------
    Exported

    Raises
    ------
    ExportError
        If the model cannot be written in that language; it names the method and says why.
    """
    if to not in TARGETS:
        raise ValueError(f"to must be one of {', '.join(TARGETS)}; got {to!r}")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name must be letters, digits and underscores; got {name!r}")
    written = _write(model, to, name)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for file, content in written.files.items():
        paths.append(target / file)
        paths[-1].write_bytes(content if isinstance(content, bytes) else content.encode())
    return Exported(tuple(paths), written.table_bytes, written.state_bytes, written.stack_bytes)


def _write(model: BudgetedEstimator, to: str, name: str) -> Written:
    program = Program.of(model)
    if to == "html":
        # The page is part of the service, whose package needs the extra `serve`.
        from farthing.export.html_writer import write_html  # noqa: PLC0415

        return write_html(program, name, model)
    if to == "onnx":
        return write_onnx(program, name, model.fitted_.schema.names)
    return write_js(program, name) if to == "js" else write_c(program, name)
