"""The container: the same bytes each time, all or nothing on disk, and no trust in what a file declares."""

import hashlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farthing import store
from farthing.errors import FileError
from farthing.store import archive

STATE: dict[str, object] = {
    "params": {"budget": None, "costs": [1.5, float("nan")]},
    "fitted": {
        "classes_": np.array(["no", "yes"], dtype=object),
        "value_": np.arange(6.0).reshape(2, 3),
        "mask_": np.array([True, False]),
        "nothing_": np.zeros((0, 3), np.int32),
    },
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.farthing"
    store.write(path, "Prior", STATE)
    return path


def unpack(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def pack(path: Path, entries: Any, method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as opened:
        for name, data in entries:
            opened.writestr(name, data)


def repack(path: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> None:
    """Change manifest and entries, repairing the checksums that the manifest still lists."""
    entries = unpack(path)
    manifest = json.loads(entries.pop("manifest.json"))
    change(manifest, entries)
    for name, data in entries.items():
        if name in manifest.get("entries", {}):
            manifest["entries"][name]["sha256"] = hashlib.sha256(data).hexdigest()
    pack(path, [("manifest.json", json.dumps(manifest)), *entries.items()])


def test_round_trip(path: Path) -> None:
    kind, state = store.read(path)
    assert kind == "Prior"
    fitted: Any = state["fitted"]
    assert fitted["classes_"].tolist() == ["no", "yes"]
    assert fitted["classes_"].dtype == object
    assert fitted["value_"].tobytes() == np.arange(6.0).tobytes()
    assert fitted["value_"].shape == (2, 3)
    assert fitted["mask_"].dtype == bool
    assert fitted["nothing_"].shape == (0, 3)
    assert fitted["value_"].flags.writeable


def test_the_layout_is_the_documented_one(path: Path) -> None:
    entries = unpack(path)
    assert list(entries) == ["manifest.json", "model.json", *(f"arrays/00{i}.bin" for i in range(3))]
    manifest = json.loads(entries["manifest.json"])
    assert (manifest["format"], manifest["version"], manifest["kind"]) == ("farthing", 1, "Prior")
    assert manifest["entries"]["arrays/000.bin"] == {
        "sha256": hashlib.sha256(np.arange(6.0).tobytes()).hexdigest(),
        "dtype": "<f8",
        "shape": [2, 3],
    }
    assert json.loads(entries["model.json"])["fitted"]["mask_"] == {"$": "array", "entry": "arrays/001.bin"}


def test_the_same_state_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    store.write(tmp_path / "again", "Prior", STATE)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    store.write(tmp_path / "loaded", *store.read(path))
    assert (tmp_path / "loaded").read_bytes() == path.read_bytes()


def test_a_failed_write_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            store.write(path, "Prior", {"params": {}, "fitted": {}})
    with pytest.raises(TypeError, match=r"params\.x"):
        store.write(path, "Prior", {"params": {"x": object()}})
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_link_stays_a_link_and_the_mode_is_the_usual_one(path: Path) -> None:
    link = path.parent / "latest"
    link.symlink_to(path)
    store.write(link, "Other", {})
    assert link.is_symlink()
    assert store.read(path) == ("Other", {})
    plain = path.parent / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_no_file_is_no_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.read(tmp_path / "none")


def test_every_cut_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FileError):
            store.read(path)


def test_damage_to_contents_is_found(path: Path) -> None:
    data = path.read_bytes()
    for name in unpack(path):
        with zipfile.ZipFile(path) as opened:
            start = opened.getinfo(name).header_offset + 30 + len(name)
            size = opened.getinfo(name).file_size
        for at in range(start, start + size, 7):
            damaged = bytearray(data)
            damaged[at] ^= 4
            other = path.parent / "damaged"
            other.write_bytes(damaged)
            with pytest.raises(FileError):
                store.read(other)


def change_entry(name: str, **fields: Any) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    return lambda manifest, _: manifest["entries"][name].update(fields)


def change_manifest(**fields: Any) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    return lambda manifest, _: manifest.update(fields)


def drop_array(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    del entries["arrays/001.bin"], manifest["entries"]["arrays/001.bin"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_manifest(format="pickle"), 'does not say "format": "farthing"'),
        (change_manifest(version=2), "format version 2 .* upgrade Farthing"),
        (change_manifest(version=True), "no version"),
        (change_manifest(version=0), "no version"),
        (change_manifest(kind=3), "no kind"),
        (change_manifest(entries=[]), "no kind or no entries"),
        (change_manifest(code="x"), "does not have the keys"),
        (lambda manifest, _: manifest.pop("farthing"), "does not have the keys"),
        (lambda _, entries: entries.update({"setup.py": b""}), r"differ: \['setup.py'\]"),
        (lambda _, entries: entries.pop("arrays/000.bin"), "differ"),
        (lambda _, entries: entries.pop("model.json"), "another kind of zip"),
        (drop_array, "without a gap"),
        (change_entry("model.json", dtype="<f8"), "and no more"),
        (change_entry("arrays/000.bin", dtype="|O8"), "not allowed"),
        (change_entry("arrays/000.bin", dtype=">f8"), "not allowed"),
        (change_entry("arrays/000.bin", dtype=["<f8"]), "not allowed"),
        (change_entry("arrays/000.bin", shape=[2**40]), "not what its shape needs"),
        (change_entry("arrays/000.bin", shape=[2**62, 4, 2**62]), "not what its shape needs"),
        (change_entry("arrays/000.bin", shape=[-2, -3]), "at least 0"),
        (change_entry("arrays/000.bin", shape=[6.0]), "must be integers"),
        (change_entry("arrays/000.bin", shape=[1] * 9), "at most 8 dimensions"),
        (change_entry("arrays/000.bin", shape="6"), "not a list"),
        (change_entry("arrays/002.bin", shape=[0, 2**40]), "no dimension over"),
        (lambda _, entries: entries.update({"arrays/001.bin": b"\x01\x02"}), "neither 0 nor 1"),
        (lambda _, entries: entries.update({"model.json": b"[]"}), "must hold an object"),
        (lambda _, entries: entries.update({"model.json": b'{"$":"tuple"}'}), "must hold an object"),
        (lambda _, entries: entries.update({"model.json": b"{"}), "model.json is not valid JSON"),
        (lambda _, entries: entries.update({"model.json": b"{}"}), "nothing refers to"),
    ],
)
def test_altered_files_are_refused_though_checksums_fit(
    path: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None], message: str
) -> None:
    repack(path, lambda *_: None)
    store.read(path)
    repack(path, change)
    with pytest.raises(FileError, match=message):
        store.read(path)


def test_wrong_checksums_are_refused(path: Path) -> None:
    entries = unpack(path)
    for name in ("model.json", "arrays/000.bin"):
        altered = dict(entries)
        altered[name] = altered[name].replace(b"0", b"1", 1) if name == "model.json" else bytes(48)
        pack(path, altered.items())
        with pytest.raises(FileError, match=f"checksum of {name} is wrong"):
            store.read(path)


def test_compressed_entries_are_refused(path: Path) -> None:
    pack(path, unpack(path).items(), zipfile.ZIP_DEFLATED)
    with pytest.raises(FileError, match="is compressed"):
        store.read(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name_are_refused(path: Path) -> None:
    entries = list(unpack(path).items())
    pack(path, [*entries, entries[1]])
    with pytest.raises(FileError, match="the same name"):
        store.read(path)


def central(data: bytes, name: bytes) -> int:
    """Return where the central header of an entry starts."""
    return data.rindex(name) - 46


@pytest.mark.parametrize(
    ("at", "field", "message"),
    [
        (8, b"\x01\x00", "encrypted"),
        (8, b"\x08\x00", "encrypted or of an unusual kind"),
        (10, b"\x08\x00", "is compressed"),
        (20, b"\xf0\xff\xff\x7f" * 2, "is larger than the file"),
        (24, b"\xf0\xff\xff\x7f", "is compressed"),
        (42, b"\x00\x00\x00\x00", "overlaps"),
    ],
)
def test_lies_in_the_directory_are_refused(path: Path, at: int, field: bytes, message: str) -> None:
    data = bytearray(path.read_bytes())
    start = central(bytes(data), b"arrays/000.bin") + at
    data[start : start + len(field)] = field
    path.write_bytes(data)
    with pytest.raises(FileError, match=message):
        store.read(path)


def test_nothing_stands_before_or_behind(path: Path) -> None:
    data = path.read_bytes()
    for spoilt in (
        b"#!/bin/sh\n" + data,
        data + b"\n",
        data[:-2] + b"\x01\x00x",
        b"",
        b"PK\x05\x06" + bytes(18),
    ):
        path.write_bytes(spoilt)
        with pytest.raises(FileError):
            store.read(path)


def test_a_real_error_of_the_disk_is_not_the_files_fault(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(archive, "_read", fail)
    with pytest.raises(OSError, match="Input/output error"):
        store.read(path)


def test_other_files_are_refused_with_their_name(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.zeros(3))
    for data in (b"not a model", buffer.getvalue()):
        (tmp_path / "other.npz").write_bytes(data)
        with pytest.raises(FileError, match=r"other\.npz"):
            store.read(tmp_path / "other.npz")
