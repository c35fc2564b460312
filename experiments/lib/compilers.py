"""C compilers of this machine, by their usual names or by those with a version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path


def compiler_named(name: str) -> str | None:
    """Return the command of a compiler: its name, or the one with the highest version, such as clang-14.

    Debian installs ``clang-14`` without ``clang``. None if there is neither.
    """
    if shutil.which(name):
        return name
    versions = {
        int(found[1])
        for folder in os.get_exec_path()
        for path in Path(folder).glob(f"{name}-*")
        if (found := re.fullmatch(re.escape(name) + r"-(\d+)", path.name)) and shutil.which(path.name)
    }
    return f"{name}-{max(versions)}" if versions else None


@cache
def builds_with(compiler: str, *options: str) -> bool:
    """Return whether a compiler builds and links a C program that includes a header, with such options.

    With ``-m32`` many cannot, since the headers and libraries of 32 bits are packages of their own.
    """
    probe = b"#include <math.h>\nint main(int n, char **words) { (void)words; return (int)sqrt(n - 1); }\n"
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, *options, "-x", "c", "-", "-lm", "-o", str(Path(folder) / "probe")]
        return subprocess.run(command, input=probe, capture_output=True, check=False).returncode == 0
