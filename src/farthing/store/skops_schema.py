"""Bounds on what skops is given: depth and number of nodes, and the sizes of the arrays they refer to.

skops follows a node wherever its id occurs, so a few nested references stand for any number of nodes, and it
reads a part once for each node that names it. Both are counted here as skops would follow them.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.store import strict_json

MAX_NODES: Final = 2**17
_MAX_UNPACKED: Final = 2**28
_HEADER: Final = 1 << 16


def read_schema(schema: Any, parts: Sequence[NDArray[np.uint8]]) -> Any:
    """Parse a schema that may be hostile, if skops can read it in bounded time and memory.

    Parameters
    ----------
    schema : str
        The schema of a skops archive, as JSON.
    parts : sequence of ndarray of uint8
        The files of the archive, in the order of their numbers.

    Raises
    ------
    ValueError
        If it is nested too deep, stands for too many nodes, or its parts are larger than they say.
    """
    if not isinstance(schema, str):
        raise TypeError("the schema of a scikit-learn model must be a string")
    plain = strict_json.loads(schema.encode())
    if _count(plain, {}) > MAX_NODES:
        raise ValueError(f"the model has more than {MAX_NODES} nodes")
    readers: dict[str, set[object]] = {}
    for number, node in enumerate(nodes(plain)):
        if isinstance(file := node.get("file"), str):
            # A node without an id is read wherever it occurs.
            readers.setdefault(file, set()).add(node.get("__id__") or f"node {number}")
    if shared := [file for file, ids in readers.items() if len(ids) > 1]:
        raise ValueError(f"the part {shared[0][:40]!r} is used by several arrays")
    for part in parts:
        _check_part(part.tobytes())
    return plain


def nodes(plain: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a schema, at any depth, each before those within it."""
    stack = [plain]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield item
            stack += reversed(item.values())
        elif isinstance(item, list):
            stack += reversed(item)


def _count(plain: Any, known: dict[object, int | None]) -> int:
    """Return the number of nodes as skops counts them: a repeated id stands for all that is below it."""
    # The depth of the recursion is that of the JSON, which is bounded.
    if isinstance(plain, list):
        return sum(_count(item, known) for item in plain)
    if not isinstance(plain, dict):
        return 0
    name = plain.get("__id__")
    if isinstance(name, int) and name in known:
        if (before := known[name]) is None:
            raise ValueError("a node contains itself")
        return before
    if isinstance(name, int):
        known[name] = None
    found = 1 + sum(_count(item, known) for item in plain.values())
    if isinstance(name, int):
        known[name] = found
    return found


def _check_part(data: bytes) -> None:
    """Check that an array takes as many bytes as its header says; a zip of arrays, not much more."""
    if data.startswith(b"PK"):  # a sparse matrix, which may be compressed
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > _MAX_UNPACKED:
                raise ValueError(f"a sparse matrix unpacks to more than {_MAX_UNPACKED} bytes")
        return
    if not data.startswith(b"\x93NUMPY"):
        return  # bytes, which are used as they are
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"an array has the unknown format {version}")
    shape, _, dtype = read(stream, max_header_size=_HEADER)
    if not dtype.itemsize or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError("an array does not have the size that its header says")
