"""A model as one HTML file: the consultation page of the service, with the walk in the page itself."""

from __future__ import annotations

from importlib.resources import files

from farthing.base import BudgetedEstimator
from farthing.errors import ExportError
from farthing.export.js_writer import js_text, model_data, walk_script
from farthing.export.program import Program
from farthing.export.runtime_files import Written, runtime
from farthing.export.tables import Tables
from farthing.service.model_description import describe


def write_html(program: Program, name: str, model: BudgetedEstimator, *, embedded: bool = False) -> Written:
    """Return a page that runs a model offline, from disk.

    Parameters
    ----------
    program : Program
    name : str
        The name of the file: ``name.html``.
    model : estimator
        The model of the program, for its labels.
    embedded : bool
        Whether the page will be in a sandboxed frame, where browsers grant no storage and no history.
    """
    if program.answer_width:
        asked = "devices" if program.handover is None else f"the {program.handover.name}"
        raise ExportError(
            f"{program.method} cannot be a page: {asked} would have to answer with numbers, not a person; "
            "export it to js or c"
        )
    tables = Tables.of(program)
    sheet = model.costs_
    offline = {
        "name": name,
        "description": describe(model),
        "groupOf": {
            feature: sheet.group_names[int(group)]
            for feature, group in zip(sheet.features, sheet.group_of, strict=True)
            if group >= 0
        },
    }
    # A classic script, since browsers load no module from disk.
    walk = walk_script(program, tables).replace("export class", "class").replace("export const", "const")
    script = (
        f"(() => {{\nconst MODEL = {js_text(model_data(program, tables))};\n"
        f"const OFFLINE = {js_text(offline)};\n{walk}\n{runtime('offline.js')}}})();\n"
    )
    if embedded:
        script = runtime("embedded.js") + script
    page = (files("farthing.service") / "page.html").read_text(encoding="utf-8")
    head, opening, rest = page.partition("<script>")
    if not opening or "<script>" in rest:
        raise ValueError("the page of the service must have one <script>")
    text = f"{head}<script>{script}</script>\n<script>{rest}"
    size = sum(table.size for table in tables.tables.values())
    return Written({f"{name}.html": text}, table_bytes=size)
