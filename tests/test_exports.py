"""The public surface: what `__all__` promises is there, and what is registered is exported by its package."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import farthing
from farthing.base import get, registered

PACKAGES = ["farthing"] + [
    f"farthing.{module.name}" for module in pkgutil.iter_modules(farthing.__path__) if module.ispkg
]


@pytest.mark.parametrize("name", PACKAGES)
def test_all_names_are_there_and_sorted(name):
    package = importlib.import_module(name)
    assert package.__doc__
    for public in package.__all__:
        assert hasattr(package, public)
    assert len(set(package.__all__)) == len(package.__all__)


def test_methods_are_exported_by_their_package():
    for name in registered():
        module = get(name).__module__
        if module.startswith("farthing.") and hasattr(importlib.import_module(module), name):
            package = ".".join(module.split(".")[:2])
            assert name in importlib.import_module(package).__all__


def test_the_stub_of_the_core_is_that_of_the_bindings(tmp_path):
    pytest.importorskip("nanobind", reason="the stub is made by nanobind, which only building needs")
    made = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "farthing._core", "-o", str(made)]
    subprocess.run(command, check=True)
    committed = Path(farthing.__file__).parent / "_core.pyi"
    assert made.read_text() == committed.read_text(), "run `make stubs`"


def test_importing_farthing_needs_no_extra():
    """Frames are accepted, not required; nor is anything of the extras."""
    code = (
        "import sys\n"
        "extras = 'pandas polars pyarrow matplotlib treelite lightgbm fastapi httpx typer skops torch'\n"
        "for name in extras.split():\n"
        "    sys.modules[name] = None\n"
        "import farthing\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
