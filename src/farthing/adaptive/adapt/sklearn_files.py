"""Files of scikit-learn models within Adapt models, through skops.

The archive that skops writes names its parts by memory address. The parts are renumbered here, so that the
same model gives the same file.
"""

from __future__ import annotations

import json
from importlib import import_module
from io import BytesIO
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from farthing.adaptive.adapt.sklearn_model import SklearnModel
from farthing.errors import FileError
from farthing.store import register_codec, trusted_names

_SCHEMA: Final = "schema.json"


def encode(wrapped: SklearnModel) -> dict[str, object]:
    """Return the fields of a scikit-learn model to store in a file."""
    with ZipFile(BytesIO(_skops().dumps(wrapped.model))) as archive:
        plain = json.loads(archive.read(_SCHEMA))
        names = _number(plain)
        parts = [np.frombuffer(archive.read(name), dtype=np.uint8) for name in names]
    return {
        "schema": json.dumps(plain),
        "parts": parts,
        "columns": wrapped.columns,
        "fill": wrapped.fill,
        "platt": wrapped.platt,
    }


def decode(fields: dict[str, Any]) -> SklearnModel:
    """Build a scikit-learn model from the fields of `encode`; they may come from a hostile file."""
    columns, fill, platt = fields["columns"], fields["fill"], fields["platt"]
    if not isinstance(columns, np.ndarray) or columns.dtype != np.int64 or columns.ndim != 1:
        raise TypeError("columns must be a list of integers")
    if not isinstance(fill, np.ndarray) or fill.dtype != np.float64 or fill.shape != columns.shape:
        raise TypeError("fill must be one float per column")
    if platt is not None and not (
        isinstance(platt, np.ndarray) and platt.dtype == np.float64 and platt.ndim == 2 and len(platt) == 2
    ):
        raise TypeError("platt must be slopes and offsets")
    model = _unpack(fields["schema"], fields["parts"])
    for name in ("classes_", "predict" if platt is None else "decision_function"):
        if not hasattr(model, name):
            raise TypeError(f"a {type(model).__name__} is not a classifier: it has no {name}")
    return SklearnModel(model, columns, fill, platt)


def _unpack(schema: Any, parts: Any) -> Any:
    """Build the model from an archive; only trusted types are built."""
    skops = _skops()
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        archive.writestr(_SCHEMA, schema)
        for number, part in enumerate(parts):
            if not isinstance(part, np.ndarray) or part.dtype != np.uint8:
                raise TypeError("the parts of a model must be bytes")
            archive.writestr(ZipInfo(_part_name(number)), part.tobytes())
    data = buffer.getvalue()
    try:
        # The types are listed before anything is built: loading a hostile file must run no code.
        needed = set(skops.get_untrusted_types(data=data)) - set(trusted_names())
        if not needed:
            return skops.loads(data, trusted=sorted(trusted_names()))
    except Exception as error:  # whatever skops makes of a hostile archive
        raise FileError(f"the expensive model cannot be read: {error}") from error
    names = ", ".join(repr(name) for name in sorted(needed))
    raise FileError(
        f"the expensive model is made of types that Farthing does not trust by itself: {names}. If you trust "
        f"whoever made the file, call farthing.load(path, trusted=[{names}])"
    )


def _number(plain: Any) -> list[str]:
    """Renumber parts and objects of a schema in order of occurrence; return the old names of the parts."""
    ids: dict[int, int] = {}
    parts: dict[str, int] = {}

    def visit(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                visit(item)
        elif isinstance(node, dict):
            # Objects that occur twice have the same id in both places, and must keep that.
            if isinstance(node.get("__id__"), int):
                node["__id__"] = ids.setdefault(node["__id__"], len(ids))
            if "__loader__" in node and isinstance(node.get("file"), str):
                node["file"] = _part_name(parts.setdefault(node["file"], len(parts)))
            for item in node.values():
                visit(item)

    visit(plain)
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


register_codec("SklearnModel", SklearnModel, encode, decode)
