"""Pages of the site that are made: one for each method, the reference, and files of the root folder.

They are written into docs/generated, which is not committed.
"""

import importlib
import inspect
import pkgutil
import re
import tomllib
from collections.abc import Container
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import farthing
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
# Classes whose methods are in base classes of their own, and the class above which nothing is listed.
WHOLE = {
    "costs": {"CostSheet": "object"},
    "base": {"FittedModel": "object", "BudgetedEstimator": "BaseEstimator"},
}


def write_pages(docs: Path, repository: str | None = None) -> None:
    """Write all pages but those that have not changed, so that Sphinx does not read them again.

    Links to files of the repository are made if its address is known.
    """
    folder = docs / "generated"
    folder.mkdir(exist_ok=True)
    for file, page in ROOT_FILES.items():
        _write(folder / f"{page}.md", _relinked((docs.parent / file).read_text(encoding="utf-8"), repository))
    notes = tomllib.loads((docs / "method_notes.toml").read_text(encoding="utf-8"))
    for name, note in notes.items():
        _write(folder / f"method_{name}.rst", _method_page(note))
    _write(folder / "methods.rst", _method_index(notes))
    on_pages = {cls for note in notes.values() for cls in note["classes"]}
    _check_complete(on_pages)
    for package in PACKAGES:
        _write(folder / f"api_{package}.rst", _package_page(package, on_pages))
    _write(folder / "api_farthing.rst", _top_page())


def undocumented(documented: Container[str]) -> list[str]:
    """Return public names of the packages that are not among the paths of the reference."""
    paths = (
        f"farthing.{package}.{name}"
        for package in PACKAGES
        for name in _public(package)
        if not _is_of_base(package, name)
    )
    return sorted(path for path in paths if path not in documented)


def _public(package: str) -> list[str]:
    """Return the names that a package offers."""
    return getattr(importlib.import_module(f"farthing.{package}"), "__all__", [])


def _is_of_base(package: str, name: str) -> bool:
    """Return whether a public name of `farthing.frontier` is one of `farthing.base`, on whose page it is."""
    return package == "frontier" and name in _public("base")


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _relinked(text: str, repository: str | None) -> str:
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
        if repository:
            return f"{match[1]}({repository}/blob/HEAD/{target})"
        return f"{match[1][1:-1]} (`{path}`)"

    # A link may be broken over two lines.
    return re.sub(r"(\[[^\]]*\])\(([^)\s]+)\)", place, text)


def _check_complete(on_pages: set[str]) -> None:
    own = {name for name in registered() if get(name).__module__.startswith("farthing.")}
    if lacking := own - on_pages:
        raise ValueError(f"docs/method_notes.toml lacks {sorted(lacking)}: every method has a page")
    # The command has pages of its own, and what methods share inside is not public.
    public = {info.name for info in pkgutil.iter_modules(farthing.__path__) if info.ispkg} - {
        "cli",
        "learning",
    }
    if lacking := public - set(PACKAGES):
        raise ValueError(f"the reference lacks the packages {sorted(lacking)}")


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
    elsewhere = [name for name in _public(package) if name in on_pages]
    of_base = [name for name in _public(package) if _is_of_base(package, name)]
    values = [name for name in _public(package) if _is_value(module, name)]
    whole = WHOLE.get(package, {})
    left_out = ", ".join(sorted({*elsewhere, *values, *of_base, *whole}))
    text += f".. automodule:: farthing.{package}\n   :members:\n   :imported-members:\n"
    text += f"   :exclude-members: {left_out}\n\n"
    for name, above in whole.items():
        text += f".. autoclass:: farthing.{package}.{name}\n   :members:\n   :inherited-members: {above}\n\n"
    if package == "trees":  # a forest is read by methods of its base class
        text = text.replace("   :members:\n", "   :members:\n   :inherited-members: object\n")
    if package in ("errors", "mlflow"):
        text = text.replace("   :imported-members:\n", "")
    for name in values:
        text += _value_entry(module, name)
    if elsewhere:
        text += (
            "On their own pages: " + ", ".join(f"`farthing.{package}.{name}`" for name in elsewhere) + ".\n"
        )
    return text


def _is_value(module: ModuleType, name: str) -> bool:
    """Return whether a public name is a constant, a type alias or a module, which autodoc leaves out."""
    value = getattr(module, name)
    return not (inspect.isclass(value) or inspect.isroutine(value))


def _value_entry(module: ModuleType, name: str) -> str:
    """Return the entry of a constant or type alias: the text at its definition."""
    value = getattr(module, name)
    lines = inspect.getdoc(value).splitlines() if inspect.ismodule(value) else _text_at(module, name)
    return f".. py:data:: {name}\n   :module: {module.__name__}\n\n" + "".join(
        f"   {line}".rstrip() + "\n" for line in [*lines, ""]
    )


def _text_at(module: ModuleType, name: str) -> list[str]:
    """Return the string or comment that documents a name, from the module of a package that defines it."""
    inside = getattr(module, "__path__", [])
    for info in pkgutil.iter_modules(inside, f"{module.__name__}."):
        lines = ModuleAnalyzer.for_module(info.name).find_attr_docs().get(("", name))
        if lines:
            return lines
    raise LookupError(f"{module.__name__}.{name} is public: write below its definition what it is")


def _top_page() -> str:
    """Return the page of the names that `import farthing` offers, with links to where they are explained."""
    text = _title("farthing")
    text += "What most programs need is at the top of the package. Names load when they are first used.\n\n"
    for name in farthing.__all__:
        value = getattr(farthing, name)
        if inspect.ismodule(value):
            text += f"- :doc:`farthing.{name} <api_{name}>`\n"
        elif name == "certify":  # its package is not public
            continue
        else:
            text += f"- `farthing.{_package_of(name)}.{name}`\n"
    return text + "\n.. autofunction:: farthing.certify\n"


def _package_of(name: str) -> str:
    """Return the first public package, in the order of the data, that offers a name of the top."""
    value = getattr(farthing, name)
    for package in PACKAGES:
        if name in _public(package) and getattr(getattr(farthing, package), name) is value:
            return package
    raise LookupError(name)
