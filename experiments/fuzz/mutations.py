"""Ways to spoil a model file: each takes intact files and a random generator, and gives a bad one.

Some break the container; the nastier ones change what is inside and then repair every checksum, so that only
the checks of the values themselves are left to stop them.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import io
import json
import math
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Files = Sequence[bytes]
Mutation = Callable[[np.random.Generator, Files], bytes]

MUTATIONS: dict[str, Mutation] = {}


def mutation(function: Mutation) -> Mutation:
    """Add a function to the table of mutations, under its own name."""
    MUTATIONS[function.__name__] = function
    return function


@dataclass
class Package:
    """A model file taken apart."""

    manifest: Any
    model: Any
    arrays: dict[str, bytes]

    @classmethod
    def open(cls, data: bytes) -> Package:
        """Take an intact file apart."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.endswith(".bin")]
            return cls(
                json.loads(archive.read("manifest.json")),
                json.loads(archive.read("model.json")),
                {name: archive.read(name) for name in names},
            )

    def entries(self) -> list[tuple[str, bytes]]:
        """Return names and contents, with the checksums in the manifest made right again."""
        contents = {"model.json": _json(self.model)} | self.arrays
        listed = self.manifest.get("entries") if isinstance(self.manifest, dict) else None
        if isinstance(listed, dict):
            for name, content in contents.items():
                if isinstance(listed.get(name), dict) and "sha256" in listed[name]:
                    listed[name]["sha256"] = hashlib.sha256(content).hexdigest()
        return [("manifest.json", _json(self.manifest)), *contents.items()]

    def pack(self) -> bytes:
        """Put the file together again."""
        return pack(self.entries())


