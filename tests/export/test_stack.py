"""The stated stack is enough: gcc's own account of frames and calls."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.export.walking import KINDS, fitted

from farthing.export import FLAGS, export_model

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O2"])
def test_no_call_takes_more_than_the_stated_stack(kind: str, level: str, tmp_path: Path) -> None:
    model, _ = fitted(*KINDS[kind])
    exported = export_model(model, tmp_path)
    assert exported.stack_bytes is not None
    used = deepest(tmp_path / "model.c", level)
    assert 0 < used <= exported.stack_bytes
    stated = re.search(r"FARTHING_STACK_BYTES (\d+)", (tmp_path / "model.h").read_text())
    assert stated is not None
    assert int(stated[1]) == exported.stack_bytes


def deepest(source: Path, level: str) -> int:
    """Return the bytes of the deepest chain of calls, as gcc reports frames and calls."""
    command = ["gcc", *FLAGS.split(), level, "-c", "-fcallgraph-info=su", source.name, "-o", "model.o"]
    made = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
    if "unrecognized" in made.stderr:
        pytest.skip("this gcc reports no calls")
    text = (source.parent / "model.ci").read_text()
    frames: dict[str, int] = {}
    for name, label in re.findall(r'node: \{ title: "([^"]+)" label: "([^"]*)"', text):
        found = re.search(r"(\d+) bytes \(static\)", label)
        frames[name] = 0 if found is None else int(found[1])
        assert "dynamic" not in label
    calls: dict[str, list[str]] = {name: [] for name in frames}
    for caller, called in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
        calls[caller].append(called)

    @cache
    def depth(name: str) -> int:
        # A return address of eight bytes is not in a frame.
        return frames.get(name, 0) + 8 + max((depth(called) for called in calls.get(name, [])), default=0)

    return max(depth(name) for name in frames)


def test_the_deepest_chain_is_found(tmp_path: Path) -> None:
    source: Any = tmp_path / "model.c"
    source.write_text(
        "#include <string.h>\nvoid use(char *);\n"
        "static __attribute__((noinline)) int inner(void) { char a[300]; use(a); return a[7]; }\n"
        "int outer(void) { char b[500]; use(b); return inner() + b[3]; }\n"
    )
    assert 800 <= deepest(source, "-O2") <= 1000
