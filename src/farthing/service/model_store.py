"""The models of a service, by name; each is replaced as a whole when its file changes."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from farthing.base import BudgetedEstimator, load
from farthing.base.files import checked_model
from farthing.errors import FileError
from farthing.service.fast_json import encoded
from farthing.service.model_description import describe
from farthing.service.open_inference import metadata
from farthing.service.request_limits import Limits
from farthing.service.schemas import JsonObject, NextRequest
from farthing.service.walk_steps import next_step
from farthing.sources import LazyPipeline
from farthing.store import open_regular

SUFFIX: Final = ".farthing"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

FileStamp: TypeAlias = tuple[int, int, int]
OnLoad: TypeAlias = Callable[[str, str | None], None]
"""Called with the name of a model and what is wrong with its file, or None when it was loaded."""


@dataclass(slots=True)
class ServedModel:
    """A model that is being served.

    Attributes
    ----------
    name : str
        The name in the URL.
    model : fitted model
    version : str
        The first 16 hex digits of the SHA-256 of its file.
    description : dict
        Features, prices and more, for clients.
    description_json, tensors_json : bytes
        The same as JSON, and the description by the Open Inference Protocol; of many columns they are long.
    step_seconds : float
        How long a step of a walk takes: a moving average.
    pipeline : LazyPipeline or None
        The lazy pipeline that the model is of, if the file holds one.
    """

    name: str
    model: BudgetedEstimator
    version: str
    description: JsonObject
    description_json: bytes
    tensors_json: bytes
    step_seconds: float = 0.0
    pipeline: LazyPipeline | None = None


class ModelStore:
    """Models from files and folders.

    Parameters
    ----------
    sources : iterable of str
        Files, folders of ``*.farthing`` files, or ``name=file``.
    on_load : callable, optional
        Called for each file that was loaded, or could not be.
    trusted : sequence of str
        Types that nested scikit-learn models may be made of; see `farthing.load`.

    Attributes
    ----------
    models : dict of str to ServedModel
        The models by name. The dictionary is replaced, never changed, so a reader sees one state.
    faults : dict of str to str
        By name, why the current file could not be loaded.

    Raises
    ------
    ValueError
        If two sources have the same name, or a name is not valid.
    FileNotFoundError
        If a file or folder does not exist at the start.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> folder = Path(tempfile.mkdtemp())
    >>> BudgetTreeClassifier().fit(np.eye(2), [0, 1]).save(folder / "tree.farthing")
    >>> store = ModelStore([str(folder)])
    >>> store.models["tree"].description["method"]
    'BudgetTreeClassifier'
    >>> _ = (folder / "tree.farthing").write_bytes(b"not a model")
    >>> store.refresh()
    >>> sorted(store.models), store.faults["tree"][:20]
    (['tree'], 'not a Farthing model')
    """

    def __init__(
        self, sources: Iterable[str], on_load: OnLoad | None = None, trusted: Sequence[str] = ()
    ) -> None:
        self.models: dict[str, ServedModel] = {}
        self.faults: dict[str, str] = {}
        self._trusted = tuple(trusted)
        self._on_load = on_load or (lambda _name, _fault: None)
        self._files: dict[str, Path] = {}
        self._folders: list[Path] = []
        self._stamps: dict[str, FileStamp | None] = {}
        self._broken: dict[str, str] = {}
        for source in sources:
            self._add(source)
        self.refresh()

    def observe(self, on_load: OnLoad) -> None:
        """Call a function for each model and each fault there is, and for every later one."""
        self._on_load = on_load
        for name in sorted({*self.models, *self.faults}):
            on_load(name, self.faults.get(name))

    def refresh(self) -> None:
        """Load the files that changed; a bad one is reported, and the model loaded before stays."""
        models = dict(self.models)
        files, rejected = self._find_files()
        for name in (set(models) | set(self._broken)) - set(files):  # removed from its folder
            models.pop(name, None)
            self._broken.pop(name, None)
            self._stamps.pop(name, None)
        for name, path in files.items():
            stamp = _file_stamp(path)
            # A faulty file is not read again until it changes. The default is unequal to any stamp, None
            # included.
            if stamp == self._stamps.get(name, ()):
                continue
            self._stamps[name] = stamp
            try:
                models[name] = read_model(name, path, self._trusted)
                self._broken.pop(name, None)
            except (FileError, OSError) as error:
                self._broken[name] = _without_path(error, path)
            self._on_load(name, self._broken.get(name))
        for name in set(rejected) - set(self.faults):
            self._on_load(name, rejected[name])
        # Assigned at the end: requests see the old models or the new ones, never a mixture.
        self.models, self.faults = models, self._broken | rejected

    @property
    def single_files(self) -> frozenset[str]:
        """Names of the models whose files were listed one by one, not found in a folder."""
        return frozenset(self._files)

    def _add(self, source: str) -> None:
        if os.path.isdir(source):
            self._folders.append(Path(source))
            return
        name, sign, file = source.partition("=")
        # A file whose own name holds "=" is taken as a file.
        if not sign or os.path.exists(source):
            name, file = Path(source).name.removesuffix(SUFFIX), source
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} cannot be the name of a model; use letters, digits, '.', '_' and '-', or name=file"
            )
        if name in self._files:
            raise ValueError(f"two models are named {name!r}; rename one of them: other={file}")
        if not os.path.exists(file):
            raise FileNotFoundError(f"there is no file or folder {file}")
        self._files[name] = Path(file)

    def _find_files(self) -> tuple[dict[str, Path], dict[str, str]]:
        """Return the files by name, and by name why others are left out."""
        files, rejected = dict(self._files), {}
        for folder in self._folders:
            # Sorted, so that every worker leaves out the same one of two models of a name.
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                name = path.name.removesuffix(SUFFIX)
                if not _NAME.fullmatch(name):
                    rejected[name] = "the file's name cannot be the name of a model"
                elif name in files:
                    rejected[name] = (
                        f"there are two models of this name; the one of {folder.name} is left out"
                    )
                else:
                    files[name] = path
        return files, rejected


def read_model(name: str, path: Path, trusted: Sequence[str] = ()) -> ServedModel:
    """Load a model and run its first step, so that every model in the store can answer.

    Raises
    ------
    FileError
        If the file is not an intact model, or its answers cannot be written as JSON.
    """
    with open_regular(path) as stream:
        # Of the content, not the time: workers that load the same file agree on the version. Of this open
        # file, since another one may have its name by now.
        before = os.fstat(stream.fileno())
        loaded = load(path, trusted, stream)
        # Afterwards: what is no model is refused without being read to its end.
        stream.seek(0)
        version = hashlib.file_digest(stream, "sha256").hexdigest()[:16]
        if _stamp_of(os.fstat(stream.fileno())) != _stamp_of(before):
            raise FileError(f"{path}: the file changed while it was read")
    pipeline = loaded if isinstance(loaded, LazyPipeline) else None
    model = checked_model(loaded if pipeline is None else pipeline.model_, path)
    try:
        next_step(
            model, NextRequest(), Limits()
        )  # warms up caches of the model, so that the second one is timed
        start = time.perf_counter()
        step = next_step(model, NextRequest(), Limits())
        step_seconds = time.perf_counter() - start
        description = describe(model)
        # Fails now rather than on the first request.
        encoded(step)
        texts = encoded(description), encoded(metadata(model, name, version))
    except (TypeError, ValueError) as error:
        raise FileError(f"{path}: the model cannot be served: {error}") from error
    return ServedModel(name, model, version, description, *texts, step_seconds, pipeline)


def _file_stamp(path: Path) -> FileStamp | None:
    """Return a stamp that changes with the file; None if it does not exist."""
    try:
        return _stamp_of(path.stat())
    except OSError:
        return None


def _stamp_of(found: os.stat_result) -> FileStamp:
    # The inode changes when a file is replaced by a rename, even within the resolution of the clock.
    return found.st_mtime_ns, found.st_size, found.st_ino


def _without_path(error: Exception, path: Path) -> str:
    """Return the message of an error without the path of the file, which clients need not know."""
    if isinstance(error, FileNotFoundError):
        return "the file is gone"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    text = str(error).replace(f"{path}: ", "").replace(str(path), path.name)
    return text.replace(str(path.parent), "")
