"""Objects of scikit-learn in files, through skops, which runs no code of the file.

The archive that skops writes names its parts by memory address. The parts are renumbered here, so that the
same object gives the same file.
"""

from __future__ import annotations

import json
from importlib import import_module
from io import BytesIO
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from farthing.errors import FileError, TrustWarning, warn
from farthing.store.sklearn_types import check_native_arrays, is_allowed
from farthing.store.skops_schema import nodes, read_schema
from farthing.store.trusted_types import trusted_names

_SCHEMA: Final = "schema.json"


def pack(model: Any) -> dict[str, Any]:
    """Return the fields of an object of scikit-learn to store in a file: "schema" and "parts".

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> fields = pack(StandardScaler().fit([[1.0], [3.0]]))
    >>> unpack(**fields).mean_
    array([2.])
    """
    data = _skops().dumps(model)
    with ZipFile(BytesIO(data)) as archive:
        plain = json.loads(archive.read(_SCHEMA))
        _check_functions(plain)
        if needed := _untrusted(data, plain) - _safe_types(plain):
            listed = ", ".join(map(repr, sorted(needed)))
            warn(
                f"the file holds a {type(model).__name__}, whose native code cannot be checked: to load it, "
                f"whoever trusts the file must pass trusted=[{listed}], or --trusted to the command",
                TrustWarning,
            )
        names = _number(plain)
        parts = [np.frombuffer(archive.read(name), dtype=np.uint8) for name in names]
    return {"schema": json.dumps(plain), "parts": parts}


def unpack(schema: Any, parts: Any, what: str = "scikit-learn model") -> Any:
    """Build an object from the fields of `pack`, which may be hostile; only trusted types are built.

    Parameters
    ----------
    schema, parts
        As `pack` returned them.
    what : str
        What it is, for messages.
    """
    skops = _skops()
    for part in parts:
        if not isinstance(part, np.ndarray) or part.dtype != np.uint8:
            raise TypeError("the parts of a model must be bytes")
    try:
        # Everything is bounded and the types are listed before anything is built: loading a hostile file must
        # run no code, and must end.
        plain = read_schema(schema, parts)
        trusted = {*trusted_names(), *_safe_types(plain)}
        data = _archive(schema, parts)
        needed = _untrusted(data, plain) - trusted
        if not needed:
            model = skops.loads(data, trusted=sorted(trusted))
            check_native_arrays(model)
            return model
    except Exception as error:  # whatever skops makes of a hostile archive
        raise FileError(f"the {what} cannot be read: {error}") from error
    names = ", ".join(repr(name) for name in sorted(needed))
    raise FileError(
        f"the {what} is made of types that Farthing does not trust by itself: {names}. If you trust "
        f"whoever made the file, call farthing.load(path, trusted=[{names}]), or give the command --trusted"
    )


def _archive(schema: str, parts: Any) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        archive.writestr(_SCHEMA, schema)
        for number, part in enumerate(parts):
            archive.writestr(ZipInfo(_part_name(number)), part.tobytes())
    return buffer.getvalue()


def _untrusted(data: bytes, plain: Any) -> set[str]:
    """Return the types in an archive that skops does not trust, or whose native code nobody checks."""
    # A vocabulary may hold the word "__class__"; what it leads to is no name.
    pairs = ((node.get("__module__"), node.get("__class__")) for node in nodes(plain))
    return {*_skops().get_untrusted_types(data=data)} | {
        f"{module}.{name}"
        for module, name in pairs
        if isinstance(module, str) and isinstance(name, str) and not is_allowed(module, name)
    }


def _safe_types(plain: Any) -> set[str]:
    """Return types that skops does not trust, though this schema builds them without running code."""
    # Imputers and encoders hold a dtype, which skops reads from an empty array; but only that way is safe.
    loaders = {
        node.get("__loader__")
        for node in nodes(plain)
        if (node.get("__module__"), node.get("__class__")) == ("numpy", "dtype")
    }
    return {"numpy.dtype"} if loaders == {"DTypeNode"} else set()


def _check_functions(plain: Any) -> None:
    """Raise TypeError if a schema refers to a function that no other process could find by its name."""
    for node in nodes(plain):
        if node.get("__loader__") == "FunctionNode":
            module, name = node["__module__"], node["__class__"]
            if not hasattr(import_module(module), name):
                raise TypeError(f"the function {name} of {module} cannot be imported by its name")


def _number(plain: Any) -> list[str]:
    """Renumber parts and objects of a schema in order of occurrence; return the old names of the parts."""
    ids: dict[int, int] = {}
    parts: dict[str, int] = {}

    for node in nodes(plain):
        # Objects that occur twice have the same id in both places, and must keep that.
        if isinstance(node.get("__id__"), int):
            node["__id__"] = ids.setdefault(node["__id__"], len(ids))
        if "__loader__" in node and isinstance(node.get("file"), str):
            node["file"] = _part_name(parts.setdefault(node["file"], len(parts)))
    return list(parts)


def _part_name(number: int) -> str:
    return f"{number}.npy"


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            "a scikit-learn model within another is stored through skops: pip install 'farthing[adaptive]'"
        ) from error
