"""``farthing doctor``: the build, the threads and the extras of this installation."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import typer

from farthing.cli.app import app
from farthing.cli.output import AsJson, clear_errors, emit

# Extras for users; the others (dev, docs, bench) are for developers of Farthing.
EXTRAS = (
    *("cli", "serve", "report", "adaptive", "mlflow", "frames", "onnx", "deep"),
    *("otel", "dask", "sql", "sources", "feast"),
)
DEPENDENCIES = (
    *("numpy", "scipy", "scikit-learn", "joblib"),
    *("pandas", "polars", "pyarrow", "narwhals", "lightgbm", "xgboost", "catboost"),
)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Show the version, the compiled core, the threads and the extras, to check or report an installation."""
    with clear_errors():
        found = diagnose()
    emit(found, _text(found), as_json=as_json)
    if not found["core"]["works"]:
        raise typer.Exit(1)


def diagnose() -> dict[str, Any]:
    """Return what is installed, and whether the compiled core answers.

    Returns
    -------
    dict
        ``farthing``, ``python``, ``system``: text. ``core``: its file, build and threads. ``packages``: their
        versions, or None where missing. ``extras``: the packages that each of them lacks.
    """
    import farthing  # noqa: PLC0415 - only for this command

    return {
        "farthing": farthing.__version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "core": _core(),
        "packages": {name: _installed(name) for name in DEPENDENCIES},
        "extras": {name: _missing(name) for name in EXTRAS},
    }


def _core() -> dict[str, Any]:
    """Return the file of the core, how it was built, its threads, and whether it adds up a price list."""
    try:
        from farthing import _core  # noqa: PLC0415 - it may not load, which is what we want to find out
        from farthing.costs import CostSheet  # noqa: PLC0415

        works = CostSheet({"a": 1.0, "b": 2.0}).total(["a", "b"]) == 3.0
    except ImportError as error:
        return {"works": False, "file": None, "build": str(error), "threads": 0}
    return {
        "works": works,
        "file": _core.__file__,
        "build": _core.build_info(),
        "threads": _core.n_cores(),
    }


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _missing(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed."""
    lines = [line.replace('"', "'") for line in requires("farthing") or []]
    wanted = [line for line in lines if f"extra == '{extra}'" in line]
    if sys.platform == "win32":
        wanted = [line for line in wanted if "sys_platform != 'win32'" not in line]
    return [name for name in map(_name, wanted) if _installed(name) is None]


def _name(requirement: str) -> str:
    """Return the name of a package from its requirement.

    Examples
    --------
    >>> _name("uvloop>=0.19; sys_platform != 'win32' and extra == 'serve'")
    'uvloop'
    """
    for place, letter in enumerate(requirement):
        if not (letter.isalnum() or letter in "-_."):
            return requirement[:place]
    return requirement


def _text(found: dict[str, Any]) -> str:
    core = found["core"]
    lines = [
        f"farthing  {found['farthing']}",
        f"python    {found['python']}",
        f"system    {found['system']}",
        f"core      {core['build']}" if core["works"] else f"core      DOES NOT WORK: {core['build']}",
        f"          {core['file']}",
        f"threads   {core['threads']}",
        "",
        *(f"{name:<13} {number or 'not installed'}" for name, number in found["packages"].items()),
        "",
    ]
    for extra, missing in found["extras"].items():
        state = f"lacks {', '.join(missing)}: pip install 'farthing[{extra}]'" if missing else "complete"
        lines.append(f"farthing[{extra}]".ljust(20) + state)
    return "\n".join(lines)