def pack(entries: Sequence[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    """Make a zip with right CRCs of any entries, those of the same name included."""
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(stream, "w", method) as archive:
            for name, content in entries:
                archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


def _json(plain: Any) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _any(rng: np.random.Generator, things: Sequence[Any]) -> Any:
    return things[int(rng.integers(len(things)))]


def _span(rng: np.random.Generator, length: int) -> tuple[int, int]:
    """Return a random range, short ones more often."""
    start = int(rng.integers(length + 1))
    return start, min(length, start + int(2 ** rng.uniform(0, math.log2(length + 2))))


# Bytes, blindly.


@mutation
def bits(rng: np.random.Generator, files: Files) -> bytes:
    """Flip one to sixteen bits."""
    data = bytearray(_any(rng, files))
    for _ in range(int(rng.integers(1, 17))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


@mutation
def overwrite(rng: np.random.Generator, files: Files) -> bytes:
    """Overwrite a range with zeros, ones or noise."""
    data = bytearray(_any(rng, files))
    start, end = _span(rng, len(data))
    data[start:end] = _any(rng, [bytes(end - start), b"\xff" * (end - start), rng.bytes(end - start)])
    return bytes(data)


@mutation
def truncate(rng: np.random.Generator, files: Files) -> bytes:
    """Cut off the end, now and then the beginning."""
    data = _any(rng, files)
    at = int(rng.integers(len(data)))
    return bytes(data[at:] if rng.random() < 0.2 else data[:at])


@mutation
def splice(rng: np.random.Generator, files: Files) -> bytes:
    """Insert, delete or repeat a range, or join the parts of two files."""
    data, other = _any(rng, files), _any(rng, files)
    start, end = _span(rng, len(data))
    from_other = slice(*_span(rng, len(other)))
    return bytes(
        _any(
            rng,
            [
                data[:start] + data[end:],
                data[:start] + data[start:end] * 2 + data[end:],
                data[:start] + other[from_other] + data[start:],
                data[:start] + other[from_other] + data[end:],
                data[:start] + other[int(rng.integers(len(other))) :],
            ],
        )
    )


# Entries of the archive.


@mutation
def entries(rng: np.random.Generator, files: Files) -> bytes:
    """Swap, repeat, remove, rename, add or reorder entries."""
    listed = Package.open(_any(rng, files)).entries()
    one, two = (int(i) for i in rng.integers(len(listed), size=2))
    change = int(rng.integers(6))
    if change == 0:
        listed[one], listed[two] = (listed[one][0], listed[two][1]), (listed[two][0], listed[one][1])
    elif change == 1:
        listed.insert(two, listed[one])
    elif change == 2:
        del listed[one]
    elif change == 3:
        listed[one] = (_any(rng, _NAMES), listed[one][1])
    elif change == 4:
        listed.append((_any(rng, _NAMES), rng.bytes(int(rng.integers(64)))))
    else:
        listed = [listed[i] for i in rng.permutation(len(listed))]
    return pack(listed)


_NAMES = [
    "../../escape.bin", "/etc/passwd", "C:\\model.json", "arrays/", "arrays/000.bin/", "arrays\\000.bin",
    "arrays/0.bin", "arrays/999.bin", "MODEL.JSON", "manifest.json", "model.json", "", ".", "é.bin",
    "a" * 5000,
    "__init__.py", "model.pkl",
]  # fmt: skip


@mutation
def crossed(rng: np.random.Generator, files: Files) -> bytes:
    """Put parts of one model into another, checksums repaired."""
    package, other = Package.open(_any(rng, files)), Package.open(_any(rng, files))
    if rng.random() < 0.3:
        package.manifest["kind"] = other.manifest["kind"]
    if rng.random() < 0.3:
        package.model = other.model
    if rng.random() < 0.3:
        package.arrays, package.manifest["entries"] = other.arrays, other.manifest["entries"]
    for _ in range(int(rng.integers(4))):
        name, source = _any(rng, list(package.arrays)), _any(rng, list(other.arrays))
        package.arrays[name] = other.arrays[source]
        package.manifest["entries"][name] = dict(other.manifest["entries"][source])
    sections = [key for key in package.model if key in other.model]
    for section in sections:
        shared = [key for key in package.model[section] if key in other.model[section]]
        for key in shared:
            if rng.random() < 0.2:
                package.model[section][key] = other.model[section][key]
    return package.pack()


# Values in the JSON, checksums repaired.


def _hostile(rng: np.random.Generator) -> Any:
    """Return a JSON value that nobody expects."""
    simple: list[Any] = [
        None, True, False, 0, 1, -1, 2, 3, 255, 2**31 - 1, 2**31, 2**40, 2**63 - 1, 2**63, -(2**63), 2**64,
        10**40,
        0.0, -0.0, 0.5, 1e-308, 5e-324, 1e308, -1e308, math.nan, math.inf, -math.inf, "", "x", "x0", "nan",
        "<=",
        "<", "float32", "numeric", "categorical", "\ud800", "\x00", "é" * 100, "a" * 70000, [], {}, [[]],
        [{}],
        {"$": None}, {"$": "tuple", "items": [1]}, {"$": "tuple", "items": 5}, {"$": "float", "value": "nan"},
        {"$": "float", "value": "-inf"}, {"$": "float", "value": "1e999"},
        {"$": "array", "entry": "arrays/000.bin"},
        {"$": "array", "entry": 3}, {"$": "scalar", "dtype": "<f8", "value": "000000000000f87f"},
        {"$": "scalar", "dtype": "|O8", "value": "00"}, {"$": "scalar", "dtype": "|b1", "value": "02"},
        {"$": "strings", "shape": [2], "items": ["a", "b"], "width": 2**31},
        {"$": "path", "value": "/dev/zero"},
        {"$": "strings", "shape": [1], "items": ["a"], "width": 9},
        {"$": "os.system", "fields": {"command": "ls"}},
        {"$": "objects", "shape": [0, 2**60], "items": []}, {"$": "objects", "shape": [2], "items": [1, "a"]},
        {"$": "dict", "items": [[1, 2], [1, 3]]}, {"$": "dict", "items": [[[], 2]]},
        {"$": "Forest", "fields": {}},
        {"$": "CostSheet", "fields": {"features": [], "costs": [], "groups": [], "unit": ""}},
        {"$": "Schema", "fields": {"columns": [], "named": True}}, {"$": "Forest"},
    ]  # fmt: skip
    if rng.random() < 0.03:
        deep: Any = []
        for _ in range(int(_any(rng, [50, 125, 130, 400]))):
            deep = {"a": deep} if rng.random() < 0.5 else [deep]
        return deep
    return copy.deepcopy(_any(rng, simple))


def _places(plain: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a JSON tree."""
    found: list[tuple[Any, Any]] = []
    open_ = [plain]
    while open_:
        container = open_.pop()
        keys = range(len(container)) if isinstance(container, list) else list(container)
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], list | dict):
                open_.append(container[key])
    return found


def _spoil(rng: np.random.Generator, plain: Any) -> None:
    """Change one value, or more, anywhere in a JSON tree."""
    for _ in range(int(_any(rng, [1, 1, 1, 2, 4]))):
        places = _places(plain)
        if not places:
            return
        (container, key), (source, other) = _any(rng, places), _any(rng, places)
        change = int(rng.integers(8))
        value = container[key]
        if change <= 2:
            container[key] = _hostile(rng)
        elif change == 3:
            del container[key]
        elif change == 4:
            container[key] = copy.deepcopy(source[other])
        elif change == 5 and isinstance(value, int | float) and not isinstance(value, bool):
            container[key] = _any(rng, [value + 1, value - 1, -value, value * 2, value * 1e300, float(value)])
        elif change == 5 and isinstance(value, list) and value:
            container[key] = _any(rng, [value[:-1], value + value[-1:], value[::-1], value * 2])
        elif change == 6 and isinstance(container, dict):
            container[_any(rng, ["$", "", "params", "x", str(other)])] = container.pop(key)
        else:
            container[key] = _any(rng, [[value], {"x": value}, str(value), None])


@mutation
def model_json(rng: np.random.Generator, files: Files) -> bytes:
    """Change values in model.json, checksums repaired."""
    package = Package.open(_any(rng, files))
    _spoil(rng, package.model)
    return package.pack()


@mutation
def manifest_json(rng: np.random.Generator, files: Files) -> bytes:
    """Change values in manifest.json."""
    package = Package.open(_any(rng, files))
    package.entries()
    _spoil(rng, package.manifest)
    return pack([("manifest.json", _json(package.manifest)), *package.entries()[1:]])


@mutation
def json_text(rng: np.random.Generator, files: Files) -> bytes:
    """Change the text of model.json byte by byte, or put a monster in its place; checksums repaired."""
    package = Package.open(_any(rng, files))
    text = bytearray(_json(package.model))
    choice = rng.random()
    if choice < 0.6:
        for _ in range(int(rng.integers(1, 4))):
            start, end = _span(rng, min(len(text), 12) if rng.random() < 0.1 else len(text))
            end = min(end, start + 6)
            new = _any(rng, [b"", b'"', b"[", b"]", b"{", b"}", b",", b":", b"9", b"-", b"e", b"\\", b"\xff"])
            text[start:end] = new
        content = bytes(text)
    else:
        size = int(_any(rng, [10**3, 10**5, 10**6]))
        content = _any(
            rng,
            [
                b"[" * size, b'{"a":' * size, b"[" * size + b"]" * size, b"[[]" + b",[]" * size + b"]",
                b'{"params":' + b"9" * size + b"}", b'{"params":1e' + b"9" * size + b"}",
                b'"' + b'\\"' * size,
                b'{"params":"' + b"\\" * size, b"", b"\xef\xbb\xbf{}", b"\x00" * size, "{}".encode("utf-16"),
                b'{"params":{},"params":{}}', b"NaN", b'{"params":NaN,"fitted":Infinity}',
                b"[]", b'{"$":"Forest"}',
            ],
        )  # fmt: skip
    entry = package.manifest["entries"]["model.json"]
    entry["sha256"] = hashlib.sha256(content).hexdigest()
    return pack(
        [("manifest.json", _json(package.manifest)), ("model.json", content), *package.arrays.items()]
    )


# Arrays, checksums repaired.


def _hostile_elements(rng: np.random.Generator, array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.kind == "f":
        return [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.0, 1.0, float(rng.normal())]
    if array.dtype.kind == "b":
        return [True, False]
    info = np.iinfo(array.dtype)
    near = [-3, -2, -1, 0, 1, 2, 3, array.size - 1, array.size, array.size + 1, int(rng.integers(100))]
    return [v for v in [*near, 2**31 - 1, 2**32, 2**62] if info.min <= v <= info.max] + [info.min, info.max]


@mutation
def elements(rng: np.random.Generator, files: Files) -> bytes:
    """Change elements of arrays, checksums repaired."""
    package = Package.open(_any(rng, files))
    for _ in range(int(_any(rng, [1, 1, 1, 2, 3]))):
        name = _any(rng, list(package.arrays))
        array = np.frombuffer(package.arrays[name], package.manifest["entries"][name]["dtype"]).copy()
        if not len(array):
            continue
        change = rng.random()
        if change < 0.7:
            # Trees are shallow: what happens at the first nodes matters most.
            where = int(rng.integers(min(len(array), 6) if rng.random() < 0.5 else len(array)))
            array[where] = _any(rng, _hostile_elements(rng, array))
        elif change < 0.8:
            array[:] = _any(rng, _hostile_elements(rng, array))
        elif change < 0.9:
            array = rng.permutation(array)
        else:
            one, two = rng.integers(len(array), size=2)
            array[[one, two]] = array[[two, one]]
        content = bytearray(array.tobytes())
        if rng.random() < 0.1:
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        package.arrays[name] = bytes(content)
    return package.pack()


@mutation
def shapes(rng: np.random.Generator, files: Files) -> bytes:
    """Change dtypes, shapes and lengths of arrays, the bytes often made to fit, checksums repaired."""
    package = Package.open(_any(rng, files))
    for name in rng.permutation(list(package.arrays))[: int(_any(rng, [1, 1, 2]))].tolist():
        entry, content = package.manifest["entries"][name], package.arrays[name]
        itemsize, shape = np.dtype(entry["dtype"]).itemsize, entry["shape"]
        change = int(rng.integers(6))
        if change == 0:
            entry["dtype"] = _any(rng, _DTYPES)
        elif change == 1:
            entry["shape"] = _any(rng, _SHAPES)
        elif change == 2 and shape:
            rows = max(0, shape[0] + int(_any(rng, [-2, -1, 1, 2, 7, -shape[0]])))
            per_row = itemsize * math.prod(shape[1:])
            package.arrays[name] = (content + rng.bytes(8 * per_row))[: rows * per_row]
            entry["shape"] = [rows, *shape[1:]]
        elif change == 3:
            entry["shape"] = _any(rng, [shape[::-1], [*shape, 1], [1, *shape], [math.prod(shape)], []])
        elif change == 4:
            kind = _any(rng, ["<f8", "<i8", "<u8", "<f4", "<i4", "|u1", "|b1", "<f2"])
            entry["dtype"] = kind
            entry["shape"] = [len(content) // np.dtype(kind).itemsize]
        else:
            package.arrays[name] = content + rng.bytes(int(rng.integers(1, 9)))
    return package.pack()


_DTYPES = [
    "|O8", "O", "object", ">f8", "<f16", "<c16", "<M8[ns]", "|V8", "|V0", "|S0", "<U0", "<U1000000000", "f8",
    "float64", "<f8,<f8", "(1000000000,)<f8", [["a", "<f8"]], {"names": ["a"], "formats": ["O"]}, None, 8, "",
    "<i8", "<f4", "|b1", "__import__('os')",
]  # fmt: skip
_SHAPES = [
    [2**63], [2**62, 2**62], [-1], [-1, -1], [0], [0, 2**60], [2**60, 0], [10**9], [1.0], ["1"], [True],
    [None],
    [[1]], {}, None, "1", 1, [1] * 100, [0] * 9, [2**32, 2**32], [1, 2**31],
]  # fmt: skip


# Tricks with the zip format itself.


@mutation
def zip_tricks(rng: np.random.Generator, files: Files) -> bytes:
    """Compress, encrypt, overlap, resize, comment or prepend."""
    data = bytes(_any(rng, files))
    change = int(rng.integers(7))
    if change == 0:
        method = _any(rng, [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
        return pack(Package.open(data).entries(), method)
    if change == 1:
        return _bomb(bytes(_any(rng, files[:3])))  # a few: each takes a while to make
    if change == 2:
        extended = [b"#!/bin/sh\n" + data, data + b"\x00" * 30, data + data, b"PK\x03\x04" + data]
        return bytes(_any(rng, extended))
    if change == 3:
        comment = rng.bytes(int(rng.integers(1, 300)))
        return data[:-2] + struct.pack("<H", len(comment)) + comment
    return _header_trick(rng, data)


@functools.cache
def _bomb(data: bytes) -> bytes:
    """Hold, compressed, far more than the file's size."""
    package = Package.open(data)
    name = next(iter(package.arrays))
    count = 10**7
    package.arrays[name] = bytes(8 * count)
    package.manifest["entries"][name] |= {"dtype": "<f8", "shape": [count]}
    return pack(package.entries(), zipfile.ZIP_DEFLATED)


# Where fields lie in a header of the central directory and in a local header: (offset, size in bytes).
_CENTRAL = {
    "made by": (4, 2), "version": (6, 2), "flags": (8, 2), "method": (10, 2), "crc": (16, 4),
    "compressed": (20, 4),
    "size": (24, 4), "name": (28, 2), "extra": (30, 2), "comment": (32, 2), "disk": (34, 2),
    "attributes": (38, 4),
    "offset": (42, 4),
}  # fmt: skip
_LOCAL = {
    "version": (4, 2), "flags": (6, 2), "method": (8, 2), "crc": (14, 4), "compressed": (18, 4),
    "size": (22, 4),
    "name": (26, 2), "extra": (28, 2),
}  # fmt: skip
_END = {
    "disk": (4, 2), "entries here": (8, 2), "entries": (10, 2), "length": (12, 4), "offset": (16, 4),
    "comment": (20, 2),
}  # fmt: skip


def _header_trick(rng: np.random.Generator, data: bytes) -> bytes:
    """Change a field of a header: sizes, offsets (so that entries overlap), flags, counts."""
    changed = bytearray(data)
    kinds = [(b"PK\x01\x02", _CENTRAL), (b"PK\x03\x04", _LOCAL), (b"PK\x05\x06", _END)]
    for _ in range(int(_any(rng, [1, 1, 2, 4]))):
        signature, fields = _any(rng, kinds)
        headers = [found.start() for found in re.finditer(re.escape(signature), data)]
        header = _any(rng, headers)
        at, size = fields[_any(rng, list(fields))]
        old = int.from_bytes(changed[header + at : header + at + size], "little")
        top = 2 ** (8 * size)
        others = [header_ for header_ in headers if header_ != header] or [header]
        new = (
            _any(rng, [0, 1, 8, old + 1, old - 1, old * 2, old ^ 1, top - 1, top // 2, _any(rng, others)])
            % top
        )
        changed[header + at : header + at + size] = new.to_bytes(size, "little")
        if fields is _CENTRAL and rng.random() < 0.4:  # both sizes huge, as if it were true
            huge = _any(rng, [top - 1, 2**31, len(data)]) % 2**32
            changed[header + 20 : header + 28] = struct.pack("<II", huge, huge)
    return bytes(changed)
