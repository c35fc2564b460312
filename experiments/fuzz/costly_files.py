"""Mutations that make a file cost more than it weighs, or point native code astray; checksums repaired."""

from __future__ import annotations

import functools
import io
import json
from typing import Any

import numpy as np

from experiments.fuzz.mutations import Files, Package, mutation


def _pick(rng: np.random.Generator, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


@mutation
def wide_strings(rng: np.random.Generator, files: Files) -> bytes:
    """Many arrays of strings, each within the bound, that together would fill the memory."""
    package = Package.open(files[int(rng.integers(len(files)))])
    width = int(rng.integers(2**20, 2**24))
    wide = {"$": "strings", "shape": [1], "items": ["a"], "width": width}
    package.model[_pick(rng, ["params", "fitted", "more"])] = [wide] * int(rng.integers(2, 120))
    return package.pack()


@mutation
def long_names(rng: np.random.Generator, files: Files) -> bytes:
    """Long names above many items, so that a path for each item would take quadratic time."""
    package = Package.open(files[int(rng.integers(len(files)))])
    inner: Any = [[0]] * int(10 ** rng.uniform(3, 5))
    for _ in range(int(rng.integers(1, 20))):
        inner = {"n" * int(rng.integers(1, 100_000)): inner}
    package.model["params"] = inner
    return package.pack()


@mutation
def nested_nodes(rng: np.random.Generator, files: Files) -> bytes:
    """Nodes of skops that refer to each other, stand for millions, or share a part."""
    package, models = _with_sklearn(rng, files)
    kind = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    node: dict[str, Any] = {**kind, "content": [], "__id__": 1001}
    for level in range(1002, 1002 + int(_pick(rng, [3, 20, 60, 120]))):
        again = _pick(
            rng,
            [{"__id__": level - 1}, {"__id__": level}, dict(node)]
            if level < 1012
            else [{"__id__": level - 1}],
        )
        node = {**kind, "content": [node, again], "__id__": level}
    for model in models:
        schema = json.loads(model["schema"])
        if rng.random() < 0.5:
            schema["content"]["content"]["extra"] = node
        else:
            nodes = [item for item in _nodes(schema) if isinstance(item.get("file"), str)]
            nodes[0]["file"] = nodes[-1]["file"]
        model["schema"] = json.dumps(schema)
    return package.pack()


@mutation
def native_arrays(rng: np.random.Generator, files: Files) -> bytes:
    """Arrays of scikit-learn models that do not agree with each other, well-formed by themselves."""
    package, models = _with_sklearn(rng, files)
    for model in models:
        entry = _pick(rng, model["parts"])["entry"]
        array = np.load(io.BytesIO(package.arrays[entry]))
        other = {"f": np.int32, "b": np.int32, "i": np.float64, "u": np.float64}.get(
            array.dtype.kind, array.dtype
        )
        changed = _pick(
            rng,
            [
                array[:1], array[:0], np.concatenate([array, array]) if array.ndim else array,
                array.astype(other),
                array[..., np.newaxis],
                np.full_like(array, _pick(rng, [2**30, -1, 0, 1])) if array.dtype.kind in "iuf" else array,
            ] if array.ndim else [array[np.newaxis]],
        )  # fmt: skip
        data = io.BytesIO()
        np.save(data, changed, allow_pickle=False)
        package.arrays[entry] = data.getvalue()
        package.manifest["entries"][entry]["shape"] = [len(data.getvalue())]
    return package.pack()


def _with_sklearn(rng: np.random.Generator, files: Files) -> tuple[Package, list[dict[str, Any]]]:
    """Return a file with a scikit-learn model in it, and the fields of all such models."""
    package = Package.open(_pick(rng, [data for data in files if _has_sklearn(data)]))
    return package, _models(package.model)


@functools.cache
def _has_sklearn(data: bytes) -> bool:
    return bool(_models(Package.open(data).model))


def _models(plain: Any) -> list[dict[str, Any]]:
    """Return the fields of the scikit-learn models that have arrays."""
    return [
        node["fields"]
        for node in _nodes(plain)
        if isinstance(node.get("fields"), dict)
        and node["fields"].get("schema")
        and node["fields"].get("parts")
    ]


def _nodes(plain: Any) -> list[dict[str, Any]]:
    found, stack = [], [plain]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            found.append(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return found
