"""Compilers are found by their names, with a version or without one, and tried out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from experiments.lib.compilers import builds_with, compiler_named


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        (["clang", "clang-14"], "clang"),
        (["clang-9", "clang-14"], "clang-14"),
        (["clang-format-14", "clang-cpp-14", "clang++-14"], None),
        ([], None),
    ],
)
def test_the_usual_name_or_the_highest_version(
    installed: list[str], expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in installed:
        (tmp_path / name).touch(mode=0o755)
    (tmp_path / "clang-99").touch(mode=0o644)  # not a program
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'missing'}")
    assert compiler_named("clang") == expected


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_options_that_a_compiler_cannot_build_with() -> None:
    assert builds_with("gcc", "-O2")
    assert not builds_with("gcc", "-march=no-such-machine")
