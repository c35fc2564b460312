"""The container: a zip of uncompressed entries, whose sizes and checksums are checked as they are read.

::

    manifest.json     format, version, kind, and checksum and shape of every other entry
    model.json        the values (see codec.py)
    arrays/000.bin    raw elements, little-endian, C order
    ...
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import secrets
import stat
import struct
import zipfile
from collections.abc import Mapping
from contextlib import nullcontext
from importlib.metadata import PackageNotFoundError, version
from io import BufferedReader
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.errors import FileError
from farthing.store import strict_json
from farthing.store.codec import ARRAY_DTYPES, array_name, check_shape

FORMAT: Final = "farthing"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
MODEL: Final = "model.json"

_CHUNK: Final = 2**20
# Sizes of fixed-length records, from the specification of the zip format.
_LOCAL_HEADER: Final = 30  # bytes, without the name
_END_RECORD: Final = 22  # bytes, without a comment
_MAX_ENTRIES: Final = 2**16
# zipfile raises any of these, depending on which byte is damaged.
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    struct.error,
    ArithmeticError,
    EOFError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


def write_archive(
    path: str | os.PathLike[str], kind: str, model: bytes, arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a file atomically: a complete new file replaces the old one."""
    if len(arrays) + 2 > _MAX_ENTRIES:
        raise ValueError(
            f"a model of {len(arrays)} arrays cannot be saved; a file holds at most {_MAX_ENTRIES - 2}"
        )
    raw = {MODEL: memoryview(model)} | {name: _raw(array) for name, array in arrays.items()}
    entries: dict[str, dict[str, Any]] = {name: {"sha256": _sha256(data)} for name, data in raw.items()}
    for name, array in arrays.items():
        entries[name] |= {"dtype": array.dtype.str, "shape": list(array.shape)}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "farthing": _library_version(),
        "entries": entries,
    }
    # The real path, so that a symbolic link is followed, not replaced. The temporary file is in the same
    # directory, since a rename is atomic only within one file system.
    target = os.path.realpath(path)
    temporary = f"{target}.{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb") as stream:
            _keep_mode(target, stream)
            _write_zip(stream, {MANIFEST: memoryview(strict_json.dumps(manifest))} | raw)
            # On disk before the rename, or a crash could leave an empty file under the new name.
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:  # also KeyboardInterrupt, in which case the temporary file must go, too
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _keep_mode(target: str, stream: IO[bytes]) -> None:
    """Give a new file the mode of the one it replaces: a private model must not become public."""
    if hasattr(os, "fchmod") and os.path.exists(target):
        os.fchmod(stream.fileno(), stat.S_IMODE(os.stat(target).st_mode))


def _write_zip(stream: IO[bytes], raw: Mapping[str, memoryview]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, data in raw.items():
            # Fixed date, system and mode, so that the same model gives the same bytes anywhere.
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)


