"""The models of a service, by name; each replaced when its file changes, all or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from farthing.base import BudgetedEstimator, load_model
from farthing.errors import FileError
from farthing.service.describe import describe
from farthing.service.schemas import NextRequest
from farthing.service.steps import Limits, next_step

ENDING: Final = ".farthing"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

Stamp: TypeAlias = tuple[int, int, int]
Report: TypeAlias = Callable[[str, str | None], None]
"""Called with a model's name and what is wrong with its file, or None when it was loaded."""


@dataclass(slots=True)
class Book:
    """A model that is being served.

    Attributes
    ----------
    name : str
        By which clients ask for it.
    model : fitted model
    version : str
        Of its file: the first half of a hash of its bytes.
    about : dict
        Its description, for clients.
    pace : float
        Seconds that a step of it takes, about.
    """

    name: str
    model: BudgetedEstimator
    version: str
    about: dict[str, Any]
    pace: float = 0.0


class Shelf:
    """Models from files and folders.

    Parameters
    ----------
    sources : iterable of str
        Files, folders of ``*.farthing`` files, or ``name=file``.
    report : callable, optional
        Evaluation of each file that was loaded or could not be.

    Attributes
    ----------
    books : dict of str to Book
        The models by name. It is replaced, never changed, so whoever holds it sees one state.
    faults : dict of str to str
        By name, why a file as it is now could not be loaded.

    Raises
    ------
    ValueError
        If two sources have one name, or a name is none.
    FileNotFoundError
        If a file or folder is not there at the start.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> folder = Path(tempfile.mkdtemp())
    >>> BudgetTreeClassifier().fit(np.eye(2), [0, 1]).save(folder / "tree.farthing")
    >>> shelf = Shelf([str(folder)])
    >>> shelf.books["tree"].about["method"]
    'BudgetTreeClassifier'
    >>> _ = (folder / "tree.farthing").write_bytes(b"not a model")
    >>> shelf.refresh()
    >>> sorted(shelf.books), shelf.faults["tree"][:20]
    (['tree'], 'not a Farthing model')
    """

    def __init__(self, sources: Iterable[str], report: Report | None = None) -> None:
        self.books: dict[str, Book] = {}
        self.faults: dict[str, str] = {}
        self._report = report or (lambda _name, _fault: None)
        self._files: dict[str, Path] = {}
        self._folders: list[Path] = []
        self._stamps: dict[str, Stamp | None] = {}
        self._broken: dict[str, str] = {}
        for source in sources:
            self._add(source)
        self.refresh()

    def refresh(self) -> None:
        """Look at every file and load those that changed; a bad one is reported and changes nothing."""
        books = dict(self.books)
        files, doubles = self._present()
        for name in (set(books) | set(self._broken)) - set(files):  # gone from its folder
            books.pop(name, None)
            self._broken.pop(name, None)
            self._stamps.pop(name, None)
        for name, path in files.items():
            stamp = _stamp(path)
            if stamp == self._stamps.get(name, ()):
                continue
            self._stamps[name] = stamp
            try:
                books[name] = read(name, path)
                self._broken.pop(name, None)
            except (FileError, OSError) as error:
                self._broken[name] = _without_path(error, path)
            self._report(name, self._broken.get(name))
        for name in set(doubles) - set(self.faults):
            self._report(name, doubles[name])
        self.books, self.faults = books, self._broken | doubles

    @property
    def single(self) -> frozenset[str]:
        """Names of the models that were given one by one, not as a folder."""
        return frozenset(self._files)

    def _add(self, source: str) -> None:
        if os.path.isdir(source):
            self._folders.append(Path(source))
            return
        name, sign, file = source.partition("=")
        if not sign or os.path.exists(source):
            name, file = Path(source).name.removesuffix(ENDING), source
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be the name of a model; use letters, digits, '.', '_' and '-', or name=file"
            )
        if name in self._files:
            raise ValueError(f"two models are named {name!r}; name one of them otherwise: other={file}")
        if not os.path.exists(file):
            raise FileNotFoundError(f"there is no file or folder {file}")
        self._files[name] = Path(file)

    def _present(self) -> tuple[dict[str, Path], dict[str, str]]:
        """Return the files there are by name, and what is wrong with names that several have."""
        files, doubles = dict(self._files), {}
        for folder in self._folders:
            for path in sorted(folder.glob(f"*{ENDING}")):
                name = path.name.removesuffix(ENDING)
                if not _NAME.fullmatch(name):
                    doubles[name] = "the file's name cannot be the name of a model"
                elif name in files:
                    doubles[name] = f"there are two models of this name; the one of {folder.name} is left out"
                else:
                    files[name] = path
        return files, doubles


def read(name: str, path: Path) -> Book:
    """Load a model and try one step of it, so that what is put on the shelf works.

    Raises
    ------
    FileError
        If the file is not an intact model, or one whose answers JSON cannot hold.
    """
    model = load_model(path)
    version = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    try:
        next_step(model, NextRequest(), Limits())  # the first one makes the model ready
        begin = time.perf_counter()
        step = next_step(model, NextRequest(), Limits())
        pace = time.perf_counter() - begin
        about = describe(model)
        json.dumps([step, about], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise FileError(f"{path}: the model cannot be served: {error}") from error
    return Book(name, model, version, about, pace)


def _stamp(path: Path) -> Stamp | None:
    """Return what changes when a file does; None if it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _without_path(error: Exception, path: Path) -> str:
    """Return what an error says, without the place of the file, which is nobody's business."""
    if isinstance(error, FileNotFoundError):
        return "the file is gone"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    text = str(error).replace(f"{path}: ", "").replace(str(path), path.name)
    return text.replace(str(path.parent), "")
