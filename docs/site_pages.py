"""Pages of the site that are made: one for each method, the reference, and files of the root folder.

They are written into docs/generated, which is not committed.
"""

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

from farthing.base import get, registered

#: Files of the root folder, and the pages that they become.
ROOT_FILES = {
    "ARCHITECTURE.md": "architecture",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
}
#: What the reference covers, in the order of the data.
PACKAGES = (
    *("costs", "labels", "table", "datasets", "walks", "trees", "store", "distributed", "base", "metrics"),
    *(
        "boosting",
        "forests",
        "adaptive",
        "cascades",
        "neighbors",
        "deep",
        "multiclass",
        "pipelines",
        "frontier",
    ),
    *("sources", "checks", "report", "mlflow", "service", "export", "errors"),
)
# Type aliases have no docstring of their own.
ALIASES = {
    "BudgetKind",
    "CostsLike",
    "CostRule",
    "Impurity",
    "LedgerKind",
    "MaxCuts",
    "Conclude",
    "Source",
    "LabelsLike",
}

# Classes whose methods are in base classes of their own, and the class above which nothing is listed.
WHOLE = {"costs": ("CostSheet", "object"), "base": ("BudgetedEstimator", "BaseEstimator")}


def write_pages(docs: Path) -> None:
    """Write all pages but those that have not changed, so that Sphinx does not read them again."""
    folder = docs / "generated"
    folder.mkdir(exist_ok=True)
    for file, page in ROOT_FILES.items():
        _write(folder / f"{page}.md", _relinked((docs.parent / file).read_text(encoding="utf-8")))
    notes = tomllib.loads((docs / "method_notes.toml").read_text(encoding="utf-8"))
    for name, note in notes.items():
        _write(folder / f"method_{name}.rst", _method_page(note))
    _write(folder / "methods.rst", _method_index(notes))
    on_pages = {cls for note in notes.values() for cls in note["classes"]}
    _check_complete(on_pages)
    for package in PACKAGES:
        _write(folder / f"api_{package}.rst", _package_page(package, on_pages))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _relinked(text: str) -> str:
    """Point links of a file of the root folder to pages of the site, or else to the repository."""

    def place(match: re.Match[str]) -> str:
        target = match[2]
        if target.startswith(("http", "#", "mailto")):
            return match[0]
        path, _, anchor = target.partition("#")
        anchor = f"#{anchor}" if anchor else ""
        if path in ROOT_FILES:
            return f"{match[1]}({ROOT_FILES[path]}.md{anchor})"
        if path.startswith("docs/"):
            return f"{match[1]}(../{path.removeprefix('docs/')}{anchor})"
        return f"{match[1][1:-1]} (`{path}`)"  # a file of the repository, which has no address yet

    # A link may be broken over two lines.
    return re.sub(r"(\[[^\]]*\])\(([^)\s]+)\)", place, text)


def _check_complete(on_pages: set[str]) -> None:
    own = {name for name in registered() if get(name).__module__.startswith("farthing.")}
    if lacking := own - on_pages:
        raise ValueError(f"docs/method_notes.toml lacks {sorted(lacking)}: every method has a page")


def _home(name: str) -> str:
    """Return the public path of a method or function."""
    for package in (
        "boosting",
        "forests",
        "adaptive",
        "cascades",
        "neighbors",
        "deep",
        "multiclass",
        "pipelines",
        "frontier",
    ):
        if name in importlib.import_module(f"farthing.{package}").__all__:
            return f"farthing.{package}.{name}"
    raise LookupError(name)


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _method_page(note: dict[str, Any]) -> str:
    text = _title(note["title"])
    text += note["what"].strip() + "\n\n"
    if equation := note.get("equation"):
        text += ".. math::\n\n   " + _in_lines(equation.strip()).replace("\n", "\n   ") + "\n\n"
    if where := note.get("where"):
        text += where.strip() + "\n\n"
    if source := note.get("source"):
        text += f"**Where it is from.** {source.strip()}\n\n"
    text += f"**When to use it.** {note['when'].strip()}\n\n"
    if paper := note.get("paper"):
        text += f"**Paper.** {paper.strip()}\n\n"
    if results := note.get("results"):
        text += "**Measured.** " + ", ".join(f":doc:`/results/{page}`" for page in results) + "\n\n"
    for cls in note["classes"]:
        text += _title(cls, "-")
        kind = "autofunction" if cls[0].islower() else "autoclass"
        text += f".. {kind}:: {_home(cls)}\n"
        text += "   :members:\n\n" if kind == "autoclass" else "\n"
    return text


def _in_lines(equation: str) -> str:
    r"""Return an equation whose parts, between ``\qquad``, stand below each other: one line is too wide."""
    parts = [part.strip() for part in equation.split(r"\qquad")]
    if len(parts) == 1:
        return equation
    return r"\begin{gathered} " + r" \\ ".join(parts) + r" \end{gathered}"


def _method_index(notes: dict[str, Any]) -> str:
    text = _title("Methods")
    text += "One page for each method: its equation, its paper, when to use it, and an example. "
    text += ":doc:`/guide` has a table of which to take.\n\n"
    text += (
        ".. list-table::\n   :header-rows: 1\n   :widths: 30 70\n\n   * - method\n     - in one sentence\n"
    )
    for name, note in notes.items():
        text += f"   * - :doc:`{note['title']} <method_{name}>`\n     - {note['short'].strip()}\n"
    text += "\n.. toctree::\n   :hidden:\n\n" + "".join(f"   method_{name}\n" for name in notes)
    return text


def _package_page(package: str, on_pages: set[str]) -> str:
    module = importlib.import_module(f"farthing.{package}")
    text = _title(f"farthing.{package}")
    elsewhere = [name for name in getattr(module, "__all__", []) if name in on_pages]
    # What farthing.base defines is on its page.
    of_base = {"ErrorCosts", "Failure", "Frontier", "Point"} if package == "frontier" else set()
    whole, above = WHOLE.get(package, ("", ""))
    left_out = ", ".join(sorted({*elsewhere, *ALIASES, *of_base, *([whole] if whole else [])}))
    text += f".. automodule:: farthing.{package}\n   :members:\n   :imported-members:\n"
    text += f"   :exclude-members: {left_out}\n\n"
    if whole:
        text += f".. autoclass:: farthing.{package}.{whole}\n   :members:\n   :inherited-members: {above}\n\n"
    if package == "trees":  # a forest is read by methods of its base class
        text = text.replace("   :members:\n", "   :members:\n   :inherited-members: object\n")
    if package in ("errors", "mlflow"):
        text = text.replace("   :imported-members:\n", "")
    if elsewhere:
        text += (
            "On their own pages: " + ", ".join(f"`farthing.{package}.{name}`" for name in elsewhere) + ".\n"
        )
    return text