def _raw(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _sha256(data: memoryview | bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _library_version() -> str:
    try:
        return version("farthing")
    except PackageNotFoundError:
        return "unknown"


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file to read; anything else of that name raises FileError at once.

    A pipe that nobody writes to would block for good, and a device may never end.
    """
    # O_NONBLOCK: opening a pipe returns at once. It has no effect on regular files.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileError(f"{os.fspath(path)} is not a regular file")
    return os.fdopen(descriptor, "rb")


def read_archive(
    path: str | os.PathLike[str], stream: IO[bytes] | None = None
) -> tuple[str, Any, dict[str, NDArray[Any]]]:
    """Read a file, checking each size before memory is allocated for it.

    Parameters
    ----------
    path : path-like
        Its name, also for messages.
    stream : binary file, optional
        The file, if the caller has opened it by `open_regular`; it is left open.

    Returns
    -------
    kind : str
        The name of the model's class, which the caller looks up.
    model : object
        The parsed ``model.json``.
    arrays : dict of ndarray
        By the names of their entries, in native byte order.

    Raises
    ------
    FileError
        If anything in the file breaks the format.
    FileNotFoundError
        If there is no such file.
    """
    # One open file for all checks and reads, so that nobody can swap it between them.
    with open_regular(path) if stream is None else nullcontext(stream) as opened:
        size = os.fstat(opened.fileno()).st_size
        try:
            _check_end(opened)
            with zipfile.ZipFile(opened) as archive:
                return _read(archive, size)
        except FileError as error:
            raise FileError(f"{os.fspath(path)}: {error}") from error.__cause__
        except _ZIP_ERRORS as error:
            raise FileError(f"{os.fspath(path)} is not an intact Farthing model: {error}") from error
        except OSError as error:
            if (
                error.errno != errno.EINVAL
            ):  # EINVAL is a seek to a negative offset, which a damaged file may cause
                raise
            raise FileError(f"{os.fspath(path)} is not an intact Farthing model: {error}") from error


def _read(archive: zipfile.ZipFile, size: int) -> tuple[str, Any, dict[str, NDArray[Any]]]:
    infos = _check_layout(archive, size)
    if MANIFEST not in infos or MODEL not in infos:
        raise FileError(
            f"a Farthing model has the entries {MANIFEST} and {MODEL}; this is another kind of zip"
        )
    kind, entries = _check_manifest(_read_json(archive, infos[MANIFEST], None))
    if set(entries) != set(infos) - {MANIFEST}:
        odd = sorted(set(entries) ^ (set(infos) - {MANIFEST}))
        raise FileError(f"the manifest and the entries differ: {odd[:3]}")
    names = [array_name(i) for i in range(len(entries) - 1)]
    if set(entries) != {MODEL, *names}:
        raise FileError(f"arrays must be named from {array_name(0)} on without a gap")
    model = _read_json(archive, infos[MODEL], _checksum(MODEL, entries[MODEL]))
    return kind, model, {name: _read_array(archive, infos[name], entries[name]) for name in names}


def _check_end(stream: IO[bytes]) -> None:
    """Check that the file ends like a zip without a comment, before zipfile searches for another end."""
    # A zip may end in a comment. Readers then search for the end record and may disagree on which one counts.
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - _END_RECORD))
    end = stream.read(_END_RECORD)
    if len(end) < _END_RECORD or not end.startswith(b"PK\x05\x06") or not end.endswith(b"\x00\x00"):
        raise FileError("not a Farthing model, or one cut short: it does not end as a zip file does")


def _check_layout(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name, if they are uncompressed, distinct and do not overlap."""
    listed = archive.infolist()
    infos = {info.filename: info for info in listed}
    if len(infos) < len(listed):
        raise FileError("two entries have the same name")
    if len(listed) > _MAX_ENTRIES:
        raise FileError(f"{len(listed)} entries; at most {_MAX_ENTRIES} are allowed")
    if listed and min(info.header_offset for info in listed) != 0:
        raise FileError("there is data before the first entry")
    # Entries that are stored, disjoint and within the file cannot expand: reading takes no more memory than
    # the file has bytes (no zip bombs).
    end = 0
    for info in sorted(listed, key=lambda info: info.header_offset):
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise FileError(f"the entry {info.filename[:40]!r} is compressed; all must be stored as they are")
        if info.flag_bits != 0:
            raise FileError(f"the entry {info.filename[:40]!r} is encrypted or of an unusual kind")
        if info.header_offset < end:
            raise FileError(f"the entry {info.filename[:40]!r} overlaps another one")
        end = info.header_offset + _LOCAL_HEADER + len(info.filename) + info.file_size
        if end > size:
            raise FileError(f"the entry {info.filename[:40]!r} is larger than the file")
    return infos


def _check_manifest(manifest: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileError(f'the manifest does not say "format": "{FORMAT}"')
    if type(manifest.get("version")) is not int or manifest["version"] < 1:
        raise FileError("the manifest has no version")
    if manifest["version"] > VERSION:
        raise FileError(
            f"the file has format version {manifest['version']} and this Farthing reads up to {VERSION}: "
            "upgrade Farthing"
        )
    kind, entries = manifest.get("kind"), manifest.get("entries")
    if not isinstance(kind, str) or not isinstance(entries, dict):
        raise FileError("the manifest has no kind or no entries")
    if set(manifest) != {"format", "version", "kind", "farthing", "entries"}:
        raise FileError(f"the manifest does not have the keys of version {VERSION}: {sorted(manifest)[:8]}")
    return kind, entries


def _checksum(name: str, entry: Any, *others: str) -> str:
    """Return the checksum of an entry in the manifest, which must have exactly the expected keys."""
    if not isinstance(entry, dict) or set(entry) != {"sha256", *others}:
        raise FileError(f"the manifest must give {['sha256', *others]} for {name}, and no more")
    if not isinstance(entry["sha256"], str):
        raise FileError(f"the checksum of {name} is not a string")
    return entry["sha256"]


def _read_json(archive: zipfile.ZipFile, info: zipfile.ZipInfo, checksum: str | None) -> Any:
    if info.file_size > strict_json.MAX_BYTES:
        raise FileError(
            f"{info.filename} has {info.file_size} bytes; at most {strict_json.MAX_BYTES} are allowed"
        )
    data = archive.read(info)
    if checksum is not None and _sha256(data) != checksum:
        raise FileError(f"the checksum of {info.filename} is wrong: the file was damaged or altered")
    try:
        return strict_json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{info.filename} is not valid JSON: {error}") from error


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, entry: Any) -> NDArray[Any]:
    checksum = _checksum(info.filename, entry, "dtype", "shape")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in ARRAY_DTYPES:
        raise FileError(f"{info.filename} has the dtype {str(entry['dtype'])[:20]!r}, which is not allowed")
    if not isinstance(entry["shape"], list):
        raise FileError(f"the shape of {info.filename} is not a list")
    shape, dtype = check_shape(entry["shape"]), np.dtype(entry["dtype"])
    if math.prod(shape) * dtype.itemsize != info.file_size:
        raise FileError(f"{info.filename} has {info.file_size} bytes, which is not what its shape needs")
    # Read in chunks straight into the array, hashing along the way: no second copy of a large array.
    array = np.empty(shape, dtype=dtype)
    digest, filled, raw = hashlib.sha256(), 0, _raw(array)
    with archive.open(info) as source:
        while filled < len(raw) and (chunk := source.read(_CHUNK)):
            raw[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
            digest.update(chunk)
        if filled != len(raw) or source.read(1):
            raise FileError(f"{info.filename} is cut short")
    if digest.hexdigest() != checksum:
        raise FileError(f"the checksum of {info.filename} is wrong: the file was damaged or altered")
    # NumPy and the compiled core assume that the byte of a boolean is 0 or 1.
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise FileError(f"{info.filename} has a boolean that is neither 0 nor 1")
    return array.astype(dtype.newbyteorder("="), copy=False)
