"""The sources of the page, in web/: their types, their tests, and that the committed file is made of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[3] / "web"
pytestmark = pytest.mark.skipif(
    shutil.which("npm") is None or not (WEB / "node_modules").is_dir(),
    reason="needs Node and its packages: npm ci --prefix web",
)


@pytest.mark.parametrize("script", ["check", "test", "agree"])
def test_sources(script: str) -> None:
    run = subprocess.run(["npm", "run", script], cwd=WEB, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_lock_file_names_no_registry() -> None:
    lock = (WEB / "package-lock.json").read_text()
    assert '"resolved"' not in lock
