"""Finished results in a folder, so that an interrupted sweep can continue where it stopped."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import joblib

from farthing.base.files import PathLike


class ResultCache:
    """Results by name in a folder, one file each, written atomically.

    Parameters
    ----------
    folder : path or None
        Created if it does not exist. None caches nothing.

    Examples
    --------
    >>> import tempfile
    >>> memory = ResultCache(tempfile.mkdtemp())
    >>> memory.put("a", {"score": 0.1})
    >>> memory.get("a"), memory.get("b")
    ({'score': 0.1}, None)
    """

    def __init__(self, folder: PathLike | None) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    @property
    def is_kept(self) -> bool:
        """Whether there is a folder."""
        return self._folder is not None

    def get(self, name: str) -> Any:
        """Return the result stored under a name; None if there is none, or the file does not hold one."""
        if self._folder is None:
            return None
        try:
            found = json.loads((self._folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, name: str, result: Any) -> None:
        """Store a result made of numbers, text, lists and mappings."""
        if self._folder is None:
            return
        # Written under another name and renamed: an interrupted process leaves no half-written result, and
        # two processes may store the same one.
        handle, path = tempfile.mkstemp(dir=self._folder, prefix=f".{name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(result, file)
            Path(path).replace(self._folder / f"{name}.json")
        except BaseException:
            Path(path).unlink(missing_ok=True)
            raise


def digest(*parts: Any) -> str:
    """Return a name for the values of some objects, the same in every run.

    Examples
    --------
    >>> digest("a", 1) == digest("a", 1), digest("a", 1) == digest("a", 2)
    (True, False)
    """
    try:
        return str(joblib.hash(parts, hash_name="sha1"))
    except Exception as error:
        raise TypeError(
            f"memory= cannot name this setting, since a part of it cannot be pickled: {error}. "
            "Use a function of a module instead of a lambda, or leave memory out"
        ) from error
