"""Files that commands write: checked before the work starts, and tables written by extension."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from farthing.errors import FileError

TABLES: Final = (".csv", ".json", ".parquet", ".feather")
PLOTS: Final = (".png", ".svg", ".pdf")


def check_destination(path: Path | None, option: str, extensions: Sequence[str] = ()) -> None:
    """Raise an error unless a file can be written there, so that no work is lost for it.

    Parameters
    ----------
    path : Path or None
        The file; None is fine.
    option : str
        The option that names it, for messages.
    extensions : sequence of str
        What its name may end with; empty means anything.
    """
    if path is None:
        return
    if extensions and path.suffix.lower() not in extensions:
        got = f"the extension {path.suffix!r}" if path.suffix else "no extension"
        raise FileError(f"{option} {path} has {got}; expected {', '.join(extensions)}")
    if path.is_dir():
        raise FileError(f"{option} {path} is a folder; give the name of a file in it")
    folder = path.parent
    if not folder.is_dir():
        raise FileError(f"{option} {path}: there is no folder {str(folder)!r}; make it first")
    if path.exists() and not path.is_file():
        raise FileError(f"{option} {path} is not a regular file; give another name")
    # Permissions alone do not tell: the disk may be full or read-only. Models are written beside the file and
    # then renamed, so this is what will be tried.
    probe = f"{os.path.realpath(path)}.{secrets.token_hex(8)}.tmp"
    try:
        with open(probe, "xb") as stream:
            stream.write(bytes(4096))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(f"{option} {path} cannot be written to {str(folder)!r}: {reason}") from error
    finally:
        if os.path.exists(probe):
            os.unlink(probe)
    if path.exists() and not os.access(path, os.W_OK):
        raise FileError(f"{option} {path} cannot be written; check its permissions")


def lacking_for_report() -> list[str]:
    """Return the packages that a report needs and that are not installed."""
    return [name for name in ("jinja2", "matplotlib") if importlib.util.find_spec(name) is None]


def check_report(path: Path | None) -> None:
    """Raise an error unless a report can be written there: its folder, and the packages that it needs."""
    check_destination(path, "--report")
    missing = lacking_for_report()
    if path is not None and missing:
        raise ImportError(f"--report needs {' and '.join(missing)}: pip install 'farthing[report]'")


def table_text(frame: Any, extension: str = ".csv") -> str:
    """Return a frame as CSV, where lists are JSON arrays, or as a JSON array of objects.

    Examples
    --------
    >>> import pandas as pd
    >>> print(table_text(pd.DataFrame({"acquired": [["cp", "ca"], []]})), end="")
    acquired
    "[""cp"", ""ca""]"
    []
    """
    if extension == ".json":
        # Not through pandas, which cuts floats to fifteen digits.
        rows = [
            {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124 - NaN
            for row in frame.to_dict(orient="records")
        ]
        return json.dumps(rows, ensure_ascii=False, allow_nan=False, default=str) + "\n"
    plain = frame.copy()
    for name in plain.columns:
        if plain[name].map(lambda cell: isinstance(cell, list)).any():
            plain[name] = [json.dumps(cell, ensure_ascii=False) for cell in plain[name]]
    return str(plain.to_csv(index=False))


def write_table(frame: Any, path: Path) -> None:
    """Write a frame in the format of the file's extension, one of `TABLES`."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        frame.to_parquet(path, index=False)
    elif kind == ".feather":
        frame.to_feather(path)
    else:
        path.write_text(table_text(frame, kind), encoding="utf-8")
